"""Which hits of a set refute a claim, for draws so few that each count can be tested.

A test of `certify.binomial` at the claim alone decides which counts refute. It nearly agrees with
the region of the audit, and says no where they differ, with few exceptions: powers that are summed
over these counts are those of the audit or a little less.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.binomial import at_least, mass, refutes
from dpaudit.certify.constants import AIM, LARGEST_CLAIM, OUTSIDE


@dataclass(repr=False)
class RefutingCounts:
    """Which hits of one set S refute p − e^ε q ≤ allowed: x of n draws from P and y of m draws from
    Q.

    sizes : (n, m), a few hundred each. epsilon : nats; the region of S is aimed at it. allowed :
    the claimed δ. alpha : the error probability of that region. least : the results of `needed` so
    far.
    """

    sizes: tuple[int, int]
    epsilon: float
    allowed: float
    alpha: float
    least: dict[int, int] = field(default_factory=dict)

    def needed(self, y: int) -> int:
        """The least x that refutes beside y hits of Q, n + 1 if none does; it rises with y."""
        if y not in self.least:
            low, high = self._around(y)
            steps = bisect_left(range(low, high), True, key=lambda x: self._refutes(x, y))
            self.least[y] = low + steps
        return self.least[y]

    def _around(self, y: int) -> tuple[int, int]:
        """Ends low ≤ high that enclose the least x, found by doubling steps away from a guess."""
        low = max((x for known, x in self.least.items() if known < y), default=0)
        high = min((x for known, x in self.least.items() if known > y), default=self.sizes[0] + 1)
        guess, step = min(max(self._guess(y), low), high), 1
        if guess == high or self._refutes(guess, y):
            while guess - step >= low and self._refutes(guess - step, y):
                guess, step = guess - step, 2 * step
            return max(low, guess - step + 1), guess
        while guess + step < high and not self._refutes(guess + step, y):
            guess, step = guess + step, 2 * step
        return guess + 1, min(guess + step, high)

    def _guess(self, y: int) -> int:
        """A guess of the least x, from its two nearest neighbours or p − e^ε q = `allowed`."""
        if len(self.least) < 2:
            n, m = self.sizes
            return int(min(n * (self.allowed + np.exp(self.epsilon) * y / m), float(n)))
        first, second = sorted(self.least, key=lambda known: abs(known - y))[:2]
        slope = (self.least[second] - self.least[first]) / (second - first)
        return round(self.least[first] + slope * (y - first))

    def power(self, p: float, q: float) -> float:
        """The probability of hits that refute, less at most `OUTSIDE` that the sum leaves out."""
        y, weight = self._likely(q)
        return float(weight @ self._chance(y, p))

    def reaches(self, power: float, p: float, q: float) -> bool:
        """Whether the power at (p, q) is at least `power`, by the least x at as few y as needed.

        Between two y the least x is between theirs, so that sums over these y bound the power.
        """
        y, weight = self._likely(q)
        known = {0, len(y) - 1}
        while True:
            ends = np.array(sorted(known))
            after = ends[np.searchsorted(ends, np.arange(len(y)))]
            before = ends[np.searchsorted(ends, np.arange(len(y)), side="right") - 1]
            least, most = (weight * self._chance(y[at], p) for at in (after, before))
            if least.sum() >= power or most.sum() < power:
                return bool(least.sum() >= power)
            known.add(_widest(before, after, most - least))

    def _likely(self, q: float) -> tuple[Array, Array]:
        """The likely counts y of m draws, all but `OUTSIDE` of them, and their probabilities."""
        y = np.arange(self.sizes[1] + 1.0)
        weight = mass(y, self.sizes[1], np.array([q]))[0]
        ends = np.searchsorted(np.cumsum(weight), [0.5 * OUTSIDE, 1.0 - 0.5 * OUTSIDE])
        likely = slice(ends[0], ends[1] + 1)
        return y[likely], weight[likely]

    def _chance(self, y: Array, p: float) -> Array:
        """The probability, for each y, that the hits of P refute."""
        needed = np.array([self.needed(int(hits)) for hits in y])
        return at_least(needed, self.sizes[0], np.array([p]))[0]

    def _refutes(self, x: int, y: int) -> bool:
        aim, claimed = np.exp(np.minimum(self.epsilon, [AIM, LARGEST_CLAIM]))
        n, m = self.sizes
        return refutes(x, n, y, m, (float(aim), float(claimed)), self.allowed, self.alpha)


def _widest(before: np.ndarray, after: np.ndarray, unknown: Array) -> int:
    """The middle of the two neighbouring y between which most of the power is unknown."""
    gap = max(np.unique(before), key=lambda end: unknown[before == end].sum())
    return int(gap + after[gap + 1]) // 2
