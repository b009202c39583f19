"""Mechanisms from textbooks and published audits whose privacy claims are true.

Each class has its output law, its claim and a pair of databases on which the privacy loss reaches
the claim. The order is: noise added to answers, selection, means whose number of rows is private,
randomised response, and the sparse vector technique.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from scipy.special import log_softmax

from dpaudit import laws
from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves import readings
from dpaudit.curves.claims import Claim
from dpaudit.laws import Branches, Density, Discrete, GaussianNoise, Law, NoisyComparison, Product
from dpaudit.laws.density import (
    EXPONENTIAL,
    LAPLACE,
    LEAST,
    Noise,
    gaussian_ratio,
    laplace_ratio,
    largest_index,
)
from dpaudit.laws.sparse_vector import halting_law, patterns
from dpaudit.mechanisms.base import ExampleMechanism, column, example, pair_of
from dpaudit.mechanisms.parameters import Count, Finite, Positive, UpToOne
from dpaudit.neighbours import NeighbourPair

AUDITORIUM = "Kong et al. 2024 (DP-Auditorium) and González et al. 2025, additive noise for a mean"
HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio (Knuth)
SWAPPED_HALVES = [1.0] * 5 + [0.0] * 5, [0.0] * 5 + [1.0] * 5
HALF_UP_HALF_DOWN = [1.0] * 10, [2.0] * 5 + [0.0] * 5  # answers move by 1, half of them each way


@example("Dwork, McSherry, Nissim & Smith 2006")
class Laplace(ExampleMechanism):
    """Release one answer of sensitivity 1 with Laplace noise of scale 1/ε.

    Data: the answer, (1, 1). Output: (size, 1).
    """

    epsilon: Positive = 0.1
    databases = [1.0], [2.0]

    @property
    def scale(self) -> float:
        """The scale 1/ε of the noise; a broken subclass returns another value."""
        return 1.0 / self.epsilon

    def law(self, data: Array) -> laws.Laplace:
        """The law of `view(output)`."""
        answers = column(data)
        return laws.Laplace(answers, np.full(len(answers), self.scale))


@example("Ding et al. 2018, algorithm 9")
class NoisyHistogram1(Laplace):
    """Release counts with Laplace noise of scale 1/ε; neighbours differ by 1 in one count.

    Data: the counts, (n, 1). Output: (size, n).
    """

    databases = [1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0]


@example("Bichsel et al. 2021, LaplaceParallel")
class LaplaceParallel(ExampleMechanism):
    """Release one answer `copies` times, each with Laplace noise of scale 1/ε: (copies·ε)-DP.

    Data: the answer, (1, 1). Output: (size, copies).
    """

    epsilon: Positive = 0.005
    copies: Count = 20
    databases = [1.0], [0.0]

    @property
    def claim(self) -> Claim:
        return Claim(self.copies * self.epsilon)

    def law(self, data: Array) -> laws.Laplace:
        answers = np.repeat(column(data), self.copies)
        return laws.Laplace(answers, np.full(self.copies, 1.0 / self.epsilon))


@example("Wang et al. 2019, PrefixSum; all answers may differ as in Bichsel et al. 2021")
class PrefixSum(Laplace):
    """Release the running sums of answers that each have Laplace noise of scale 1/ε.

    The sums determine the noisy answers and are determined by them. So the release is ε-DP if one
    answer may differ by 1 between neighbours, and n·ε-DP (claimed here) if all n answers may.
    Data: the answers, (n, 1). Output: (size, n).
    """

    answers: Count = 10

    @property
    def claim(self) -> Claim:
        return Claim(self.answers * self.epsilon)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.cumsum(super().run(data, size, rng), axis=1)

    def view(self, x: Array) -> Array:
        """The noisy answers (m, n) behind outputs (m, n): the differences of adjacent sums."""
        return np.diff(x, axis=1, prepend=0.0)

    def pair(self) -> NeighbourPair:
        return pair_of([1.0] * self.answers, [0.0] * self.answers)


@example("Balle & Wang 2018, the analytic Gaussian mechanism")
class Gaussian(ExampleMechanism):
    """Release a sum with noise N(0, σ²), where σ is the least that gives (ε, δ)-DP.

    Source of σ: Balle & Wang 2018. Data: one column, whose rows differ by at most `sensitivity`.
    Output: (size, 1).
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3
    sensitivity: Positive = 1.0

    def calibrated_noise(self, sensitivity: float) -> float:
        """σ = sensitivity/μ for the μ at which μ-GDP gives exactly (ε, δ)-DP."""
        return sensitivity / float(readings.gdp_mu(np.array(self.epsilon), np.array(self.delta)))

    def noise(self, data: Array) -> float:
        """The standard deviation of the noise; a broken subclass returns a wrong one."""
        return self.calibrated_noise(self.sensitivity)

    def law(self, data: Array) -> GaussianNoise:
        return GaussianNoise(np.array([column(data).sum()]), np.array([self.noise(data)]))

    def pair(self) -> NeighbourPair:
        rest = [0.0] * 9
        return pair_of([*rest, 0.0], [*rest, self.sensitivity])


