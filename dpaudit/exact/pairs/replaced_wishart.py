"""Additive Wishart noise with one row replaced (paper 4, algorithm 3).

The release is AᵀA + W, W ~ Wishart_d(V, k); row v of A is replaced by u.
V^{−½}(vvᵀ − uuᵀ)V^{−½} has the eigenvalues α ≥ 0 and −β ≤ 0, and else 0. On their two axes the
noise is a Wishart matrix of order 2 with m = k − d + 2 degrees of freedom. With Y the output there,
s = 1/(Y⁻¹)₁₁ > α and t = 1/(Y⁻¹)₂₂, the densities of both laws over that of the noise are functions
of one number each (`dpaudit.exact.replaced_wishart`), so that with a = (m − 3)/2

    L = ½(α − β) − aD,   D = A − B,   A = ln(s/(s − α)),   B = ln(t/(t − β)),

infinite where t ≤ β: the output cannot come from the other database. Under the left law s − α is
χ²_{m−1}, as 1/(Y⁻¹)₁₁ of the noise is, and given s the density of t is that under the noise. There,
by Bartlett's factors, t(1 + n²/s) ~ χ²_m independently of n ~ N(0, 1), so the density is

    χ²_m(t)·√(s/2π)·G((s + t)/2),   G(y) = ∫_0^∞ (1 + x)^{m/2} x^{−½} e^{−yx} dx.

**The density of D** is an integral along the curve A − B = D, as ds = −s(s − α)/α dA and
dt = −t(t − β)/β dB:

    p(D) = ∫ χ²_{m−1}(s − α) · χ²_m(t) · √(s/2π) · G((s + t)/2) · s(s − α)/α · t(t − β)/β dB.

With min(A, B) = e^y it falls doubly exponentially on either side of y and is analytic for
|Im y| < π/2, so the trapezoidal rule converges geometrically.

**The spectrum.** L is monotone in D, so δ(ε) = P(t ≤ β) + E[(1 − e^{ε−L})₊; t > β] is an integral
of one smooth positive function (`dpaudit.exact.numerics.monotone_loss`). Its variable is x in
D = D₀ ∓ w·sinh x, with w about the width of p, since both of its tails are exponential.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, chebpts1, chebval, chebvander
from scipy.special import gammainc, gammaln, k0e, k1e

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics import monotone_loss
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import log_expm1, unresolved
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

FAR = 38.5  # how far beyond √m the values of √s and √t are looked at: e^{−740} lies beyond
DROP = 45.0  # natural-log units below a peak beyond which mass is left out
LOOK = np.linspace(0.0, 1.0, 17)  # where a window is looked at, to find where its mass lies
ROUNDS = 12  # most looks at ever smaller windows
COUNTS = (32, 64, 128, 256, 512, 1024)  # nodes of the trapezoidal rule, until half of them suffice
GAUSS_COUNTS = (28, 40, 60, 100, 200)  # nodes of either integral of P(t ≤ β), until two agree
HALVED = 1e-8  # how far half of the nodes may be off, relative
UNDERFLOW = -800.0  # the logarithm of a density that is 0 in floats
AGREE = 1e-7  # relative: by how much two rules, or both directions at ε = 0, may differ
LEAST = 1e-290  # a smaller δ counts as this
LONGEST = 2000.0  # how far |D| is looked at
FARTHEST = 130.0  # how far the smaller of A and B is looked at: its density falls as e^{−B}
MANY = 100  # number of ε from which a series of ln δ is the shorter way
NODES, BETWEEN = chebpts1(24), np.array([-0.37, 0.61])  # of a series, and where it is checked
SERIES = np.linalg.inv(chebvander(NODES, len(NODES) - 1))
OFF = 3e-9  # by how much a series may differ there
BLOCK = 1 << 14  # numbers at a time: they stay in cache
GREATEST = 1e300  # beyond this ε, δ is P(L = ∞) in floats
SMALL = 100  # m up to which G comes from a recursion
G_NODES = 0.5 * np.arange(50.0)  # of the trapezoidal rule for G, in widths of its integrand
TERMS, PIECE = 9, 0.25  # so many terms give log G to 1e-13 on a piece of √z of this length
PIECES = 64  # a range is extended to a multiple of so many pieces, so that curves share them
PLACES = chebpts1(TERMS)
POWERS = np.column_stack(
    [np.pad(cheb2poly(c), (0, TERMS - i - 1)) for i, c in enumerate(np.eye(TERMS))]
)
FIT = POWERS @ np.linalg.inv(chebvander(PLACES, TERMS - 1))


@dataclass(frozen=True)
class ReplacedWishartCurve:
    """The curve of additive Wishart noise with one row replaced.

    up, down : α > 0 and β > 0 of the module, with v in the left database. dof : k ≥ dim. dim :
        d ≥ 2; two rows on one axis leave one nonzero eigenvalue (`exact.additive_wishart`).
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
        """(forward, backward) δ at each ε ≥ 0, nats, to a relative 1e-7 down to 1e-280.

        Raises `NoExactSpectrum` where two rules for an integral disagree, or the two directions at
        ε = 0.
        """
        epsilon = check.epsilon(epsilon)
        with_zero = np.append(epsilon.ravel(), 0.0)
        ahead, back = self._directions
        forward, backward = by_sorted_epsilon(
            with_zero, lambda e: (ahead.delta(e), back.delta(e)), Accuracy(AGREE)
        )
        return forward[:-1].reshape(epsilon.shape), backward[:-1].reshape(epsilon.shape)

    @cached_property
    def _directions(self) -> tuple[Direction, Direction]:
        up, down, freedom = float(self.up), float(self.down), self.dof - self.dim + 2
        return Direction(up, down, freedom), Direction(down, up, freedom)

    def renyi(self, order: float) -> tuple[float, float]:
        """(forward, backward) Rényi divergences of an order ≥ 1: infinite, for either database
        allows outputs that are impossible on the other. Raises `NoExactSpectrum` below order 1.
        """
        if check.real("order", order, 0.0, open_=True) >= 1.0:
            return float("inf"), float("inf")
        raise NoExactSpectrum(
            "no closed form for Rényi divergences of order < 1 of a replaced row; use delta_at"
        )

    supremum = (float("inf"), float("inf"))


