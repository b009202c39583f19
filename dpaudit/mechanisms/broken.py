"""Broken mechanisms: each violates the privacy claim that is made for it.

Each class has its claim, its true output law and a pair of databases on which the claim fails. The
order is: noise with a wrong scale, correct noise that is wrongly handled, noise in floats, least
squares, and the sparse vector technique.
"""

from __future__ import annotations

import hashlib
import math
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from dpaudit import laws
from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.claims import Claim
from dpaudit.errors import DegenerateData, NoExactSpectrum
from dpaudit.laws import (
    Branches,
    Density,
    Discrete,
    GaussianNoise,
    Law,
    Product,
    ReleasedAnswers,
    SharedLaplace,
)
from dpaudit.laws.density import (
    EXPONENTIAL,
    LEAST,
    Noise,
    gaussian_ratio,
    laplace_ratio,
    largest_value,
    panel_edges,
)
from dpaudit.laws.sparse_vector import noiseless_law, unlimited_law
from dpaudit.laws.vectors import laplace_log_cdf, laplace_log_density
from dpaudit.mechanisms.base import ExampleMechanism, column, example, pair_of
from dpaudit.mechanisms.least_squares import GaussianLS
from dpaudit.mechanisms.parameters import Count, Positive, UpToOne
from dpaudit.mechanisms.scatter import RandomProjection
from dpaudit.mechanisms.textbook import (
    AUDITORIUM,
    SWAPPED_HALVES,
    Gaussian,
    NoisyHistogram1,
    ReportNoisyMax1,
    SparseVector,
    TruncatedGeometric,
    bits_law,
    clipped_column,
)
from dpaudit.neighbours import NeighbourPair

MOST_ROWS = 16  # largest database of `MissingPassed`, whose law has a term per subset of rows


# --- noise with a wrong scale: on a count, a bit, a sum or a mean.
# Each class claims the privacy that the mechanism has with the right noise.


@example("a common slip: the wrong neighbouring relation, σ off by 2", sound=False)
class HalvedSensitivity(Gaussian):
    """Add noise calibrated for the sensitivity Δ/2 to a sum whose sensitivity is Δ.

    Rows lie in [−Δ/2, Δ/2]. Adding a row changes the sum by up to Δ/2, but replacing a row changes
    it by up to Δ, where Δ = `sensitivity`.
    """

    def noise(self, data: Array) -> float:
        return self.calibrated_noise(0.5 * self.sensitivity)

    def pair(self) -> NeighbourPair:
        rest, half = [0.0] * 9, 0.5 * self.sensitivity
        return pair_of([*rest, -half], [*rest, half])


@example(
    "a common slip: the sensitivity of one cell for that of the vector, σ off by √2", sound=False
)
class RootTwoSensitivity(Gaussian):
    """Add noise calibrated for the sensitivity 1 to a histogram whose sensitivity is √2.

    A row that moves from one cell to another changes both counts by 1. Data: (n, k), where each row
    is 1 at its cell and 0 elsewhere. Output: (size, k).
    """

    def law(self, data: Array) -> GaussianNoise:
        counts = data.sum(axis=0)
        return GaussianNoise(counts, np.full(len(counts), self.noise(data)))

    def pair(self) -> NeighbourPair:
        rest, size = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], self.sensitivity
        return pair_of([[size, 0.0, 0.0], *rest], [[0.0, size, 0.0], *rest])


@example("a common slip: the sensitivity of the mean for that of the sum, σ off by n", sound=False)
class MeanSensitivity(Gaussian):
    """Release a sum with noise calibrated for the mean, so that σ is too small by a factor n."""

    def noise(self, data: Array) -> float:
        return self.calibrated_noise(self.sensitivity / len(data))


@example("a common slip: variance and standard deviation", sound=False)
class VarianceForDeviation(Gaussian):
    """Pass σ to a sampler that expects a variance, so that the standard deviation is √σ."""

    def noise(self, data: Array) -> float:
        return float(np.sqrt(self.calibrated_noise(self.sensitivity)))


@example("Nissim, Raskhodnikova & Smith 2007, why local sensitivity will not do", sound=False)
class LocalSensitivity(Gaussian):
    """Scale the noise by the range of the private rows instead of a public bound on the range.

    A call raises `DegenerateData` when all rows are equal.
    """

    def noise(self, data: Array) -> float:
        spread = float(np.ptp(column(data)))
        if spread == 0.0:
            raise DegenerateData(
                "data must have rows that differ: the noise is scaled by their range, which is 0"
            )
        return self.calibrated_noise(spread)

    def pair(self) -> NeighbourPair:
        return pair_of([0.0, 0.1, 0.2, 0.3, 0.2], [0.0, 0.1, 0.2, 0.3, self.sensitivity])