@example("Balcer & Vadhan 2018, algorithm 4.8")
class TruncatedGeometric(ExampleMechanism):
    """GeoSample: release a count in 0, …, n with truncated geometric noise, where n = `limit`.

    It inverts the distribution function in whole-number arithmetic. With k = ⌈log₂(2/ε)⌉ it is
    ln(1 + 2^{−k})-DP, as claimed here, and hence ε-DP. Data: the count, (1, 1). Output: (size, 1).
    """

    epsilon: Positive = 0.1
    limit: Count = 5
    databases = [2.0], [1.0]

    @property
    def exponent(self) -> int:
        return math.ceil(math.log2(2.0 / self.epsilon))

    @property
    def claim(self) -> Claim:
        return Claim(math.log1p(2.0**-self.exponent))

    def below(self, data: Array) -> list[int]:
        """[F(0), …, F(n)], where F(z) of the whole numbers 1, …, F(n) give an output ≤ z.

        Raises `InvalidInput` for a count outside 0, …, n.
        """
        count, n, k = int(column(data)[0]), self.limit, self.exponent
        if not 0 <= count <= n:
            fail("data", Words("another"), f"a count in 0, ..., {n}")
        total = (2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1)
        down = [2 ** (k * (count - z)) * (2**k + 1) ** (n - (count - z)) for z in range(count)]
        up = [
            total - 2 ** (k * (z - count + 1)) * (2**k + 1) ** (n - 1 - (z - count))
            for z in range(count, n)
        ]
        return [*down, *up, total]

    def law(self, data: Array) -> Discrete:
        below = self.below(data)
        steps = [b - a for a, b in zip([0, *below[:-1]], below, strict=True)]
        log_p = np.log(np.array([step / below[-1] for step in steps]))
        return Discrete(np.arange(float(len(below))), log_p)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw a uniform whole number u from 1 to F(n) and return the least z with F(z) ≥ u."""
        below = self.below(data)
        u = rng.integers(1, below[-1] + 1, size)
        return np.searchsorted(np.array(below), u, side="left").astype(np.float64)[:, None]


# --- selection


@example("Ding et al. 2018, algorithm 5")
class ReportNoisyMax1(ExampleMechanism):
    """Release the index of the largest answer after Laplace noise of scale 2/ε on each.

    Data: answers that differ by at most 1 between neighbours, (n, 1). Output: (size, 1).
    """

    epsilon: Positive = 0.1
    noise: ClassVar[Noise] = LAPLACE
    databases = [1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 2.0, 2.0, 2.0]

    def noisy(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        answers = column(data)
        return answers + self.noise.sample(rng, 2.0 / self.epsilon, (size, len(answers)))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.noisy(data, size, rng).argmax(axis=1, keepdims=True).astype(np.float64)

    def law(self, data: Array) -> Law:
        return largest_index(column(data), self.noise, 2.0 / self.epsilon)


@example("Ding et al. 2018, algorithm 6")
class ReportNoisyMax2(ReportNoisyMax1):
    """Release the index of the largest answer after exponential noise of scale 2/ε on each."""

    noise: ClassVar[Noise] = EXPONENTIAL


@example("Smith 2011; McSherry & Talwar 2007, the exponential mechanism")
class PrivateQuantile(ExampleMechanism):
    """Choose a quantile from a grid of [0, 1] by the exponential mechanism.

    A grid point g is the middle of one of `points` equal cells. Its probability is proportional to
    ``e^{εu(g)/2}`` with the utility ``u(g) = −|#{x ≤ g} − share·n|``, so that about the fraction
    `share` in (0, 1) of the n rows lies below the output. Data: (n, 1). Output: (size, 1).
    """

    epsilon: Positive = 2.0
    share: Finite = 0.5
    points: Count = 64
    # Utility is largest at rank 10. On the left database the rank is 9 on the first eighth of the
    # grid and 10 on the rest; on the right one it is 10 and 11, since one row moves from 1 to 0.
    databases = [0.0] * 9 + [0.125] + [1.0] * 10, [0.0] * 10 + [0.125] + [1.0] * 9

    def law(self, data: Array) -> Discrete:
        rows, grid = np.sort(column(data)), (np.arange(self.points) + 0.5) / self.points
        utility = -np.abs(np.searchsorted(rows, grid, side="right") - self.share * len(rows))
        return Discrete(grid, np.asarray(log_softmax(0.5 * self.epsilon * utility)))


# --- means of rows in [0, 1] whose number is private too, so that the sum S of the rows and their
# number n both get noise. The data are one column, and a neighbour has one row more. Published
# sequential audits report results for the databases (0) and (0, 1).


@value_class(show_numbers=True, eq=True)
class DPLaplace(ExampleMechanism):
    """Release S/ñ + Lap(2/(ñε)), where S is the sum of n rows and ñ = max(n + Lap(2/ε), 1e-12).

    The sum and the count take ε/2 each. Output: (size, 1).
    """

    epsilon: Positive = 0.01
    source = AUDITORIUM
    databases = [0.0], [0.0, 1.0]

    @property
    def scale(self) -> float:
        return 2.0 / self.epsilon

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        count = np.maximum(len(rows) + rng.laplace(0.0, self.scale, (size, 1)), LEAST)
        return np.asarray(rows.sum() / count + rng.laplace(0.0, self.scale / count))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return laplace_ratio(float(rows.sum()), float(len(rows)), self.scale)


@value_class(show_numbers=True, eq=True)
class DPGaussian(ExampleMechanism):
    """Release (S + N(0, σ²))/max(n + N(0, σ²), 1e-12), where S is the sum of n rows.

    σ = 2√(2 ln(2.5/δ))/ε: the sum and the count take ε/2 and δ/2 each. The textbook formula for σ
    is proved for ε ≤ 1. Output: (size, 1).
    """

    epsilon: Positive = 0.01
    delta: UpToOne = 1e-5
    source = AUDITORIUM
    databases = [0.0], [0.0, 1.0]

    @property
    def sigma(self) -> float:
        return 2.0 * math.sqrt(2.0 * math.log(2.5 / self.delta)) / self.epsilon

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        noisy = self.sigma * rng.standard_normal((2, size, 1))
        return np.asarray((rows.sum() + noisy[0]) / np.maximum(len(rows) + noisy[1], LEAST))

    def law(self, data: Array) -> Density:
        rows = clipped_column(data)
        return gaussian_ratio(float(rows.sum()), float(len(rows)), self.sigma)


def clipped_column(data: Array) -> Array:
    return np.clip(column(data), 0.0, 1.0)


# --- randomised response: of bits, of a Bloom filter (RAPPOR), of a flag released with numbers


@example("Warner 1965")
class RandomisedResponse(ExampleMechanism):
    """Release each bit unchanged with probability e^ε/(1 + e^ε), and flipped otherwise.

    Data: bits, (n, 1). Output: (size, n).
    """

    epsilon: Positive = 1.0
    databases = [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]

    def law(self, data: Array) -> Product:
        keep = 1.0 / (1.0 + np.exp(-self.epsilon))
        return bits_law(np.where(column(data) == 1.0, keep, 1.0 - keep))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        bits, keep = column(data), 1.0 / (1.0 + np.exp(-self.epsilon))
        return np.where(rng.random((size, len(bits))) < keep, bits, 1.0 - bits)


def bits_law(ones: Array) -> Product:
    """The law of k independent bits, where bit i is 1 with probability ones[i]; ones (k,)."""
    zero_one = np.array([[0.0], [1.0]])
    with np.errstate(divide="ignore"):
        return Product(tuple(Discrete(zero_one, np.log([1.0 - p, p])) for p in ones))


@example("Erlingsson, Pihur & Korolova 2014, steps 1 and 2")
class OneTimeRappor(ExampleMechanism):
    """Release a value's Bloom filter after randomised response on its bits.

    Each bit is replaced by a fair coin with probability f = `permanent`. A value sets h = `hashes`
    of `bits` bits, or fewer if two hashes coincide. The privacy loss reaches the claim,
    2h·ln((1 − f/2)/(f/2)), for two values without a common bit. The values of the published audits
    share one bit, so that 6 bits differ instead of 8. Data: the value, a whole number ≥ 0, (1, 1).
    Output: (size, bits).
    """

    permanent: UpToOne = 0.95
    hashes: Count = 4
    bits: Count = 20
    databases = [0.0], [3.0]
    published_databases = [0.0], [1.0]

    @property
    def odds(self) -> tuple[float, float]:
        """The probability that 1 is reported for a bit that is set, and for a bit that is not."""
        return 1.0 - 0.5 * self.permanent, 0.5 * self.permanent

    @property
    def claim(self) -> Claim:
        high, low = self.odds
        return Claim(self.hashes * float(np.log(high * (1.0 - low) / (low * (1.0 - high)))))

    def filter(self, data: Array) -> Array:
        """The Bloom filter (bits,) of the value, by Knuth's multiplicative hashing."""
        value = np.uint64(int(column(data)[0]) + 1)
        with np.errstate(over="ignore"):
            mixed = [value * HASH * np.uint64(2 * i + 1) for i in range(self.hashes)]
        filled = np.zeros(self.bits)
        filled[[int(m >> np.uint64(32)) % self.bits for m in mixed]] = 1.0
        return filled

    def law(self, data: Array) -> Product:
        if_set, if_not = self.odds
        return bits_law(np.where(self.filter(data) == 1.0, if_set, if_not))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        bits = np.tile(self.filter(data), (size, 1))
        u = rng.random(bits.shape)
        return np.where(u < 0.5 * self.permanent, 1.0, np.where(u < self.permanent, 0.0, bits))


