"""Additive Wishart noise with one row replaced: a bound of δ(ε) that grows with both eigenvalues.

With Y the output on the two axes where V^{−½}(vvᵀ − uuᵀ)V^{−½} is diagonal, of eigenvalues α and
−β, and f = k − d + 1 degrees of freedom, the densities of the two laws over that of the noise are
functions of one number each, s = 1/(Y⁻¹)₁₁ and t = 1/(Y⁻¹)₂₂:

    g(s) = e^{α/2}(1 − α/s)₊^a,   h(t) = e^{β/2}(1 − β/t)₊^a,   a = f/2 − 1,

so δ(ε) = E(g(s) − e^ε h(t))₊ under the noise, where s and t are χ²_f: s = xT, t = yT with
independent x, y ~ χ²_{f+1} and T = sin² of the angle between the noise's two columns.

**a ≥ 0.** g and h do not fall, s and t are associated, as increasing functions of independent
numbers (Esary, Proschan & Walkup 1967), and (g − e^ε h)₊ has no positive mixed difference. So
independent s and t give no less:

    δ(ε) ≤ U(α, β) = E D_α(ε + ln h(t)),   D_α(e) = E(g(s) − e^e)₊.

It is the spectrum of two releases, a zeroed row of size α one way and of size β the other way, and
it grows with either: χ²_f is self-decomposable, so for c < 1 there is a Z ≥ 0 with cs + Z ~ s,
independent of s, and s ↦ cs + Z takes the pair (α + s, s) to (cα + s, s) (post-processing).

**a < 0** (k = d). By way of the noise alone δ(ε) ≤ δ_α(θε) + e^{θε} δ'_β((1 − θ)ε) for 0 ≤ θ ≤ 1,
with the two directions δ, δ' of a zeroed row. It grows with α and β for the same reason.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaincc

from dpaudit._core.types import Array
from dpaudit.exact.zeroed_rows.additive_wishart import additive_wishart
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

REACH = 13.0  # beyond √f, in units of √χ²_f: e^{−80}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
# edges of panels; the integrand bends where c is about as small as an eigenvalue
PANELS = np.array([0.0, 5e-4, 2e-3, 8e-3, 0.03, 0.09, 0.2, 0.33, 0.46, 0.6, 0.75, 0.87, 1.0])
LEAST = 1e-300
BLOCK = 1 << 18  # numbers at a time
ROUNDING = 1e-9  # of P(L > ε), from which a number nearly as large is taken
SPLITS = np.linspace(0.0, 1.0, 9)


def bound(up: Array, down: Array, freedom: int, epsilon: Array) -> Array:
    """A bound of δ at each ε for each pair (α, β), (n, m); it does not fall with α or β.

    up, down : (n,), α and β ≥ 0. freedom : f ≥ 1. epsilon : (m,), nats.
    """
    if freedom == 1:
        return _by_way_of_noise(up, down, epsilon)
    step = max(1, BLOCK // (len(epsilon) * len(PANELS) * len(NODES)))
    parts = [
        _independent(up[at : at + step], down[at : at + step], freedom, epsilon)
        for at in range(0, len(up), step)
    ]
    return np.concatenate([np.zeros((0, len(epsilon))), *parts])


def _by_way_of_noise(up: Array, down: Array, epsilon: Array) -> Array:
    split = np.multiply.outer(SPLITS, epsilon)  # θε, (θ, m); the other way round (1 − θ)ε
    distinct, place = np.unique([up, down], return_inverse=True)
    curves = np.array([additive_wishart(float(q), 1, 1, split.ravel()) for q in distinct])
    curves = curves.reshape(-1, 2, *split.shape)
    first, last = place.reshape(2, -1)
    with np.errstate(divide="ignore", over="ignore"):
        beside = np.exp(split + np.log(curves[last, 1, ::-1]))
    return np.asarray(np.minimum(np.min(curves[first, 0] + beside, axis=1), 1.0))


def _independent(up: Array, down: Array, freedom: int, epsilon: Array) -> Array:
    """U; the larger eigenvalue in closed form, which leaves a smooth function of the other."""
    found = np.empty((len(up), len(epsilon)))
    for own, over in ((up >= down, _over_t), (up < down, _over_y)):
        if own.any():
            spectrum, tail = over(up[own, None], down[own, None], freedom, epsilon)
            found[own] = spectrum + ROUNDING * tail
    return np.clip(found, 0.0, 1.0)


def _over_t(up: Array, down: Array, freedom: int, epsilon: Array) -> tuple[Array, Array]:
    """E D_α(ε + ln h(t)) and E P(ln g > ε + ln h(t)) over t; 1 − h(t) = 1 for t ≤ β.

    ln g(s) > e where s > α/(1 − e^{(e − α/2)/a}), and nowhere if e ≥ α/2.
    """
    power, half = 0.5 * freedom - 1.0, 0.5 * freedom
    far = np.sqrt(freedom) + REACH
    start = np.clip(np.sqrt(down), np.sqrt(freedom) - REACH, far)
    last = np.sqrt(_over_part(down, power, 0.5 * (up - down) - epsilon))
    root, mass, outside = _nodes(start, np.clip(last, start, far), freedom)
    up, down, epsilon = up[..., None], down[..., None], epsilon[:, None]
    level = epsilon + 0.5 * down + _power_of(power, down / np.maximum(root**2, LEAST))
    edge = _over_part(up, power, level - 0.5 * up)
    with np.errstate(over="ignore", invalid="ignore"):
        chance = np.where(np.isfinite(edge), gammaincc(half, 0.5 * (edge - up)), 0.0)
        noise = np.exp(level) * gammaincc(half, 0.5 * edge)
    gain = np.where(np.isfinite(edge), np.maximum(chance - noise, 0.0), 0.0)
    return outside + np.sum(mass * gain, axis=-1), outside + np.sum(mass * chance, axis=-1)


def _over_y(up: Array, down: Array, freedom: int, epsilon: Array) -> tuple[Array, Array]:
    """The same over s = α + y, y ~ χ²_f under the left law: E(1 − e^{ε − ln g(s)} h(t))₊ over t.

    ln h(t) < −e where t < β/(1 − e^{−(e + β/2)/a}), and everywhere if e ≤ −β/2.
    """
    power, half = 0.5 * freedom - 1.0, 0.5 * freedom
    far = np.full((len(up), len(epsilon)), np.sqrt(freedom) + REACH)
    root, mass, outside = _nodes(np.maximum(far - 2.0 * REACH, 0.0), far, freedom)
    up, down, epsilon = up[..., None], down[..., None], epsilon[:, None]
    level = epsilon - 0.5 * up - _power_of(power, up / (root**2 + up))
    edge = _over_part(down, power, -level - 0.5 * down)
    with np.errstate(over="ignore", invalid="ignore"):
        chance = gammainc(half, 0.5 * edge)
        other = np.exp(np.minimum(level, 700.0)) * gammainc(half, 0.5 * np.maximum(edge - down, 0))
    gain = np.maximum(chance - other, 0.0)
    return outside + np.sum(mass * gain, axis=-1), outside + np.sum(mass * chance, axis=-1)


def _over_part(size: Array, power: float, gap: Array) -> Array:
    """size/(1 − e^{gap/a}), infinite where gap ≥ 0; for a = 0 its limit, the size where gap < 0."""
    if power == 0.0:
        return np.where(gap < 0.0, size, np.inf)
    part = np.abs(np.expm1(np.minimum(gap / power, 0.0)))
    size = np.broadcast_to(size, part.shape)
    return np.divide(size, part, out=np.full_like(part, np.inf), where=part > 0.0)


def _power_of(power: float, share: Array) -> Array:
    """a ln(1 − share), for share < 1; 0 for a = 0."""
    if power == 0.0:
        return np.zeros_like(share)
    with np.errstate(divide="ignore"):
        return np.asarray(power * np.log1p(-np.minimum(share, 1.0)))


def _nodes(start: Array, stop: Array, freedom: int) -> tuple[Array, Array, Array]:
    """√c and the mass of c ~ χ²_f there, (n, m, nodes), on panels graded to `start`.

    Then the mass outside: the integrand counts as 1 below `start` and beyond √f + REACH, and as 0
    from `stop` to there.
    """
    size = np.diff(PANELS)[:, None]
    place, share = PANELS[:-1, None] + 0.5 * size * (1.0 + NODES), 0.5 * size * WEIGHTS
    root = start[..., None] + (stop - start)[..., None] * place.ravel()
    weight = (stop - start)[..., None] * share.ravel()
    half = 0.5 * freedom
    beyond = gammaincc(half, 0.5 * (np.sqrt(freedom) + REACH) ** 2)
    return root, weight * np.exp(log_chi(root, freedom)), gammainc(half, 0.5 * start**2) + beyond
