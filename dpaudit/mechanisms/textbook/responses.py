"""Randomised response: of bits, of a Bloom filter (RAPPOR), of a flag released with numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import Discrete, Laplace, Product
from dpaudit.mechanisms.example import ExampleMechanism, PureExample, column, pair_of
from dpaudit.mechanisms.parameters import Count, Positive, UpToOne
from dpaudit.neighbours import NeighbourPair

HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio (Knuth)


def bits_law(ones: Array) -> Product:
    """Independent bits, each 1 with its own probability; ones (k,)."""
    zero_one = np.array([[0.0], [1.0]])
    with np.errstate(divide="ignore"):
        return Product(tuple(Discrete(zero_one, np.log([1.0 - p, p])) for p in ones))


@dataclass(frozen=True)
class RandomisedResponse(PureExample):
    """Each bit is kept with probability e^ε/(1 + e^ε), and flipped otherwise.

    Data: bits, (n, 1). Output: (size, n).
    """

    epsilon: Positive = 1.0
    sound = True
    source = "Warner 1965"
    summary = "randomised response"

    def law(self, data: Array) -> Product:
        keep = 1.0 / (1.0 + np.exp(-self.epsilon))
        return bits_law(np.where(column(data) == 1.0, keep, 1.0 - keep))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        bits, keep = column(data), 1.0 / (1.0 + np.exp(-self.epsilon))
        return np.where(rng.random((size, len(bits))) < keep, bits, 1.0 - bits)

    def pair(self) -> NeighbourPair:
        return pair_of([1.0, 0.0, 1.0], [0.0, 0.0, 1.0])


@dataclass(frozen=True)
class OneTimeRappor(ExampleMechanism):
    """A value's Bloom filter, each bit replaced by a fair coin with probability f = `permanent`.

    Data: the value, a whole number ≥ 0, (1, 1). Output: (size, bits).

    Parameters
    ----------
    permanent : float in (0, 1]
        The probability f of a permanent change.
    hashes : int
        h, the number of bits that a value sets (fewer where two hashes meet).
    bits : int
        The length of the filter.

    Notes
    -----
    Claim: 2h·ln((1 − f/2)/(f/2)), which two values without a common bit use up. The values of the
    published audits share one bit, so that 6 bits differ and not 8.
    """

    permanent: UpToOne = 0.95
    hashes: Count = 4
    bits: Count = 20
    sound = True
    source = "Erlingsson, Pihur & Korolova 2014, steps 1 and 2"
    summary = "one-time RAPPOR: a Bloom filter with permanent randomised response"

    @property
    def odds(self) -> tuple[float, float]:
        """P(1 is reported) for a bit that is set, and for one that is not."""
        return 1.0 - 0.5 * self.permanent, 0.5 * self.permanent

    @property
    def claim(self) -> Claim:
        """ε-DP for all 2h bits that two values may differ in."""
        one, zero = self.odds
        return Claim(self.hashes * float(np.log(one * (1.0 - zero) / (zero * (1.0 - one)))))

    def filter(self, data: Array) -> Array:
        """The Bloom filter, (bits,) of 0 and 1.

        Multiplicative hashing (Knuth), with an odd multiplier for each hash.
        """
        value = np.uint64(int(column(data)[0]) + 1)
        with np.errstate(over="ignore"):
            mixed = [value * HASH * np.uint64(2 * i + 1) for i in range(self.hashes)]
        filled = np.zeros(self.bits)
        filled[[int(m >> np.uint64(32)) % self.bits for m in mixed]] = 1.0
        return filled

    def law(self, data: Array) -> Product:
        one, zero = self.odds
        return bits_law(np.where(self.filter(data) == 1.0, one, zero))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.permanently(np.tile(self.filter(data), (size, 1)), rng)

    def permanently(self, filters: Array, rng: np.random.Generator) -> Array:
        """Each bit replaced by a fair coin with probability f."""
        u = rng.random(filters.shape)
        return np.where(u < 0.5 * self.permanent, 1.0, np.where(u < self.permanent, 0.0, filters))

    def pair(self) -> NeighbourPair:
        """Two values without a common bit."""
        return pair_of([0.0], [3.0])

    def published_pair(self) -> NeighbourPair:
        """Two values that share a bit."""
        return pair_of([0.0], [1.0])


@dataclass(frozen=True)
class Rappor(OneTimeRappor):
    """RAPPOR: after the fair coins each bit is reported anew, by instantaneous randomised response.

    Parameters
    ----------
    permanent, hashes, bits : float, int and int
        The Bloom filter and its permanent changes, as for `OneTimeRappor`.
    one, zero : float in (0, 1]
        q and p, the probability that 1 is reported for a bit that is set, and for one that is not.
    """

    permanent: UpToOne = 0.75
    one: UpToOne = 0.55
    zero: UpToOne = 0.45
    source = "Erlingsson, Pihur & Korolova 2014, steps 1 to 3"
    summary = "RAPPOR: a Bloom filter with permanent and instantaneous randomised response"

    @property
    def odds(self) -> tuple[float, float]:
        """P(1 is reported) for a bit of the filter that is set, and for one that is not."""
        one, zero = 1.0 - 0.5 * self.permanent, 0.5 * self.permanent
        return one * self.one + (1.0 - one) * self.zero, zero * self.one + (1.0 - zero) * self.zero

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        bits = super().run(data, size, rng)
        reported = rng.random(bits.shape) < np.where(bits == 1.0, self.one, self.zero)
        return reported.astype(np.float64)


FAR = 690.0  # nats: noise of the count whose probability is below e^−690 ≈ 1e-300 is left out


@dataclass(frozen=True)
class MixedRelease(PureExample):
    """A flag, a count and a sum of the same rows, ε/3 each.

    The first row's flag is released by randomised response, the number of flags that are set with
    two-sided geometric noise, and the sum of the values, clipped to [0, 1], with Laplace noise.

    Data: (n, 2), flags and values. Output: (size, 3).
    """

    epsilon: Positive = 1.0
    sound = True
    source = "Warner 1965; Ghosh, Roughgarden & Sundararajan 2009; Dwork et al. 2006, composed"
    summary = "a flag, a count and a real"

    @property
    def share(self) -> float:
        """ε/3, of each of the three releases."""
        return self.epsilon / 3.0

    def _answers(self, data: Array) -> tuple[float, float, float]:
        data = check.matrix("data", data, 1, 2)
        if data.shape[1] != 2 or not np.isin(data[:, 0], (0.0, 1.0)).all():
            fail(
                "data", Words(f"shape {data.shape}"), "two columns, of flags (0 or 1) and of values"
            )
        return (
            float(data[0, 0]),
            float(data[:, 0].sum()),
            float(np.clip(data[:, 1], 0.0, 1.0).sum()),
        )

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        flag, count, total = self._answers(data)
        truth = rng.random(size) < 1.0 / (1.0 + np.exp(-self.share))
        flags = np.where(truth, flag, 1.0 - flag)
        tries = rng.geometric(-np.expm1(-self.share), (2, size))
        noisy = count + tries[0] - tries[1]
        return np.column_stack([flags, noisy, total + rng.laplace(0.0, 1.0 / self.share, size)])

    def law(self, data: Array) -> Product:
        flag, count, total = self._answers(data)
        odds = np.log1p(np.exp(-self.share))
        flag_law = Discrete(np.array([flag, 1.0 - flag]), np.array([-odds, -odds - self.share]))
        return Product(
            (flag_law, self._noisy(count), Laplace(np.array([total]), np.array([1.0 / self.share])))
        )

    def _noisy(self, count: float) -> Discrete:
        """The law of the noisy count.

        A value beyond the range is replaced by its end, so that all data have the same outcomes.
        """
        reach = np.ceil(FAR / self.share)
        values = np.arange(-reach, reach + 1.0)
        log_p = -np.abs(values - count) * self.share + np.log(np.tanh(0.5 * self.share))
        log_p[[0, -1]] -= np.log(-np.expm1(-self.share))
        return Discrete(values, log_p)

    def pair(self) -> NeighbourPair:
        """The first row has flag 0 and value 0, against 1 and 1."""
        rest = [[1.0, 0.5], [0.0, 0.25], [1.0, 0.75]]
        return pair_of([[0.0, 0.0], *rest], [[1.0, 1.0], *rest])
