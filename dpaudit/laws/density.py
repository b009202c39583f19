"""A law of one number given by its density, which is smooth between known edges, and by its atoms.

Integrals over it are by Gauss–Legendre quadrature with 16 nodes in each panel, a panel being the
interval between neighbouring edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from itertools import pairwise

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
FAR = 740.0  # in scales of exponential noise: at more than this e^{−x} underflows to 0
FINE = 16  # parts of a panel in the table of the distribution function that `sample` inverts


def _none() -> Array:
    return np.empty(0)


@value_class
class Density:
    """One number with log density `log_p`, and with atoms if there are any.

    Parameters
    ----------
    log_p : callable
        Vectorised, (m,) → (m,), smooth between neighbouring `edges`.
    edges : array, ascending
        The mass outside them is negligible, and on each panel a polynomial of degree 31 fits the
        density.
    atoms : array of shape (a,), default none
        Values of positive probability. The density integrates to the remaining probability.
    log_mass : array of shape (a,), default none
        The logarithms of their probabilities.
    """

    log_p: Callable[[Array], Array]
    edges: Array
    atoms: Array = field(default_factory=_none)
    log_mass: Array = field(default_factory=_none)

    @property
    def dim(self) -> int:
        """1."""
        return 1

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """(size, 1) independent draws, by inversion of the distribution function.

        It is tabulated at 16 points a panel and taken as linear between them.
        """
        points, below = self._distribution
        atoms = np.exp(self.log_mass)
        u = rng.random(size) * (atoms.sum() + below[-1]) - atoms.sum()
        drawn = np.interp(u, below, points)
        if len(atoms):
            which = np.searchsorted(np.cumsum(atoms), u + atoms.sum(), side="right")
            drawn = np.where(u < 0.0, self.atoms[np.minimum(which, len(atoms) - 1)], drawn)
        return np.asarray(drawn[:, None])

    @property
    def _distribution(self) -> tuple[Array, Array]:
        """Points, and the mass of the density below each."""
        starts = np.concatenate([_left_ends(a, b, FINE) for a, b in pairwise(self.edges)])
        points = np.append(starts, self.edges[-1])
        x, w = gauss_legendre(points[:-1], points[1:])
        mass = (w * np.exp(self.log_p(x.ravel()).reshape(x.shape))).sum(axis=1)
        return points, np.concatenate([[0.0], np.cumsum(mass)])

    def log_density(self, x: Array) -> Array:
        """Log density at x (m, 1), with respect to length plus a count of the atoms."""
        value = np.asarray(self.log_p(x[:, 0]))
        for atom, mass in zip(self.atoms, self.log_mass, strict=True):
            value = np.where(x[:, 0] == atom, mass, value)
        return value


def gauss_legendre(start: Array, end: Array) -> tuple[Array, Array]:
    """Gauss–Legendre nodes and weights of each interval, shape (intervals, 16) each."""
    half = 0.5 * (end - start)[:, None]
    return 0.5 * (start + end)[:, None] + half * NODES, half * WEIGHTS


def _left_ends(start: float, end: float, parts: int) -> Array:
    """The left ends of `parts` equal parts of an interval."""
    return np.asarray(start + (end - start) * np.arange(parts) / parts)


def panel_edges(
    kinks: Array, scale: float, *, low: float = -np.inf, high: float = np.inf, width: float = 4.0
) -> Array:
    """Edges of panels at most `width` scales wide, with every kink an edge.

    They end at `low` and `high`, or where tails that fall as e^{−|x|/scale} underflow to 0.
    """
    kinks = np.unique(kinks)
    first, last = max(low, kinks[0] - FAR * scale), min(high, kinks[-1] + FAR * scale)
    marks = np.unique(np.concatenate([[first], kinks[(kinks > first) & (kinks < last)], [last]]))
    parts = [_left_ends(a, b, int(np.ceil((b - a) / (width * scale)))) for a, b in pairwise(marks)]
    return np.append(np.concatenate(parts), last)


def doubling_edges(kinks: Array, least: float, most: float) -> Array:
    """Edges of panels that double in width away from each kink, from `least` on to `most`.

    They suit densities whose tails fall as a power.
    """
    kinks = np.unique(kinks)
    steps = least * 2.0 ** np.arange(0.0, np.ceil(np.log2(most / least)) + 1.0)
    middle = [kinks]
    for a, b in pairwise(kinks):
        inside = steps[steps < 0.5 * (b - a)]
        middle += [a + inside, b - inside]
    return np.unique(np.concatenate([*middle, kinks[0] - steps, kinks[-1] + steps]))
