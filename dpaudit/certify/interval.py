"""A two-sided interval of what the sets {score > τ} and their complements show of δ(ε).

For a fixed score let θ(ε) be the largest P(S) − e^ε Q(S) of the sets S = {score > τ}, and the
largest Q(S) − e^ε P(S) of their complements, whichever is larger; τ runs over the thresholds of the
cells. θ(ε) ≤ δ(ε). The interval is for θ: how much this score could show. No finite number of
draws bounds δ(ε) itself from above without assumptions, as another score may show more.

Counts that choose a set make it look better than it is. So for the lower end the draws are split
at random into folds. The sets of each fold are chosen by the others, and the fold counts them: such
counts do not favour the sets, which are at most as good as the best. The upper end must reach the
best set, which may not be the chosen set. It is the upper limit of the set with the largest sum of
value and some standard errors, counted with the draws that chose it. So it is nearly as large as
the upper limit of any set, the best set's included, and is missed less often than that limit. Both
directions have ends of their own, as one side may have far more draws than the other. The larger
end counts.

P(S) and Q(S) have Jeffreys limits at z standard errors, and their differences those of Zou and
Donner (Construction of confidence limits about effect measures, Statistics in Medicine 27, 2008),
which keep their length where there are few or no hits. Each end has one z for all ε: the least z
with which the end is missed, at any ε, in a given share of simulated counts, drawn from the
observed frequencies; but no less than a single limit would use, as few hits vary more than counts
simulated from them. So coverage is close to the level, not guaranteed to reach it, and above it
where hits are few; `python -m reports.make interval` measures it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import (
    BISECTIONS,
    END_SHARES,
    FOLDS,
    HOPE,
    INTERVAL_NODES,
    INTERVAL_SETS,
    REPLICATES,
    RIVAL,
    SMALLEST_ALPHA,
    WIDEST,
)
from dpaudit.certify.estimate import Estimate
from dpaudit.certify.scores import ScoreCells, gammas
from dpaudit.certify.sets import evenly_spaced

ROUNDING = 1e-12
BOTH = np.array([[0], [1]])  # the two directions, as an index beside sets (2, m)


def interval(estimate: Estimate, alpha: float) -> Array | None:
    """The lower and the upper end of the interval of θ(ε) at each ε of the grid, (2, m), in [0, 1].

    The interval is extended to contain the point estimate, which comes from another method. Its
    lower end is never below the certified bound, which also bounds θ(ε). The result is None without
    cells, and where alpha is below 0.01, for which the simulation is too small.
    alpha : 1 − the joint probability, over all ε, that θ(ε) is inside. Folds and simulated counts
    use a fixed seed, so equal counts have equal intervals.
    """
    if estimate.cells is None or alpha < SMALLEST_ALPHA:
        return None
    low, high = cells_interval(estimate.cells, estimate.epsilon, alpha)
    delta, certified = estimate.delta, estimate.low
    return np.stack([np.minimum(np.maximum(low, certified), delta), np.maximum(high, delta)])


def cells_interval(cells: ScoreCells, epsilon: Array, alpha: float) -> Array:
    """The interval of θ(ε) from the cells alone, (2, m). epsilon : (m,) ascending, nats.

    θ does not increase with ε, so both ends are made non-increasing.
    """
    rng, gamma = generator(np.random.SeedSequence(0)), gammas(epsilon)
    node = evenly_spaced(len(epsilon), INTERVAL_SETS)
    near = np.searchsorted(node, np.arange(len(epsilon)))
    tails = _Tails.of(cells.p, cells.q)
    share = np.full(FOLDS, 1.0 / FOLDS)  # each draw is in one fold, at random
    folds = [rng.multinomial(part, share).T for part in (cells.p, cells.q)]
    gain, error = tails.gain(gamma[node]), tails.error(gamma[node])
    best, hopeful = np.argmax(gain, axis=-1), np.argmax(gain + HOPE * error, axis=-1)
    value, hope = _at(gain, best), _at(gain + HOPE * error, hopeful)
    rivals = value >= np.max(value, axis=0) - RIVAL * np.hypot(*_at(error, best))
    ahead = hope >= np.max(hope, axis=0)
    z_low = _z(tails, best, rivals, gamma[node], END_SHARES[0] * alpha, -1, rng)
    z_high = _z(tails, hopeful, ahead, gamma[node], END_SHARES[1] * alpha, 1, rng)
    # Counts of each fold in the sets that the other folds choose, summed by direction. The two
    # directions are not summed: p counts draws of P in one of them, and in the other draws of Q, of
    # which there may be far more.
    crossed = np.zeros((4, 2, len(node)))
    for p, q in zip(*folds, strict=True):
        fold = _Tails.of(p, q)
        others = _Tails(tails.p - fold.p, tails.q - fold.q, tails.n - fold.n, tails.m - fold.m)
        crossed += fold.counts(BOTH, np.argmax(others.gain(gamma[node]), axis=-1))
    low = np.max(_end(crossed[..., near], gamma, -z_low), axis=0)
    high = np.max(_upper(tails.counts(BOTH, hopeful)[..., near], gamma, z_high), axis=0)
    low, high = np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)
    return np.clip(np.stack([low, np.maximum(low, high)]), 0.0, 1.0)


@value_class
class _Tails:
    """How many draws fell in the sets of both directions: {score > τ} for c thresholds, and their
    complements.

    p, q : (2, c), draws in each set; p counts draws of P forward and of Q backward, q the other
    side. n, m : (2,), all draws of the side that p, or q, counts.
    """

    p: Array
    q: Array
    n: Array
    m: Array

    @classmethod
    def of(cls, p: np.ndarray, q: np.ndarray) -> _Tails:
        """Sum the draws in each cell, (c + 1,), over the cells above each threshold."""
        x = np.cumsum(p[::-1])[::-1].astype(np.float64)
        y = np.cumsum(q[::-1])[::-1].astype(np.float64)
        n, m = x[0], y[0]
        own = np.stack([x[1:], m - y[1:]]), np.stack([y[1:], n - x[1:]])
        return cls(*own, np.array([n, m]), np.array([m, n]))

    def gain(self, gamma: Array) -> Array:
        """The frequency of p less γ times the frequency of q, (2, m, c), at each γ (m,)."""
        p, q = self.p / np.maximum(self.n, 1.0)[:, None], self.q / np.maximum(self.m, 1.0)[:, None]
        return np.asarray(p[:, None] - gamma[:, None] * q[:, None])

    def error(self, gamma: Array) -> Array:
        """Standard errors of `gain`, (2, m, c), with half a draw added in and out of each set."""
        n, m = self.n[:, None], self.m[:, None]
        p = (self.p + 0.5) * (n - self.p + 0.5) / n**3
        q = (self.q + 0.5) * (m - self.q + 0.5) / m**3
        return np.asarray(np.sqrt(p[:, None] + gamma[:, None] ** 2 * q[:, None]))

    def counts(self, way: np.ndarray, position: np.ndarray) -> Array:
        """For each set the draws of p and of q in it, and all draws of both, (4, …).

        way, position : the sets' directions and thresholds, of shapes that broadcast together.
        """
        at = way, position
        return np.stack(np.broadcast_arrays(self.p[at], self.q[at], self.n[way], self.m[way]))


def _at(values: Array, position: np.ndarray) -> Array:
    """The elements of `values` at a position along its last axis."""
    return np.take_along_axis(values, position[..., None], axis=-1)[..., 0]


def _z(
    tails: _Tails,
    sets: np.ndarray,
    matters: np.ndarray,
    gamma: Array,
    error: float,
    side: int,
    rng: np.random.Generator,
) -> float:
    """The least z with which the ends that matter are missed in a share `error` of the simulated
    counts.

    sets : (2, m), positions of the thresholds in both directions. matters : (2, m), where an end
    must hold. side : −1 for lower ends, 1 for upper ends. Lower ends must hold in both directions
    if their values are close: where these are equal, the larger of two lower ends exceeds the truth
    twice as often as either.
    """
    at = evenly_spaced(len(gamma), INTERVAL_NODES)
    way, node = np.nonzero(matters[:, at])
    position, gamma = sets[way, at[node]], gamma[at[node]]
    x, y, n, m = tails.counts(way, position)
    value = np.maximum(x / n - gamma * y / m, 0.0)
    counts = _simulated(tails, way, position, rng)
    least = _least_z(counts, gamma, value, side, -float(ndtri(error)))
    return float(np.quantile(least, 1.0 - error, method="weibull"))


def _simulated(
    tails: _Tails, way: np.ndarray, position: np.ndarray, rng: np.random.Generator
) -> Array:
    """The `counts` of k sets in REPLICATES simulated samples, (4, REPLICATES, k)."""
    distinct, back = np.unique(position, return_inverse=True)
    above = []  # draws of P and of Q above each threshold
    for count, size in ((tails.p[0, distinct], tails.n[0]), (tails.q[0, distinct], tails.m[0])):
        cells = -np.diff(np.concatenate([[size], count, [0.0]])) / size
        drawn = rng.multinomial(int(size), cells, size=REPLICATES)
        above.append((size - np.cumsum(drawn, axis=1)[:, :-1])[:, back])
    x, y = above
    n, m = np.broadcast_arrays(tails.n[way], tails.m[way], x)[:2]
    backward = way == 1
    return np.stack([np.where(backward, n - y, x), np.where(backward, m - x, y), n, m])


def _least_z(counts: Array, gamma: Array, value: Array, side: int, single: float) -> Array:
    """For each of r simulated samples the least z with which no end misses its value, (r,).

    counts : (4, r, k). gamma, value : (k,). single : the least z that is tried, that of a single
    normal variable. side : −1 for lower ends, 1 for upper ends.
    """

    def missed(place: np.ndarray, counts: Array, z: float | Array) -> np.ndarray:
        if side < 0:
            return np.asarray(_end(counts, gamma[place], -z) > value[place] + ROUNDING)
        return np.asarray(_upper(counts, gamma[place], z) < value[place] - ROUNDING)

    least = np.full(counts.shape[1], single)
    x, y, n, m = counts
    sample, place = np.nonzero(side * (x / n - gamma * (y / m) - value) < 0.0)
    counts = counts[:, sample, place]
    wider = missed(place, counts, single)
    sample, place, counts = sample[wider], place[wider], counts[:, wider]
    low, high = np.full(len(sample), single), np.full(len(sample), WIDEST)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        wider = missed(place, counts, middle)
        low, high = np.where(wider, middle, low), np.where(wider, high, middle)
    np.maximum.at(least, sample, high)
    return least


def _upper(counts: Array, gamma: Array, z: float | Array) -> Array:
    """Upper ends of p − γq, (…), at least those of a set in which no draw fell."""
    return np.maximum(_end(counts, gamma, z), _limit(np.zeros_like(counts[2]), counts[2], z))


def _end(counts: Array, gamma: Array, z: float | Array) -> Array:
    """Ends of p − γq, (…), from counts (4, …); z < 0 for the lower, z > 0 for the upper end."""
    x, y, n, m = counts
    p, q = x / n, y / m
    reach = np.hypot(_limit(p, n, z) - p, gamma * (_limit(q, m, -z) - q))
    return np.asarray(p - gamma * q + np.sign(z) * reach)


def _limit(p: Array, n: Array, z: float | Array) -> Array:
    """The Jeffreys limit of a probability, z standard errors from its frequency p in n draws.

    It is a quantile of Beta(np + ½, n − np + ½) by Paulson's cube roots (1942), which are more
    exact the smaller the first parameter is against the second: limits of p > ½ use 1 − p.
    `scipy.special.betaincinv` takes 20 times as long, a fifth of an audit of 10⁴ draws, and moves
    ends by less than 0.5 % of δ, but for counts of a few hits (2 %); the simulation sets the level.
    """
    often = p > 0.5
    rare, away = np.where(often, 1.0 - p, p), np.where(often, -z, z)
    hits, rest = n * rare + 0.5, n * (1.0 - rare) + 0.5
    u, v = 1.0 / (9.0 * hits), 1.0 / (9.0 * rest)
    inside = (1.0 - u) ** 2 * v + (1.0 - v) ** 2 * u - away * away * u * v
    root = (1.0 - u) * (1.0 - v) + away * np.sqrt(np.maximum(inside, 0.0))
    below = np.maximum((1.0 - v) ** 2 - away * away * v, 1e-3)
    odds = hits / rest * (np.maximum(root, 0.0) / below) ** 3
    limit = odds / (1.0 + odds)
    limit = np.where(often, 1.0 - limit, limit)
    return np.where(np.asarray(z) > 0.0, np.maximum(limit, p), np.minimum(limit, p))
