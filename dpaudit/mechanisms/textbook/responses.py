"""Randomised response, of one bit and of the bits of a Bloom filter (RAPPOR)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import Discrete, Product
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
        """Independent bits."""
        keep = 1.0 / (1.0 + np.exp(-self.epsilon))
        return bits_law(np.where(column(data) == 1.0, keep, 1.0 - keep))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Each bit kept or flipped."""
        bits, keep = column(data), 1.0 / (1.0 + np.exp(-self.epsilon))
        return np.where(rng.random((size, len(bits))) < keep, bits, 1.0 - bits)

    def pair(self) -> NeighbourPair:
        """Three bits, of which the first differs."""
        return pair_of([1.0, 0.0, 1.0], [0.0, 0.0, 1.0])


@dataclass(frozen=True)
class OneTimeRappor(ExampleMechanism):
    """A value's Bloom filter, each bit replaced by a fair coin with probability f = `permanent`.

    Data: the value, a whole number ≥ 0, (1, 1). Output: (size, bits).

    Parameters
    ----------
    permanent : float in (0, 1]
        Probability of a permanent change, f.
    hashes : int
        h, the number of bits that a value sets (fewer where two hashes meet).
    bits : int
        Length of the filter.

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
        """Independent bits."""
        one, zero = self.odds
        return bits_law(np.where(self.filter(data) == 1.0, one, zero))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The filter with permanent randomised response."""
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
    permanent : float in (0, 1]
        As for `OneTimeRappor`.
    hashes : int
        As for `OneTimeRappor`.
    bits : int
        As for `OneTimeRappor`.
    one : float in (0, 1]
        q, P(1 is reported) for a bit that is set.
    zero : float in (0, 1]
        p, P(1 is reported) for a bit that is not.
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
        """Permanent, then instantaneous randomised response."""
        kept = super().run(data, size, rng)
        return (rng.random(kept.shape) < np.where(kept == 1.0, self.one, self.zero)).astype(
            np.float64
        )
