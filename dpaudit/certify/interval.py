"""A two-sided interval of what the sets {score > τ} and their complements show of δ(ε).

For a fixed score let θ(ε) be the largest P(S) − e^ε Q(S) of the sets S = {score > τ}, and the
largest Q(S) − e^ε P(S) of their complements, whichever is larger; τ runs over the thresholds of the
cells. θ(ε) ≤ δ(ε). The interval is one of θ: how much this score could show. No finite number of
draws bounds δ(ε) itself from above without assumptions, as another score may show more.

Counts that choose a set make it look better than it is. So for the lower end the draws are split
at random into folds. The sets of each fold are chosen by the others, and the fold counts them: such
counts do not favour the sets, which are at most as good as the best. The upper end must reach the
best set, which may not be the one that is chosen. It is that of the set with the largest sum of
value and some standard errors, counted with the draws that chose it. So it is nearly as large as
the upper limit of any set, the best one's included, and is missed less often than that. Both
directions have ends of their own, as one side may have far more draws than the other. The larger
end counts.

P(S) and Q(S) have Jeffreys limits at z standard errors, and their differences those of Zou and
Donner (Construction of confidence limits about effect measures, Statistics in Medicine 27, 2008),
which keep their length where there are few or no hits. Each end has one z for all ε: the least with
which it is missed, at any ε, in a given share of simulated counts, drawn from the observed
frequencies; but no less than a single limit would take, as few hits vary more than counts that are
simulated from them. So coverage is close to the level and not at least the level, and above it
where hits are few; `python -m reports.make interval` measures it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.candidates import evenly_spaced
from dpaudit.certify.cells import ScoreCells, gammas
from dpaudit.certify.estimate import Estimate

SMALLEST = 0.01  # 1 − level; of a smaller one too few replicates lie beyond
SETS, NODES = 64, 24  # ε for which sets are chosen, and at which z is found
REPLICATES = 500  # simulated counts
FOLDS = 4
HOPE = 1.5  # standard errors, added to the value of the sets of the upper end
SHARES = 0.55, 0.2  # of 1 − level, for the lower and the upper end; found by simulation
RIVAL = 2.0  # standard errors by which a direction is ahead of one that does not matter
WIDEST = 6.0  # the largest z
BISECTIONS = 8
ROUNDING = 1e-12
WAYS = np.array([[0], [1]])  # the two directions, as an index beside sets (2, m)


def interval(found: Estimate, alpha: float) -> Array | None:
    """Lower and upper end at each ε of the grid, (2, m), in [0, 1].

    The interval is extended to the point estimate, which another method may have found. Its lower
    end is never below what is certified, which bounds θ(ε), too.
    alpha : 1 − the joint probability, over all ε, that θ(ε) is inside. Folds and simulated counts
    have a seed of their own, so equal counts have equal intervals. None without cells, and where
    alpha is below 0.01, of which the simulation is too small.
    """
    if found.cells is None or alpha < SMALLEST:
        return None
    low, high = cells_interval(found.cells, found.epsilon, alpha)
    delta, certified = found.delta, found.low
    return np.stack([np.minimum(np.maximum(low, certified), delta), np.maximum(high, delta)])


def cells_interval(cells: ScoreCells, epsilon: Array, alpha: float) -> Array:
    """The interval of θ(ε) from the cells alone, (2, m). epsilon : (m,) ascending, nats.

    θ does not increase with ε, so neither end need do.
    """
    rng = generator(np.random.SeedSequence(0))
    gamma = gammas(epsilon)
    node = evenly_spaced(len(epsilon), SETS)
    near = np.searchsorted(node, np.arange(len(epsilon)))
    tails, folds = _Tails.of(cells.p, cells.q), _folds(cells, rng)
    gain, error = tails.gain(gamma[node]), tails.error(gamma[node])
    best, value = _largest(gain)
    hopeful, hope = _largest(gain + HOPE * error)
    rivals = value >= np.max(value, axis=0) - RIVAL * np.hypot(*_at(error, best))
    ahead = hope >= np.max(hope, axis=0)
    z_low = _z(tails, best, rivals, gamma[node], SHARES[0] * alpha, -1, rng)
    z_high = _z(tails, hopeful, ahead, gamma[node], SHARES[1] * alpha, 1, rng)
    low = _end(_cross_fitted(tails, folds, gamma[node])[..., near], gamma, -z_low)
    high = _upper(tails.counts(WAYS, hopeful)[..., near], gamma, z_high)
    low, high = np.max(low, axis=0), np.max(high, axis=0)
    low, high = np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)
    return np.clip(np.stack([low, np.maximum(low, high)]), 0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class _Tails:
    """Draws in the sets of both directions: {score > τ} for c thresholds, and their complements.

    p, q : (2, c) draws in the set, each direction in its own order: p those of P forward and of Q
    backward. n, m : (2,) all draws, in the same order.
    """

    p: Array
    q: Array
    n: Array
    m: Array

    @classmethod
    def of(cls, p: np.ndarray, q: np.ndarray) -> _Tails:
        """From the draws in each cell, (c + 1,)."""
        x, y = (np.cumsum(part[::-1])[::-1].astype(np.float64) for part in (p, q))
        n, m = x[0], y[0]
        own = np.stack([x[1:], m - y[1:]]), np.stack([y[1:], n - x[1:]])
        return cls(*own, np.array([n, m]), np.array([m, n]))

    def without(self, fold: _Tails) -> _Tails:
        """The draws that are not in a part of them."""
        return _Tails(self.p - fold.p, self.q - fold.q, self.n - fold.n, self.m - fold.m)

    def gain(self, gamma: Array) -> Array:
        """p − γ q as frequencies, (2, m, c)."""
        n, m = (np.maximum(size, 1.0)[:, None] for size in (self.n, self.m))
        return np.asarray((self.p / n)[:, None] - gamma[:, None] * (self.q / m)[:, None])

    def error(self, gamma: Array) -> Array:
        """Standard errors of the same, with half a draw more in and out of each set."""
        p, q = (
            (part + 0.5) * (size[:, None] - part + 0.5) / size[:, None] ** 3
            for part, size in ((self.p, self.n), (self.q, self.m))
        )
        return np.asarray(np.sqrt(p[:, None] + gamma[:, None] ** 2 * q[:, None]))

    def counts(self, way: np.ndarray, position: np.ndarray) -> Array:
        """Draws of p and of q in sets, and all draws of both, (4, …).

        way, position : the sets' directions and thresholds, of shapes that broadcast together.
        """
        at = way, position
        return np.stack(np.broadcast_arrays(self.p[at], self.q[at], self.n[way], self.m[way]))


def _folds(cells: ScoreCells, rng: np.random.Generator) -> list[_Tails]:
    """Each draw is in one fold, at random."""
    p, q = (rng.multinomial(part, np.full(FOLDS, 1.0 / FOLDS)) for part in (cells.p, cells.q))
    return [_Tails.of(*part) for part in zip(p.T, q.T, strict=True)]


def _cross_fitted(tails: _Tails, folds: list[_Tails], gamma: Array) -> Array:
    """Counts of each fold in the sets that the others choose, summed by direction, (4, 2, m).

    Folds that prefer different directions are not summed: the p of one direction are draws of P,
    those of the other draws of Q, of which there may be far more.
    """
    sets = [_largest(tails.without(fold).gain(gamma))[0] for fold in folds]
    parts = [fold.counts(WAYS, position) for fold, position in zip(folds, sets, strict=True)]
    return np.asarray(np.sum(parts, axis=0))


def _largest(values: Array) -> tuple[np.ndarray, Array]:
    """The positions of the largest of (…, c), and these themselves, (…)."""
    position = np.argmax(values, axis=-1)
    return position, _at(values, position)


def _at(values: Array, position: np.ndarray) -> Array:
    """Elements of the last axis."""
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
    """The least z with which ends that matter are missed in a share `error` of replicates.

    sets : (2, m), positions of the thresholds in both directions. matters : (2, m), where an end
    must hold. Lower ends must in both directions if their values are close: where these are equal,
    the larger of two lower ends exceeds the truth twice as often as either. side : as in `_Ends`.
    """
    at = evenly_spaced(len(gamma), NODES)
    way, node = np.nonzero(matters[:, at])
    position, gamma = sets[way, at[node]], gamma[at[node]]
    x, y, n, m = tails.counts(way, position)
    value = np.maximum(x / n - gamma * y / m, 0.0)
    ends = _Ends(_drawn(tails, way, position, rng), gamma, value, side)
    return float(np.quantile(ends.least_z(-float(ndtri(error))), 1.0 - error, method="weibull"))


def _drawn(tails: _Tails, way: np.ndarray, position: np.ndarray, rng: np.random.Generator) -> Array:
    """`counts` of k sets in REPLICATES simulated samples, (4, REPLICATES, k)."""
    distinct, back = np.unique(position, return_inverse=True)
    x, y = (
        _above(part[0, distinct], size, rng)[:, back]
        for part, size in ((tails.p, tails.n[0]), (tails.q, tails.m[0]))
    )
    n, m = np.broadcast_arrays(tails.n[way], tails.m[way], x)[:2]
    backward = way == 1
    return np.stack([np.where(backward, n - y, x), np.where(backward, m - x, y), n, m])


def _above(count: Array, size: float, rng: np.random.Generator) -> Array:
    """Draws above each threshold in simulated samples of `size`, (REPLICATES, k)."""
    cells = -np.diff(np.concatenate([[size], count, [0.0]])) / size
    drawn = rng.multinomial(int(size), cells, size=REPLICATES)
    return np.asarray(size - np.cumsum(drawn, axis=1)[:, :-1])


@dataclass(frozen=True, eq=False, repr=False)
class _Ends:
    """Simulated ends of intervals of known values.

    counts : (4, r, k) of r replicates. gamma, value : (k,). side : −1 for lower ends, 1 for upper
    ends.
    """

    counts: Array
    gamma: Array
    value: Array
    side: int

    def least_z(self, single: float) -> Array:
        """For each replicate the least z with which no value is missed, (r,).

        single : the z of a single normal variable, below which none is tried.
        """
        x, y, n, m = self.counts
        replicate, place = np.nonzero(self.side * (x / n - self.gamma * (y / m) - self.value) < 0.0)
        counts, gamma = self.counts[:, replicate, place], self.gamma[place]
        value = self.value[place]
        missed = self._missed(counts, gamma, value, single)
        replicate, counts = replicate[missed], counts[:, missed]
        gamma, value, least = gamma[missed], value[missed], np.full(missed.sum(), single)
        most = np.full(len(least), WIDEST)
        for _ in range(BISECTIONS):
            middle = 0.5 * (least + most)
            missed = self._missed(counts, gamma, value, middle)
            least, most = np.where(missed, middle, least), np.where(missed, most, middle)
        found = np.full(self.counts.shape[1], single)
        np.maximum.at(found, replicate, most)
        return found

    def _missed(self, counts: Array, gamma: Array, value: Array, z: float | Array) -> np.ndarray:
        if self.side < 0:
            return np.asarray(_end(counts, gamma, -z) > value + ROUNDING)
        return np.asarray(_upper(counts, gamma, z) < value - ROUNDING)


def _upper(counts: Array, gamma: Array, z: float | Array) -> Array:
    """Upper ends; at least those of sets beyond the thresholds, in which nothing was seen."""
    return np.maximum(_end(counts, gamma, z), _limit(np.zeros_like(counts[2]), counts[2], z))


def _end(counts: Array, gamma: Array, z: float | Array) -> Array:
    """Ends of p − γ q, (…), from counts (4, …)."""
    x, y, n, m = counts
    p, q = x / n, y / m
    reach = np.hypot(_limit(p, n, z) - p, gamma * (_limit(q, m, -z) - q))
    return np.asarray(p - gamma * q + np.sign(z) * reach)


def _limit(p: Array, n: Array, z: float | Array) -> Array:
    """Jeffreys limit of a probability from its frequency p in n draws, z standard errors away.

    A quantile of Beta(np + ½, n − np + ½) by Paulson's cube roots, which are the more exact the
    smaller the first parameter is against the second: limits of p > ½ are those of 1 − p.
    """
    often = p > 0.5
    limit = _beta(np.where(often, 1.0 - p, p), n, np.where(often, -z, z))
    limit = np.where(often, 1.0 - limit, limit)
    return np.where(np.asarray(z) > 0.0, np.maximum(limit, p), np.minimum(limit, p))


def _beta(p: Array, n: Array, z: float | Array) -> Array:
    """The quantile z standard normal deviations above the median, p ≤ ½."""
    hits, rest = n * p + 0.5, n * (1.0 - p) + 0.5
    u, v = 1.0 / (9.0 * hits), 1.0 / (9.0 * rest)
    inside = (1.0 - u) ** 2 * v + (1.0 - v) ** 2 * u - z * z * u * v
    root = (1.0 - u) * (1.0 - v) + z * np.sqrt(np.maximum(inside, 0.0))
    odds = hits / rest * (np.maximum(root, 0.0) / np.maximum((1.0 - v) ** 2 - z * z * v, 1e-3)) ** 3
    return np.asarray(odds / (1.0 + odds))
