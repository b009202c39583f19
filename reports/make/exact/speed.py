"""Seconds of exact curves: Gaussian pairs, and the worst case over all rows of a data set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit import datasets, exact, mechanisms
from dpaudit._core.types import Array
from dpaudit.exact.pairs.gaussian import Axes, diagonalise
from reports.make.timing import least_seconds, median_seconds

DIMENSIONS = (2, 12, 100, 500)
TARGET = {12: 0.020, 100: 0.060}  # seconds, after the eigendecomposition
POINTS = 100  # ε of a pair
TAIL = 1e-30
CURVE = np.linspace(0.0, 2.0, 50)  # ε of a worst case
REPEATS = 3
CASES = (("flight", 1200), ("flight", 1_000_000), ("cancer", 50), ("cancer", 200))
PICKED = 20  # rows that are evaluated one by one, to extrapolate
MECHANISMS: tuple[mechanisms.LawMechanism, ...] = (
    mechanisms.ALS(rows=1200),
    mechanisms.RPLS(rows=1200, padding=1e4),
    mechanisms.GaussianLS(sigma=0.01),
    mechanisms.RandomProjection(rows=1200, release="gram"),
    mechanisms.RandomProjection(rows=1200, release="gram", padding=1e4),
    mechanisms.GaussMix(rows=1200, sigma=1e4, release="gram"),
    mechanisms.WishartDraw(dof=1200, padding=1e4),
    mechanisms.InverseWishartDraw(dof=1200, padding=1e4),
    mechanisms.AdditiveWishart(dof=1200, scale=2e3),
    mechanisms.AnalyzeGauss(sigma=1e7),
    mechanisms.GaussianInverse(sigma=1e-9),
    mechanisms.SufficientStatistics(sigma_gram=1e7, sigma_cross=1e7),
    mechanisms.Composition(
        (mechanisms.GaussianLS(sigma=0.02), mechanisms.RandomProjection(rows=100))
    ),
)
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
    ends = {"ε to 3": 3.0, "ε to 8": 8.0, f"ε to {far:.3g} (δ ~ {TAIL:g})": far}
    return {name: np.linspace(0.0, end, POINTS) for name, end in ends.items()}


def pairs() -> None:
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
                alone = median_seconds(lambda: axes.delta(epsilon))  # noqa: B023
                whole = median_seconds(lambda: exact.gaussian_pair(*laws, epsilon))  # noqa: B023
                verdict = ""
                if d in TARGET:
                    word = "within" if alone <= TARGET[d] else "MISSES"
                    verdict = f"   {word} {1e3 * TARGET[d]:g} ms"
                print(
                    f"d = {d:<4} {kind:<17} {name:<24} {1e3 * alone:8.1f}  "
                    f"{1e3 * whole:8.1f}{verdict}"
                )


def worst_case() -> None:
    """ALS over FLIGHT and cancer: seconds after the factorisation, against going row by row.

    The latter is extrapolated from a few rows.
    """
    for name, rows in CASES:
        data = datasets.load(name).database
        mechanism = mechanisms.ALS(rows=rows)
        factor = least_seconds(lambda: mechanism.zeroed_rows(data))  # noqa: B023
        for law in ("finite", "asymptotic"):
            total = least_seconds(lambda: exact.worst_case(mechanism, data, CURVE, law=law))  # noqa: B023
            by_row = len(data) * _seconds_a_row(mechanism, data, law)
            print(
                f"worst_case {name:<7} r = {rows:<8} {law:<10} {len(data):,} rows x {len(CURVE)} "
                f"ε: {max(total - factor, 0):.3f} s after the QR ({factor:.3f} s); row by row "
                f"{by_row:.0f} s, ratio {by_row / max(total - factor, 1e-9):.2g}"
            )


def _seconds_a_row(mechanism: mechanisms.ALS, data: Array, law: str) -> float:
    family = mechanism.zeroed_rows(data)
    picked = np.linspace(0, len(data) - 1, PICKED).astype(int)
    statistics = [(float(family.leverage[i]), float(family.residual_share[i])) for i in picked]

    def each() -> None:
        for pair in statistics:
            exact.als(*pair, family.features, family.rows, CURVE, law)

    return least_seconds(each) / PICKED


def every_law() -> None:
    """Every row-separable law over all rows of FLIGHT, factorisation included.

    Seconds, and the row that is worst at ε = 0.
    """
    data = datasets.load("flight").database
    print(
        f"worst_case over {len(data):,} rows of FLIGHT x {len(CURVE)} ε, both directions, least "
        f"of {REPEATS} calls"
    )
    for mechanism in MECHANISMS:
        spent = least_seconds(lambda: exact.worst_case(mechanism, data, CURVE), REPEATS)  # noqa: B023
        worst = exact.worst_case(mechanism, data, CURVE)
        assert worst.index is not None
        print(
            f"  {mechanism.name:<24} {spent:6.3f} s   δ(0) = {worst.delta[0]:.4g}, δ(1) = "
            f"{worst.delta_at(1.0):.3g}, row {worst.index[0]}: {worst.law}"
        )
