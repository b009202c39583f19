"""Additive Wishart noise with one row replaced (paper 4, algorithm 3).

The release is AᵀA + W, W ~ Wishart_d(V, k); row v of A is replaced by u.
V^{−½}(vvᵀ − uuᵀ)V^{−½} has the eigenvalues α ≥ 0 and −β ≤ 0, and else 0. On their two axes the
noise is a Wishart matrix of order 2 with m = k − d + 2 degrees of freedom. With Y the output there,
s = 1/(Y⁻¹)₁₁ > α and t = 1/(Y⁻¹)₂₂, the densities of both laws over that of the noise are functions
of one number each (`dpaudit.exact.replaced_rows.wishart`), so that with a = (m − 3)/2

    L = ½(α − β) − a(A − B),   A = ln(s/(s − α)),   B = ln(t/(t − β)),

infinite where t ≤ β: the output cannot come from the other database. Under the left law s − α is
χ²_{m−1}, as 1/(Y⁻¹)₁₁ of the noise is, and given s the density of t is that under the noise. There,
by Bartlett's factors, t(1 + n²/s) ~ χ²_m independently of n ~ N(0, 1), so the density is

    χ²_m(t)·√(s/2π)·G((s + t)/2),   G(y) = ∫_0^∞ (1 + x)^{m/2} x^{−½} e^{−yx} dx.

So δ(ε) = P(t ≤ β) + E[1 − e^{ε−L}; t > β, L > ε] is an integral over two numbers of a function that
is positive and smooth where L > ε, which is on one side of A − B = κ = (½(α − β) − ε)/a. The inner
integral starts at this border; the outer one is over the axis along which the border is less steep
where it is likeliest, so that it is smooth too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammainc, gammaln

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.lazy_curve import LazyCurve
from dpaudit.exact.numerics.log_series import unresolved
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, Curves, by_sorted_epsilon
from dpaudit.exact.pairs.confluent import LogG
from dpaudit.exact.pairs.wishart_axis import FAR, Axis, log_reach

# outer and inner nodes, and natural-log units below a peak beyond which mass is left out
MESHES = (
    (28, 20, 32.0),
    (40, 28, 36.0),
    (60, 40, 38.0),
    (100, 70, 40.0),
    (200, 140, 40.0),
)
Mesh = tuple[int, int, float]
Rule = Callable[[Array, Mesh], Array]
AGREE = 1e-7  # of δ: by how much two meshes, or both directions at ε = 0, may differ
LEAST = 1e-290  # of δ: what is smaller counts as this
LIKELY = 15.0  # natural-log units below the likeliest point of a border
SHORTEST = 1e-9  # range of places
STEEPER = 50.0  # natural-log units that a window has about
ROUNDS, SLACK = 12, 2.0  # of widening a window, and natural-log units that are not looked at
AGAIN = np.linspace(0.0, 1.0, 33)  # of a window: where it is looked at again
MANY = 100  # ε, from which series are the shorter way
BLOCK = 1 << 14  # numbers at a time: stays in cache
GREATEST = 1e300  # of ε; beyond, δ is P(L = ∞) in floats


@dataclass(frozen=True)
class ReplacedWishartCurve:
    """The curve of additive Wishart noise with one row replaced. Raises `InvalidInput`.

    up, down : α > 0 and β > 0, where α and −β are the eigenvalues of V^{−½}(vvᵀ − uuᵀ)V^{−½}, with
        v in the left database.
    dof : k ≥ dim. dim : d ≥ 2; two rows on one axis leave one nonzero eigenvalue, for which there
        is `exact.additive_wishart`.
    """

    up: float
    down: float
    dof: int
    dim: int

    def __post_init__(self) -> None:
        check.real("up", self.up, 0.0, open_=True)
        check.real("down", self.down, 0.0, open_=True)
        check.integer("dim", self.dim, 2)
        check.integer("dof", self.dof, self.dim)

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`.

        Each ε by itself: relative accuracy 1e-7 down to 1e-280, as two meshes agree. Raises
        `InvalidInput`; `NoExactSpectrum` where they do not, or where the curves are no two laws',
        whose total variation is one number.
        """
        epsilon = check.epsilon(epsilon)
        with_zero = np.append(epsilon.ravel(), 0.0)
        ahead, back = by_sorted_epsilon(with_zero, self._both, accuracy=Accuracy(AGREE))
        return ahead[:-1].reshape(epsilon.shape), back[:-1].reshape(epsilon.shape)

    def _both(self, epsilon: Array) -> Curves:
        ahead, back = self._directions
        return ahead.delta(epsilon), back.delta(epsilon)

    @cached_property
    def _directions(self) -> tuple[_Direction, _Direction]:
        up, down, freedom = float(self.up), float(self.down), self.dof - self.dim + 2
        return _Direction(up, down, freedom), _Direction(down, up, freedom)

    def renyi(self, order: float) -> tuple[float, float]:
        """Infinite from order 1 on: on either database an output may be impossible on the other.

        Raises `NoExactSpectrum` below order 1.
        """
        if check.real("order", order, 0.0, open_=True) >= 1.0:
            return float("inf"), float("inf")
        raise NoExactSpectrum(
            "no closed form for Rényi divergences of order < 1 of a replaced row; use delta_at"
        )

    @property
    def supremum(self) -> tuple[float, float]:
        """Infinite in both directions."""
        return float("inf"), float("inf")


