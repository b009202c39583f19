"""The largest δ(ε) that bounds of the Rényi divergence of several orders allow together.

A set S turns laws P, Q into two numbers p = P(S), q = Q(S), whose divergences keep every bound, and
two laws on two outcomes attain them. So δ(ε) is the largest p − γq, γ = e^ε, over the (p, q) that
keep all bounds, a convex set (for one order: `joint_range`). In the plane at most two bounds bind
at its best point.

An upper bound by two orders together. For 0 < x₁ < x₂ let

    φ(x) = x^α − x₁^α − αx₁^{α−1}(x − x₁) = x₁^α ψ(ln x/x₁) ≥ 0,   E_Q[φ(dP/dQ)] ≤ B,
    B = e^{(α−1)R} − 1 + φ(1).

Where h = cφ + c′φ′ with c, c′ ≥ 0 touches a multiple of x − γ at x₂ > γ, it is nowhere below that
multiple, as h is convex, and δ(ε) ≤ (cB + c′B′)(x₂ − γ)/h(x₂). The ratio c : c′ for which it
touches is a formula in x₁ and x₂, so the bound holds for EVERY x₁ and x₂ that give weights ≥ 0. It
is the best one where the two laws with the likelihood ratios x₁ and x₂ attain both divergences,
which is where Newton's method looks for them.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves import joint_range
from dpaudit.curves.joint_range import log_expm1, log_psi

NEWTON = 25
FARTHEST, CLOSE = 1.0, 1e-9  # steps in ln(−ln x₁) and ln ln x₂; the bound is flat there
ALLOWED = 1e-9  # a bound that is exceeded by less, relative to e^{(α−1)R} − 1, is kept
EXCHANGES = 8  # the most exchanges of an order for one whose bound is exceeded more


def log_delta(excess: Array, divergence: Array, epsilon: Array, halvings: int) -> Array:
    """ln of the largest δ(ε), (m,).

    excess : α − 1 > 0, (n,). divergence : R ≥ 0, (n,), nats, possibly infinite. epsilon : (m,) ≥ 0,
    nats. halvings : as in `joint_range.log_delta`, which bounds each order alone.

    It starts with the best order alone. As long as an order's bound is exceeded by the two laws
    that attain δ, that order takes the place of one of the two.
    """
    each = np.arange(len(epsilon))
    with np.errstate(divide="ignore"):
        room = log_expm1(excess * divergence)  # ln of what each moment may be above 1
    alone, starts = joint_range.attained(excess, divergence, epsilon[:, None], halvings)
    first = np.argmin(alone, axis=1)
    best, at, pair = alone[each, first], starts[:, each, first], np.stack([first, first])
    live = each[np.isfinite(best) & (best < 0.0)]
    for _ in range(EXCHANGES if len(excess) > 1 else 0):
        with np.errstate(all="ignore"):
            over = np.nan_to_num(_log_moment(excess, *at[:, live, None]) - room, nan=-np.inf)
        broken = over.max(axis=1) > ALLOWED
        live, worst = live[broken], over[broken].argmax(axis=1)
        if len(live) == 0:
            break
        # the better bound of the worst order with either of the pair
        tried = []
        for order in pair[:, live]:
            two = np.stack([order, worst])
            # Newton's method starts between the ratios that attain either order alone
            between = np.mean([starts[:, live, one] for one in two], axis=0)
            with np.errstate(all="ignore"):
                place = _vertex(excess[two], room[two], between)
                tried.append((_log_bound(excess[two], room[two], place, epsilon[live]), place))
        first = tried[0][0] <= tried[1][0]
        bound, place = (np.where(first, *either) for either in zip(*tried, strict=True))
        both = np.stack([np.where(first, *pair[:, live]), worst])
        solved = np.isfinite(bound)
        live = live[solved]
        best[live] = np.minimum(best[live], bound[solved])
        at[:, live], pair[:, live] = place[:, solved], both[:, solved]
    return best


def _log_share(low: Array, high: Array) -> tuple[Array, Array, Array]:
    """ln of Q(x₂) and Q(x₁), and of x₂ − x₁, at ln x₁ < 0 < ln x₂."""
    gap = low + log_expm1(high - low)
    return np.log(-np.expm1(low)) - gap, log_expm1(high) - gap, gap


def _log_moment(s: Array, low: Array, high: Array) -> Array:
    """ln(E_Q[x^α] − 1) for likelihood ratios with logarithms `low` and `high`."""
    above, below, _ = _log_share(low, high)
    psi = [log_psi(*np.broadcast_arrays(s, ratio)) for ratio in (high, low)]
    return np.logaddexp(above + psi[0], below + psi[1])


def _vertex(s: Array, room: Array, at: Array) -> Array:
    """The ratios (2, m) that attain two divergences, by Newton's method in ln(−ln x₁), ln ln x₂.

    The derivatives of E_Q[x^α] are ∓ Q(x)x times what x^α at the other ratio is above its tangent
    at x, over x₂ − x₁.
    """
    place = np.log(np.abs(at))
    for _ in range(NEWTON):
        low, high = -np.exp(place[0]), np.exp(place[1])
        above, below, gap = _log_share(low, high)
        moment = _log_moment(s, low, high)
        wide = np.broadcast_to(high - low, s.shape)
        left = np.exp(below + (2.0 + s) * low + log_psi(s, wide) - gap - moment + place[0])
        right = np.exp(above + (2.0 + s) * high + log_psi(s, -wide) - gap - moment + place[1])
        missing = room - moment
        both = left[0] * right[1] - left[1] * right[0]
        step = np.stack(
            [
                (missing[0] * right[1] - missing[1] * right[0]) / both,
                (left[0] * missing[1] - left[1] * missing[0]) / both,
            ]
        )
        step = np.clip(np.nan_to_num(step), -FARTHEST, FARTHEST)
        place = place + step
        if np.all(np.abs(step) < CLOSE):
            break
    return np.stack([-np.exp(place[0]), np.exp(place[1])])


def _log_bound(s: Array, room: Array, at: Array, epsilon: Array) -> Array:
    """ln of the bound at ratios (2, m); infinite where no weights ≥ 0 make h touch."""
    low, high = at
    value = (1.0 + s) * low + log_psi(s, np.broadcast_to(high - low, s.shape))
    slope = s * low + np.log1p(s) + log_expm1(s * (high - low))
    beyond = epsilon + log_expm1(high - epsilon)  # ln(x₂ − γ)
    start = (1.0 + s) * low + log_psi(s, np.broadcast_to(-low, s.shape))
    excess = np.expm1(slope + beyond - value)  # φ′(x₂)(x₂ − γ)/φ(x₂) − 1, of either sign
    weight = np.log(np.abs(excess[::-1]))
    weight = weight - np.logaddexp(*weight)
    bound = beyond + np.logaddexp(*(weight + np.logaddexp(room, start) - value))
    touches = (excess[0] * excess[1] < 0.0) & (high > epsilon)
    return np.asarray(np.where(touches & ~np.isnan(bound), bound, np.inf))
