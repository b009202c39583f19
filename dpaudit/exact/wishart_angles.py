"""Additive Wishart noise with one row replaced: δ(ε) of many pairs at once, by angles.

In the notation of `replaced_wishart.py` and with m = f + 1, the noise has for (s, t) the density

    (st)^{m/2−1} e^{−z/2} G(z/2)/N,   z = s + t,   G(y) = ∫_0^∞ (1 + x)^{m/2} x^{−½} e^{−yx} dx,

by s = xT, t = yT with T = 1/(1 + n) integrated out; N = 2^m Γ(m) B(½, f/2) B(m/2, m/2). So z and
s/z = sin²θ are independent. At an angle θ both densities are functions of z alone,

    g = e^{α/2}(1 − c/z)₊^a, c = α/sin²θ;   h = e^{β/2}(1 − c'/z)₊^a, c' = β/cos²θ,   a = (m − 3)/2,

and where both are positive, g > e^ε h on one side of

    z₀ = max(c, c') + |c − c'|/(e^{|ln r|} − 1),   ln r = (ε − (α − β)/2)/a.

If r ≥ 1 it lies at the angles with c < c', else at those with c > c'. On each side of the angle
with c = c', δ(ε) is thus the integral over θ of a smooth function: differences of the integral Γ of
(g − e^ε h) times the density of z up to z₀, c or c'. Γ comes from a Chebyshev series in √(z − c)
and one in √(z − c') at each angle, which serve all ε.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.chebyshev import chebint, chebpts1, chebval, chebvander
from scipy.special import betaln, gammaln

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.exact.pairs.replaced_wishart import LogG

LARGEST = 41  # m, beyond which the series would need too many terms
REACH = 7.5  # of the series, in units of √χ²: e^{−28} is left out
FAR = 1e4  # c counts as at most this beyond the eigenvalue: e^{−5000}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
PANELS = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.725, 0.85, 0.925, 1.0])
MANY = 32  # m, from which the panels are halved
BLOCK = 1 << 16  # numbers at a time, to stay in cache
ERROR = 3e-7  # of P(L > ε): what the integral may be off by
ROUNDING = 1e-13  # of a probability


def upper(up: Array, down: Array, freedom: int, epsilon: Array) -> Array:
    """δ plus what it may be off by, forward at each ε and then backward, for each pair, (n, 2m).

    up, down : (n,), α and β > 0. freedom : f ≥ 1, and f + 1 ≤ LARGEST. epsilon : (m,), nats.
    """
    value = np.empty((len(up), 2 * len(epsilon)))
    order = np.argsort(up - down)  # pairs of a block then have their z₀ at the same side
    step = max(1, BLOCK // (len(epsilon) * len(PANELS) * len(NODES)))
    for at in range(0, len(up), step):
        some = order[at : at + step]
        both = directions(up[some], down[some], freedom, epsilon)
        value[some] = np.hstack([_above(*direction, epsilon) for direction in both])
    return value


def _above(delta: Array, chance: Array, epsilon: Array) -> Array:
    """Not below δ(ε), which is at most P(L > ε)."""
    own = ERROR * chance + ROUNDING
    return np.minimum(delta + own + ROUNDING * _exp(epsilon), np.minimum(chance + own, 1.0))


def _exp(epsilon: Array) -> Array:
    return np.exp(np.minimum(epsilon, 700.0))


def directions(up: Array, down: Array, freedom: int, epsilon: Array) -> list[tuple[Array, Array]]:
    """δ(ε) and P(L > ε), (n, m) each, of the left law against the right, then the reverse."""
    left, right = (_Side.of(up, down, freedom + 1, right) for right in (False, True))
    power, middle = 0.5 * freedom - 1.0, 0.5 * (up - down)[:, None]
    return [
        _direction(left, right, power, epsilon - middle, epsilon),
        _direction(right.reversed(), left.reversed(), power, epsilon + middle, epsilon),
    ]


def _direction(
    left: _Side, right: _Side, power: float, gap: Array, epsilon: Array
) -> tuple[Array, Array]:
    """The sum over both sides; gap : ε − (α − β)/2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = gap / power if power else np.where(gap < 0.0, -np.inf, np.inf)
        factor = 1.0 / np.clip(np.expm1(np.minimum(np.abs(log_ratio), 700.0)), 1e-100, None)
    below = log_ratio < 0.0
    total = np.zeros((2, *below.shape))
    for own, active in ((left, below), (right, ~below)):
        total += own.constant(power, active)
        places = np.flatnonzero(active.any(axis=0))
        partial = own.until(factor[:, places])
        sign = 1.0 if (own is right) == (power >= 0.0) else -1.0
        total[:, :, places] += np.where(active[:, places], sign * partial, 0.0)
    chance, other = total
    return np.clip(chance - _exp(epsilon) * other, 0.0, 1.0), np.clip(chance, 0.0, 1.0)


