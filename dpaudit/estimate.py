"""From held-out scores to δ(ε): a point estimate at every ε and a certified band, simultaneous over ε and directions.

Sets are {score > τ} for P against Q and {score < τ} for Q against P. The choosing draws fix a few sets a direction.
On a short grid each ε gets its own; a long one is cut into stretches, each with the set that is best in its middle. The
certifying draws then bound p − e^ε q at the ε of a set or at both ends of its stretch, every bound at an equal share
of 1 − level. A fixed set's p − γq is linear in γ = e^ε, so two bounds give every γ between; and δ is non-increasing,
so a bound at ε holds for all smaller ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpaudit._check import Array
from dpaudit.bounds import difference_lower

STRETCHES = 16  # sets a direction
CANDIDATES = 2000  # thresholds considered, at quantiles of the choosing scores
HIGHEST = 1e150  # stands for an infinite score
CAUTION = 2.0  # a set is chosen for its estimate less this many standard errors of the certifying draws


@dataclass(frozen=True, eq=False)
class Tails:
    """Scores of one part of the draws, sorted: how many of P and of Q lie above a threshold.

    `p` are scores of the law in front (P in the forward direction), `q` of the other; higher means more like p.
    """

    p: Array
    q: Array

    @classmethod
    def of(cls, p: Array, q: Array) -> Tails:
        return cls(np.sort(p), np.sort(q))

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of p and of q strictly above each threshold."""
        return (
            len(self.p) - np.searchsorted(self.p, threshold, side="right"),
            len(self.q) - np.searchsorted(self.q, threshold, side="right"),
        )


@dataclass(frozen=True, eq=False)
class Direction:
    """One direction on the grid: point estimate and certified lower bound, each (m,)."""

    delta: Array
    low: Array


@dataclass(frozen=True, eq=False)
class Estimate:
    """Both directions on the ε grid; `draws` a side certified, each bound at level 1 − `share`."""

    epsilon: Array
    forward: Direction
    backward: Direction
    draws: int
    share: float

    @property
    def delta(self) -> Array:
        return np.maximum(self.forward.delta, self.backward.delta)

    @property
    def low(self) -> Array:
        return np.maximum(self.forward.low, self.backward.low)


def estimate(
    choose: tuple[Array, Array],
    test: tuple[Array, Array],
    epsilon: Array,
    level: float,
    keep: tuple[float, ...] = (),
) -> Estimate:
    """δ(ε) and its band from scores of the (P, Q) draws that choose and that certify.

    epsilon : (m,) ascending, nats. level : joint confidence over all ε and both directions.
    keep : ε that should be nodes (a claim's own ε).
    """
    ways = [_way(choose, test, sign) for sign in (1.0, -1.0)]
    thresholds = [_thresholds(chooser, epsilon, len(test[0])) for chooser, _ in ways]
    plans = [
        _stretches(chooser, chosen, len(test[0]), epsilon, keep)
        for (chooser, _), chosen in zip(ways, thresholds, strict=True)
    ]
    share = (1.0 - level) / sum(stretch.statements for plan in plans for stretch in plan)
    forward, backward = (
        _direction(chosen, tester, epsilon, plan, share)
        for chosen, (_, tester), plan in zip(thresholds, ways, plans, strict=True)
    )
    return Estimate(epsilon, forward, backward, len(test[0]), share)


def _finite(part: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.clip(part[0], -HIGHEST, HIGHEST), np.clip(part[1], -HIGHEST, HIGHEST)


def _way(choose: tuple[Array, Array], test: tuple[Array, Array], sign: float) -> tuple[Tails, Tails]:
    """Forward as given; backward with the roles of P and Q, and the order of scores, exchanged."""
    choose, test = _finite(choose), _finite(test)
    if sign > 0:
        return Tails.of(*choose), Tails.of(*test)
    return Tails.of(-choose[1], -choose[0]), Tails.of(-test[1], -test[0])


@dataclass(frozen=True)
class Stretch:
    """Grid positions start..stop, certified with one set; a single ε where they are equal."""

    start: int
    stop: int

    @property
    def middle(self) -> int:
        return (self.start + self.stop) // 2

    @property
    def statements(self) -> int:
        return 1 if self.start == self.stop else 2


def _stretches(
    choose: Tails, thresholds: Array, test_size: int, epsilon: Array, keep: tuple[float, ...]
) -> list[Stretch]:
    """Every ε of a short grid by itself; else stretches over the ε at which something may be certified."""
    if len(epsilon) <= STRETCHES:
        return [Stretch(i, i) for i in range(len(epsilon))]
    value, error = _objective(choose, thresholds, epsilon, test_size)
    promising = np.flatnonzero(value > error)
    last = int(promising[-1]) if len(promising) else 0
    ends = np.unique(np.linspace(0, last, STRETCHES + 1).round().astype(int))
    singles = {int(np.argmin(np.abs(epsilon - one))) for one in keep} or ({0} if last == 0 else set())
    between = [Stretch(int(a), int(b)) for a, b in pairwise(ends)]
    return between + [Stretch(i, i) for i in sorted(singles)]


def _thresholds(choose: Tails, epsilon: Array, test_size: int) -> Array:
    """For each ε the threshold whose p − e^ε q, less CAUTION standard errors, is largest on the choosing draws."""
    pooled = np.concatenate([choose.p, choose.q])
    values = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, CANDIDATES), method="lower"))
    between = values[:-1] + 0.5 * np.diff(values)  # in the middle of a gap, where fresh draws fall on the same side
    grid = np.concatenate([[np.nextafter(values[0], -np.inf)], between, values[-1:]])
    best = np.empty_like(epsilon)
    for i, one in enumerate(epsilon):
        value, error = _objective(choose, grid, one, test_size)
        best[i] = grid[np.argmax(value - CAUTION * error)]
    return best


def _objective(choose: Tails, threshold: Array, epsilon: Array | float, test_size: int) -> tuple[Array, Array]:
    """Estimate of p − e^ε q on the choosing draws and its standard error on the certifying ones."""
    x, y = choose.above(threshold)
    p, q = (x + 0.5) / (len(choose.p) + 1.0), (y + 0.5) / (len(choose.q) + 1.0)
    gamma = np.exp(epsilon)
    return p - gamma * q, np.sqrt((p * (1.0 - p) + gamma**2 * q * (1.0 - q)) / test_size)


def _direction(thresholds: Array, test: Tails, epsilon: Array, plan: list[Stretch], share: float) -> Direction:
    x, y = test.above(thresholds)
    n, m, gamma = len(test.p), len(test.q), np.exp(epsilon)
    low = np.full(len(epsilon), -np.inf)
    for stretch in plan:
        hits = int(x[stretch.middle]), n, int(y[stretch.middle]), m
        ends = [difference_lower(*hits, float(gamma[i]), share) for i in {stretch.start, stretch.stop}]
        part = slice(stretch.start, stretch.stop + 1)
        line = np.interp(gamma[part], gamma[[stretch.start, stretch.stop]], [max(ends), min(ends)])
        low[part] = np.maximum(low[part], line)
    low = np.maximum.accumulate(low[::-1])[::-1]  # δ is non-increasing in ε
    point = x / n - gamma * (y / m)
    return Direction(np.clip(point, 0.0, 1.0), np.clip(low, 0.0, 1.0))
