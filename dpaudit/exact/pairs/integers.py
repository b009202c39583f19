"""Discrete Laplace and discrete Gaussian noise on whole numbers, by direct sums.

Discrete Laplace noise moved by d has d + 1 losses. The loss of discrete Gaussian noise is linear in
the sum of d_j Z_j over the coordinates with equal σ, whose law is a convolution of positive terms.
"""

from __future__ import annotations

from functools import cached_property, reduce

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.sorted_epsilon import Curves
from dpaudit.exact.pairs.discrete import MANY, NOTHING, Atoms
from dpaudit.laws import DiscreteGaussian, DiscreteLaplace

FAR = 37.0  # standard deviations: a whole number farther away has probability below e^−684
MOST = 1 << 24  # whole numbers that are summed over
WORK = 1 << 32  # products of probabilities: some seconds


def discrete_laplace_atoms(left: DiscreteLaplace, right: DiscreteLaplace) -> Atoms | None:
    """The pair as finitely many outcomes; None where a scale differs.

    Beyond both centres the loss is constant, so the outcomes there are one.
    """
    if not np.array_equal(left.scale, right.scale):
        return None
    atoms = NOTHING
    for shift, scale in zip(right.centre - left.centre, left.scale, strict=True):
        if shift != 0.0:
            if (count := abs(shift) * len(atoms.left)) > MANY:
                raise _too_many(count, "the losses of discrete Laplace noise")
            masses = -np.arange(abs(shift) + 1.0) / scale
            masses[1:-1] += np.log(np.tanh(0.5 / scale))
            masses[[0, -1]] -= np.log1p(np.exp(-1.0 / scale))
            atoms = atoms.times(Atoms(masses, masses[::-1])).merged()
    return atoms


def _too_many(count: float, what: str) -> NoExactSpectrum:
    return NoExactSpectrum(
        f"{what} take sums of {count:.2g} terms; use smaller noise or fewer coordinates, or "
        "dpaudit.audit, which needs only draws"
    )


@value_class
class DiscreteGaussianShift:
    """Discrete Gaussian noise of parameters sigma, moved by whole numbers shift; (k,) each."""

    shift: Array
    sigma: Array

    @classmethod
    def of(cls, left: DiscreteGaussian, right: DiscreteGaussian) -> DiscreteGaussianShift | None:
        if not np.array_equal(left.sigma, right.sigma):
            return None
        return cls(right.centre - left.centre, left.sigma)

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats; both are equal.

        Raises `NoExactSpectrum` where the sums are too long.
        """
        forward = self._atoms.delta(epsilon)[0]
        return forward, forward

    @property
    def supremum(self) -> tuple[float, float]:
        largest = float("inf") if self.shift.any() else 0.0
        return largest, largest

    def renyi(self, order: float) -> tuple[float, float]:
        """(forward, backward) Rényi divergences of an order α > 0, nats; both are equal.

        The sum over coordinates of αd²/(2σ²) + log(θ((α − 1)d)/θ(0))/(α − 1), where θ(c) is the sum
        of e^{−(z − c)²/(2σ²)} over whole numbers z (Canonne, Kamath & Steinke 2020, proposition 5).
        """
        order = check.real("order", order, 0.0, open_=True)
        total = float(np.sum(0.5 * order * (self.shift / self.sigma) ** 2))
        if order != 1.0:
            for shift, sigma in zip(self.shift, self.sigma, strict=True):
                moved = _theta((order - 1.0) * shift, sigma) / _theta(0.0, sigma)
                total += float(np.log(moved)) / (order - 1.0)
        return total, total

    @cached_property
    def _atoms(self) -> Atoms:
        atoms = NOTHING
        moved = self.shift != 0.0
        for sigma in np.unique(self.sigma[moved]):
            part = _of_equal_noise(np.abs(self.shift[moved & (self.sigma == sigma)]), sigma)
            count = len(atoms.left) * len(part.left)
            if count > MANY and atoms is not NOTHING:
                raise _too_many(count, "discrete Gaussian noises")
            atoms = part if atoms is NOTHING else atoms.times(part).merged()
        return atoms


def _of_equal_noise(shifts: Array, sigma: float) -> Atoms:
    """The pair of s = Σ d_j Z_j, which decides: its loss is (Σ d_j² − 2s)/(2σ²)."""
    unit = float(np.gcd.reduce(shifts.astype(np.int64)))
    steps, reach = shifts / unit, np.ceil(FAR * sigma)
    widths = 2.0 * reach + shifts + 1.0
    work = np.sum(np.cumsum(steps * widths) * widths) if len(shifts) > 1 else 0.0
    numbers = np.sum(steps * widths)
    if numbers > MOST or work > WORK:
        raise _too_many(max(numbers, work), "probabilities of discrete Gaussian noise")
    parts = []
    for step, shift in zip(steps, shifts, strict=True):
        z = np.arange(-reach, reach + shift + 1.0)
        masses = np.zeros(int(step) * (len(z) - 1) + 1)
        masses[:: int(step)] = np.exp(-0.5 * (z / sigma) ** 2) / _theta(0.0, sigma)
        parts.append(masses)
    masses = reduce(np.convolve, parts)
    s = unit * (-reach * steps.sum() + np.arange(float(len(masses))))
    possible = masses > 0.0  # in floats; of the other database's the reverse direction is the same
    log_p = np.log(masses[possible])
    return Atoms(log_p, log_p - (np.sum(shifts**2) - 2.0 * s[possible]) / (2.0 * sigma**2))


def _theta(centre: float, sigma: float) -> float:
    """Σ e^{−(z − c)²/(2σ²)} over whole numbers z, which has the period 1 in c."""
    reach = np.ceil(FAR * sigma)
    if reach > MOST:
        raise _too_many(2.0 * reach, "the probabilities of discrete Gaussian noise")
    z = np.arange(-reach, reach + 1.0) - (centre - np.round(centre))
    return float(np.exp(-0.5 * (z / sigma) ** 2).sum())