@example("Ding et al. 2018, algorithm 10", sound=False)
class NoisyHistogram2(NoisyHistogram1):
    """Add Laplace noise of scale ε to counts, where 1/ε is right: the release is (1/ε)-DP."""

    @property
    def scale(self) -> float:
        return self.epsilon


@example("Balcer & Vadhan 2018, algorithm 4.8, as coded by Bichsel et al. 2021", sound=False)
class NaturalLogGeometric(TruncatedGeometric):
    """GeoSample with k = ⌈ln(2/ε)⌉ instead of ⌈log₂(2/ε)⌉: for ε = 0.1 it is only 0.118-DP."""

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    @property
    def exponent(self) -> int:
        return math.ceil(math.log(2.0 / self.epsilon))


@example("Warner 1965 with two coins", sound=False)
class UnequalCoin(ExampleMechanism):
    """Randomised response that keeps a 1 with probability e^ε/(1 + e^ε), but flips a 0 with `flip`.

    Data: bits, (n, 1). Output: (size, n).
    """

    epsilon: Positive = 1.0
    flip: UpToOne = 0.1
    databases = [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        ones = self._probability_of_one(data)
        return (rng.random((size, len(ones))) < ones).astype(np.float64)

    def law(self, data: Array) -> Product:
        return bits_law(self._probability_of_one(data))

    def _probability_of_one(self, data: Array) -> Array:
        keep = 1.0 / (1.0 + np.exp(-self.epsilon))
        return np.where(column(data) == 1.0, keep, self.flip)


# The data of a mean are one column of n rows in [0, 1] with the sum S, and a neighbour has one row
# more. `NonDP…1` uses the true n in the mean and in the noise, `NonDP…2` only in the mean. They are
# audited by DP-Auditorium and by sequential tests in the literature.


@value_class(show_numbers=True, eq=True)
class NonDPLaplace1(ExampleMechanism):
    """Release S/n + Lap(2/(nε)), where the row count n has no noise. Output: (size, 1)."""

    epsilon: Positive = 0.01
    sound = False
    source = AUDITORIUM
    databases = [0.0], [0.0, 1.0]

    @property
    def scale(self) -> float:
        return 2.0 / self.epsilon

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return laws.Laplace(np.array([rows.mean()]), np.array([self.scale / len(rows)]))


@value_class(show_numbers=True, eq=True)
class NonDPLaplace2(NonDPLaplace1):
    """Release S/n + Lap(2/(ñε)), ñ = max(n + Lap(2/ε), 1e-12): the mean S/n has the true n."""

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        count = np.maximum(len(rows) + rng.laplace(0.0, self.scale, (size, 1)), LEAST)
        return np.asarray(rows.mean() + rng.laplace(0.0, self.scale / count))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return laplace_ratio(0.0, float(len(rows)), self.scale, float(rows.mean()))


@value_class(show_numbers=True, eq=True)
class NonDPGaussian1(NonDPLaplace1):
    """Release S/n + N(0, (2/(nε))²), claimed to be (ε, δ)-DP."""

    delta: UpToOne = 1e-5

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return GaussianNoise(np.array([rows.mean()]), np.array([self.scale / len(rows)]))


@value_class(show_numbers=True, eq=True)
class NonDPGaussian2(NonDPGaussian1):
    """Release S/n + N(0, (2/(ñε))²), ñ = max(n + N(0, (2/ε)²), 1e-12); the claim is (ε, δ)-DP."""

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        count = np.maximum(len(rows) + self.scale * rng.standard_normal((size, 1)), LEAST)
        return np.asarray(rows.mean() + self.scale / count * rng.standard_normal((size, 1)))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return gaussian_ratio(0.0, float(len(rows)), self.scale, float(rows.mean()))


# --- correct noise that is wrongly handled, or that is released where only a selection may be


@example("a common slip: one draw of noise for two queries", sound=False)
class ReusedNoise(ExampleMechanism):
    """Release the sums of k columns, all with the SAME draw of Laplace noise of scale k/ε.

    The differences of the sums therefore have no noise. Data: (n, k) in [0, 1]. Output: (size, k).
    """

    epsilon: Positive = 1.0
    databases = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]

    def law(self, data: Array) -> SharedLaplace:
        return SharedLaplace(data.sum(axis=0), data.shape[1] / self.epsilon)


