"""A law of one number that is known by its density: smooth between given edges, and with atoms if
need be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from dpaudit._core.check import Array

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
FAR = 740.0  # scales of exponential noise, beyond which e^{−x} is no float


def _none() -> Array:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Density:
    """One number with log density `log_p` (vectorised, (m,) → (m,)), smooth between neighbouring
    `edges`.

    edges : ascending; no mass that counts lies outside, and a polynomial of degree 31 fits the
        density on each panel.
    atoms, log_mass : values of positive probability, if any, and the logs of these; the rest is the
        density's.
    """

    log_p: Callable[[Array], Array]
    edges: Array
    atoms: Array = field(default_factory=_none)
    log_mass: Array = field(default_factory=_none)

    @property
    def dim(self) -> int:
        return 1

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """Through the distribution function, tabulated at 16 points a panel and linear between
        them.
        """
        points, below = self._table
        atoms = np.exp(self.log_mass)
        u = rng.random(size) * (atoms.sum() + below[-1]) - atoms.sum()
        drawn = np.interp(u, below, points)
        if len(atoms):
            which = np.searchsorted(np.cumsum(atoms), u + atoms.sum(), side="right")
            drawn = np.where(u < 0.0, self.atoms[np.minimum(which, len(atoms) - 1)], drawn)
        return np.asarray(drawn[:, None])

    @property
    def _table(self) -> tuple[Array, Array]:
        fine = np.concatenate([split(a, b, 16) for a, b in pairwise(self.edges)])
        ends = np.append(fine, self.edges[-1])
        x, w = gauss(ends[:-1], ends[1:])
        mass = (w * np.exp(self.log_p(x.ravel()).reshape(x.shape))).sum(axis=1)
        return ends, np.concatenate([[0.0], np.cumsum(mass)])

    def log_density(self, x: Array) -> Array:
        """With respect to length plus a count of the atoms."""
        value = np.asarray(self.log_p(x[:, 0]))
        for atom, mass in zip(self.atoms, self.log_mass, strict=True):
            value = np.where(x[:, 0] == atom, mass, value)
        return value


def gauss(start: Array, end: Array) -> tuple[Array, Array]:
    """Gauss–Legendre nodes and weights of each interval, shape (intervals, 16)."""
    half = 0.5 * (end - start)[:, None]
    return 0.5 * (start + end)[:, None] + half * NODES, half * WEIGHTS


def split(start: float, end: float, parts: int) -> Array:
    """The left ends of so many equal parts."""
    return np.asarray(start + (end - start) * np.arange(parts) / parts)


def edges(
    kinks: Array, scale: float, *, low: float = -np.inf, high: float = np.inf, width: float = 4.0
) -> Array:
    """Panels of at most `width` scales through all kinks, on to the ends or where exponential tails
    are no floats.
    """
    kinks = np.unique(kinks)
    first, last = max(low, kinks[0] - FAR * scale), min(high, kinks[-1] + FAR * scale)
    marks = np.unique(np.concatenate([[first], kinks[(kinks > first) & (kinks < last)], [last]]))
    parts = [split(a, b, int(np.ceil((b - a) / (width * scale)))) for a, b in pairwise(marks)]
    return np.append(np.concatenate(parts), last)


def geometric(kinks: Array, least: float, most: float) -> Array:
    """Panels that double in width from `least` beside each kink, on to `most`, which power laws
    need.
    """
    kinks = np.unique(kinks)
    steps = least * 2.0 ** np.arange(0.0, np.ceil(np.log2(most / least)) + 1.0)
    middle = [kinks]
    for a, b in pairwise(kinks):
        inside = steps[steps < 0.5 * (b - a)]
        middle += [a + inside, b - inside]
    return np.unique(np.concatenate([*middle, kinks[0] - steps, kinks[-1] + steps]))