@example("Erlingsson, Pihur & Korolova 2014, steps 1 to 3")
class Rappor(OneTimeRappor):
    """RAPPOR: apply a second, instantaneous randomised response to the bits of `OneTimeRappor`.

    A bit that is 1 after the first step is reported as 1 with probability q = `one`, and a bit that
    is 0 with probability p = `zero`.
    """

    permanent: UpToOne = 0.75
    one: UpToOne = 0.55
    zero: UpToOne = 0.45

    @property
    def odds(self) -> tuple[float, float]:
        high, low = super().odds
        return high * self.one + (1.0 - high) * self.zero, low * self.one + (1.0 - low) * self.zero

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        bits = super().run(data, size, rng)
        reported = rng.random(bits.shape) < np.where(bits == 1.0, self.one, self.zero)
        return reported.astype(np.float64)


@example("Warner 1965; Ghosh, Roughgarden & Sundararajan 2009; Dwork et al. 2006, composed")
class MixedRelease(ExampleMechanism):
    """Release a flag, a count and a sum of the same rows, each with ε/3.

    The first row's flag is released by randomised response, the number of flags that are set with
    two-sided geometric noise, and the sum of the values, clipped to [0, 1], with Laplace noise.

    Data: (n, 2), flags and values. Output: (size, 3).
    """

    epsilon: Positive = 1.0
    databases = (
        [[0.0, 0.0], [1.0, 0.5], [0.0, 0.25], [1.0, 0.75]],
        [[1.0, 1.0], [1.0, 0.5], [0.0, 0.25], [1.0, 0.75]],
    )

    def _answers(self, data: Array) -> tuple[float, float, float]:
        data = check.matrix("data", data, 1, 2)
        flags, values = data[:, 0], data[:, -1]
        if data.shape[1] != 2 or not np.isin(flags, (0.0, 1.0)).all():
            expected = "two columns, of flags (0 or 1) and of values"
            fail("data", Words(f"shape {data.shape}"), expected)
        return float(flags[0]), float(flags.sum()), float(np.clip(values, 0.0, 1.0).sum())

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        (flag, count, total), share = self._answers(data), self.epsilon / 3.0
        truth = rng.random(size) < 1.0 / (1.0 + np.exp(-share))
        tries = rng.geometric(-np.expm1(-share), (2, size))
        noisy = count + tries[0] - tries[1], total + rng.laplace(0.0, 1.0 / share, size)
        return np.column_stack([np.where(truth, flag, 1.0 - flag), *noisy])

    def law(self, data: Array) -> Product:
        (flag, *sums), share = self._answers(data), self.epsilon / 3.0
        odds, scale = np.log1p(np.exp(-share)), np.array([1.0 / share])
        flags = Discrete(np.array([flag, 1.0 - flag]), np.array([-odds, -odds - share]))
        count, total = (np.array([answer]) for answer in sums)
        return Product((flags, laws.DiscreteLaplace(count, scale), laws.Laplace(total, scale)))


