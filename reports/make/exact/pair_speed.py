"""Time of 100 ε of a Gaussian pair, both directions: after the eigendecomposition, and in all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit import exact
from dpaudit._core.types import Array
from dpaudit.exact.numerics.gaussian_axes import Axes
from dpaudit.exact.pairs.gaussian import diagonalise
from reports.make.timing import median_seconds

DIMENSIONS = (2, 12, 100, 500)
TARGET = {12: 0.020, 100: 0.060}  # seconds, after the eigendecomposition
POINTS, REPEATS = 100, 5
TAIL = 1e-30
Laws = tuple[Array, Array, Array, Array]


def rank_two(d: int, rng: np.random.Generator) -> Laws:
    """One row replaced: the covariance gains one direction and loses another; no shift."""
    cov = _covariance(d, rng)
    root = np.linalg.cholesky(cov)
    new, old = root @ np.linalg.qr(rng.standard_normal((d, 2)))[0].T[:, :, None]
    return np.zeros(d), cov, np.zeros(d), cov + 0.3 * new @ new.T - 0.2 * old @ old.T


def full_rank(d: int, rng: np.random.Generator) -> Laws:
    """Every variance ratio different, within e^{±1.2/√d}; a shift of half a standard deviation."""
    cov = _covariance(d, rng)
    axes = np.linalg.cholesky(cov) @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    ratio = np.exp(np.linspace(-1.2, 1.2, d) / np.sqrt(d))
    return np.zeros(d), cov, axes @ np.full(d, 0.5 / np.sqrt(d)), (axes * ratio) @ axes.T


def shifted(d: int, rng: np.random.Generator) -> Laws:
    """A shift of one standard deviation, and variances that differ by parts in a thousand."""
    mean1, cov, mean2, cov2 = full_rank(d, rng)
    return mean1, cov, 2.0 * mean2, cov + 1e-3 * (cov2 - cov)


def scaled(d: int, rng: np.random.Generator) -> Laws:
    """One common ratio of the variances: a χ² problem given as a matrix."""
    cov = _covariance(d, rng)
    return np.zeros(d), cov, np.zeros(d), (1.0 - 0.5 / np.sqrt(d)) * cov


KINDS: dict[str, Callable[[int, np.random.Generator], Laws]] = {
    "rank-2 change": rank_two,
    "full-rank change": full_rank,
    "shift": shifted,
    "one ratio": scaled,
}


def _covariance(d: int, rng: np.random.Generator) -> Array:
    factor = rng.standard_normal((d, d)) / np.sqrt(d) + np.eye(d)
    return np.asarray(factor @ factor.T)


def grids(axes: Axes) -> dict[str, Array]:
    """ε to 3, to 8, and to where the larger direction is about TAIL, at most 1000.

    A bounded loss ends the last one.
    """
    far = 1.0
    while far < 1000.0 and max(float(delta) for delta in axes.delta(far)) > TAIL:
        far *= 1.25
    return {
        "ε to 3": _grid(3.0),
        "ε to 8": _grid(8.0),
        f"ε to {far:.3g} (δ ~ {TAIL:g})": _grid(far),
    }


def _grid(end: float) -> Array:
    return np.linspace(0.0, end, POINTS)


def report() -> None:
    """Milliseconds after the eigendecomposition and in all, for each dimension, kind and grid."""
    print(
        f"{POINTS} ε of a Gaussian pair, both directions: ms after the eigendecomposition, and in "
        "all"
    )
    for d in DIMENSIONS:
        for kind, make in KINDS.items():
            laws = make(d, np.random.default_rng(d))
            axes = diagonalise(*laws)
            assert axes is not None
            for name, epsilon in grids(axes).items():
                alone = median_seconds(lambda: axes.delta(epsilon), REPEATS)  # noqa: B023
                whole = median_seconds(lambda: exact.gaussian_pair(*laws, epsilon), REPEATS)  # noqa: B023
                print(
                    f"d = {d:<4} {kind:<17} {name:<24} {1e3 * alone:8.1f}  "
                    f"{1e3 * whole:8.1f}{_verdict(d, alone)}"
                )


def _verdict(d: int, seconds: float) -> str:
    if d not in TARGET:
        return ""
    return f"   {'within' if seconds <= TARGET[d] else 'MISSES'} {1e3 * TARGET[d]:g} ms"
