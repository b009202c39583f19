"""What a certified band says at any ε: δ, ε at a given δ, the trade-off curve, the Gaussian μ and
Rényi divergences, all bounds at once.

The band is a list of confidence regions of (P(S), Q(S)), each for one set S and one direction,
which hold together at the joint level. A region bounds δ(ε) ≥ P(S) − e^ε Q(S) at EVERY ε ≥ 0 by a
concave function of γ = e^ε, and the band is the largest of these bounds and 0. A region that
contains a point with P(S) ≤ Q(S) gives no bound above 0, and may miss the true point (`binomial`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.certify.constants import (
    GDP_LARGEST,
    GDP_POINTS,
    PARAMETER_ERROR,
    PARAMETER_GRID,
    REPORTED_DELTAS,
    REPORTED_ORDERS,
)
from dpaudit.certify.divergence import BandIntegral
from dpaudit.certify.scores import quotient
from dpaudit.curves import readings
from dpaudit.curves.gaussian_shift import shift_delta
from dpaudit.curves.renyi import orders_below

LARGEST = 700.0  # nats; e^ε overflows soon after, and no band is above 0 there
Curve = Callable[[Array], Array]  # ε ↦ δ


@value_class
class Region:
    """A confidence region of (p, q) = (P(S), Q(S)): q lies in [q[0], q[-1]] and p on or above the
    polygon through the vertices.

    q, p : (k,) coordinates of the vertices, q ascending.
    """

    q: Array
    p: Array

    def low(self, gamma: float) -> float:
        return float(np.min(self.p - gamma * self.q))

    def ratio(self) -> float:
        return float(np.min(quotient(self.p, self.q)))


@value_class(show_numbers=True)
class Certificate:
    """The confidence regions of s sets, stored as arrays p and q of shape (s, k).

    The last vertex of a region is repeated where it has fewer than k. forward : (s,), True where p
    = P(S) and q = Q(S), False where p = Q(S) and q = P(S). level : the joint confidence with which
    all that is read off the regions holds together.
    """

    p: Array
    q: Array
    forward: np.ndarray
    level: float

    @classmethod
    def of(cls, regions: Sequence[Region], forward: Sequence[bool], level: float) -> Certificate:
        """Collect the regions of one band. forward : the direction of each region."""
        width = max([1, *(len(region.q) for region in regions)])
        p, q = np.empty((2, len(regions), width))
        for row, region in enumerate(regions):
            size = len(region.q)
            p[row, :size], p[row, size:] = region.p, region.p[-1]
            q[row, :size], q[row, size:] = region.q, region.q[-1]
        return cls(p, q, np.array(forward, dtype=bool), level)

    def direction(self, forward: bool) -> Certificate:
        """The part of the certificate for one direction, at the same joint level."""
        own = self.forward == forward
        return Certificate(self.p[own], self.q[own], self.forward[own], self.level)

    def delta_at(self, epsilon: ArrayLike) -> Array:
        """The certified δ(ε): a lower bound of the true δ(ε), in the shape of `epsilon`.

        epsilon : scalar or (m,), each ≥ 0, nats.
        """
        epsilon = check.epsilon(epsilon)
        return self._low(np.exp(np.minimum(epsilon, LARGEST)))

    def epsilon_at(self, delta: ArrayLike) -> Array:
        """The largest ε ≥ 0, in nats, at which the certified δ(ε) exceeds `delta`, in its shape.

        delta : scalar or (m,), in [0, 1]. No claim (ε', delta) with a smaller ε' is true; 0 where
        no claim is refuted.
        """
        delta = readings.unit("delta", delta)
        gamma = np.min(quotient(np.maximum(self.p - delta[..., None, None], 0.0), self.q), axis=-1)
        return np.log(np.max(gamma, axis=-1, initial=1.0))

    def least_epsilon(self, delta: float) -> float:
        """The least ε with which (ε, δ)-DP, for both directions, is consistent with the band; nats.

        Such a claim allows δ + (1 − δ)(e^ε − γ)/(1 + e^ε) at each γ = e^{ε'} ≤ e^ε (Kairouz, Oh &
        Viswanath 2015, theorem 3.3). With l = (low(γ) − δ)/(1 − δ) > 0 it thus needs
        e^ε ≥ (l + γ)/(1 − l), which rises with l and is monotone in γ where l is linear. So a
        region requires the largest ε at one of its bends, or where l = 0, which is `epsilon_at`.
        """
        level = float(readings.unit("delta", delta))
        if level == 1.0:
            return 0.0
        i, j = np.triu_indices(self.p.shape[1], 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = (self.p[:, i] - self.p[:, j]) / (self.q[:, i] - self.q[:, j])
        # of each region all γ ≥ 1 at which its bound bends, among others, and 1
        gamma = np.pad(crossings, ((0, 0), (0, 1)), constant_values=1.0)
        gamma = np.where(np.isfinite(gamma) & (gamma > 1.0), gamma, 1.0)
        low = np.min(self.p[:, None] - gamma[..., None] * self.q[:, None], axis=-1)
        above = (low - level) / (1.0 - level)
        with np.errstate(divide="ignore"):
            least = np.where(above > 0.0, (above + gamma) / (1.0 - above), 1.0)
        return max(float(np.log(least.max(initial=1.0))), float(self.epsilon_at(level)))

    def least_mu(self, epsilon: Array) -> float:
        """The least μ for which the curve of μ-GDP is nowhere below the band at these ε, (m,)."""
        return _largest_mu(epsilon, self.delta_at(epsilon))[0]

    def least_parameter(self, curve_of: Callable[[float], Curve], epsilon: Array) -> float:
        """The least parameter at which the curve of a family of claims is nowhere below the band.

        curve_of : parameter ↦ curve ε ↦ δ, which rises with the parameter. epsilon : (m,), nats,
        where the two are compared. The result is at most the exact parameter and within a relative
        1e-9 of it; it is 0 where 1e-12 suffices, and infinite where 1e6 does not.
        """
        from scipy.optimize import brentq  # here: slow to import

        low = self.delta_at(epsilon)
        epsilon, low = epsilon[low > 0.0], low[low > 0.0]

        def excess(log_value: float) -> float:
            delta = np.maximum(curve_of(float(np.exp(log_value)))(epsilon), np.finfo(float).tiny)
            return float(np.max(np.log(low / delta), initial=-np.inf))

        first = bisect_left(PARAMETER_GRID, True, key=lambda log_value: excess(log_value) <= 0.0)
        if first in (0, len(PARAMETER_GRID)):
            return np.inf if first else 0.0
        root = brentq(excess, *PARAMETER_GRID[first - 1 : first + 1], xtol=0.1 * PARAMETER_ERROR)
        return float(np.exp(root - 0.5 * PARAMETER_ERROR))

    def tradeoff(self, alpha: ArrayLike) -> Array:
        """An upper bound of the trade-off function f at type I errors `alpha` in [0, 1], in their
        shape.

        With `low` the certified δ(ε), the bound is the supremum over ε of 1 − low − e^ε α and
        e^{−ε}(1 − low − α) (Dong, Roth & Su 2022, proposition 6). Between corners `low` is linear
        in e^ε, so the supremum is at a corner.
        """
        alpha = readings.unit("alpha", alpha)
        most = 1.0 - self._low(self._corners)
        ahead = most - self._corners * alpha[..., None]
        behind = (most - alpha[..., None]) / self._corners
        return np.clip(np.maximum(ahead, behind).max(axis=-1), 0.0, 1.0 - alpha)

    @cached_property
    def gdp_mu(self) -> float:
        """The largest μ found whose Gaussian curve the band reaches; it refutes every smaller μ."""
        grid = np.linspace(0.0, min(float(self.epsilon_at(0.0)), GDP_LARGEST), GDP_POINTS)
        mu, best = _largest_mu(grid, self.delta_at(grid))
        fine = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, GDP_POINTS - 1)], GDP_POINTS)
        return max(mu, self.least_mu(fine))

    def renyi(self, order: ArrayLike) -> Array:
        """A lower bound of the Rényi divergence of the larger direction, in nats, at each order >
        0.

        order : scalar or (k,); the result has that shape. Order 1 is the Kullback–Leibler
        divergence. The bound is infinite where the band certifies a set that only one law reaches.
        It holds at all orders together (`certify.divergence`).
        """
        orders = readings.orders(order)
        ahead, behind = self._integrals
        bounds = [max(ahead.renyi(at), behind.renyi(at)) for at in orders.ravel().tolist()]
        return np.array(bounds).reshape(orders.shape)

    @cached_property
    def zcdp_rho(self) -> float:
        """The largest ρ found, nats, that a divergence certifies; it refutes every smaller ρ."""
        return self.least_rho()

    def least_rho(self, omega: float = np.inf) -> float:
        """The largest certified D_α/α at orders α in (1, omega): ρ of zCDP, or of tCDP; nats."""
        orders = orders_below(omega)
        return float(np.max(self.renyi(orders) / orders))

    def to_dict(self) -> dict[str, Any]:
        """The readings for result.json: ε at `REPORTED_DELTAS`, μ, ρ and Rényi divergences."""
        return {
            "epsilon_at": {
                f"{delta:.0e}" if delta else "0": float(self.epsilon_at(delta))
                for delta in REPORTED_DELTAS
            },
            "gdp_mu": self.gdp_mu,
            "zcdp_rho": self.zcdp_rho,
            "renyi": {f"{order:g}": float(self.renyi(order)) for order in REPORTED_ORDERS},
        }

    @cached_property
    def _integrals(self) -> tuple[BandIntegral, BandIntegral]:
        """The integrals that bound Rényi divergences: of P against Q, and of Q against P."""
        ahead = BandIntegral.of(self.p, self.q, self.forward)
        return ahead, BandIntegral.of(self.p, self.q, ~self.forward)

    def _low(self, gamma: Array) -> Array:
        """The band at each γ, in the shape of `gamma`; computed region by region, for memory."""
        flat = np.atleast_1d(gamma)
        low = np.zeros_like(flat)
        for p, q in zip(self.p, self.q, strict=True):
            low = np.maximum(low, np.min(p - flat[:, None] * q, axis=1))
        return low.reshape(gamma.shape)

    @cached_property
    def _corners(self) -> Array:
        """Values γ ≥ 1 at which the band, piecewise linear in γ, may bend: crossings of two edges
        that both give their region's minimum there.
        """
        if len(self.p) == 0:
            return np.ones(1)
        sets = np.append(np.repeat(np.arange(len(self.p)), self.p.shape[1]), -1)
        # the last edge stands for δ ≥ 0
        p, q = np.append(self.p.ravel(), 0.0), np.append(self.q.ravel(), 0.0)
        first, second = np.triu_indices(len(p), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            gamma = (p[first] - p[second]) / (q[first] - q[second])
        inside = np.isfinite(gamma) & (gamma > 1.0)
        gamma, first, second = gamma[inside], first[inside], second[inside]
        active = np.ones(len(gamma), dtype=bool)
        for edge in (first, second):
            own = sets[edge]
            least = np.min(self.p[own] - gamma[:, None] * self.q[own], axis=1)
            active &= p[edge] - gamma * q[edge] <= np.where(own < 0, 0.0, least) + 1e-12
        return np.unique(np.append(gamma[active], 1.0))


def level_of(alpha: float) -> float:
    """The confidence 1 − alpha for records and messages, at most the largest float below 1."""
    return min(1.0 - alpha, float(np.nextafter(1.0, 0.0)))


def _largest_mu(epsilon: Array, delta: Array) -> tuple[float, int]:
    """The largest `readings.gdp_mu` of m points (ε, δ), (m,) each, and the position of its point.

    The exact μ is computed only for points that the largest μ so far does not explain.
    """
    mu, best = 0.0, 0
    short = np.flatnonzero(delta > 0.0)
    while len(short) and mu < np.inf:
        with np.errstate(divide="ignore", over="ignore"):
            best = int(short[np.argmax(delta[short] / shift_delta(mu, epsilon[short]))])
        mu = max(mu, float(readings.gdp_mu(epsilon[best], delta[best])))
        short = short[short != best]
        short = short[delta[short] > shift_delta(mu, epsilon[short])]
    return mu, best
