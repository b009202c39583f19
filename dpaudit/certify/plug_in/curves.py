"""The estimate of δ(ε) in both directions: the fitted laws' own δ(ε), weighed against counts.

The laws' δ(ε) has little variance, and the fit's error as bias. The sum of p − e^ε q over the
counts of the cells whose log-odds exceed ε has no such bias, and more variance the smaller δ is.
Their weights are those of least mean square error if the log-odds miss by `MISS` nats in common.
The cells are those of one half of the draws and the counts those of the other, both ways: the
largest of sums that chance made would be too large where the loss is constant. The two
directions are then drawn towards their mean as far as counts allow them to be the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpaudit._core.types import Array
from dpaudit.certify.cells import gammas
from dpaudit.certify.plug_in.laws import TINY, CellLaws, Counted, above
from dpaudit.certify.plug_in.odds import LARGEST, CellOdds

MISS = 0.02  # nats
NODES = np.array([0.5, 0.1, 0.02, 0.004, 0.0008])  # shares of the draws, at which directions differ
ALIKE = 1e-6  # share of the variance below which functions of the counts are the same one


def estimated(cells: Counted, epsilon: Array) -> tuple[Array, Array]:
    """δ̂(ε) forward and backward, (m,) each, in [0, 1], non-increasing and convex in e^ε.

    epsilon : (m,) ascending, nats.
    """
    fit = _Fit.of(cells)
    gamma = gammas(epsilon)
    forward, backward = (_convex(gamma, one.delta_at(gamma)) for one in (fit, fit.swapped()))
    mean, half = 0.5 * (forward + backward), 0.5 * fit.asymmetry() * (forward - backward)
    return mean + half, mean - half


@dataclass(frozen=True, eq=False, repr=False)
class _Fit:
    """Counts, laws and log-odds of the cells, P against Q; (c,) each.

    loss : log-odds at equal numbers of draws. crossed : for each half its loss, and the counts of P
    and of Q in the other half.
    """

    p: Array
    q: Array
    laws: CellLaws
    loss: Array
    crossed: list[tuple[Array, Array, Array]]

    @classmethod
    def of(cls, cells: Counted) -> _Fit:
        found = CellOdds.of(cells)
        first, second = cells.halves()
        one, two = (found.of_part(half) - cells.offset for half in (first, second))
        return cls(
            cells.p,
            cells.q,
            CellLaws.of(cells.size, found.odds),
            found.odds - cells.offset,
            [(one, second.p, second.q), (two, first.p, first.q)],
        )

    def swapped(self) -> _Fit:
        """Q against P."""
        crossed = [(-loss, q, p) for loss, p, q in self.crossed]
        return _Fit(self.q, self.p, self.laws.swapped(), -self.loss, crossed)

    def delta_at(self, gamma: Array) -> Array:
        """The fit's and the counts' δ, weighed, at each γ = e^ε, (m,)."""
        fitted = self.laws.delta_at(gamma)
        slope = self.laws.p * expit(-self.loss)  # of p, and −slope of q, per nat of all log-odds
        p, q, moved = above(self.loss, np.log(gamma), self.laws.p, self.laws.q, slope)
        variance = p * (1.0 - p) / self.p.sum() + gamma**2 * q * (1.0 - q) / self.q.sum()
        bias = (MISS * (1.0 + gamma) * moved) ** 2
        weight = bias / np.maximum(bias + variance, TINY)
        return np.asarray(np.clip(fitted + weight * (self._counted(gamma) - fitted), 0.0, 1.0))

    def _counted(self, gamma: Array) -> Array:
        """P(S) − γ Q(S), (m,), S the cells of a loss above ln γ by the other half of the draws."""
        level = np.log(gamma)
        p, q = np.sum([above(loss, level, p, q) for loss, p, q in self.crossed], axis=0)
        return np.asarray(p / self.p.sum() - gamma * q / self.q.sum())

    def asymmetry(self) -> float:
        """How much of the directions' difference to keep, in [0, 1].

        The expected squared error is least at 1 − k/χ², χ² the squared length of k differences of
        counts in units of their errors (James and Stein 1961, but never drawn past the mean).
        """
        level = self._levels()[:, None]
        gamma = np.exp(np.minimum(level, LARGEST))
        up, down = self.loss >= level, self.loss <= -level
        sides = (
            (up + gamma * down, self.p, self.laws.p),
            (-gamma * up - down, self.q, self.laws.q),
        )
        difference = sum(x @ count / count.sum() for x, count, _ in sides)
        spread = sum(_covariance(x, law) / count.sum() for x, count, law in sides)
        return 1.0 - 1.0 / max(1.0, _mean_square(difference, spread))

    def _levels(self) -> Array:
        """The |log-odds| that the shares NODES of both laws exceed, (k,)."""
        size = np.abs(self.loss)
        order = np.argsort(size)
        share = np.cumsum((self.laws.p + self.laws.q)[order]) / 2.0
        return size[order][np.searchsorted(share, 1.0 - NODES).clip(max=len(size) - 1)]


def _covariance(x: Array, law: Array) -> Array:
    """Of k functions of a cell, (k, c), under a law, (c,); (k, k)."""
    centred = x - (x @ law)[:, None]
    return np.asarray((centred * law) @ centred.T)


def _mean_square(x: Array, covariance: Array) -> float:
    """χ² of x, (k,), by its degrees of freedom."""
    scale = np.sqrt(np.maximum(np.diag(covariance), TINY))
    alike = covariance / np.outer(scale, scale)
    root, _, freedom, _ = np.linalg.lstsq(alike, x / scale, rcond=ALIKE)
    return float(x / scale @ root) / max(int(freedom), 1)


def _convex(x: Array, y: Array) -> Array:
    """A convex and non-increasing function close to y, at each x, (m,).

    Values below a later one are raised to it, as later ones have the smaller errors; the largest
    convex function that is nowhere above is taken then.
    """
    y = np.maximum.accumulate(y[::-1])[::-1]
    corner: list[int] = []
    for i in range(len(x)):
        while len(corner) > 1 and _bent_down(x, y, corner[-2], corner[-1], i):
            corner.pop()
        corner.append(i)
    return np.asarray(np.interp(x, x[corner], y[corner]))


def _bent_down(x: Array, y: Array, i: int, j: int, k: int) -> bool:
    """Whether point j lies on or above the line between points i and k."""
    return bool((y[j] - y[i]) * (x[k] - x[i]) >= (y[k] - y[i]) * (x[j] - x[i]))
