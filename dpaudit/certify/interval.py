"""A two-sided interval of what the sets {score > τ} and their complements show of δ(ε).

For a fixed score let θ(ε) be the largest P(S) − e^ε Q(S) of the sets S = {score > τ}, and the
largest Q(S) − e^ε P(S) of their complements, whichever is larger; τ runs over the thresholds of the
cells. θ(ε) ≤ δ(ε). The interval is one of θ: how much this score could show. No finite number of
draws bounds δ(ε) itself from above without assumptions, as another score may show more.

The set of each ε is chosen by odds that are smoothed over the cells, so that the choice depends
little on the counts of single cells. P(S) and Q(S) have Jeffreys limits at z standard errors, and
their differences those of Zou and Donner (Construction of confidence limits about effect measures,
Statistics in Medicine 27, 2008), which keep their length where there are few or no hits. One z
serves all ε and both directions: the least with which simulated counts, drawn from the observed
frequencies, are covered at all ε at once with the probability asked for. So coverage is close to
the level and not at least the level: of 120 simulated audits of each of seven pairs at 1e3 and 1e5
draws a side, 91 to 99 % were covered at 95 % (tests/statistical simulates it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.special import expit

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.candidates import evenly_spaced
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.estimate import Estimate

NODES = 24  # ε at which z is found
REPLICATES = 400  # simulated audits
SMALLEST = 0.01  # 1 − level: four replicates lie beyond
HOPE = 1.0  # standard errors, added to the value of a hopeful set
KNOTS = 8  # of the smooth log odds, inside
STIFF = 4.0  # 1 / variance of the second differences of the spline's weights
STEPS = 12  # of Newton
ATOMS = 3.0  # standard errors by which the chi-square of the cells must exceed its mean
BISECTIONS, WIDEST = 9, 8.0
LARGEST = 300.0  # e^ε is squared without overflow, and no ratio of counts is near it


def interval(found: Estimate, alpha: float) -> Array | None:
    """Lower and upper end at each ε of the grid, (2, m), in [0, 1].

    The interval is extended to the point estimate, which another method may have found. Its lower
    end is never below what is certified, which bounds θ(ε), too.
    alpha : 1 − the joint probability, over all ε, that θ(ε) is inside. The simulation has a seed of
    its own, so equal counts have equal intervals. None without cells, and where alpha is below
    0.01, of which the simulation is too small.
    """
    if found.cells is None or alpha < SMALLEST:
        return None
    low, high = cells_interval(found.cells, found.epsilon, alpha)
    delta, certified = found.delta, found.low
    return np.stack([np.minimum(np.maximum(low, certified), delta), np.maximum(high, delta)])


def cells_interval(cells: ScoreCells, epsilon: Array, alpha: float) -> Array:
    """The interval of θ(ε) from the cells alone, (2, m). epsilon : (m,) ascending, nats."""
    gamma = np.exp(np.minimum(epsilon, LARGEST))
    sets = _Sets.of(cells, gamma)
    z = _z(sets.at(evenly_spaced(len(epsilon), NODES)), cells.sizes, alpha)
    return np.asarray(np.max(_ends(sets.p, sets.q, gamma, cells.sizes, z), axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class _Sets:
    """The sets of each direction at each ε: the best, and for the upper end the hopeful, too.

    The hopeful one is best when a standard error is added. It keeps some hits where the best set is
    nearly empty by chance. threshold : (2, 2, m); best and hopeful, forward and backward.
    p, q : same shape, frequency of the set in the direction's own order: p that of P forward and of
    Q backward. gamma : (m,).
    """

    threshold: Array
    p: Array
    q: Array
    gamma: Array

    @classmethod
    def of(cls, cells: ScoreCells, gamma: Array) -> _Sets:
        """By smoothed odds. Sets are never empty: of those that show nothing, the best."""
        total = cells.p + cells.q
        share = expit(_log_odds(cells))
        n, m = cells.sizes
        p, q = (_above(total * part / size) for part, size in ((share, n), (1.0 - share, m)))
        best = [
            [_best(p, q, (n, m), gamma, hope), _best(1.0 - q, 1.0 - p, (m, n), gamma, hope)]
            for hope in (0.0, HOPE)
        ]
        threshold = cells.threshold[np.array(best)]
        x, y = (np.reshape(one, threshold.shape) for one in cells.above(threshold.ravel()))
        return cls(threshold, *_ordered(x / n, y / m), gamma)

    def at(self, position: np.ndarray) -> _Sets:
        """At some positions of ε only."""
        threshold, p, q = (part[..., position] for part in (self.threshold, self.p, self.q))
        return _Sets(threshold, p, q, self.gamma[position])

    def drawn(self, sizes: tuple[int, int]) -> tuple[Array, Array]:
        """`p` and `q` of simulated draws, (REPLICATES, 2, 2, m) each."""
        rng = generator(np.random.SeedSequence(0))
        above = _ordered(self.p, self.q)
        x, y = (_drawn(self.threshold, *one, rng) for one in zip(above, sizes, strict=True))
        return _ordered(x, y)


def _ordered(x: Array, y: Array) -> tuple[Array, Array]:
    """Frequencies above thresholds, of P and of Q, as those of sets; and back. (…, 2, m) each."""
    return (
        np.stack([x[..., 0, :], 1.0 - y[..., 1, :]], axis=-2),
        np.stack([y[..., 0, :], 1.0 - x[..., 1, :]], axis=-2),
    )


def _drawn(threshold: Array, above: Array, size: int, rng: np.random.Generator) -> Array:
    """Frequencies above each threshold in `size` draws, (REPLICATES, *threshold.shape)."""
    _, first, back = np.unique(threshold, return_index=True, return_inverse=True)
    tail = np.minimum.accumulate(np.concatenate([[1.0], above.ravel()[first], [0.0]]))
    count = rng.multinomial(size, -np.diff(tail), size=REPLICATES)
    return (1.0 - np.cumsum(count, axis=1) / size)[:, back.reshape(threshold.shape)]


def _above(part: Array) -> Array:
    """Sums over the cells above each threshold."""
    return np.asarray(np.cumsum(part[::-1])[::-1][1:])


def _best(p: Array, q: Array, sizes: tuple[int, int], gamma: Array, hope: float) -> np.ndarray:
    """The position of the largest p − γ q, and `hope` standard errors, for each γ."""
    p_variance, q_variance = (
        np.maximum(part * (1.0 - part), 0.0) / size
        for part, size in zip((p, q), sizes, strict=True)
    )
    gains = (p - g * q + hope * np.sqrt(p_variance + g * g * q_variance) for g in gamma)
    return np.array([np.argmax(gain) for gain in gains])


def _log_odds(cells: ScoreCells) -> Array:
    """Log odds of P against Q in each cell, smooth in the cell's rank but for atoms, (c + 1,).

    A penalised spline (Eilers and Marx, Flexible smoothing with B-splines and penalties,
    Statistical Science 1996) is fitted to the counts. Each cell then departs from it as far as its
    own counts outweigh the variance of such departures, estimated by their chi-square.
    """
    total = (cells.p + cells.q).astype(np.float64)
    basis = _basis(total)
    bent = np.diff(np.eye(basis.shape[1]), n=2, axis=0)
    penalty = STIFF * bent.T @ bent + 1e-6 * np.eye(basis.shape[1])
    weight = np.zeros(basis.shape[1])
    for _ in range(STEPS):
        share = expit(np.clip(basis @ weight, -30.0, 30.0))
        gradient = basis.T @ (cells.p - total * share) - penalty @ weight
        curvature = (basis.T * (total * share * (1.0 - share))) @ basis + penalty
        weight = weight + np.clip(np.linalg.solve(curvature, gradient), -5.0, 5.0)
    return _with_atoms(cells, basis @ weight, basis.shape[1])


def _with_atoms(cells: ScoreCells, smooth: Array, fitted: int) -> Array:
    total, share = cells.p + cells.q, expit(np.clip(smooth, -30.0, 30.0))
    information = total * share * (1.0 - share) + 1e-12
    off = (cells.p - total * share) / information
    free = max(len(off) - fitted, 1)
    excess = np.sum(off**2 * information) - free
    spread = excess / np.sum(information) if excess > ATOMS * np.sqrt(2.0 * free) else 0.0
    return np.asarray(smooth + off * spread / (spread + 1.0 / information))


def _basis(total: Array) -> Array:
    """Cubic B-splines of the log odds of a cell's rank, (c + 1, KNOTS + 4)."""
    rank = np.cumsum(total) - 0.5 * total + 0.5
    at = np.log(rank) - np.log(total.sum() + 1.0 - rank)
    ends = at.min() - 1e-6, at.max() + 1e-6
    knots = np.concatenate([[ends[0]] * 3, np.linspace(*ends, KNOTS + 2), [ends[1]] * 3])
    return np.asarray(BSpline.design_matrix(at, knots, 3).toarray())


