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
the upper limit of any set, the best one's included, and is missed less often than that.

P(S) and Q(S) have Jeffreys limits at z standard errors, and their differences those of Zou and
Donner (Construction of confidence limits about effect measures, Statistics in Medicine 27, 2008),
which keep their length where there are few or no hits. Each end has one z for all ε: the least with
which it is missed, at any ε, in a given share of simulated counts, drawn from the observed
frequencies. So coverage is close to the level and not at least the level; `python -m reports.make
interval` measures it.
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
REPLICATES = 300  # simulated counts
FOLDS = 4
HOPE = 1.5  # standard errors, added to the value of the sets of the upper end
SHARES = 0.6, 0.25  # of 1 − level, for the lower and the upper end; found by simulation
RIVAL = 2.0  # standard errors by which a direction is ahead of one that does not matter
NEAR, START, WIDEST = 0.4, 0.75, 6.0  # z are between START times the z of a single ε and WIDEST
BISECTIONS = 8
ROUNDING = 1e-12


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
    gain = tails.gain(gamma[node])
    best, hopeful = _Sets.of(gain), _Sets.of(gain + HOPE * tails.error(gamma[node]))
    z_low, z_high = _z(tails, best, hopeful, gamma[node], alpha, rng)
    low = _end(_held(tails, folds, gamma[node])[:, near], gamma, -z_low)
    high = _upper(hopeful.counts(tails)[:, near], gamma, z_high)
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
        """Draws of p and of q in sets, and all draws of both, (4, …)."""
        at = way, position
        return np.stack([self.p[at], self.q[at], self.n[way], self.m[way]])


@dataclass(frozen=True, eq=False, repr=False)
class _Sets:
    """The best set at each of m values of ε.

    position : (2, m), of its threshold, in each direction. way : (m,), the better direction.
    """

    position: np.ndarray
    way: np.ndarray

    @classmethod
    def of(cls, gain: Array) -> _Sets:
        """By the largest of (2, m, c)."""
        position = np.argmax(gain, axis=2)
        largest = np.take_along_axis(gain, position[..., None], axis=2)[..., 0]
        return cls(position, np.argmax(largest, axis=0))

    def counts(self, tails: _Tails) -> Array:
        """Of the better direction, (4, m)."""
        return tails.counts(self.way, self.position[self.way, np.arange(len(self.way))])


def _folds(cells: ScoreCells, rng: np.random.Generator) -> list[_Tails]:
    """Each draw is in one fold, at random."""
    p, q = (rng.multinomial(part, np.full(FOLDS, 1.0 / FOLDS)) for part in (cells.p, cells.q))
    return [_Tails.of(*part) for part in zip(p.T, q.T, strict=True)]


def _held(tails: _Tails, folds: list[_Tails], gamma: Array) -> Array:
    """Counts of each fold in the sets that the others choose, summed, (4, m)."""
    rests = [tails.without(fold).gain(gamma) for fold in folds]
    parts = [_Sets.of(rest).counts(fold) for rest, fold in zip(rests, folds, strict=True)]
    return np.asarray(np.sum(parts, axis=0))


def _z(
    tails: _Tails,
    best: _Sets,
    hopeful: _Sets,
    gamma: Array,
    alpha: float,
    rng: np.random.Generator,
) -> list[float]:
    """For each end the least z with which it is missed in no more than its share of replicates.

    The lower ends must hold in both directions where their values are close: where these are equal,
    the larger of two lower ends exceeds the truth twice as often as either.
    """
    at = evenly_spaced(len(gamma), NODES)
    way = np.stack([0 * at, 0 * at + 1, hopeful.way[at]])
    position = np.vstack([best.position[:, at], hopeful.position[way[2], at]])
    seen, drawn = tails.counts(way, position), _drawn(tails, way, position, rng)
    value = seen[0] / seen[2] - gamma[at] * seen[1] / seen[3]
    matters = np.vstack([_rivals(tails, best.position[:, at], gamma[at]), at >= 0])
    found = []
    for side, rows, share in zip((-1, 1), (slice(2), slice(2, 3)), SHARES, strict=True):
        ends = _Ends(drawn[:, :, rows], gamma[at], np.maximum(value[rows], 0.0), side)
        needed = ends.least_z(matters[rows], -float(ndtri(share * alpha)))
        found.append(float(np.quantile(needed, 1.0 - share * alpha, method="weibull")))
    return found


