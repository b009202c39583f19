"""The pairs of laws that zeroing a row gives, for ALL rows of a database at once.

The same families describe all replacements of rows by candidates, and the worst row within a bound
(one entry).
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit._core.check import Array


@dataclass(frozen=True, eq=False)
class ShiftRows:
    """Zeroing row i moves a Gaussian by `mu[i]` standard deviations."""

    mu: Array


@dataclass(frozen=True, eq=False)
class SketchRows:
    """Zeroing row i takes vvᵀ from the covariance of `rows` Gaussian rows, with q = `leverage[i]`.

    inverted : it takes vvᵀ from their PRECISION (inverse Wishart), which swaps the two directions.
    """

    leverage: Array
    rows: int
    inverted: bool = False


@dataclass(frozen=True, eq=False)
class ScaleRows:
    """Pair i changes the variance of `rows` Gaussian rows on two axes, by factors 1 + `up[i]` and 1
    − `down[i]`.

    inverted : the precision instead.
    """

    up: Array
    down: Array
    rows: int
    inverted: bool = False


@dataclass(frozen=True, eq=False)
class WishartRows:
    """Zeroing row i takes vvᵀ from AᵀA + W, W ~ Wishart_dim(V, dof), with `quadratic[i]` = vᵀV⁻¹v."""

    quadratic: Array
    dof: int
    dim: int


@dataclass(frozen=True, eq=False)
class StudentRows:
    """Zeroing row i of an ALS problem: leverage and residual share of each row, p features, r
    sketch rows.
    """

    leverage: Array
    residual_share: Array
    features: int
    rows: int


@dataclass(frozen=True, eq=False)
class ComposedRows:
    """Several releases of one database: part j, released `times[j]` times, on the same row i."""

    parts: tuple[ZeroedRows, ...]
    times: tuple[int, ...]


ZeroedRows = ShiftRows | SketchRows | ScaleRows | StudentRows | WishartRows | ComposedRows
