"""From Rényi divergences to δ(ε), for claims of Rényi, zero- and truncated concentrated privacy.

A bound R(α) of the divergence of order α > 1 gives a bound of δ(ε), the largest δ of two laws with
that divergence, in both directions (`dpaudit.curves.joint_range`). The least over the orders holds.
For a list of orders it is made the largest δ of two laws that keep all bounds at once
(`dpaudit.curves.two_orders`); for a smooth curve the laws that attain the best order keep the whole
curve. What papers print is the weaker

    δ(ε) ≤ exp((α − 1)(R(α) − ε)) (1 − 1/α)^{α−1} / α

(paper 3, proposition 1, that is Canonne, Kamath & Steinke 2020, proposition 12, solved for δ). Its
logarithm, (α − 1)(R − ε) + (α − 1)ln(α − 1) − α ln α, is convex in α: (α − 1)R(α) is convex if R is
a Rényi curve, and the other terms have the second derivative 1/(α − 1) − 1/α > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves import joint_range, two_orders
from dpaudit.curves.bracketing import peak

FINITE = np.linspace(-27.0, 30.0, 39)  # ln of (α − 1)/(end − α): to 1e-13 of the end
INFINITE = np.linspace(-27.0, 43.0, 48)  # ln(α − 1)
FLAT = 1e-13  # tolerance in ln δ
CLOSER, AROUND = 3, 17  # rounds, and orders about the best one, for both directions
ROUGH, FINE = 6, 8  # halvings, to choose an order and to compute a bound
JUDGED = np.linspace(-7.0, 7.0, 49)  # ln(α − 1) of orders at which divergences are compared
TAIL, STEP = 12.0, 0.125  # deviations beyond the outermost mean, and between nodes
ORDERS = 1.0 + np.geomspace(0.1, 511.0, 128)  # orders at which DP-SGD is accounted for


# ln δ at α = 1 + s: of s, R(α), ε and the effort
Conversion = Callable[[Array, Array, Array, int], Array]


@dataclass(frozen=True)
class RenyiCurve:
    """The function ε ↦ δ(ε) implied by a bound order ↦ Rényi divergence (nats) on (1, end)."""

    divergence: Callable[[Array], Array]
    end: float = np.inf

    def at_orders(self) -> tuple[Array, Array]:
        """Orders (k,) at which an audit compares divergences, and the bounds there, nats."""
        orders = orders_below(self.end)
        return orders, divergences(self.divergence, orders)

    def __call__(self, epsilon: Array) -> Array:
        delta = self._least(np.maximum(epsilon, self._turn), joint_range.log_delta)
        return joint_range.below_turn(epsilon, self._turn, delta)

    def by_moments(self, epsilon: Array) -> Array:
        """The weaker δ(ε) of paper 3, proposition 1, which is never below `__call__`."""

        def log_delta(s: Array, bound: Array, epsilon: Array, halvings: int) -> Array:
            return np.asarray(s * (bound - epsilon - np.log1p(1.0 / s)) - np.log1p(s))

        return self._least(epsilon, log_delta)

    def _least(self, epsilon: Array, log_delta: Conversion) -> Array:
        flat = np.atleast_1d(epsilon)
        nodes = self._nodes
        heights = -log_delta(*self._at(nodes), flat[:, None], ROUGH)
        best = np.clip(np.argmax(heights, axis=1), 1, len(nodes) - 2)
        around = best[:, None] + np.array([-1, 0, 1])

        def height(places: Array, problem: np.ndarray) -> Array:
            excess, divergence = (part.reshape(places.shape) for part in self._at(places.ravel()))
            return -log_delta(excess, divergence, flat[problem, None], FINE)

        start = nodes[around]
        log_least = -peak(height, start, height(start, np.arange(len(flat))), FLAT)
        return np.exp(np.minimum(log_least, 0.0)).reshape(np.shape(epsilon))

    @cached_property
    def _turn(self) -> float:
        """ε* of both directions, at the best of orders that are closer about the best node."""
        nodes = self._nodes
        for _ in range(CLOSER):
            best = int(np.argmin(joint_range.lengths(*self._at(nodes))))
            low, high = nodes[max(best - 1, 0)], nodes[min(best + 1, len(nodes) - 1)]
            nodes = np.linspace(low, high, AROUND)
        return joint_range.turn(*self._at(nodes))

    @property
    def _nodes(self) -> Array:
        return FINITE if np.isfinite(self.end) else INFINITE

    def _at(self, places: Array) -> tuple[Array, Array]:
        """α − 1 and R(α) at the places of the search, whose range is the real line."""
        excess = (
            np.exp(places) if np.isinf(self.end) else (self.end - 1.0) / (1.0 + np.exp(-places))
        )
        order = np.maximum(1.0 + excess, np.nextafter(1.0, 2.0))
        return order - 1.0, divergences(self.divergence, order)


@dataclass(frozen=True)
class RenyiOrders:
    """δ(ε) from the divergences at a few orders."""

    orders: tuple[float, ...]
    values: tuple[float, ...]

    def at_orders(self) -> tuple[Array, Array]:
        return np.array(self.orders), np.array(self.values)

    def __call__(self, epsilon: Array) -> Array:
        """The largest δ of laws that keep all orders in both directions."""
        places = np.maximum(np.ravel(epsilon), self._turn)
        delta = np.exp(two_orders.log_delta(*self._excess, places, FINE))
        return joint_range.below_turn(epsilon, self._turn, delta.reshape(np.shape(epsilon)))

    @property
    def _excess(self) -> tuple[Array, Array]:
        orders, values = self.at_orders()
        return orders - 1.0, values

    @cached_property
    def _turn(self) -> float:
        return joint_range.turn(*self._excess)

    @classmethod
    def of(cls, orders: ArrayLike, values: ArrayLike) -> RenyiOrders:
        """From orders > 1 and as many divergences ≥ 0, nats. Raises `InvalidInput`."""
        order, value = (
            np.asarray(
                check.array_of_numbers(name, argument, "a sequence of numbers"), dtype=np.float64
            )
            for name, argument in (("orders", orders), ("values", values))
        )
        if order.ndim != 1 or order.size == 0 or not np.all(np.isfinite(order) & (order > 1.0)):
            fail("orders", orders, "a sequence of finite numbers > 1")
        if value.shape != order.shape or not np.all(value >= 0.0):
            fail("values", values, f"{order.size} divergences >= 0, one an order")
        return cls(tuple(order.tolist()), tuple(value.tolist()))


@dataclass(frozen=True)
class Linear:
    """R(α) = ρα, the bound of concentrated privacy."""

    rho: float

    def __call__(self, order: Array) -> Array:
        return self.rho * order


def orders_below(end: float) -> Array:
    """Orders in (1, end), (k,) ascending, at which divergences are compared; dense near both ends
    where `end` is finite.
    """
    if np.isinf(end):
        return 1.0 + np.exp(JUDGED)
    return np.asarray(1.0 + (end - 1.0) / (1.0 + np.exp(-JUDGED)))


def divergences(function: Callable[[Array], Array], order: Array) -> Array:
    """`function` at the orders (m,), checked; raises `InvalidInput`.

    Values below 0 by rounding count as 0. An infinite value gives no bound at its order.
    """
    try:
        with np.errstate(over="ignore", divide="ignore"):
            value = np.asarray(function(order), dtype=np.float64)
    except Exception as error:
        fail(
            "curve",
            Words(f"{type(error).__name__}: {error}"),
            "a vectorised function of the order that does not raise",
        )
    if value.shape != order.shape:
        fail(
            "curve", f"shape {value.shape} for {order.shape}", "a vectorised function of the order"
        )
    if np.any(np.isnan(value)):
        fail(
            "curve",
            Words(f"nan at order {order[np.isnan(value)][0]:g}"),
            "a function with values >= 0 between 1 and its end",
        )
    return np.maximum(value, 0.0)


def gaussian_mixing(order: Array, rows: int, gamma: float) -> Array:
    """The Rényi divergence of Gaussian mixing, nats, at orders α > 1; infinite from α = γ on.

    [kα ln(1 − 1/γ) − k ln(1 − α/γ)]/(2(α − 1)) with k = `rows` (paper 3, lemma 1). With
    o = 1/(γ − 1) and d = α − 1 it is k/(2d) [d(o − ln(1 + o)) − ln(1 − do) − do], two terms that do
    not cancel.
    """
    odds, excess = 1.0 / (gamma - 1.0), order - 1.0
    inside = order < gamma
    bend = -_log1p_less(np.where(inside, -excess * odds, 0.0))
    return np.where(inside, 0.5 * rows * (bend / excess - _log1p_less(np.array(odds))), np.inf)


def _log1p_less(x: Array) -> Array:
    """ln(1 + x) − x to full accuracy; with r = x/(2 + x) it is −xr + 2r³(1/3 + r²/5 + …)."""
    near = np.where(np.abs(x) < 0.3, x, 0.0)
    r2 = (near / (2.0 + near)) ** 2
    series = sum(2.0 * r2**j / (2 * j + 3) for j in range(11))
    small = near / (2.0 + near) * (r2 * series - near)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(np.abs(x) < 0.3, small, np.log1p(np.maximum(x, -1.0)) - x))


def sampled_gaussian(order: Array, rate: float, sigma: float) -> Array:
    """R(α) of one step of DP-SGD: (1 − q)·N(0, σ²) + q·N(1, σ²) against N(0, σ²), nats, (m,).

    order : (m,), > 1. rate : q in (0, 1]. sigma : > 0.

    Of the two directions this one is the larger (Mironov, Talwar & Zhang 2019, theorem 5). The
    integrand of (α − 1)R = log E[(1 − q + q e^{(2x − 1)/2σ²})^α] under N(0, σ²) is analytic in
    |Im x| < πσ², so the trapezoidal rule converges like e^{−2π²σ²/h} in its step h.
    """
    h, divergence = STEP * min(sigma, sigma**2), []
    for a in order.tolist():  # the mass lies between the means 0 and α, with tails of width σ
        x = np.arange(-TAIL * sigma, a + TAIL * sigma, h)
        with np.errstate(divide="ignore"):
            ratio = np.logaddexp(np.log1p(-rate), np.log(rate) + (x - 0.5) / sigma**2)
        log = a * ratio - 0.5 * (x / sigma) ** 2
        total = np.exp(log - log.max()).sum() * h / (sigma * np.sqrt(2.0 * np.pi))
        divergence.append(float(log.max() + np.log(total)) / (a - 1.0))
    return np.array(divergence)