@dataclass(frozen=True)
class Direction:
    """One direction, by α, β and m; a = (m − 3)/2 is −½ at the smallest, k = d."""

    up: float
    down: float
    freedom: int

    @property
    def power(self) -> float:
        return 0.5 * (self.freedom - 3)

    @property
    def middle(self) -> float:
        return 0.5 * (self.up - self.down)

    def delta(self, epsilon: Array) -> Array:
        if self.power == 0.0:  # the loss has one finite value
            finite = (1.0 - self.floor) * -np.expm1(np.minimum(epsilon - self.middle, 0.0))
        else:
            finite = self._by_series(epsilon)
        return np.minimum(self.floor + finite, 1.0)

    def _by_series(self, epsilon: Array) -> Array:
        """`_finite`; of many ε, ascending, by a series of its logarithm, or by halves."""
        if len(epsilon) <= MANY:
            return self._finite(epsilon)
        middle, half = 0.5 * (epsilon[-1] + epsilon[0]), 0.5 * (epsilon[-1] - epsilon[0])
        value = self._finite(middle + half * np.concatenate([NODES, BETWEEN]))
        if value.max() == 0.0:
            return np.zeros_like(epsilon)
        if value.min() > LEAST:
            log = np.log(value)
            terms = SERIES @ log[: len(NODES)]
            if np.abs(chebval(BETWEEN, terms) - log[len(NODES) :]).max() <= OFF:
                return np.exp(chebval((epsilon - middle) / half, terms))
        place = max(int(np.searchsorted(epsilon, middle)), 1)
        return np.concatenate([self._by_series(part) for part in np.split(epsilon, [place])])

    def _finite(self, epsilon: Array) -> Array:
        """E[(1 − e^{ε−L})₊; t > β] at each ε, (k,), in any order."""
        size, sign = self.up + self.down, np.sign(self.power)
        width = size / (size + self.freedom) / np.sqrt(self.freedom)  # about the deviation of D
        # D₀ is the D of values of s and t that are likely, or of a t that is nearly as small
        t = max(self.freedom, self.down + np.sqrt(self.freedom))
        likely = np.log1p(self.up / self.freedom) + np.log1p(-self.down / t)
        far = np.arcsinh(LONGEST / width)

        def difference(x: Array) -> Array:
            return np.asarray(likely - sign * width * np.sinh(x))

        def log_density(x: Array) -> Array:
            value = self.log_density(difference(x).ravel()).reshape(x.shape)
            return np.asarray(value + np.log(width * np.cosh(x)))

        ascending, back = np.unique(np.minimum(epsilon, GREATEST), return_inverse=True)
        level = (self.middle - ascending) / self.power
        return monotone_loss.hockey_stick(
            log_density,
            lambda x: self.middle - self.power * difference(x),
            np.clip(np.arcsinh(sign * (likely - level) / width), -far, far),
            ascending,
            width=0.7,
            end=far,
        )[back]

    def log_density(self, difference: Array) -> Array:
        """log p(D) at each D, (k,)."""
        step = max(1, BLOCK // COUNTS[0])
        blocks = [difference[at : at + step] for at in range(0, len(difference), step)]
        return np.concatenate([self._along_curves(block[:, None]) for block in blocks])

    def _along_curves(self, difference: Array) -> Array:
        """log ∫ of the integrand over y, by the trapezoidal rule; difference : (k, 1)."""
        (low_a, high_a), (low_b, high_b) = self._likely(self.up), self._likely(self.down)
        ahead, back = np.maximum(difference, 0.0), np.maximum(-difference, 0.0)
        least = np.maximum(low_a - ahead, low_b - back)
        most = np.minimum(high_a - ahead, high_b - back)
        most = np.minimum(most, FARTHEST + np.log1p(self.up + self.down))
        nowhere = (most <= least)[:, 0]
        low, high = np.log(least), np.log(np.maximum(most, least * (1.0 + 1e-9)))
        for _ in range(ROUNDS):
            y = low + (high - low) * LOOK
            height = self._log_integrand(difference, y)
            alive = height > height.max(axis=1, keepdims=True) - DROP
            first = np.argmax(alive, axis=1)
            last = len(LOOK) - 1 - np.argmax(alive[:, ::-1], axis=1)
            row = np.arange(len(y))
            low = y[row, np.maximum(first - 1, 0)][:, None]
            high = y[row, np.minimum(last + 1, len(LOOK) - 1)][:, None]
            if np.all(last - first > len(LOOK) // 2):
                break
        value, left = np.full(len(difference), -np.inf), np.arange(len(difference))
        for count in COUNTS:
            part = low[left], high[left]
            height = self._log_integrand(
                difference[left], part[0] + (part[1] - part[0]) * np.linspace(0.0, 1.0, count + 1)
            )
            peak = np.maximum(height.max(axis=1, keepdims=True), -GREATEST)
            mass = np.exp(height - peak)
            total, coarse = mass.sum(axis=1), 2.0 * mass[:, ::2].sum(axis=1)
            with np.errstate(divide="ignore"):
                value[left] = peak[:, 0] + np.log(total * (part[1] - part[0])[:, 0] / count)
            rough = (np.abs(total - coarse) > HALVED * total) & (peak[:, 0] > UNDERFLOW)
            left = left[rough & ~nowhere[left]]
            if not len(left):
                return np.where(nowhere, -np.inf, value)
        return unresolved("two rules for an integral over the noise disagree")

    def _likely(self, size: float) -> tuple[float, float]:
        """The least and largest ln(c/(c − size)) of the values of s or t that are looked at."""
        root = np.sqrt(self.freedom)
        least = float(-np.log1p(-size / ((root + FAR) ** 2 + size)))
        smallest = max(root - FAR - 1.0, 0.0) ** 2
        if smallest > size:
            return least, float(-np.log1p(-size / smallest))
        return least, LONGEST + FARTHEST + float(np.log1p(self.up + self.down))

    def _log_integrand(self, difference: Array, y: Array) -> Array:
        least = np.exp(y)
        a, b = least + np.maximum(difference, 0.0), least + np.maximum(-difference, 0.0)
        log_s, log_t = (
            np.log(size) - np.log(-np.expm1(-part)) for size, part in ((self.up, a), (self.down, b))
        )
        # ln(s − α) and ln(t − β)
        log_x, log_w = np.log(self.up) - log_expm1(a), np.log(self.down) - log_expm1(b)
        s, t = np.exp(log_s), np.exp(log_t)
        laws = log_chi(np.exp(0.5 * log_x), self.freedom - 1) - 0.5 * log_x
        laws += log_chi(np.exp(0.5 * log_t), self.freedom) - 0.5 * log_t - 2.0 * np.log(2.0)
        laws += 0.5 * (log_s - np.log(2.0 * np.pi)) + self._log_g(s + t)
        slopes = log_s + log_x - np.log(self.up) + log_t + log_w - np.log(self.down)
        value = laws + slopes + y
        return np.where(np.isnan(value), -np.inf, value)

    @cached_property
    def _log_g(self) -> LogG:
        root = np.sqrt(self.freedom)
        low = self.up + 2.0 * max(root - FAR - 1.0, 0.0) ** 2
        high = self.up + self.down + 2.0 * (root + FAR) ** 2
        first, last = (int(np.sqrt(z) / PIECE) for z in (low, high))
        return LogG.on(first, PIECES * (1 + (last - first) // PIECES), self.freedom)

    @cached_property
    def floor(self) -> float:
        """P(t ≤ β), the probability of an infinite loss.

        Under the left law t = w + n²α/(x + α) with x ~ χ²_m and w ~ χ²_{m−1}. With n = N sin φ and
        N² = β(x + α)/α it is the mean over x and φ of the chance of w ≤ β cos²φ. Its logarithm is
        concave in β cos²φ, so the integrand falls at least as e^{−rate·sin²φ}.
        """
        half, scale = 0.5 * (self.freedom - 1), np.sqrt(self.up)
        chance = gammainc(half, 0.5 * self.down)
        log_slope = half * np.log(0.5 * self.down) - 0.5 * self.down - gammaln(half)
        slope = min(np.exp(log_slope) / max(chance, LEAST), half)
        low, high = np.sqrt(self.freedom) + np.array([-1.0, 1.0]) * np.sqrt(2.0 * DROP)
        low, high = np.arcsinh(np.maximum(low, 0.0) / scale), np.arcsinh(high / scale)
        last = np.inf
        for count in GAUSS_COUNTS:
            node, weight = _gauss(count)
            place = low + (high - low) * node  # √x = √α·sinh(place)
            size = self.down * np.cosh(place) ** 2
            end = np.arcsin(np.sqrt(np.minimum(DROP / (0.5 * size + slope), 1.0)))
            angle = end[:, None] * node
            square = np.sin(angle) ** 2
            terms = np.exp(-0.5 * size[:, None] * square) * np.cos(angle)
            terms *= gammainc(half, 0.5 * self.down * (1.0 - square))
            inside = np.sqrt(2.0 / np.pi * size) * end * (terms @ weight)
            density = np.exp(log_chi(scale * np.sinh(place), self.freedom))
            density *= scale * np.cosh(place)
            total = float((high - low) * weight @ (density * inside))
            if abs(total - last) <= AGREE * max(total, LEAST):
                return total
            last = total
        return unresolved("two rules for the chance of an infinite loss disagree")


@lru_cache(maxsize=8)
def _gauss(count: int) -> tuple[Array, Array]:
    node, weight = np.polynomial.legendre.leggauss(count)
    return 0.5 * (1.0 + node), 0.5 * weight


@value_class
class LogG:
    """z ↦ log G(z/2) by polynomials in √z on equal pieces, of log(z^c·G) with c = (m + 1)/2.

    G(y) = √π U(½, (m + 3)/2, y), of Tricomi's function U. c = 0 for m > SMALL; there z is never so
    small that G would be singular. first : the number of the first piece, counted from 0.
    """

    first: int
    power: float
    terms: Array

    @classmethod
    @lru_cache(maxsize=16)
    def on(cls, first: int, count: int, order: int) -> LogG:
        power = 0.5 * (order + 1) if order <= SMALL else 0.0
        z = (PIECE * (first + np.arange(count) + 0.5 * (1.0 + PLACES[:, None]))) ** 2
        return cls(first, power, FIT @ (log_g(0.5 * z, order) + power * np.log(z)))

    def __call__(self, z: Array) -> Array:
        """log G(z/2) in the shape of z; constant beyond the pieces."""
        count = self.terms.shape[1]
        place = np.clip(np.sqrt(z) / PIECE - self.first, 0.0, count)
        piece = np.minimum(place.astype(np.intp), count - 1)
        x = 2.0 * (place - piece) - 1.0
        value = self.terms[-1][piece]
        for term in self.terms[-2::-1]:
            value *= x
            value += term[piece]
        return np.asarray(value - self.power * np.log(z)) if self.power else value


def log_g(y: Array, order: int) -> Array:
    """log G(y) of m = order ≥ 1, in the shape of y; for m > SMALL where m/2 − y ≤ 8√m.

    For m ≤ SMALL by parts: y·G_{m+2} = (y + (m + 1)/2)·G_m − (m/2)·G_{m−2}, from G_0, or G_1 and
    G_{−1}, on. Else with x = v² by the trapezoidal rule, which converges geometrically, since the
    integrand is even and analytic for |Im v| < 1.
    """
    if order > SMALL:
        excess = y - 0.5 * order
        width = (2.0 * np.abs(excess) + 4.0 * np.sqrt(order)) ** -0.5
        square = (width[..., None] * G_NODES) ** 2
        exponent = 0.5 * order * (np.log1p(square) - square) - excess[..., None] * square
        peak = exponent.max(axis=-1)
        weights = np.where(G_NODES == 0.0, 0.5, 1.0)
        total = np.exp(exponent - peak[..., None]) @ weights
        return np.asarray(np.log(2.0 * G_NODES[1] * width * total) + peak)
    if order % 2:
        first, second = k0e(0.5 * y), k1e(0.5 * y)
        last, now, at = first / np.sqrt(y), 0.5 * np.sqrt(y) * (first + second), 1
    else:
        last, now, at = np.zeros_like(y), np.sqrt(np.pi / y), 0
    for m in range(at, order, 2):
        last, now = now, (y + 0.5 * (m + 1)) * now - 0.5 * m * y * last
    return np.asarray(np.log(now) - 0.5 * order * np.log(y))