# --- sparse vector techniques, numbered as by Lyu, Su & Li 2017: 1, 2 and the numerical one.
# The data are the true answers of queries, in one column; each may differ by 1 between neighbours.
# ε is split into ε₁ for the threshold and ε₂ for the comparisons.


@value_class(show_numbers=True, eq=True)
class SparseVector(ExampleMechanism):
    """For each query, release whether its noisy answer reaches a noisy threshold; halt at c ones.

    The threshold is T = `threshold` plus noise, and c = `most`. If `fresh`, each 1 is followed by
    new threshold noise. Output: (size, n + 1), the number of queries handled, then 1 or 0 for each
    of them, and NaN after the last.

    noises : of the threshold and of the queries, the scale times ε, and whether it is times c too.
    """

    epsilon: Positive = 0.1
    most: Count = 1
    threshold: Finite = 1.0
    fresh: ClassVar[bool] = False
    noises: ClassVar[tuple[tuple[float, bool], tuple[float, bool]]]
    databases = HALF_UP_HALF_DOWN

    @property
    def scales(self) -> tuple[float, float]:
        """The scales of the Laplace noise on the threshold and on the queries."""
        threshold, query = (
            factor * (self.most if times else 1) / self.epsilon for factor, times in self.noises
        )
        return threshold, query

    def comparison(self, data: Array) -> NoisyComparison:
        return NoisyComparison(column(data), self.threshold, *self.scales)

    def law(self, data: Array) -> Law:
        return halting_law(self.comparison(data), self.most, fresh=self.fresh)

    def released(self, answer: Array, above: np.ndarray) -> Array:
        """What is released of a query, (size,): 1 or 0, by whether its answer is above."""
        return above.astype(np.float64)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        queries, (threshold_noise, query_noise) = column(data), self.scales
        out = np.full((size, len(queries) + 1), np.nan)
        out[:, 0], count = 0.0, np.zeros(size)
        rho = rng.laplace(0.0, threshold_noise, size)
        for i, query in enumerate(queries):
            running, answer = count < self.most, query + rng.laplace(0.0, query_noise, size)
            above = answer >= self.threshold + rho
            out[running, i + 1] = self.released(answer, above)[running]
            out[:, 0] += running
            count += above & running
            if self.fresh:
                rho = np.where(above, rng.laplace(0.0, threshold_noise, size), rho)
        return out


