"""The largest δ(ε) that a bound R of the Rényi divergence of one order α allows.

For laws P, Q with D_α(P‖Q) ≤ R and any S, the pair p = P(S), q = Q(S) has a divergence of at most R
too, by post-processing. So δ(ε) is at most the largest p − γq, γ = e^ε, of two laws on two outcomes
with that divergence, and it is attained by them (the joint range of Harremoës & Vajda 2011; for
Rényi divergences Asoodeh et al. 2021).

Any function a + bx + cx^α ≥ (x − γ)₊ on x ≥ 0 with c ≥ 0 gives a bound: E_Q of it at x = dP/dQ is
δ(ε) ≤ a + b + c e^{(α−1)R}. For x₁ < γ < x₂ = x₁e^k there is one that touches 0 at x₁ and x − γ at
x₂, and as it is convex it is nowhere below either. With s = α − 1 and v = ln x₁ the bound is

    v = ε + ln(α/s) + ln(e^{sk} − 1) − ln(e^{αk} − 1),
    δ(ε) ≤ [s h(v) + h(s(R − v)) + sR] / [α(e^{sk} − 1)],   h(x) = e^x − 1 − x ≥ 0,

for EVERY k > 0: an error in k makes it no less valid, and only terms ≥ 0 are added. The best k is
where the laws with the likelihood ratios x₁, x₂ have the divergence R. As k → ∞ it becomes
e^{s(R−ε)}(1 − 1/α)^s/α, the bound of Canonne, Kamath & Steinke 2020, proposition 12, and of Balle
et al. 2020, theorem 21; as α → 1 that of Kullback & Leibler's divergence. With R − ε ≥ ln(α/s)
the function x₁ = 0, b > 0 is better, and gives 1 − e^{ε−R}.

R bounds both D_α(P‖Q) and D_α(Q‖P). For p > q the first is the larger one if and only if
p + q < 1: their moments less 1 differ by 2√(pq) sinh(cu) − 2√((1 − p)(1 − q)) sinh(cu′), c = α − ½,
with u = ln(p/q) and u′ = ln((1 − q)/(1 − p)); here √(pq) sinh(u/2) is (p − q)/2, as is
√((1 − p)(1 − q)) sinh(u′/2), sinh(cu)/sinh(u/2) rises with u, and u > u′ is the same as p + q < 1.
And p − γq ≥ (1 − q) − γ(1 − p) as long as p + q ≤ 1. So of the second direction no more counts than
p + q ≤ 1. The best pair of one direction keeps that from some ε* on. Below it the best pair is
that of ε* = 0 with p + q = 1 (which gives the total variation of Gilardoni 2006), and

    1 − δ(ε) = (1 − δ(ε*))(1 + e^ε)/(1 + e^ε*),

which is a bound for EVERY ε* ≥ ε: what (ε*, δ(ε*))-DP in both directions allows at ε (Kairouz, Oh &
Viswanath 2015, theorem 3.3).
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array

NARROWEST = -25.0  # ln(k − k₀)
CHORDS, NEWTON = 4, 5
FARTHEST = 50.0  # at the largest k x₁^s is e^{−this}, or P(x₁) is far below e^{ε−R}
WIDEST, HALVINGS = 80.0, 60  # a length l, and of the range of its logarithm
FAR = 30.0  # e^{−this} is nothing beside 1
NOWHERE = -700.0  # stands for ln 0, of a likelihood ratio that is 0


def log_delta(excess: Array, divergence: Array, epsilon: Array, halvings: int) -> Array:
    """Return ln of the bound on δ(ε) from D_α(P‖Q) ≤ R alone; arguments broadcast.

    excess : s = α − 1 > 0. divergence : R ≥ 0, nats, possibly infinite. epsilon : ≥ 0, nats.
    halvings : how often the range of ln k is halved in search of the best k; 6 and 8 give δ to
    a relative 1e-6 and 1e-12.
    """
    return attained(excess, divergence, epsilon, halvings)[0]


def attained(
    excess: Array, divergence: Array, epsilon: Array, halvings: int
) -> tuple[Array, Array]:
    """`log_delta`, and (ln x₁, ln x₂), (2, …), of the laws that attain that bound."""
    s, bound, epsilon = np.broadcast_arrays(excess, divergence, epsilon)
    room = np.log1p(1.0 / s)  # ln(α/s)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        k = _best(s, bound, epsilon, halvings)
        value = _log_bound(s, bound, epsilon, k)
        upper = _upper(s, epsilon, k)
        certain = bound - epsilon >= room
        sure = np.log(-np.expm1(np.minimum(epsilon - bound, 0.0)))
        value = np.where(certain, sure, value)
        value = np.fmin(value, 0.5 * np.log(0.5 * bound))  # Pinsker's, for the smallest R
    value = np.where(np.isposinf(bound) | np.isnan(value), 0.0, np.minimum(value, 0.0))
    ratios = np.where(certain, [np.full_like(k, NOWHERE), bound], [upper - k, upper])
    return np.where(bound == 0.0, -np.inf, value), ratios


def turn(excess: Array, divergence: Array) -> float:
    """Return ε* ≥ 0 for bounds R in both directions at k orders; arguments (k,) as in `log_delta`.

    The order with the least `lengths` decides.
    """
    length = lengths(excess, divergence)
    least = np.argmin(length)
    length, s = length[least], excess[least]
    if length == 0.0 or np.isinf(length):
        return 0.0
    ends = np.expm1(-2.0 * (1.0 + s) * length) / np.expm1(-2.0 * s * length)
    return float(max(length + np.log(ends * s / (1.0 + s)), 0.0))


def lengths(excess: Array, divergence: Array) -> Array:
    """Return l ≥ 0, (k,), such that p + q = 1 with likelihood ratios e^{±l} has the divergence R.

    l is infinite where R is.
    """
    some = np.isfinite(divergence) & (divergence > 0.0)
    length = np.where(divergence > 0.0, np.inf, 0.0)
    s, bound = excess[some], divergence[some]
    low, high = np.full(s.shape, NARROWEST), np.log(WIDEST + 2.0 * bound + 1.0 / s)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        half = np.exp(middle)
        wide = _log_moment(s * half, np.tanh(0.5 * half)) >= s * bound
        low, high = np.where(wide, low, middle), np.where(wide, middle, high)
    length[some] = np.exp(high)
    return length


def below_turn(epsilon: Array, turn: float, delta: Array | float) -> Array:
    """δ(ε) in the shape of `epsilon`, from `delta` at max(ε, ε*), where ε* is `turn`."""
    gap = np.maximum(turn - epsilon, 0.0)
    response = -np.expm1(-gap) / (1.0 + np.exp(-np.maximum(turn, epsilon)))
    return np.asarray(delta + (1.0 - delta) * response)


def _log_moment(x: Array, slope: Array) -> Array:
    """ln[cosh x + slope·sinh x] at x ≥ 0, which is ln[cosh((α − ½)l)/cosh(l/2)] for x = sl."""
    small, fall = np.minimum(x, 1.0), np.exp(-2.0 * x)
    near = np.log1p(2.0 * np.sinh(0.5 * small) ** 2 + slope * np.sinh(small))
    return np.where(x < 1.0, near, x + np.log(0.5 * (1.0 + fall + slope * (1.0 - fall))))


def _upper(s: Array, epsilon: Array, k: Array) -> Array:
    above = np.log(-np.expm1(-s * k)) - np.log(-np.expm1(-(1.0 + s) * k))
    return np.asarray(epsilon + np.log1p(1.0 / s) + above)


def _log_bound(s: Array, bound: Array, epsilon: Array, k: Array) -> Array:
    upper = _upper(s, epsilon, k)
    v = upper - k
    far = s * (bound - v)
    near = np.log(s * _above_tangent(v) + _above_tangent(np.minimum(far, FAR)) + s * bound) - s * k
    beyond = s * (bound - upper) + np.log1p((s * np.expm1(v) - 1.0) * np.exp(-far))
    total = np.where(far > FAR, beyond, near)
    return np.asarray(total - np.log1p(s) - np.log(-np.expm1(-s * k)))


def _best(s: Array, bound: Array, epsilon: Array, halvings: int) -> Array:
    """Return the k with which the laws with likelihood ratios x₁ and x₂ have the divergence R.

    It exceeds the k₀ of x₁ = 1; ln(k − k₀) is found by bisection, then by chords.
    """
    least = _least(s, epsilon)
    low = np.full(s.shape, NARROWEST)
    reach = FARTHEST * (1.0 + np.minimum(1.0 / s, np.exp(np.clip(bound - epsilon, 0.0, 700.0))))
    high = np.log(epsilon + np.log1p(1.0 / s) + reach - least)
    below, above = np.full(s.shape, -np.inf), np.full(s.shape, np.inf)
    for step in range(halvings + CHORDS):
        middle = 0.5 * (low + high)
        if step >= halvings:
            chord = low - below * (high - low) / (above - below)
            middle = np.where((chord > low) & (chord < high), chord, middle)
        gap = _gap(s, bound, epsilon, least + np.exp(middle))
        wide = gap > 0.0
        low, below = np.where(wide, low, middle), np.where(wide, below, gap)
        high, above = np.where(wide, middle, high), np.where(wide, gap, above)
    return np.asarray(least + np.exp(np.where(above + below > 0.0, low, high)))


def _least(s: Array, epsilon: Array) -> Array:
    """k₀ ≥ 0, where v = 0, by Newton's method: v is concave and falls with k."""
    k = epsilon + np.log1p(1.0 / s)
    for _ in range(NEWTON):
        slope = s / np.expm1(-s * k) - (1.0 + s) / np.expm1(-(1.0 + s) * k)
        k = np.maximum(k + (_upper(s, epsilon, k) - k) / slope, 0.0)
    return np.asarray(np.where(np.isfinite(k), k, 0.0))


