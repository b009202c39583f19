"""The pairs of laws that zeroing a row gives, for ALL rows of a database at once.

The same families describe all replacements of rows by candidates, one entry for each pair of a row
and a candidate, and the worst row within a bound, a family of one entry. A field named "room" is
1 minus another field; both are stored, so that neither loses digits.
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
    leverage, room : arrays of shape (n,)
        qᵢ = vᵀΣ⁻¹v of row i, and 1 − qᵢ.
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
    up, down : arrays of shape (n,)
        The variance changes by the factor 1 + `up[i]` on one axis and 1 − `down[i]` on the other.
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
    dof, dim : int
        Degrees of freedom of W, and its number of rows and columns.
    """

    quadratic: Array
    dof: int
    dim: int


@value_class
class StudentRows:
    """Zeroing row i of a least-squares problem that is solved on a Gaussian sketch (ALS).

    Parameters
    ----------
    leverage, residual_share, room, share_room : arrays of shape (n,)
        The leverage and the residual share of each row, and 1 minus each of the two.
    features, rows : int
        The number of features p, and of rows r of the sketch.
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
    old, new : arrays of shape (n,)
        The positive eigenvalues, and the absolute values of the negative ones.
    dof, dim : int
        Degrees of freedom of W, and its number of rows and columns.
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
    up, down : arrays of shape (n,)
        By how much the larger eigenvalue exceeds 1, and the smaller one falls below it.
    inner_up, inner_down : arrays of shape (n,)
        The same two numbers for the Gram matrix of the features B alone.
    features, rows : int
        The number of features p, and of rows r of the sketch.
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


ReplacedRows = (
    ReplacedStudentRows | ReplacedWishartRows
)  # kinds of families whose entries cannot be ranked by privacy loss
ZeroedRows = (
    ShiftRows | SketchRows | ScaleRows | StudentRows | WishartRows | ReplacedRows | ComposedRows
)
