"""Laplace noise where k coordinates move by the same number of scales, or where one differs.

Equal shifts have a closed form. A coordinate whose scale differs too is computed from its density.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln, xlogy

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.sorted_epsilon import Curves
from dpaudit.exact.pairs.density import DensityPair
from dpaudit.exact.pairs.discrete import Atoms
from dpaudit.laws import Density, Laplace, SharedLaplace
from dpaudit.laws.density import panel_edges
from dpaudit.laws.vectors import laplace_log_density

AT_ONCE = 1 << 18  # terms worked out at a time, for all ε together
SAME = 1e-12  # relative difference of shifts that is rounding
NODES, MOST_NODES = 32, 200  # of a span, and where its density is steep
MOST = 2500  # coordinates: less than a second; time grows with the square of their number
# a smaller density, and a smaller distance from a node, count as these
TINY, NEAREST = 1e-320, 1e-200


@dataclass(frozen=True)
class LaplaceShift:
    """k coordinates of Laplace noise, each moved by `shift` = t > 0 scales.

    The loss of one coordinate is t(2Y − 1), where Y is 1 with probability ½, 0 with probability
    e^{−t}/2, and else has the density κe^{−t(1−y)} on (0, 1), κ = t/(1 − e^{−t}). A
    binomial number j of the k coordinates is of the last kind. The sum of their Y has the density
    κ^j e^{−t(j−y)} N_j(y), where N_j is the density of a sum of j uniform numbers, for which
    (j − 1)N_j(y) = yN_{j−1}(y) + (j − y)N_{j−1}(y − 1); all others add a binomial number. So the
    sum of all Y has atoms at integers, and between them a density that comes from positive numbers
    alone. δ(ε) is the mean of (1 − e^{ε−L})₊.
    """

    shift: float
    count: int

    def delta(self, epsilon: ArrayLike) -> Curves:
        epsilon = check.epsilon(epsilon)
        if self.count == 1:
            both = -np.expm1(0.5 * np.minimum(epsilon - self.shift, 0.0)) + 0.0
        else:
            step = max(1, AT_ONCE // (self.count * len(self._nodes[0])))
            parts = [
                self._delta(epsilon.ravel()[i : i + step]) for i in range(0, epsilon.size, step)
            ]
            both = np.concatenate(parts).reshape(epsilon.shape)
        return np.asarray(both), np.asarray(both)

    def renyi(self, order: float) -> tuple[float, float]:
        """By that of one coordinate (Mironov 2017, proposition 6), KL at order 1."""
        t, s = self.shift, check.real("order", order, 0.0, open_=True) - 1.0
        if abs(s) < 1e-9:
            one = t + np.expm1(-t)
        else:
            z = (1.0 + 2.0 * s) * t
            between = t if z == 0.0 else -np.expm1(-z) / (1.0 + 2.0 * s)
            one = (s * t + np.log(0.5 * (1.0 + np.exp(-z) + between))) / s
        return self.count * float(one), self.count * float(one)

    @property
    def supremum(self) -> tuple[float, float]:
        return self.count * self.shift, self.count * self.shift

    @cached_property
    def _nodes(self) -> tuple[Array, Array, Array]:
        """Gauss nodes of (0, 1), their weights, and those of interpolation between them."""
        x, weights = np.polynomial.legendre.leggauss(min(NODES + int(self.shift), MOST_NODES))
        between: Array = np.sqrt((1.0 - x**2) * weights)
        between[1::2] *= -1.0
        return 0.5 * (1.0 + x), 0.5 * weights, between

    @cached_property
    def _kinds(self) -> tuple[Array, float, float]:
        """log P(j coordinates between 0 and 1), (k + 1,), P(Y = 1) of the others, and κ."""
        k, j = self.count, np.arange(self.count + 1.0)
        between = -0.5 * np.expm1(-self.shift)
        ways = gammaln(k + 1.0) - gammaln(j + 1.0) - gammaln(k - j + 1.0)
        log_share = ways + xlogy(j, between) + (k - j) * np.log1p(-between)
        return log_share, 1.0 / (1.0 + np.exp(-self.shift)), 0.5 * self.shift / between

    @cached_property
    def _law(self) -> tuple[Array, Array]:
        """Masses of the atoms, (k + 1,), and the density at the nodes of each span, (k, nodes)."""
        k, (u, *_), (log_share, up, kappa) = self.count, self._nodes, self._kinds
        place, share = np.arange(k)[:, None] + u, np.exp(log_share)
        total, some = np.zeros((k + 1, len(u) + 1)), np.zeros((k + 1, len(u)))
        total[0, -1] = share[0]  # the last column are the atoms
        for j in range(1, k + 1):
            total[1 : j + 1] = (1.0 - up) * total[1 : j + 1] + up * total[:j]
            total[0] *= 1.0 - up
            below = np.exp(-self.shift) * place[:j] * some[1 : j + 1] + (j - place[:j]) * some[:j]
            first = np.exp(-self.shift * (1.0 - u))
            some[1 : j + 1] = kappa * (below / (j - 1.0) if j > 1 else first)
            total[:j, :-1] += share[j] * some[1 : j + 1]
        return total[:, -1], total[:-1, :-1]

    def _delta(self, epsilon: Array) -> Array:
        """Atoms, whole spans above ε, and what lies above ε of one span; epsilon (m,)."""
        t, k, (u, weights, _), (atoms, density) = self.shift, self.count, self._nodes, self._law
        middle = k // 2  # spans from here on have losses above 0
        epsilon = np.minimum(epsilon, k * t)[:, None]
        cut = np.minimum((0.5 * (epsilon / t + k)).astype(int), k - 1)
        ends = t * (2.0 * np.arange(middle, k + 1) - k)
        total = _gain(ends - epsilon) @ atoms[middle:]
        inside = _gain(ends[:-1, None] + 2.0 * t * u - epsilon[..., None])
        inside *= (np.arange(middle, k) > cut)[..., None]
        total += np.einsum("esn,sn,n->e", inside, density[middle:], weights)
        rest = np.maximum(t * (2.0 * (cut + 1.0) - k) - epsilon, 0.0)
        share = rest / (2.0 * t)
        return np.minimum(
            total
            + (share * self._within(cut[:, 0], share * (1.0 - u)) * _gain(rest * u)) @ weights,
            1.0,
        )

    def _within(self, span: np.ndarray, rest: Array) -> Array:
        """The density at places `rest` below the end of a span; span (m,), rest (m, nodes).

        By the logarithm's polynomial, but in the last span, where that is steep, by terms.
        """
        u, _, between = self._nodes
        apart = (1.0 - rest)[..., None] - u
        near = between / np.where(apart == 0.0, NEAREST, apart)
        log = np.log(np.maximum(self._law[1][span], TINY))
        value = np.exp(np.einsum("enr,er->en", near, log) / near.sum(axis=-1))
        last = span == self.count - 1
        if last.any():
            log_share, up, kappa = self._kinds
            j, w = np.arange(1.0, self.count + 1.0), rest[last][..., None]
            terms = log_share[1:] + (self.count - j) * np.log(up) + j * np.log(kappa) - gammaln(j)
            value[last] = np.exp(terms + xlogy(j - 1.0, w) - self.shift * w).sum(axis=-1)
        return np.asarray(value)


def _gain(excess: Array) -> Array:
    return np.asarray(-np.expm1(-np.maximum(excess, 0.0)))


def laplace_curve(left: Laplace, right: Laplace) -> tuple[Curve, str]:
    """The curve and its name.

    Raises `NoExactSpectrum` for several coordinates that differ by unlike numbers of scales, and
    for more than `MOST`.
    """
    differ = (left.loc != right.loc) | (left.scale != right.scale)
    if not differ.any():
        return Atoms(np.zeros(1), np.zeros(1)), "equal laws"
    shift = (np.abs(left.loc - right.loc) / left.scale)[differ]
    if np.array_equal(left.scale, right.scale) and np.ptp(shift) <= SAME * shift.max():
        if len(shift) > MOST:
            raise NoExactSpectrum(
                f"Laplace noise has an exact spectrum where at most {MOST:,} coordinates differ, "
                f"got {len(shift):,}; use dpaudit.audit, which needs only draws"
            )
        return LaplaceShift(float(shift[0]), len(shift)), "Laplace shift"
    if len(shift) > 1:
        raise NoExactSpectrum(
            "Laplace noise has an exact spectrum where one coordinate differs, or several by the "
            "same number of scales; else use dpaudit.audit, which needs only draws"
        )
    at = int(np.flatnonzero(differ)[0])

    def density(loc: float, scale: float) -> Density:
        return Density(
            lambda x: laplace_log_density((x - loc) / scale) - np.log(scale),
            panel_edges(np.array([loc]), scale),
        )

    densities = (density(float(law.loc[at]), float(law.scale[at])) for law in (left, right))
    return DensityPair(*densities), "Laplace pair"


def shared_curve(left: SharedLaplace, right: SharedLaplace) -> tuple[Curve, str]:
    """The curve of one draw of noise on all coordinates, whose differences are released without
    noise.
    """
    moved = right.loc - left.loc
    if np.any(moved != moved[0]):
        return Atoms(np.array([0.0, -np.inf]), np.array([-np.inf, 0.0])), "no output in common"
    return laplace_curve(
        Laplace(np.zeros(1), np.array([left.scale])), Laplace(moved[:1], np.array([right.scale]))
    )
