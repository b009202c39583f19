"""The pairs of laws that zeroing a row gives, for ALL rows of a database at once.

The same families describe all replacements of rows by candidates, one entry for each pair of a row
and a candidate, and the worst row within a bound, a family of one entry.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit._core.shown.short_repr import shape_repr
from dpaudit._core.types import Array


@dataclass(frozen=True, eq=False)
class ShiftRows:
    """Zeroing row i moves the mean of a Gaussian by `mu[i]` standard deviations."""

    mu: Array

    __repr__ = shape_repr


@dataclass(frozen=True, eq=False)
class SketchRows:
    """Zeroing row i takes vvᵀ from the covariance Σ of `rows` Gaussian rows.

    leverage, room : (n,), q_i = vᵀΣ⁻¹v of row i and 1 − q_i, each to its own relative accuracy.
    inverted : vvᵀ is taken from their PRECISION instead (inverse Wishart), which swaps the two
        directions.
    """

    leverage: Array
    room: Array
    rows: int
    inverted: bool = False

    __repr__ = shape_repr


@dataclass(frozen=True, eq=False)
class ScaleRows:
    """Pair i changes the variance of `rows` Gaussian rows on two axes.

    up, down : (n,); the variances change by the factors 1 + `up[i]` and 1 − `down[i]`.
    inverted : the precision changes instead.
    """

    up: Array
    down: Array
    rows: int
    inverted: bool = False

    __repr__ = shape_repr


@dataclass(frozen=True, eq=False)
class WishartRows:
    """Zeroing row i takes vvᵀ from AᵀA + W, W ~ Wishart_dim(V, dof).

    quadratic : (n,), vᵀV⁻¹v of row i.
    """

    quadratic: Array
    dof: int
    dim: int

    __repr__ = shape_repr


@dataclass(frozen=True, eq=False)
class StudentRows:
    """Zeroing row i of a least-squares problem that is solved on a Gaussian sketch (ALS).

    leverage, residual_share : (n,), of each row; room, share_room : 1 − these, each to its own
        relative accuracy. features : p. rows : r, of the sketch.
    """

    leverage: Array
    residual_share: Array
    room: Array
    share_room: Array
    features: int
    rows: int

    __repr__ = shape_repr


@dataclass(frozen=True, eq=False)
class ReplacedWishartRows:
    """Pair i has vvᵀ in place of uuᵀ beside W ~ Wishart_dim(V, dof).

    old, new : (n,); V^{−½}(vvᵀ − uuᵀ)V^{−½} has the eigenvalues `old[i]` and −`new[i]`, and else 0.
    """

    old: Array
    new: Array
    dof: int
    dim: int

    __repr__ = shape_repr


@dataclass(frozen=True, eq=False)
class ReplacedStudentRows:
    """Pair i replaces a row of a least-squares problem that is solved on a Gaussian sketch (ALS).

    up, down : (n,); where [B, b] has the Gram matrix I, that of the other database has the
        eigenvalues 1 + `up[i]` and 1 − `down[i]`, and else 1.
    inner_up, inner_down : (n,), the same of the features B alone.
    features : p. rows : r, of the sketch.
    """

    up: Array
    down: Array
    inner_up: Array
    inner_down: Array
    features: int
    rows: int

    __repr__ = shape_repr


@dataclass(frozen=True, eq=False)
class ComposedRows:
    """Several releases of one database: part j, released `times[j]` times, on the same row i."""

    parts: tuple[ZeroedRows, ...]
    times: tuple[int, ...]

    __repr__ = shape_repr


ReplacedRows = ReplacedStudentRows | ReplacedWishartRows  # no order of whose entries is known
ZeroedRows = (
    ShiftRows | SketchRows | ScaleRows | StudentRows | WishartRows | ReplacedRows | ComposedRows
)
