"""What Rényi claims allow: by the printed conversion, dp-accounting, dpaudit, and two laws.

The two laws are on two outcomes and keep the claim, so that no conversion allows less than their δ.
They are found by a search of the plane of (P(S), Q(S)), which shares no formula with dpaudit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.curves import joint_range
from dpaudit.curves.renyi import Linear, RenyiCurve, gaussian_mixing
from reports.make import page
from reports.make.extras import package

Divergence = Callable[[Array], Array]
ORDERS, CLOSE = 80, 400  # of dp-accounting, and of the claim that the two laws keep at first
ROUNDING = 1e-9  # relative, of the search
ADDED, EXCHANGES = 40, 4  # orders about the one at which they exceed it most, and how often
ROUNDS, POINTS, HALVINGS = 10, 25, 56  # of the search, over ln(q/(1 − q)) and for each over p


def report() -> None:
    """The table of all claims, printed and written to reports/claims.md."""
    head = ["claim", "ε", "printed conversion", "dp-accounting", "one order, one direction"]
    head += ["dpaudit", "two laws", "gap"]
    shown = page.table(head, [row for bound in (*_curves(), *_lists()) for row in _rows(bound)])
    print(shown)
    page.write(page.REPORTS / "claims.md", page.render("claims.md", shown=shown))


@dataclass(frozen=True)
class Bound:
    """A claim, orders and its bounds at them, its bound at any order, and ρ of about its size."""

    claim: dp.Claim
    orders: Array
    divergence: Divergence
    rho: float

    @property
    def values(self) -> Array:
        """The bounds at the orders."""
        return self.divergence(self.orders)


def _curves() -> list[Bound]:
    """Claims at all orders."""
    claims: list[tuple[dp.Claim, Divergence, float, float]] = [
        (dp.Claim.zcdp(0.01), Linear(0.01), 1.0 + 60.0 / np.sqrt(0.02), 0.01),
        (dp.Claim.zcdp(0.5), Linear(0.5), 61.0, 0.5),
        (dp.Claim.tcdp(0.00112, 1.2164), Linear(0.00112), 1.2164, 0.00112),
        (dp.Claim.tcdp(0.3, 1.5), Linear(0.3), 1.5, 0.3),
        (dp.Claim.gaussmix(40, 30.0), lambda order: gaussian_mixing(order, 40, 30.0), 30.0, 0.022),
    ]
    near = 1.0 / (1.0 + np.exp(np.linspace(16.0, -30.0, CLOSE)))
    return [
        Bound(claim, 1.0 + (end - 1.0) * near, divergence, rho)
        for claim, divergence, end, rho in claims
    ]


def _lists() -> list[Bound]:
    """Claims at a few orders."""
    lists: list[tuple[dict[float, float], float]] = [
        ({2.0: 0.2, 4.0: 0.4, 8.0: 0.8}, 0.1),
        ({4.0: 1.2}, 0.3),
        ({1.006: 0.0065, 112.0: 0.1}, 0.004),
    ]
    claims = []
    for bounds, rho in lists:
        text = "RDP " + ", ".join(f"{order:g}: {value:g}" for order, value in bounds.items())
        orders, values = np.array(list(bounds)), np.array(list(bounds.values()))
        claim = dp.Claim.rdp(orders, values, text=text)
        claims.append(Bound(claim, orders, _at_own_orders(values), rho))
    return claims


def _at_own_orders(values: Array) -> Divergence:
    """The bounds of a list, which is asked at its own orders alone."""
    return lambda _: values


def _rows(bound: Bound) -> list[list[str]]:
    rows, claim = [], bound.claim
    for epsilon in np.array([0.0, 0.1, 0.5, 1.0, 2.0, 3.0]) * np.sqrt(2.0 * bound.rho):
        ours, laws = float(claim.delta_at(epsilon)), _two_laws(bound, float(epsilon))
        alone = joint_range.log_delta(bound.orders - 1.0, bound.values, epsilon, 12)
        printed, accountant = (by(bound, float(epsilon)) for by in (_printed, _dp_accounting))
        values = (printed, accountant, float(np.exp(alone.min())), ours, laws)
        gap = ours / laws - 1.0
        shown = f"{gap:.0e}" if abs(gap) > ROUNDING else f"< {ROUNDING:.0e}"
        rows.append([claim.text, page.number(float(epsilon), 3), *map(page.number, values), shown])
    return rows


def _two_laws(bound: Bound, epsilon: float) -> float:
    """The δ of two laws that keep the claim; where it is at all orders, ever more of them."""
    orders = bound.orders
    for _ in range(EXCHANGES if isinstance(bound.claim.renyi, RenyiCurve) else 0):
        place, most, _ = in_the_plane(orders, bound.divergence(orders), epsilon)
        one, other = np.array([most]), np.array([place])
        over = np.maximum(_moments(one, other, orders), _moments(other, one, orders))[0]
        worst = int(np.argmax(over - (orders - 1.0) * bound.divergence(orders)))
        low, high = orders[max(worst - 1, 0)], orders[min(worst + 1, len(orders) - 1)]
        orders = np.unique(np.concatenate([orders, np.linspace(low, high, ADDED)]))
    return in_the_plane(orders, bound.divergence(orders), epsilon)[2]


def _dp_accounting(bound: Bound, epsilon: float) -> float:
    accountant = package("dp_accounting.rdp.rdp_privacy_accountant", "accountant")
    some = slice(None, None, max(len(bound.orders) // ORDERS, 1))
    return float(accountant.compute_delta(bound.orders[some], bound.values[some], epsilon)[0])


def _printed(bound: Bound, epsilon: float) -> float:
    """Paper 3's proposition 1 over all orders of the claim."""
    if isinstance(bound.claim.renyi, RenyiCurve):
        return float(bound.claim.renyi.by_moments(np.asarray(epsilon)))
    orders = bound.orders
    moments = (orders - 1.0) * (bound.values - epsilon + np.log1p(-1.0 / orders)) - np.log(orders)
    return float(np.exp(min(moments.min(), 0.0)))