def _rivals(tails: _Tails, position: np.ndarray, gamma: Array) -> np.ndarray:
    """Whether a direction's best value is near the other's or above it, (2, m)."""
    value, error = (
        np.take_along_axis(part, position[..., None], axis=2)[..., 0]
        for part in (tails.gain(gamma), tails.error(gamma))
    )
    return np.asarray(value >= np.max(value, axis=0) - RIVAL * np.hypot(*error))


def _drawn(tails: _Tails, way: np.ndarray, position: np.ndarray, rng: np.random.Generator) -> Array:
    """`counts` of REPLICATES simulated samples, (4, REPLICATES, *position.shape)."""
    distinct, back = np.unique(position, return_inverse=True)
    back = back.reshape(position.shape)
    x, y = (
        _above(part[0, distinct], size, rng)[:, back]
        for part, size in ((tails.p, tails.n[0]), (tails.q, tails.m[0]))
    )
    n, m = np.broadcast_arrays(tails.n[way], x)[0], np.broadcast_arrays(tails.m[way], x)[0]
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

    counts : (4, r, d, k) of r replicates. gamma : (k,). value : (d, k). side : −1 for lower ends, 1
    for upper ends.
    """

    counts: Array
    gamma: Array
    value: Array
    side: int

    def least_z(self, matters: np.ndarray, single: float) -> Array:
        """For each replicate the least z with which no value is missed, (r,).

        matters : (d, k). single : the z of a single normal variable, where the search begins.
        """
        replicate, row, column = np.nonzero((self._distance() > NEAR * single) & matters)
        counts = self.counts[:, replicate, row, column]
        gamma, value = self.gamma[column], self.value[row, column]
        least = np.full(len(replicate), START * single)
        missed = self._missed(counts, gamma, value, least)
        replicate, counts = replicate[missed], counts[:, missed]
        gamma, value, least = gamma[missed], value[missed], least[missed]
        most = np.full(len(least), WIDEST)
        for _ in range(BISECTIONS):
            middle = 0.5 * (least + most)
            missed = self._missed(counts, gamma, value, middle)
            least, most = np.where(missed, middle, least), np.where(missed, most, middle)
        found = np.full(self.counts.shape[1], START * single)
        np.maximum.at(found, replicate, most)
        return found

    def _distance(self) -> Array:
        """How far values are beyond the estimates, in rough standard errors, (r, d, k)."""
        x, y, n, m = self.counts
        p, q = x / n, y / m
        p_error = (x + 0.5) * (n - x + 0.5) / n**3
        q_error = (y + 0.5) * (m - y + 0.5) / m**3
        off = self.side * (self.value - p + self.gamma * q)
        return np.asarray(off / np.sqrt(p_error + self.gamma**2 * q_error))

    def _missed(self, counts: Array, gamma: Array, value: Array, z: Array) -> np.ndarray:
        if self.side < 0:
            return np.asarray(_end(counts, gamma, -z) > value + ROUNDING)
        return np.asarray(_upper(counts, gamma, z) < value - ROUNDING)


def _upper(counts: Array, gamma: Array, z: float | Array) -> Array:
    """Upper ends; at least those of sets beyond the thresholds, in which nothing was seen."""
    least = np.minimum(counts[2], counts[3])
    return np.maximum(_end(counts, gamma, z), _limit(np.zeros_like(least), least, z))


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