@example("a common slip: answers cached by a hash of the data", sound=False)
class CachedNoise(ExampleMechanism):
    """Release a sum with Laplace noise of scale 1/ε whose seed is a hash of the data.

    The noise is therefore always the same for the same data. Data: one column. Output: (size, 1).
    """

    epsilon: Positive = 1.0
    databases = [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]

    def law(self, data: Array) -> Discrete:
        digest = hashlib.sha256(np.ascontiguousarray(data).tobytes()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "little"))
        answer = column(data).sum() + rng.laplace(0.0, 1.0 / self.epsilon)
        return Discrete(np.array([answer]), np.zeros(1))


@example("a common slip: clipping after use", sound=False)
class LateClipping(ExampleMechanism):
    """Clip the noisy sum to [0, nC] instead of clipping the rows to [0, C] before summing them.

    The Laplace noise has scale C/ε, where C = `bound`. Data: one column. Output: (size, 1).
    """

    epsilon: Positive = 1.0
    bound: Positive = 1.0
    databases = [0.0, 0.0, 1.0, 1.0, 0.0], [4.0, 0.0, 1.0, 1.0, 0.0]

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = column(data)
        return np.clip(
            rows.sum() + rng.laplace(0.0, self.bound / self.epsilon, (size, 1)),
            0.0,
            len(rows) * self.bound,
        )

    def law(self, data: Array) -> Density:
        total, high = float(column(data).sum()), len(data) * self.bound
        scale = self.bound / self.epsilon

        def log_p(x: Array) -> Array:
            return laplace_log_density((x - total) / scale) - np.log(scale)

        ends = panel_edges(np.clip(np.array([total]), 0.0, high), scale, low=0.0, high=high)
        atoms = laplace_log_cdf(np.array([-total, total - high]) / scale)
        return Density(log_p, ends, np.array([0.0, high]), atoms)


@example("a common slip: a missing value passed through", sound=False)
class MissingPassed(ExampleMechanism):
    """Release a sum of ratios clipped to [0, 1] with Laplace noise of scale 1/ε, or NaN.

    The ratio of a row (0, 0) is NaN, and neither clipping nor noise changes that. Data: (n, 2),
    numerators and denominators, n ≤ 16. Output: (size, 1). Each row is sampled with probability
    `rate`, which lowers the claimed ε to ln(1 + rate·(e^ε − 1)).
    """

    epsilon: Positive = 1.0
    rate: UpToOne = 1.0
    databases = [[1.0, 2.0], [0.0, 4.0]], [[1.0, 2.0], [0.0, 0.0]]

    @property
    def claim(self) -> Claim:
        return Claim(float(np.log1p(self.rate * np.expm1(self.epsilon))))

    def _ratios(self, data: Array) -> Array:
        data = check.matrix("data", data, 1, 2)
        if data.shape[1] != 2 or len(data) > MOST_ROWS:
            fail("data", Words(f"shape {data.shape}"), f"two columns and at most {MOST_ROWS} rows")
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.clip(data[:, 0] / data[:, 1], 0.0, 1.0)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        sampled = rng.random((size, len(data))) < self.rate
        sums = np.where(sampled, self._ratios(data), 0.0).sum(axis=1, keepdims=True)
        return np.asarray(sums + rng.laplace(0.0, 1.0 / self.epsilon, (size, 1)))

    def law(self, data: Array) -> Branches:
        ratios = self._ratios(data)
        missing = int(np.isnan(ratios).sum())
        with np.errstate(divide="ignore"):
            no_nan = missing * np.log1p(-self.rate) if missing else 0.0
            log_probability = np.array([no_nan, np.log(-np.expm1(no_nan))])
        parts = (self._without_nan(ratios[~np.isnan(ratios)]), None)
        return Branches(np.full((2, 1), np.nan), log_probability, ((0,), ()), parts)

    def _without_nan(self, ratios: Array) -> Density:
        """The law of the noisy sum of a random subset of finite `ratios`."""
        sums = {0.0: 1.0}
        for ratio in ratios:
            moved: dict[float, float] = {}
            for total, chance in sums.items():
                moved[total] = moved.get(total, 0.0) + chance * (1.0 - self.rate)
                moved[total + ratio] = moved.get(total + ratio, 0.0) + chance * self.rate
            sums = {total: chance for total, chance in moved.items() if chance > 0.0}
        at, log_weight = np.array(list(sums)), np.log(list(sums.values()))
        log_scale = float(np.log(self.epsilon))

        def log_p(x: Array) -> Array:
            noise = laplace_log_density((x[:, None] - at) * self.epsilon)
            return np.asarray(logsumexp(noise + log_weight, axis=1) + log_scale)

        return Density(log_p, panel_edges(at, 1.0 / self.epsilon))