def in_the_plane(orders: Array, values: Array, epsilon: float) -> tuple[float, float, float]:
    """The largest p − e^ε q of numbers whose divergences, either way, are at most `values`.

    orders, values : (k,). Returns the logits ln(x/(1 − x)) of q and p, and the largest value.

    The largest p for a q is found by halving, the best q on ever finer grids. The set of all (p, q)
    is convex, so there is one maximum.
    """
    low, high = -45.0, 15.0
    for _ in range(ROUNDS):
        place = np.linspace(low, high, POINTS)
        most = _largest(place, orders, values)
        gain = expit(most) - np.exp(epsilon) * expit(place)
        best, step = int(np.argmax(gain)), place[1] - place[0]
        low, high = place[best] - step, place[best] + step
    return float(place[best]), float(most[best]), float(gain[best])


def _largest(place: Array, orders: Array, values: Array) -> Array:
    """ln(p/(1 − p)) of the largest p for each q, in the shape of ln(q/(1 − q)), (m,)."""
    low, high = place, np.full_like(place, logit(1.0 - 1e-16))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        kept = np.all(_moments(middle, place, orders) <= (orders - 1.0) * values, axis=1)
        kept &= np.all(_moments(place, middle, orders) <= (orders - 1.0) * values, axis=1)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return low


def _moments(first: Array, second: Array, orders: Array) -> Array:
    """(α − 1) D_α of two outcomes by the logits of their probabilities, (m, k)."""
    sides = [
        orders * -np.logaddexp(0.0, sign * first)[:, None]
        + (1.0 - orders) * -np.logaddexp(0.0, sign * second)[:, None]
        for sign in (-1.0, 1.0)
    ]
    return np.logaddexp(*sides)
