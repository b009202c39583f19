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
    """Zeroing row i moves the mean of a Gaussian by `mu[i]` standard deviations; mu (n,)."""

    mu: Array


@value_class
class SketchRows:
    """Zeroing row i takes vvᵀ from the covariance Σ of `rows` Gaussian rows.

    leverage, room : (n,), q = vᵀΣ⁻¹v and 1 − q. inverted : whether vvᵀ is taken from their
    PRECISION instead (inverse Wishart), which swaps the two directions.
    """

    leverage: Array
    room: Array
    rows: int
    inverted: bool = False


@value_class
class ScaleRows:
    """Pair i changes the variance of `rows` Gaussian rows on two axes.

    up, down : (n,); the factor is 1 + up on one axis and 1 − down on the other. inverted : whether
    it is the precision that changes.
    """

    up: Array
    down: Array
    rows: int
    inverted: bool = False


@value_class
class WishartRows:
    """Zeroing row i takes vvᵀ from AᵀA + W, W ~ Wishart_dim(V, dof); quadratic (n,) is vᵀV⁻¹v."""

    quadratic: Array
    dof: int
    dim: int


@value_class
class StudentRows:
    """Zeroing row i of a least-squares problem that is solved on a Gaussian sketch (ALS).

    leverage, residual_share, room, share_room : (n,), the first two and 1 minus each. features,
    rows : the number of features p, and of rows r of the sketch.
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
    """

    old: Array
    new: Array
    dof: int
    dim: int


@value_class
class ReplacedStudentRows:
    """Pair i replaces a row of a least-squares problem that is solved on a Gaussian sketch (ALS).

    Where [B, b] has the Gram matrix I, that of the other database has the eigenvalues 1 + `up[i]`
    and 1 − `down[i]`, and else 1; inner_up and inner_down are the same for the features B alone.
    """

    up: Array
    down: Array
    inner_up: Array
    inner_down: Array
    features: int
    rows: int


@value_class
class ComposedRows:
    """Several releases of one database: part j, released `times[j]` times, on the same row i."""

    parts: tuple[ZeroedRows, ...]
    times: tuple[int, ...]


ReplacedRows = (
    ReplacedStudentRows | ReplacedWishartRows
)  # kinds of families whose entries cannot be ranked by privacy loss
ZeroedRows = (
    ShiftRows | SketchRows | ScaleRows | StudentRows | WishartRows | ReplacedRows | ComposedRows
)