def _z(sets: _Sets, sizes: tuple[int, int], alpha: float) -> float:
    """The least z that covers, at all ε at once, in a share 1 − alpha of the replicates.

    The lower ends must hold in both directions. Where these are equal, the larger of two lower ends
    exceeds the truth twice as often as either, and counts cannot tell that they are equal.
    """
    p, q = sets.drawn(sizes)
    value = np.clip(sets.p[0] - sets.gamma * sets.q[0], 0.0, None)
    truth = np.max(value, axis=0)
    least, most = np.zeros(REPLICATES), np.full(REPLICATES, WIDEST)
    for _ in range(BISECTIONS):
        middle = 0.5 * (least + most)
        low, high = _ends(p, q, sets.gamma, sizes, middle[:, None, None])
        below = np.all(low <= value, axis=(-2, -1))
        inside = below & np.all(np.max(high, axis=-2) >= truth, axis=-1)
        least, most = np.where(inside, least, middle), np.where(inside, middle, most)
    return float(np.quantile(most, 1.0 - alpha))


def _ends(p: Array, q: Array, gamma: Array, sizes: tuple[int, int], z: float | Array) -> Array:
    """Ends of p − γ q for each direction, (2, …, 2, m) from (…, 2, 2, m)."""
    n = np.array(sizes, dtype=np.float64)[:, None]
    m = n[::-1]  # forward P has n draws and Q has m; backward the other way
    low = _end(p[..., 0, :, :], q[..., 0, :, :], gamma, (n, m), -z)
    high = np.max(_end(p, q, gamma, (n, m), np.expand_dims(z, -1)), axis=-3)
    high = np.maximum(high, _limit(np.zeros((2, 1)), n, z))  # of sets beyond the thresholds
    return np.clip(np.stack([low, high]), 0.0, 1.0)


def _end(p: Array, q: Array, gamma: Array, sizes: tuple[Array, Array], z: float | Array) -> Array:
    reach = np.hypot(_limit(p, sizes[0], z) - p, gamma * (_limit(q, sizes[1], -z) - q))
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