@example("Ding et al. 2018, algorithm 7", sound=False)
class ReportNoisyMax3(ReportNoisyMax1):
    """Release the value, not the index, of the largest answer after Laplace noise of scale 2/ε.

    The privacy loss reaches n·ε/2 in the lower tail of the output. Data: answers, (n, 1). Output:
    (size, 1).
    """

    databases = [0.0] * 5, [1.0] * 5

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(self.noisy(data, size, rng).max(axis=1)[:, None])

    def law(self, data: Array) -> Law:
        return largest_value(column(data), self.noise, 2.0 / self.epsilon)


@example("Ding et al. 2018, algorithm 8", sound=False)
class ReportNoisyMax4(ReportNoisyMax3):
    """Release the value, not the index, of the largest answer after exponential noise, scale 2/ε.

    No output lies below the largest true answer, so the privacy loss can be infinite.
    """

    noise: ClassVar[Noise] = EXPONENTIAL
    databases = [1.0] * 5, [2.0] * 5


# --- noise in floats


@example("Mironov 2012", sound=False)
class FloatLaplace(ExampleMechanism):
    """Release answer ± ln(u)/ε, computed in float64 with a uniform u that is a multiple of 2⁻⁵³.

    Data: one whole number, (1, 1). Output: (size, 1).

    The noise has at most 2⁵⁴ values, with gaps between them. About 65 % of the outputs for the
    answer 0 are impossible for the answer 1, and vice versa, so the pure ε is infinite and δ(ε) ≥
    0.65 or so. The last bits tell: for an answer other than 0 every output is a multiple of 2⁻⁵³,
    and for the answer 0 noise of size below ½ has finer bits.
    """

    epsilon: Positive = 0.1
    databases = [0.0], [1.0]

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        sign = 1.0 - 2.0 * rng.integers(0, 2, (size, 1))
        return column(data)[0] + sign * np.log(1.0 - rng.random((size, 1))) / self.epsilon

    def law(self, data: Array) -> Law:
        raise NoExactSpectrum(
            f"{self.name} has no exact spectrum: which floats two answers have in common is not "
            "known in closed form, and the law over the real numbers, that of textbook.Laplace, "
            "leaks less; use dpaudit.audit with bits=True"
        )


# --- least squares with a noise scale that is wrong or computed from the private data (n, p + 1)


def line_with_outlier(size: float) -> NeighbourPair:
    """24 points about a line, the last label moved by `size`, and the same with that row zeroed."""
    x = np.linspace(-1.0, 1.0, 24)
    data = np.column_stack([np.ones_like(x), x, 0.5 * x + 0.3 * np.cos(7.0 * np.arange(24.0))])
    data[-1, -1] += size
    right = data.copy()
    right[-1] = 0.0
    return NeighbourPair(data, right)


@example("paper 1, proposition 2, with σ² for σ", sound=False)
class SquaredNoiseLS(ExampleMechanism):
    """Release the least-squares solution x_opt plus N(0, (σ²)²I) instead of N(0, σ²I).

    σ = Δ√(2 ln(1.25/δ))/ε < 1, so the noise is too small. Δ = `sensitivity` bounds the change of
    x_opt between neighbours; the databases of `pair` satisfy this bound. Output: (size, p).
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3
    sensitivity: Positive = 0.05

    def law(self, data: Array) -> laws.Gaussian:
        right = GaussianLS(epsilon=self.epsilon, delta=self.delta, sensitivity=self.sensitivity)
        return GaussianLS(sigma=right.noise**2).law(data)

    def pair(self) -> NeighbourPair:
        return line_with_outlier(0.0)


@example("paper 1, proposition 2, with the sensitivity read off the residuals", sound=False)
class ResidualScaleLS(ExampleMechanism):
    """Release the least-squares solution plus N(0, σ²I), with σ computed from the residuals w.

    σ = ‖w‖/n·√(2 ln(1.25/δ))/ε. The residuals are private and do not bound the change that one row
    can make, and the noise itself depends on the data. Output: (size, p).
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3

    def law(self, data: Array) -> laws.Gaussian:
        error = least_squares(data).norm / len(data)
        sigma = error * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon
        return GaussianLS(sigma=sigma).law(data)

    def pair(self) -> NeighbourPair:
        return line_with_outlier(6.0)


