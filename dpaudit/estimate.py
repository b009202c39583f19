"""From held-out scores to δ(ε): a point estimate at every ε and a certified band, simultaneous over ε and directions.

Sets are {score > τ} for P against Q and {score < τ} for Q against P. The choosing draws fix a few sets a direction,
each meant for one ε of the grid (a node). The certifying draws then bound p − e^ε q of set k at its own node and at
the next one, every bound at an equal share of 1 − level. A fixed set's p − γq is linear in γ = e^ε, so two bounds
give every γ between; and δ is non-increasing, so a bound at ε holds for all smaller ε.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._check import Array
from dpaudit.bounds import difference_lower

NODES = 12  # sets a direction
CANDIDATES = 2000  # thresholds considered, at quantiles of the choosing scores
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
    """One direction on the grid: point estimate, certified lower bound, and its width at 80 % power, each (m,)."""

    delta: Array
    low: Array
    margin: Array


@dataclass(frozen=True, eq=False)
class Estimate:
    """Both directions on the ε grid."""

    epsilon: Array
    forward: Direction
    backward: Direction

    @property
    def delta(self) -> Array:
        return np.maximum(self.forward.delta, self.backward.delta)

    @property
    def low(self) -> Array:
        return np.maximum(self.forward.low, self.backward.low)

    @property
    def margin(self) -> Array:
        """Excess over a reference that would have been certified with probability 0.8, by the better direction."""
        return np.where(self.forward.low >= self.backward.low, self.forward.margin, self.backward.margin)


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
    nodes = [_nodes(chooser, len(test[0]), epsilon, keep) for chooser, _ in ways]
    share = (1.0 - level) / sum(_statements(node, len(epsilon)) for node in nodes)
    forward, backward = (
        _direction(chooser, tester, epsilon, node, share)
        for (chooser, tester), node in zip(ways, nodes, strict=True)
    )
    return Estimate(epsilon, forward, backward)


def _way(choose: tuple[Array, Array], test: tuple[Array, Array], sign: float) -> tuple[Tails, Tails]:
    """Forward as given; backward with the roles of P and Q, and the order of scores, exchanged."""
    if sign > 0:
        return Tails.of(*choose), Tails.of(*test)
    return Tails.of(-choose[1], -choose[0]), Tails.of(-test[1], -test[0])


def _statements(nodes: np.ndarray, size: int) -> int:
    """One bound at each node, and one more wherever grid points lie between it and the next."""
    return len(nodes) + int(np.sum(np.diff(nodes) > 1))


def _nodes(choose: Tails, test_size: int, epsilon: Array, keep: tuple[float, ...]) -> np.ndarray:
    """Grid positions of the sets: all of a short grid, else spread over the ε at which something may be certified."""
    if len(epsilon) <= NODES:
        return np.arange(len(epsilon))
    value, error = _objective(choose, _thresholds(choose, epsilon, test_size), epsilon, test_size)
    promising = np.flatnonzero(value > error)
    last = int(promising[-1]) if len(promising) else 0
    chosen = np.linspace(0, last, NODES).round().astype(int)
    kept = [int(np.argmin(np.abs(epsilon - one))) for one in keep]
    return np.unique(np.concatenate([chosen, kept]).astype(int))


def _thresholds(choose: Tails, epsilon: Array, test_size: int) -> Array:
    """For each ε the threshold whose p − e^ε q, less CAUTION standard errors, is largest on the choosing draws."""
    pooled = np.concatenate([choose.p, choose.q])
    grid = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, CANDIDATES), method="lower"))
    grid = np.concatenate([[np.nextafter(grid[0], -np.inf)], grid])
    best = np.empty_like(epsilon)
    for i, one in enumerate(epsilon):
        value, error = _objective(choose, grid, one, test_size)
        best[i] = grid[np.argmax(value - CAUTION * error)]
    return best


def _objective(
    choose: Tails, threshold: Array, epsilon: Array | float, test_size: int
) -> tuple[Array, Array]:
    """Estimate of p − e^ε q on the choosing draws and its standard error on the certifying ones."""
    x, y = choose.above(threshold)
    p, q = (x + 0.5) / (len(choose.p) + 1.0), (y + 0.5) / (len(choose.q) + 1.0)
    gamma = np.exp(epsilon)
    return p - gamma * q, np.sqrt((p * (1.0 - p) + gamma**2 * q * (1.0 - q)) / test_size)


def _direction(choose: Tails, test: Tails, epsilon: Array, nodes: np.ndarray, share: float) -> Direction:
    thresholds = _thresholds(choose, epsilon, len(test.p))
    x, y = test.above(thresholds)
    n, m, gamma = len(test.p), len(test.q), np.exp(epsilon)
    point = x / n - gamma * (y / m)
    error = np.sqrt(x * (n - x) / n**3 + gamma**2 * y * (m - y) / m**3)

    low = np.full(len(epsilon), -np.inf)
    bound = np.full(len(epsilon), -np.inf)
    for node, following in zip(nodes, [*nodes[1:], None], strict=True):
        count = int(x[node]), n, int(y[node]), m
        bound[node] = low[node] = max(low[node], difference_lower(*count, float(gamma[node]), share))
        if following is not None and following - node > 1:
            far = difference_lower(*count, float(gamma[following]), share)
            between = slice(node, following + 1)
            line = np.interp(gamma[between], gamma[[node, following]], [bound[node], far])
            low[between] = np.maximum(low[between], line)
    low = np.maximum.accumulate(low[::-1])[::-1]  # δ is non-increasing in ε
    z_power = 0.8416  # Φ⁻¹(0.8)
    margin = np.maximum(point - low, 0.0) + z_power * error
    return Direction(np.clip(point, 0.0, 1.0), np.clip(low, 0.0, 1.0), margin)