def _gap(s: Array, bound: Array, epsilon: Array, k: Array) -> Array:
    """How far the laws with likelihood ratios x₁, x₂ are above R, in ln(E_Q[x^α] − 1); or −∞.

    w = Q(x₂) makes the mean of x under Q 1, and then E_Q[x^α] − 1 = wψ(ln x₂) + (1 − w)ψ(v), with
    ψ(z) = e^{αz} − 1 − α(e^z − 1) = e^z[h(sz) + s h(−z)] ≥ 0. There is none for v ≥ 0.
    """
    upper = _upper(s, epsilon, k)
    v = upper - k
    log_w = np.log(-np.expm1(np.minimum(v, 0.0))) - v - log_expm1(k)
    rest = np.log1p(-np.exp(np.minimum(log_w, 0.0)))
    excess = np.logaddexp(*(log_psi(s, np.stack([upper, v])) + np.stack([log_w, rest])))
    return np.where(v < 0.0, excess - log_expm1(s * bound), -np.inf)


def log_psi(s: Array, z: Array) -> Array:
    """ln ψ(z); for z far below 0 as s + e^z(e^{sz} − α), where h(−z) would overflow."""
    tilt = s * z
    there, back = _above_tangent(np.stack([np.minimum(tilt, FAR), np.minimum(-z, FAR)]))
    near = z + np.where(tilt > FAR, tilt, np.log(there + s * back))
    return np.asarray(np.where(z < -FAR, np.log(s + np.exp(z) * (np.expm1(tilt) - s)), near))


def log_expm1(x: Array) -> Array:
    return np.asarray(x + np.log(-np.expm1(-x)))


def _above_tangent(x: Array) -> Array:
    """h(x) = e^x − 1 − x to 13 significant digits."""
    series = 1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0))))
    return np.where(np.abs(x) < 0.02, 0.5 * x * x * series, np.expm1(x) - x)