@example("paper 4, algorithm 1, with B read off the data", sound=False)
class RowBoundProjection(ExampleMechanism):
    """Release (ΠA′)ᵀΠA′ for the data A′ padded by w·I, with w set by the largest PRIVATE row norm.

    Π is an r × n standard normal matrix with r = `rows`. w² = 4B²(√(2r ln(4/δ)) + ln(4/δ))/ε, where
    B is the largest row norm. Output: (size, (p + 1)(p + 2)/2), upper triangles.
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3
    rows: Count = 50

    def law(self, data: Array) -> Law:
        bound, log = float(np.linalg.norm(data, axis=1).max()), math.log(4.0 / self.delta)
        padding = 2.0 * bound * math.sqrt((math.sqrt(2.0 * self.rows * log) + log) / self.epsilon)
        return RandomProjection(self.rows, "gram", padding).law(data)

    def pair(self) -> NeighbourPair:
        return line_with_outlier(1.0)


# --- sparse vector techniques, numbered as by Lyu, Su & Li 2017: 3 to 6, and 3 beside 4


@example("Lyu, Su & Li 2017, algorithm 3 (Roth's lecture notes 2011)", sound=False)
class SparseVector3(SparseVector):
    """Release the same noisy answer that reached the threshold, which bounds the noisy threshold.

    The Laplace scales are 1/ε₁ (threshold) and c/ε₂ (queries), ε₁ = ε₂ = ε/2. Output: (size,
    n + 1), the number of queries handled, then the answer of each query above, and NaN elsewhere.
    """

    noises = (2.0, False), (2.0, True)

    def law(self, data: Array) -> Law:
        return ReleasedAnswers(self.comparison(data), self.most)

    def released(self, answer: Array, above: np.ndarray) -> Array:
        return np.where(above, answer, np.nan)


@example("Lyu, Su & Li 2017, algorithm 4 (Lee & Clifton 2014)", sound=False)
class SparseVector4(SparseVector):
    """Sparse vector with scales 1/ε₁ and 1/ε₂, ε₁ = ε/4, ε₂ = 3ε/4: only ((1 + 6c)/4·ε)-DP."""

    noises = (4.0, False), (4.0 / 3.0, False)


@example("Lyu, Su & Li 2017, algorithm 5 (Stoddard, Chen & Machanavajjhala 2014)", sound=False)
class SparseVector5(SparseVector):
    """Compare answers without noise to a threshold with Laplace noise of scale 2/ε, and never halt.

    If two answers are in opposite order on the two databases, the output that one database gives
    when the noisy threshold falls between them is impossible on the other. Output: (size, n).
    """

    noises = (2.0, False), (0.0, False)

    def law(self, data: Array) -> Law:
        return noiseless_law(column(data), self.threshold, self.scales[0])

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rho = rng.laplace(0.0, self.scales[0], (size, 1))
        return (column(data) >= self.threshold + rho).astype(np.float64)


@example("Lyu, Su & Li 2017, algorithm 6 (Chen et al. 2015)", sound=False)
class SparseVector6(SparseVector):
    """Sparse vector with scales 1/ε₁ and 1/ε₂, ε₁ = ε₂ = ε/2, without a halt. Output: (size, n)."""

    noises = (2.0, False), (2.0, False)
    databases = SWAPPED_HALVES

    def law(self, data: Array) -> Law:
        return unlimited_law(self.comparison(data))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        queries, (threshold_noise, query_noise) = column(data), self.scales
        rho = rng.laplace(0.0, threshold_noise, (size, 1))
        noisy = queries + rng.laplace(0.0, query_noise, (size, len(queries)))
        return (noisy >= self.threshold + rho).astype(np.float64)


@example("Bichsel et al. 2021, SVT34Parallel", sound=False)
class SVT34Parallel(SparseVector):
    """Run `SparseVector3` and `SparseVector4` on the same queries; release both. (size, 2n + 2)."""

    most: Count = 2

    @property
    def _both(self) -> tuple[SparseVector3, SparseVector4]:
        parameters = (self.epsilon, self.most, self.threshold)
        return SparseVector3(*parameters), SparseVector4(*parameters)

    def law(self, data: Array) -> Product:
        return Product(tuple(part.law(data) for part in self._both))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.hstack([part.run(data, size, rng) for part in self._both])


__all__ = sorted(
    name
    for name, kind in globals().items()
    if getattr(kind, "__module__", "") == __name__ and hasattr(kind, "source")
)
