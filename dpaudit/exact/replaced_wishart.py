"""Additive Wishart noise with one row replaced: a bound of δ(ε), and the worst of many pairs.

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
What that leaves is bounded closer, by a number that need not grow with either. Where t > β,
h(t) ≥ e^{β/2}. Under the left law t grows stochastically with s, of which 1 − e^{ε+β/2}/g(s) is a
falling function, so that with F = P(t ≤ β), the chance of an infinite loss, Chebyshev's inequality
of association gives

    δ(ε) ≤ F + (1 − F)·E_left(1 − e^{ε+β/2}/g(s))₊.

**The search.** The bound grows with both eigenvalues. On a grid of levels the pairs that it leaves
at some place lie beyond a staircase, which is found level by level by bisection; a pair is bounded
by the level above it. A finer grid over what is left follows, then the pairs one by one. The exact
δ does not grow with both eigenvalues: at large ε one direction falls as the other one grows.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaincc

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Curve
from dpaudit.exact.pairs.replaced_wishart import Direction, ReplacedWishartCurve
from dpaudit.exact.search import Open, Worst
from dpaudit.exact.zeroed_rows.additive_wishart import WishartCurve, additive_wishart
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi
from dpaudit.laws import ReplacedWishartRows

REACH = 13.0  # beyond √f, in units of √χ²_f: e^{−80}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
# edges of panels; the integrand bends where c is about as small as an eigenvalue
PANELS = np.array([0.0, 5e-4, 2e-3, 8e-3, 0.03, 0.09, 0.2, 0.33, 0.46, 0.6, 0.75, 0.87, 1.0])
LEAST = 1e-300
EPS = 1e-15  # from a difference of two probabilities
BLOCK = 1 << 18  # numbers at a time
ROUNDING = 1e-9  # of P(L > ε), from which a number nearly as large is taken
SPLITS = np.linspace(0.0, 1.0, 9)
LEVELS = 48  # of either eigenvalue on a grid
FEW = 200  # distinct pairs that are bounded one by one
GRIDS = 4
FALL = 0.8  # from one level of the first grid to the next
RANK_ONE = 1e-9  # of the larger eigenvalue: a smaller one is rounding
CERTAIN = 1.0 - 1e-12  # a δ above it is 1 but for rounding


def bound(up: Array, down: Array, freedom: int, epsilon: Array) -> Array:
    """A bound of δ at each ε for each pair (α, β), (n, m); it does not fall with α or β.

    up, down : (n,), α and β ≥ 0. freedom : f ≥ 1. epsilon : (m,), nats.
    """
    if freedom == 1:
        return _by_way_of_noise(up, down, epsilon)
    step = max(1, BLOCK // (len(epsilon) * len(PANELS) * len(NODES)))
    value = np.empty((len(up), len(epsilon)))
    # U, with the larger eigenvalue in closed form, which leaves a smooth function of the other
    for over, own in ((_over_t, up >= down), (_over_y, up < down)):
        which = np.flatnonzero(own)
        for at in range(0, len(which), step):
            some = which[at : at + step]
            spectrum, tail = over(up[some, None], down[some, None], freedom, epsilon)
            value[some] = spectrum + ROUNDING * tail
    return np.clip(value, 0.0, 1.0)


def _by_way_of_noise(up: Array, down: Array, epsilon: Array) -> Array:
    split = np.multiply.outer(SPLITS, epsilon)  # θε, (θ, m); the other way round (1 − θ)ε
    distinct, place = np.unique([up, down], return_inverse=True)
    curves = np.array([additive_wishart(float(q), 1, 1, split.ravel()) for q in distinct])
    curves = curves.reshape(-1, 2, *split.shape)
    first, last = place.reshape(2, -1)
    with np.errstate(divide="ignore", over="ignore"):
        beside = np.exp(split + np.log(curves[last, 1, ::-1]))
    return np.asarray(np.minimum(np.min(curves[first, 0] + beside, axis=1), 1.0))


def least_noise_bound(up: Array, down: Array, epsilon: Array) -> Array:
    """The closer bound at k = d, (n, m), α and β > 0; g(s) > e^{ε+β/2} for α < s < α + `room`."""
    floor = np.array([Direction(*pair, 2).floor for pair in zip(up, down, strict=True)])[:, None]
    up, level = up[:, None], epsilon + 0.5 * down[:, None]
    with np.errstate(divide="ignore", over="ignore"):
        room = up / np.expm1(np.maximum(2.0 * level - up, 0.0))
    chance = gammainc(0.5, 0.5 * room)
    noise = gammainc(0.5, 0.5 * (up + room)) - gammainc(0.5, 0.5 * up) - EPS
    gain = chance - np.exp(np.minimum(level, 700.0)) * np.maximum(noise, 0.0)
    gain = np.maximum(gain, 0.0) + ROUNDING * chance
    return np.asarray(np.minimum(floor + (1.0 - floor) * gain, 1.0))


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


def replaced_curve(family: ReplacedWishartRows, index: int) -> tuple[Curve, str]:
    """The curve of one pair and the name of its law; forward is the full database first."""
    up, down = float(family.old[index]), float(family.new[index])
    if min(up, down) > RANK_ONE * max(up, down):
        return ReplacedWishartCurve(up, down, family.dof, family.dim), "additive Wishart"
    curve = WishartCurve.of(max(up, down), family.dof, family.dim)
    return (curve if up >= down else curve.reversed()), "additive Wishart"


@value_class
class WishartSearch:
    """All pairs of a family at the given ε, (m,)."""

    family: ReplacedWishartRows
    epsilon: Array

    def worst(self, known: Worst) -> Worst:
        old, new = self.family.old, self.family.new
        seeds = np.unique([np.argmax(size) for size in (old, new, old + new, old * new)])
        worst = known
        for entry in seeds:  # the largest α, β, α + β and αβ
            worst = self._with_exact(worst, int(entry), np.arange(len(worst.delta)))
        left = np.delete(np.arange(len(old)), seeds)
        for grid in range(GRIDS):
            if len(left) > FEW:
                left = self._beyond_staircase(left, worst, first=grid == 0)
        return self._exactly(left, worst)

    @property
    def _freedom(self) -> int:
        return self.family.dof - self.family.dim + 1

    @property
    def supremum(self) -> tuple[float, float]:
        changed = max(float(self.family.old.max()), float(self.family.new.max())) > 0.0
        return (float("inf"), float("inf")) if changed else (0.0, 0.0)

    def _exactly(self, left: np.ndarray, worst: Worst) -> Worst:
        """One pair after the other, the most promising first, until no bound exceeds the worst."""
        if not len(left):
            return worst
        both = np.column_stack([self.family.old[left], self.family.new[left]])
        left = left[np.sort(np.unique(both, axis=0, return_index=True)[1])]
        up, down = self.family.old[left], self.family.new[left]
        least = self._bound(up, down, self.epsilon)
        if self._freedom == 1:
            two = np.minimum(up, down) > RANK_ONE * np.maximum(up, down)
            up, down = up[two], down[two]
            closer = [least_noise_bound(*pair, self.epsilon) for pair in ((up, down), (down, up))]
            least[two] = np.minimum(least[two], np.hstack(closer))
        still = Open.all_of(left, least).above(worst)
        while len(still.entry):
            entry = int(still.entry[0])
            worst = self._with_exact(worst, entry, still.place[still.entry == entry])
            still = still.at(np.flatnonzero(still.entry != entry)).above(worst)
            still = still.at(np.flatnonzero(still.bound > _threshold(worst)[still.place]))
        return worst

    def _with_exact(self, worst: Worst, entry: int, places: np.ndarray) -> Worst:
        curve, _ = replaced_curve(self.family, entry)
        at = np.unique(places % len(self.epsilon))
        delta = np.concatenate(curve.delta(self.epsilon[at]))
        both = np.concatenate([at, at + len(self.epsilon)])
        return worst.with_values(np.full(len(both), entry), both, delta)

    def _bound(self, up: Array, down: Array, epsilon: Array) -> Array:
        both = bound(np.append(up, down), np.append(down, up), self._freedom, epsilon)
        return np.hstack([both[: len(up)], both[len(up) :]])

    def _beyond_staircase(self, left: np.ndarray, worst: Worst, first: bool) -> np.ndarray:
        old, new = self.family.old[left], self.family.new[left]
        if first:  # values below the first level count as the first
            fall = FALL ** np.arange(LEVELS - 1.0, -1.0, -1.0)
            rows, columns = old.max() * fall, new.max() * fall
        else:
            rows, columns = _quantiles(old), _quantiles(new)
        # the first level of β that is left beside each level of α; it falls as α grows
        low, high = np.zeros(len(rows), dtype=int), np.full(len(rows), len(columns))
        while np.any(low < high):
            middle = (low + high) // 2
            level = columns[np.minimum(middle, len(columns) - 1)]
            bounds = self._bound(rows, level, self.epsilon)
            exceeds = np.any(bounds > _threshold(worst), axis=1)
            low, high = (
                np.where(exceeds, low, np.minimum(middle + 1, high)),
                np.where(exceeds, middle, high),
            )
        row = np.searchsorted(rows, old)
        return left[np.searchsorted(columns, new) >= low[row]]


def _threshold(worst: Worst) -> Array:
    """What a bound must exceed at each place; no δ exceeds 1."""
    return np.where(worst.delta > CERTAIN, np.inf, worst.threshold)


def _quantiles(values: Array) -> Array:
    distinct = np.unique(values)
    places = np.linspace(0, len(distinct) - 1, min(LEVELS, len(distinct)))
    return distinct[np.ceil(places).astype(int)]
