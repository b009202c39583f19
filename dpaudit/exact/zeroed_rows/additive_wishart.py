"""Additive Wishart noise with one row zeroed (paper 4, algorithm 3).

The release is AᵀA + W, W ~ Wishart_d(V, k); v is the row of A that is zeroed. With q = vᵀV⁻¹v,
m = k − d + 1, a = (m − 2)/2 and z = q/2, the loss is a function of the one number
c = q/vᵀW⁻¹v ~ χ²_m:

    full → zeroed:  L = z − a·ln(1 + q/c),
    zeroed → full:  L = −z − a·ln(1 − q/c), infinite where c < q: such an output cannot come from
                    the full database.

In logarithms both are smooth: with y = ±ln(c/q), the sign of a, the first is z − a·ln(1 + e^{∓y}),
and with t = c/q − 1 = e^{−y} the second is −z + a·ln(1 + e^y). Both rise with y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammainc

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact.numerics import monotone_loss
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import VANISHING, log_expm1
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

FAR = 50.0  # how far beyond √m the values of √c are looked at: the mass beyond is below e^{−1250}
FAINT = 750.0  # natural-log units below the peak of a density at which a lower end may be cut off
TAIL = 160.0  # length of a logarithm beyond a threshold: densities fall at least as e^{−y/2}
LAST = 2000.0  # δ is 0 in floats where the logarithm is larger


def additive_wishart(q: float, dof: int, dim: int, epsilon: ArrayLike) -> tuple[Array, Array]:
    """Exact δ(ε) of additive Wishart noise when one row is zeroed (full → zeroed, zeroed → full).

    Parameters
    ----------
    q : float ≥ 0
        vᵀV⁻¹v of the zeroed row.
    dof, dim : int
        k ≥ d degrees of freedom of the noise, and d ≥ 1.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0; the results have its shape.

    Notes
    -----
    Backward never falls below P(χ²_{k−d+1} < q), the chance of an output that rules the full
    database out. Paper 4, algorithm 3.
    """
    return WishartCurve.of(q, dof, dim).delta(epsilon)


@dataclass(frozen=True)
class WishartCurve:
    """The curve by z = q/2 and the integer m; `swapped` where forward is zeroed → full."""

    z: float
    freedom: int
    swapped: bool = False

    @classmethod
    def of(cls, q: float, dof: int, dim: int) -> WishartCurve:
        """The curve for the arguments of `additive_wishart`, which are checked."""
        q = check.real("q", q, 0.0)
        dim = check.integer("dim", dim, 1)
        if check.integer("dof", dof, 1) < dim:
            fail("dof", dof, f"at least dim = {dim}")
        return cls(0.5 * q, dof - dim + 1)

    @property
    def power(self) -> float:
        return 0.5 * self.freedom - 1.0

    @property
    def q(self) -> float:
        return 2.0 * self.z

    @property
    def floor(self) -> float:
        """P(c < q), the probability of an infinite loss zeroed → full."""
        return float(gammainc(0.5 * self.freedom, self.z))

    def reversed(self) -> WishartCurve:
        return replace(self, swapped=not self.swapped)

    def delta(self, epsilon: ArrayLike) -> Curves:
        ahead, back = by_sorted_epsilon(epsilon, self._both, Accuracy.of_squares(self.freedom))
        return (back, ahead) if self.swapped else (ahead, back)

    @property
    def supremum(self) -> tuple[float, float]:
        if self.q == 0.0:
            return 0.0, 0.0
        ahead, back = self.z if self.power >= 0.0 else float("inf"), float("inf")
        return (back, ahead) if self.swapped else (ahead, back)

    def _both(self, epsilon: Array) -> Curves:
        if self.q == 0.0:
            return np.zeros_like(epsilon), np.zeros_like(epsilon)
        floor = np.full_like(epsilon, self.floor)
        if self.power == 0.0:
            return -np.expm1(np.minimum(epsilon - self.z, 0.0)), floor
        if self.power < 0.0:  # the finite part of the loss zeroed → full is below 0
            return self._forward(epsilon), floor
        return self._forward(epsilon), np.minimum(floor + self._backward(epsilon), 1.0)

    def _forward(self, epsilon: Array) -> Array:
        sign = np.sign(self.power)
        low, high = sorted((sign * self._logarithm(-FAR), sign * self._logarithm(FAR)))
        thresholds = -sign * log_expm1(np.maximum((self.z - epsilon) / self.power, 0.0))
        ends = (low, high if sign > 0.0 else np.inf)
        return self._by_logarithm(
            self._forward_density, self._forward_loss, thresholds, epsilon, ends
        )

    def _forward_density(self, y: Array) -> Array:
        log_root = 0.5 * (np.sign(self.power) * y + np.log(self.q))
        return np.asarray(log_chi(np.exp(log_root), self.freedom) + log_root - np.log(2.0))

    def _forward_loss(self, y: Array) -> Array:
        return np.asarray(self.z - self.power * np.logaddexp(0.0, -np.sign(self.power) * y))

    def _logarithm(self, beyond: float) -> float:
        """ln(c/q) where √c is so far beyond √m, or c has the least density that is looked at.

        With u = ln(c/m) the density falls as e^{−m(e^u − 1 − u)/2}, at most e^{−m(|u| − 1)/2}.
        """
        root = np.sqrt(self.freedom)
        least = 0.5 * (np.log(self.freedom) - 1.0) - FAINT / self.freedom
        log_root = np.log(root + beyond) if root + beyond > 0.0 else -np.inf
        return float(2.0 * max(log_root, least) - np.log(self.q))

    def _backward(self, epsilon: Array) -> Array:
        """The finite part of zeroed → full; at t → 0 the density of y falls as e^{−y}."""
        most = np.sqrt(self.freedom) + FAR
        if most**2 <= self.q:  # all of c that is seen lies below q
            return np.zeros_like(epsilon)
        least = max(np.sqrt(self.freedom) - FAR, 0.0)
        last = -np.log(least**2 / self.q - 1.0) if least**2 > self.q else np.inf

        def log_density(y: Array) -> Array:
            root = np.sqrt(self.q) * np.sqrt(1.0 + np.exp(-y))
            return np.asarray(log_chi(root, self.freedom) + np.log(0.5 * self.q / root) - y)

        return self._by_logarithm(
            log_density,
            lambda y: -self.z + self.power * np.logaddexp(0.0, y),
            log_expm1((epsilon + self.z) / self.power),
            epsilon,
            (float(-np.log(most**2 / self.q - 1.0)), last),
        )

    def _by_logarithm(
        self,
        log_density: Callable[[Array], Array],
        loss: Callable[[Array], Array],
        thresholds: Array,
        epsilon: Array,
        ends: tuple[float, float],
    ) -> Array:
        """δ where L rises with y between two ends.

        The density varies by a factor e over 1, or over √(2/m) where c is a sum of many squares.
        """
        first, last = ends
        thresholds = np.maximum(thresholds, first)
        far = float(thresholds[np.isfinite(thresholds)].max(initial=first))
        end = max(min(last, far + TAIL, LAST), first) if np.isinf(last) else max(last, first)
        thresholds = np.minimum(thresholds, end)
        width = min(0.7, np.sqrt(2.0 / self.freedom))
        return monotone_loss.hockey_stick(log_density, loss, thresholds, epsilon, width, end)

    def renyi(self, order: float) -> tuple[float, float]:
        """(forward, backward) Rényi divergences of an order α > 0, nats.

        Zeroed → full is infinite from order 1 on, since the loss can be infinite. Below order 1,
        (1 − α)·R_α(Q, P) = α·R_{1−α}(P, Q).
        """
        order = check.real("order", order, 0.0, open_=True)
        if self.q < VANISHING:
            return 0.0, 0.0
        ahead, back = self._renyi_forward(order - 1.0), float("inf")
        if order < 1.0:
            back = order / (1.0 - order) * self._renyi_forward(-order)
        return (back, ahead) if self.swapped else (ahead, back)

    def _renyi_forward(self, s: float) -> float:
        """log E[e^{sL}]/s full → zeroed, infinite where (1 + q/c)^{−as} has no mean."""
        if self.power == 0.0:
            return self.z
        if 0.5 * self.freedom + self.power * s <= 0.0:
            return float("inf")
        sign = np.sign(self.power)
        # tilted by e^{sL} the density falls as e^{(m/2 + as)·ln c} at c → 0
        slow = min(0.5 * self.freedom, 0.5 * self.freedom + self.power * s)
        low, high = self._logarithm(-FAR) - FAINT / slow, self._logarithm(FAR)
        low, high = sorted((sign * low, sign * high))
        width = min(0.7, np.sqrt(2.0 / self.freedom))
        return monotone_loss.renyi(
            self._forward_density, self._forward_loss, s, low, high, width, lost=self.floor
        )
