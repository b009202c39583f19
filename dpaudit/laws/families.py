"""The pairs of laws that zeroing a row gives, for ALL rows of a database at once.

The same families describe all replacements of rows by candidates, one entry for each pair of a row
and a candidate, and the worst row within a bound, a family of one entry.
"""

from __future__ import annotations

from dpaudit._core.types import Array
from dpaudit._core.value import value_class


@value_class
class ShiftRows:
    """Zeroing row i moves the mean of a Gaussian by `mu[i]` standard deviations.

    Parameters
    ----------
    mu : array of shape (n,)
        The shifts.
    """

    mu: Array


@value_class
class SketchRows:
    """Zeroing row i takes vvᵀ from the covariance Σ of `rows` Gaussian rows.

    Parameters
    ----------
    leverage : array of shape (n,)
        qᵢ = vᵀΣ⁻¹v of row i.
    room : array of shape (n,)
        1 − qᵢ; each of the two to its own relative accuracy.
    rows : int
        Gaussian rows.
    inverted : bool, default False
        vvᵀ is taken from their PRECISION instead (inverse Wishart), which swaps the two directions.
    """

    leverage: Array
    room: Array
    rows: int
    inverted: bool = False


@value_class
class ScaleRows:
    """Pair i changes the variance of `rows` Gaussian rows on two axes.

    Parameters
    ----------
    up : array of shape (n,)
        On one axis the variance changes by the factor 1 + `up[i]`.
    down : array of shape (n,)
        On the other axis it changes by the factor 1 − `down[i]`.
    rows : int
        Gaussian rows.
    inverted : bool, default False
        The precision changes instead.
    """

    up: Array
    down: Array
    rows: int
    inverted: bool = False


@value_class
class WishartRows:
    """Zeroing row i takes vvᵀ from AᵀA + W, W ~ Wishart_dim(V, dof).

    Parameters
    ----------
    quadratic : array of shape (n,)
        vᵀV⁻¹v of row i.
    dof : int
        Degrees of freedom of W.
    dim : int
        Rows and columns of W.
    """

    quadratic: Array
    dof: int
    dim: int


@value_class
class StudentRows:
    """Zeroing row i of a least-squares problem that is solved on a Gaussian sketch (ALS).

    Parameters
    ----------
    leverage : array of shape (n,)
        Of each row.
    residual_share : array of shape (n,)
        Of each row.
    room : array of shape (n,)
        1 − leverage, to its own relative accuracy.
    share_room : array of shape (n,)
        1 − residual_share, to its own relative accuracy.
    features : int
        Number of features, p.
    rows : int
        r, of the sketch.
    """

    leverage: Array
    residual_share: Array
    room: Array
    share_room: Array
    features: int
    rows: int


@value_class
class ReplacedWishartRows:
    """Pair i has vvᵀ in place of uuᵀ beside W ~ Wishart_dim(V, dof).

    V^{−½}(vvᵀ − uuᵀ)V^{−½} has the eigenvalues `old[i]` and `-new[i]`, and else 0.

    Parameters
    ----------
    old : array of shape (n,)
        The positive eigenvalues.
    new : array of shape (n,)
        The negative ones, less their sign.
    dof : int
        Degrees of freedom of W.
    dim : int
        Rows and columns of W.
    """

    old: Array
    new: Array
    dof: int
    dim: int


@value_class
class ReplacedStudentRows:
    """Pair i replaces a row of a least-squares problem that is solved on a Gaussian sketch (ALS).

    Where [B, b] has the Gram matrix I, that of the other database has the eigenvalues 1 + `up[i]`
    and 1 − `down[i]`, and else 1.

    Parameters
    ----------
    up : array of shape (n,)
        Of the larger eigenvalue.
    down : array of shape (n,)
        Of the smaller eigenvalue.
    inner_up : array of shape (n,)
        As `up`, of the features B alone.
    inner_down : array of shape (n,)
        As `down`, of the features B alone.
    features : int
        Number of features, p.
    rows : int
        r, of the sketch.
    """

    up: Array
    down: Array
    inner_up: Array
    inner_down: Array
    features: int
    rows: int


@value_class
class ComposedRows:
    """Several releases of one database: part j, released `times[j]` times, on the same row i.

    Parameters
    ----------
    parts : tuple of ZeroedRows
        The releases.
    times : tuple of int
        How often each is released.
    """

    parts: tuple[ZeroedRows, ...]
    times: tuple[int, ...]


ReplacedRows = ReplacedStudentRows | ReplacedWishartRows  # no order of whose entries is known
ZeroedRows = (
    ShiftRows | SketchRows | ScaleRows | StudentRows | WishartRows | ReplacedRows | ComposedRows
)