@dataclass(frozen=True)
class _Direction:
    """α, β and m of one direction; a = (m − 3)/2 is −½ at the smallest, k = d."""

    up: float
    down: float
    freedom: int

    @property
    def power(self) -> float:
        """a = (m − 3)/2."""
        return 0.5 * (self.freedom - 3)

    @property
    def middle(self) -> float:
        """½(α − β)."""
        return 0.5 * (self.up - self.down)

    def delta(self, epsilon: Array) -> Array:
        """δ at each ε, (k,)."""
        if self.power == 0.0:  # the loss has one finite value
            finite = (1.0 - self.floor) * -np.expm1(np.minimum(epsilon - self.middle, 0.0))
        elif len(epsilon) > MANY:
            finite = self._series(epsilon)
        else:
            finite = self._finite(epsilon)
        return np.minimum(self.floor + finite, 1.0)

    @cached_property
    def _series(self) -> LazyCurve:
        """`_finite`, whose meshes are checked, by series on panels that do not depend on the ε."""
        return LazyCurve(lambda epsilon, _: self._finite(epsilon), self.spread)

    @property
    def spread(self) -> float:
        """About the standard deviation of the loss, by its slope in α and β."""
        size = self.up + self.down
        return max(abs(self.power), 0.5) * size / (size + self.freedom) / np.sqrt(self.freedom)

    @cached_property
    def floor(self) -> float:
        """P(t ≤ β), the probability of an infinite loss."""
        return float(_checked(np.zeros(1), lambda _, mesh: self._below(mesh))[0])

    def _below(self, mesh: Mesh) -> Array:
        """P(t ≤ β), (1,): under the left law t = w + n²α/(x + α) with x ~ χ²_m and w ~ χ²_{m−1}.

        n = N sin φ, N² = β(x + α)/α; log P(w ≤ b) is concave in b, so the integrand falls at least
        as e^{−rate·sin²φ}.
        """
        outer, inner, drop = mesh
        axis, half = Axis(self.up, self.freedom, shifted=True), 0.5 * (self.freedom - 1)
        zero = np.zeros(1)
        place, weight = _nodes(*axis.window(zero, zero + axis.far, drop), outer)
        size, chance = self.down * np.cosh(place) ** 2, gammainc(half, 0.5 * self.down)
        rate = 0.5 * size + _log_slope(half, 0.5 * self.down, chance)
        angle, share = _nodes(
            np.zeros_like(size), np.arcsin(np.minimum(drop / rate, 1.0) ** 0.5), inner
        )
        square = np.sin(angle) ** 2
        terms = np.exp(-0.5 * size[..., None] * square) * np.cos(angle) * share
        terms *= gammainc(half, 0.5 * self.down * (1.0 - square))
        inside = np.sqrt(2.0 / np.pi * size) * terms.sum(axis=-1)
        return np.asarray(np.sum(weight * np.exp(axis.log_density(place)) * inside, axis=-1))

    @cached_property
    def s(self) -> Axis:
        """By √(s − α)."""
        return Axis(self.up, self.freedom - 1, shifted=True)

    @cached_property
    def t(self) -> Axis:
        """By √t."""
        return Axis(self.down, self.freedom, shifted=False)

    @cached_property
    def log_g(self) -> LogG:
        """ln G at half of s + t, wherever there is mass."""
        root = np.sqrt(self.freedom)
        low = self.up + 2.0 * max(root - FAR - 1.0, 0.0) ** 2
        return LogG.between(low, self.up + self.down + 2.0 * (root + FAR) ** 2, self.freedom)

    def _finite(self, epsilon: Array) -> Array:
        """E[1 − e^{ε−L}; t > β, L > ε] at each ε, (k,); the outer integral over s or t."""
        gap = (self.middle - np.minimum(epsilon, GREATEST)) / self.power
        return _checked(
            gap,
            lambda gap, mesh: self._integrals(gap, self._over_s(gap), mesh),
            lambda gap, mesh: self._integrals(gap, ~self._over_s(gap), mesh),
        )

    def _integrals(self, gap: Array, over_s: np.ndarray, mesh: Mesh) -> Array:
        """over_s : where the outer integral is the one over s, (k,)."""
        found, step = np.empty_like(gap), max(1, BLOCK // (mesh[0] * mesh[1]))
        for own, outer, inner in ((over_s, self.s, self.t), (~over_s, self.t, self.s)):
            places = np.flatnonzero(own)
            for first in range(0, len(places), step):
                some = places[first : first + step]
                found[some] = _Border(self, outer, inner, gap[some, None]).integral(mesh)
        return found

    def _over_s(self, gap: Array) -> np.ndarray:
        """Whether the border, where it is likely, is less steep as a function of s than of t."""
        over_t, over_s = (
            _Border(self, *axes, gap[:, None]) for axes in ((self.t, self.s), (self.s, self.t))
        )
        t, s = over_t.scanned(), over_s.scanned()
        s, t = np.hstack([over_t.border(t), s]), np.hstack([t, over_s.border(s)])
        height = _log_mass(self.s, s) + _log_mass(self.t, t)
        likely = height > height.max(axis=1, keepdims=True) - LIKELY
        with np.errstate(all="ignore"):
            slope = np.sinh(2.0 * s) / np.sinh(2.0 * t)
            by_t = slope * self.s.scale * np.cosh(s)
            by_s = self.t.scale * np.sinh(t) / slope
        return _steepest(by_s, s, likely) < _steepest(by_t, t, likely)

    def log_given(self, s: Array, t: Array) -> Array:
        """ln of √(s/2π)·G((s + t)/2) at values of s and t."""
        return np.asarray(0.5 * np.log(s / (2.0 * np.pi)) + self.log_g(s + t))

    def gain(self, s: Array, t: Array, gap: Array) -> Array:
        """1 − e^{ε−L} at places of s and t."""
        excess = self.power * (gap - self.s.log_ratio(s) + self.t.log_ratio(t))
        return np.asarray(-np.expm1(-np.maximum(excess, 0.0)))

    @cached_property
    def rise(self) -> float:
        """By how much the logarithm of the gain may rise within a window."""
        reach = 2.0 * log_reach(STEEPER / self.freedom) + 3.0
        return float(max(min(-np.log(self.spread), reach), 0.0))


@dataclass(frozen=True, eq=False, repr=False)
class _Border:
    """L > ε and t > β; A − B = κ gives the place on the inner axis by that on the outer one.

    gap : κ, (k, 1).
    """

    of: _Direction
    outer: Axis
    inner: Axis
    gap: Array

    @property
    def shift(self) -> Array:
        """ln(c/(c − size)) of the inner axis less that of the outer one, on the border."""
        return self.gap if self.inner is self.of.s else -self.gap

    @property
    def beyond(self) -> bool:
        """Whether L > ε beyond the border, along the inner axis; else it is so before it."""
        return (self.inner is self.of.s) == (self.of.power > 0.0)

    def border(self, place: Array) -> Array:
        """The place on the inner axis, (k, points)."""
        return self.inner.at_ratio(self.outer.log_ratio(place) + self.shift)

    def scanned(self) -> Array:
        """Places on the outer axis, as far as L > ε somewhere beside them."""
        end = self.outer.at_ratio(-self.shift) if self.beyond else self.outer.far + 0.0 * self.gap
        return self.outer.scanned(end[:, 0])

    def ends(self, place: Array) -> tuple[Array, Array]:
        """Between which places on the inner axis L > ε, (k, points) each."""
        border, far = self.border(place), self.inner.far
        if self.beyond:
            return border, np.maximum(border, far)
        return np.zeros_like(border), np.minimum(border, far)

    def gain(self, place: Array, over: Array) -> Array:
        """1 − e^{ε−L} at places on the outer and on the inner axis."""
        s, t = (over, place) if self.inner is self.of.s else (place, over)
        return self.of.gain(s, t, self.gap[..., None])

    def integral(self, mesh: Mesh) -> Array:
        """Of the density times the gain, (k,)."""
        outer, inner, drop = mesh[0], mesh[1], mesh[2] + self.of.rise
        place, weight = _nodes(*self._window(drop), outer)
        over, share = _nodes(*self._inner_window(place, drop), inner)
        place = place[..., None]
        density = self.outer.log_density(place) + self.inner.log_density(over)
        value = np.exp(density + self._log_given(place, over)) * self.gain(place, over)
        return np.asarray(np.sum(weight * np.sum(value * share, axis=-1), axis=-1))

    def _window(self, drop: float) -> tuple[Array, Array]:
        """The places on the outer axis between which the mass is, (k,)."""
        place = self.scanned()
        for _ in range(2):
            low, high = self.ends(place)
            height = self.outer.log_density(place) + self.inner.log_height(low, high)
            height += self._log_given(place, self.inner.likeliest(low, high))
            start, stop = _seen(place, height, drop)
            place = start[:, None] + (stop - start)[:, None] * AGAIN
        return start, stop

    def _inner_window(self, place: Array, drop: float) -> tuple[Array, Array]:
        """The places on the inner axis between which the mass is beside each outer one.

        χ's window, as much larger as the other factor of the density is larger at its lower end.
        """
        low, high = self.ends(place)
        middle = self._log_given(place, self.inner.likeliest(low, high))
        more = np.zeros_like(place)
        for _ in range(ROUNDS):
            first, last = self.inner.window(low, high, drop + more)
            found = self._log_given(place, first) - middle
            if np.all(found <= more + SLACK):
                break
            more = np.maximum(found, more)
        return first, last

    def _log_given(self, place: Array, over: Array) -> Array:
        if self.inner is self.of.s:
            return self.of.log_given(self.inner.value(over), self.outer.root(place) ** 2)
        return self.of.log_given(self.outer.value(place), self.inner.root(over) ** 2)


def _log_slope(half: float, x: float, chance: float) -> float:
    """x times the slope of log P(Γ ≤ x) there, Γ ~ Gamma(half); it is at most `half`."""
    slope = np.exp(half * np.log(x) - x - gammaln(half)) / max(chance, LEAST)
    return float(min(slope, half))


def _steepest(slope: Array, place: Array, likely: np.ndarray) -> Array:
    """The largest slope times the range of places, of those that are likely, in each row."""
    low, high = np.where(likely, place, np.inf), np.where(likely, place, -np.inf)
    length = np.maximum(high.max(axis=1) - low.min(axis=1), SHORTEST)
    steep = np.where(np.isnan(slope), np.inf, slope)
    return np.asarray(length * np.where(likely, steep, 0.0).max(axis=1))


def _log_mass(axis: Axis, place: Array) -> Array:
    """log χ per unit of place, −∞ far away."""
    return np.where(place < axis.far, axis.log_density(np.minimum(place, axis.far)), -np.inf)


def _checked(gap: Array, *rules: Rule) -> Array:
    """By the first rule and mesh that agrees with the mesh before it, at each κ, (k,)."""
    found, left = np.empty_like(gap), np.arange(len(gap))
    for rule in rules:
        last = rule(gap[left], MESHES[0])
        for mesh in MESHES[1:]:
            finer = rule(gap[left], mesh)
            found[left] = finer
            apart = np.abs(finer - last) > AGREE * np.maximum(finer, LEAST)
            if not apart.any():
                return found
            left, last = left[apart], finer[apart]
    return unresolved("two meshes of an integral over the noise disagree")


@lru_cache(maxsize=32)
def _gauss(count: int) -> tuple[Array, Array]:
    """Gauss nodes and weights of [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (1.0 + nodes), 0.5 * weights


def _nodes(low: Array, high: Array, count: int) -> tuple[Array, Array]:
    """Gauss nodes between two places, and their weights, in a last axis."""
    place, weight = _gauss(count)
    length = (high - low)[..., None]
    return low[..., None] + length * place, length * weight


def _seen(place: Array, height: Array, drop: float) -> tuple[Array, Array]:
    """The points between which each row of `height` is within `drop` of its largest; (k, points).

    The next point on either side: beyond, a height may fall as steeply as it likes.
    """
    alive = height > height.max(axis=1, keepdims=True) - drop
    rows, count = np.arange(len(place)), place.shape[1]
    before = np.maximum(np.argmax(alive, axis=1) - 1, 0)
    after = np.minimum(count - np.argmax(alive[:, ::-1], axis=1), count - 1)
    return place[rows, before], place[rows, after]