@value_class
class _Side:
    """The angles on one side of the one with c = c', of many pairs.

    weight, least, other_least : (n, nodes), of θ; c and c'. own, other : the masses of the two
        laws by z at each angle. right : whether c < c'.
    """

    weight: Array
    least: Array
    other_least: Array
    own: _Mass
    other: _Mass
    right: bool

    @classmethod
    def of(cls, up: Array, down: Array, order: int, right: bool) -> _Side:
        """The nodes are close at either end of the side; order : m."""
        place, share = _nodes(order)
        equal = np.arctan2(np.sqrt(up), np.sqrt(down))[:, None]
        width = 0.5 * np.pi - equal if right else equal
        theta = equal + width * place if right else equal * (1.0 - place)
        weight = 2.0 * width * share * (np.sin(theta) * np.cos(theta)) ** (order - 1)
        c, other = _reach(up[:, None], np.sin(theta)), _reach(down[:, None], np.cos(theta))
        masses = (_Mass.of(c, up[:, None], order), _Mass.of(other, down[:, None], order))
        return cls(weight, c, other, *masses, right)

    def reversed(self) -> _Side:
        return _Side(
            self.weight, self.other_least, self.least, self.other, self.own, not self.right
        )

    def constant(self, power: float, active: np.ndarray) -> Array:
        """What does not come from z₀, of the two laws, (2, n, m); `active` where z₀ lies here."""
        whole, nothing = self._sum(self.own.full, self.other.full), np.zeros((2, len(active), 1))
        if power >= 0.0:
            here, elsewhere = (nothing, whole) if self.right else (whole, nothing)
        elif self.right:
            elsewhere = self._sum(self.own(self.other_least[..., None]), 0.0)
            here = elsewhere + whole
        else:
            here = -self._sum(0.0, self.other(self.least[..., None]))
            elsewhere = whole + here
        return np.where(active, here, elsewhere)

    def until(self, factor: Array) -> Array:
        both = self.least[..., None], self.other_least[..., None]
        border = np.maximum(*both) + np.abs(both[0] - both[1]) * factor[:, None, :]
        return self._sum(self.own(border), self.other(border))

    def _sum(self, own: Array | float, other: Array | float) -> Array:
        weight = self.weight[..., None]
        return np.stack(
            np.broadcast_arrays((weight * own).sum(axis=1), (weight * other).sum(axis=1))
        )


@value_class
class _Mass:
    """∫_c^z of a law at each angle; least : c, (n, nodes). terms : (terms, n, nodes, 1)."""

    least: Array
    terms: Array
    start: float
    width: float

    @classmethod
    def of(cls, least: Array, size: Array, order: int) -> _Mass:
        start = max(0.0, float(np.sqrt(order)) - REACH)
        width = float(np.sqrt(2.0 * order)) + REACH - start
        place = chebpts1(40 + 2 * order)
        root = start + 0.5 * width * (1.0 + place)
        fit = np.linalg.inv(chebvander(place, len(place) - 1))
        value = np.exp(_log_density(least[..., None], root, size[..., None], order))
        terms = chebint(value @ fit.T, lbnd=-1, scl=0.5 * width, axis=-1)
        return cls(least, np.moveaxis(terms, -1, 0)[..., None].copy(), start, width)

    @property
    def full(self) -> Array:
        return np.asarray(self.terms.sum(axis=0))

    def __call__(self, z: Array) -> Array:
        root = np.sqrt(np.maximum(z - self.least[..., None], 0.0))
        place = np.clip(2.0 * (root - self.start) / self.width - 1.0, -1.0, 1.0)
        return np.asarray(chebval(place, self.terms, tensor=False))


def _reach(size: Array, part: Array) -> Array:
    with np.errstate(over="ignore", divide="ignore"):
        return np.minimum(size / part**2, size + FAR)


def _nodes(order: int) -> tuple[Array, Array]:
    """Places in [0, 1] and their weights, by 3v² − 2v³ of Gauss nodes v."""
    edges = PANELS
    if order >= MANY:
        edges = np.sort(np.concatenate([edges, 0.5 * (edges[1:] + edges[:-1])]))
    half = 0.5 * np.diff(edges)[:, None]
    v, weight = (edges[:-1, None] + half * (1.0 + NODES)).ravel(), (half * WEIGHTS).ravel()
    return v * v * (3.0 - 2.0 * v), weight * 6.0 * v * (1.0 - v)


def _log_density(least: Array, root: Array, size: Array, order: int) -> Array:
    """Log density of √(z − c) at an angle, without (sin θ cos θ)^{m−1}; z^{m−1−a} = z^{(m+1)/2}."""
    z = least + root**2
    log_norm = order * np.log(2.0) + gammaln(order) + betaln(0.5, 0.5 * (order - 1))
    log_norm += betaln(0.5 * order, 0.5 * order) - np.log(2.0)
    powers = (order - 2) * np.log(root) + 0.5 * (order + 1) * np.log(z)
    log_g = LogG.between(float(z.min()), float(z.max()), order)(z)
    return np.asarray(powers + 0.5 * (size - z) + log_g - log_norm)