@example("Lyu, Su & Li 2017, algorithm 1")
class SparseVector1(SparseVector):
    """Sparse vector with Laplace scales 1/ε₁ (threshold) and 2c/ε₂ (queries), ε₁ = ε₂ = ε/2."""

    threshold: Finite = 0.5
    published_databases = SWAPPED_HALVES
    noises = (2.0, False), (4.0, True)


@example("Lyu, Su & Li 2017, algorithm 2")
class SparseVector2(SparseVector1):
    """Sparse vector with scales c/ε₁ (new threshold after each 1) and 2c/ε₂, ε₁ = ε₂ = ε/2."""

    threshold: Finite = 1.0
    fresh = True
    noises = (2.0, True), (4.0, True)


@example("Wang et al. 2019, numerical sparse vector technique")
class NumericalSVT(SparseVector):
    """For each query above the noisy threshold, release its answer with new noise.

    The threshold, the comparisons and the released answers have ε₁ = ε₂ = ε₃ = ε/3; the scales of
    their Laplace noises are 1/ε₁, 2c/ε₂ and c/ε₃.

    Output: (size, n + 1), the number of queries handled, then the noisy answer of each query above
    the threshold, and NaN for the others.
    """

    most: Count = 2
    published_databases = [2.0] * 10, [1.0] * 10
    noises = (3.0, False), (6.0, True)

    @property
    def answer_noise(self) -> float:
        return 3.0 * self.most / self.epsilon

    def law(self, data: Array) -> Branches:
        """One branch for each pattern of comparisons, in which answers are Laplace."""
        comparisons, queries = halting_law(self.comparison(data), self.most), column(data)
        halts = list(patterns(len(queries), self.most))
        templates = np.full((len(halts), len(queries) + 1), np.nan)
        templates[:, 0] = [pattern.answered for pattern in halts]
        above = [list(pattern.above) for pattern in halts]
        parts = tuple(
            laws.Laplace(queries[up], np.full(len(up), self.answer_noise)) if up else None
            for up in above
        )
        slots = tuple(tuple(1 + place for place in up) for up in above)
        return Branches(templates, comparisons.log_probability, slots, parts)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        out = super().run(data, size, rng)
        answers = column(data) + rng.laplace(0.0, self.answer_noise, (size, len(data)))
        out[:, 1:] = np.where(out[:, 1:] == 1.0, answers, np.nan)
        return out


__all__ = sorted(
    name
    for name, kind in globals().items()
    if getattr(kind, "__module__", "") == __name__ and hasattr(kind, "source")
)
