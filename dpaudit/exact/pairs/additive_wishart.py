"""Additive Wishart noise with one row replaced (paper 4, algorithm 3).

The release is AᵀA + W, W ~ Wishart_d(V, k); row v of A is replaced by u.
V^{−½}(vvᵀ − uuᵀ)V^{−½} has the eigenvalues α ≥ 0 and −β ≤ 0, and else 0. On their two axes W is
a Wishart matrix of order 2 with m = k − d + 2 degrees of freedom, det S = xw in Cholesky's form, so
with a = (m − 3)/2

    L = ½(α − β) − a ln R,   R = (1 + α/x)(1 − β/w) + αn²/(xw),
    x ~ χ²_m,   w ~ χ²_{m−1},   n ~ N(0, 1),

infinite where R ≤ 0: the output cannot come from the other database. The axes taken in the other
order give R = (1 − β/y)(1 + α/w) − βn²/(yw) with y ~ χ²_m. Given x and n (for r < 1), or y and n
(for r ≥ 1), {R ≤ r} is a half-line in w, so P(R ≤ r) is a double integral of χ² tails in which all
terms are positive; and δ(ε) = ∫_ε^∞ e^{ε−t} P(L > t) dt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebval, chebvander
from scipy.special import erfc, gammainc, gammaincc, gammaln

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

OUTER, OUTER_WEIGHTS = np.polynomial.legendre.leggauss(28)  # on each of two panels
INNER, INNER_WEIGHTS = np.polynomial.legendre.leggauss(16)
SCAN = np.linspace(0.0, 1.0, 65)  # where the outer integrand is first looked at
DROP = 28.0  # natural-log units below a peak beyond which mass is left out: 7e-13 of it
FAR = 40.0  # beyond √m, in units of √χ²_m: e^{−800}
CHEBYSHEV = chebpts1(12)
PLACES = np.append(CHEBYSHEV, [-1.0, 1.0])
FIT = np.linalg.inv(chebvander(CHEBYSHEV, len(CHEBYSHEV) - 1))
SMOOTH = 1e-7  # of the last terms of a series of log P(L > t), beyond which its panel is halved
END = 0.01  # what counts of the error of a series at the ends of its panel
NARROWEST = 1e-7
STEP, STEP_WEIGHTS = np.polynomial.legendre.leggauss(10)
FALL = 3.0  # of e^{−t}P(L > t) over a piece of the last integral, in logarithms
LEAST = 1e-300
FAINT = 1e-20  # of P(L > t), below which log P is followed loosely
VANISHED = 1e-40  # of P(L > t), below which it counts as this

Tail = Callable[[float, Array], Array]  # `gammainc` or `gammaincc`


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

        Relative accuracy 1e-6 for δ ≥ 1e-12 (1e-8 as a rule), 1e-3 down to 1e-20. Raises
        `InvalidInput`.
        """
        ahead, back = (
            _Direction(self.up, self.down, self._freedom),
            _Direction(self.down, self.up, self._freedom),
        )
        return by_sorted_epsilon(epsilon, lambda e: (ahead.delta(e), back.delta(e)))

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

    @property
    def _freedom(self) -> int:
        return self.dof - self.dim + 2


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
        """½(α − β): the loss where R = 1."""
        return 0.5 * (self.up - self.down)

    def delta(self, epsilon: Array) -> Array:
        """δ at each ε, (m,) ascending."""
        if self.power == 0.0:  # the loss has one finite value
            floor = float(self.below(np.zeros(1))[0])
            return np.asarray(
                floor + (1.0 - floor) * -np.expm1(np.minimum(epsilon - self.middle, 0.0))
            )
        log_tail = _Series.of(self._log_tail, float(epsilon[0]), float(epsilon[-1]))
        return np.clip(log_tail.discounted(epsilon), 0.0, 1.0)

    def _log_tail(self, t: Array) -> Array:
        """log P(L > t), (k,)."""
        ratio = np.exp(np.clip((self.middle - t) / self.power, -600.0, 600.0))
        found = (
            self.below(ratio) if self.power > 0.0 else self.below(np.zeros(1)) + self.above(ratio)
        )
        return np.asarray(np.log(np.clip(found, VANISHED, 1.0)))

    def below(self, ratio: Array) -> Array:
        """P(R ≤ r), r ≥ 0 of shape (k,)."""
        found = np.empty_like(ratio)
        near = ratio < 1.0
        found[near] = self._outer(ratio[near], self._reach_x, gammainc, 0.0)
        found[~near] = self._outer(ratio[~near], self._reach_y, gammaincc, self.down)
        found[~near] += gammainc(0.5 * self.freedom, 0.5 * self.down)  # y < β
        return found

    def above(self, ratio: Array) -> Array:
        """P(R > r), r ≥ 0 of shape (k,)."""
        found = np.empty_like(ratio)
        near = ratio < 1.0
        found[near] = self._outer(ratio[near], self._reach_x, gammaincc, 0.0)
        found[~near] = self._outer(ratio[~near], self._reach_y, gammainc, self.down)
        return found

    def _reach_x(self, x: Array, ratio: Array) -> tuple[Array, Array]:
        """N² and b of {R ≤ r} = {w ≤ b(1 − n²/N²)} given x, r < 1."""
        top = self.down * (x + self.up)
        return top / self.up, top / ((1.0 - ratio) * x + self.up)

    def _reach_y(self, y: Array, ratio: Array) -> tuple[Array, Array]:
        """N² and b of {R ≤ r} = {w ≥ b(1 − n²/N²)} given y ≥ β, r ≥ 1."""
        top = self.up * np.maximum(y - self.down, 0.0)
        return top / self.down, top / ((ratio - 1.0) * y + self.down)

    def _outer(
        self, ratio: Array, reach: Callable[..., tuple[Array, Array]], tail: Tail, least: float
    ) -> Array:
        """E over χ²_m = least + z² of the inner integral for each r; Gauss nodes about the peak."""
        if not len(ratio):
            return np.zeros(0)
        z = SCAN * (np.sqrt(self.freedom) + FAR)
        size, bound = reach(least + z**2, ratio[:, None])
        log_value = self._log_density(z, least) + _log_inner(size, bound, self.freedom - 1, tail)
        z, weight = _two_panels(*_window(z, log_value), self._knee(ratio))
        size, bound = reach(least + z**2, ratio[:, None])
        inner = _inner(size, bound, self.freedom - 1, tail)
        return np.asarray(np.sum(weight * np.exp(self._log_density(z, least)) * inner, axis=1))

    def _knee(self, ratio: Array) -> Array:
        """The z beyond which N² and b are almost linear in z²."""
        with np.errstate(divide="ignore"):
            near = 4.0 * np.sqrt(self.up / np.maximum(1.0 - ratio, 0.0))
        return np.where(ratio < 1.0, near, 8.0 * np.sqrt(self.down * (1.0 + 1.0 / self.up)))

    def _log_density(self, z: Array, least: float) -> Array:
        """Of z where least + z² ~ χ²_m."""
        x = np.sqrt(least + z**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(log_chi(x, self.freedom) + (np.log(z / x) if least > 0.0 else 0.0))


def _inner(size: Array, bound: Array, freedom: int, tail: Tail) -> Array:
    """E over n of P(w ≤ b(1 − n²/N²)), or of P(w > …), which is 1 where |n| > N.

    Arrays of one shape. n = N sin φ. The integrand falls at least as e^{−rate·sin²φ}, since log P
    is concave in b.
    """
    width = np.sqrt(size)
    rate = _rate(size, bound, tail(0.5 * freedom, 0.5 * bound), freedom, tail)
    top = np.arcsin(np.sqrt(np.minimum(DROP / np.maximum(rate, LEAST), 1.0)))
    angle = 0.5 * top[..., None] * (1.0 + INNER)
    share = np.sin(angle) ** 2
    chance = tail(0.5 * freedom, 0.5 * bound[..., None] * (1.0 - share))
    terms = np.exp(-0.5 * size[..., None] * share) * chance * np.cos(angle)
    inside = np.sqrt(2.0 / np.pi) * width * 0.5 * top * (terms @ INNER_WEIGHTS)
    return np.asarray(inside if tail is gammainc else inside + erfc(width / np.sqrt(2.0)))


def _rate(size: Array, bound: Array, chance: Array, freedom: int, tail: Tail) -> Array:
    """N²/2 + b·(log P)′(b): how fast the inner integrand falls in sin²φ at 0."""
    half, x = 0.5 * freedom, np.clip(0.5 * bound, LEAST, 1.0 / LEAST)
    with np.errstate(under="ignore", over="ignore"):
        slope = np.exp(half * np.log(x) - x - gammaln(half)) / np.maximum(chance, LEAST)
    if tail is gammainc:
        return np.asarray(0.5 * size + np.where(bound < 2.0 * half, np.minimum(slope, half), slope))
    return np.asarray(np.maximum(0.5 * size - np.minimum(slope, x), 0.0))


def _log_inner(size: Array, bound: Array, freedom: int, tail: Tail) -> Array:
    """About the log of `_inner`: the value at n = 0 times a width, and what lies beyond N."""
    chance = tail(0.5 * freedom, 0.5 * bound)
    width = np.sqrt(size / (1.0 + 2.0 * _rate(size, bound, chance, freedom, tail)))
    beyond = 0.0 if tail is gammainc else erfc(np.sqrt(0.5 * size))
    return np.asarray(np.log(np.maximum(chance * width + beyond, LEAST)))


def _window(z: Array, log_value: Array) -> tuple[Array, Array]:
    """Where each row of `log_value`, (k, len(z)), falls to DROP below its peak.

    Between points by its chords.
    """
    above = log_value - log_value.max(axis=1, keepdims=True) + DROP
    alive, rows = above > 0.0, np.arange(len(above))
    first, last = np.argmax(alive, axis=1), len(z) - 1 - np.argmax(alive[:, ::-1], axis=1)

    def crossing(inside: np.ndarray, outside: np.ndarray) -> Array:
        high, low = above[rows, inside], np.minimum(above[rows, outside], 0.0)
        return np.asarray(z[inside] + (z[outside] - z[inside]) * high / (high - low))

    # at z = 0 the density may vanish as a power
    start = np.where(first > 1, crossing(first, first - 1), z[0])
    return start, crossing(last, np.minimum(last + 1, len(z) - 1))


def _two_panels(start: Array, end: Array, knee: Array) -> tuple[Array, Array]:
    """Nodes and weights, (k, 2·OUTER), on both sides of a knee.

    Where the knee is not between `start` and `end`, on both sides of the middle.
    """
    middle = np.where((knee > start) & (knee < end), knee, 0.5 * (start + end))
    low, high = np.stack([start, middle], axis=1), np.stack([middle, end], axis=1)
    half = 0.5 * (high - low)[..., None]
    z = 0.5 * (low + high)[..., None] + half * OUTER
    return z.reshape(len(start), -1), (half * OUTER_WEIGHTS).reshape(len(start), -1)


@dataclass(frozen=True, eq=False, repr=False)
class _Series:
    """A function of one number by Chebyshev series on panels; constant beyond them."""

    edges: Array
    terms: Array

    @classmethod
    def of(cls, function: Callable[[Array], Array], start: float, last: float) -> _Series:
        """The series of log G for a falling G, from `start` past `last`.

        It ends where e^{last − t}G(t) is negligible beside G(last).
        """
        edges, terms, width = [start], [], max(last - start, 0.5)
        height = end = float(function(np.array([last]))[0])
        while edges[-1] < last or (edges[-1] - last) + (height - end) < DROP:
            width = min(width, last - edges[-1]) if edges[-1] < last else max(width, NARROWEST)
            width, own = _panel(function, edges[-1], width)
            terms.append(own)
            edges.append(edges[-1] + width)
            end, width = float(own.sum()), 2.0 * width
        return cls(np.array(edges), np.array(terms).T)

    def __call__(self, t: Array) -> Array:
        t = np.minimum(t, self.edges[-1])
        place = np.clip(np.searchsorted(self.edges, t, side="right") - 1, 0, len(self.edges) - 2)
        low, high = self.edges[place], self.edges[place + 1]
        return np.asarray(
            chebval((2.0 * t - low - high) / (high - low), self.terms[:, place], tensor=False)
        )

    def discounted(self, t: Array) -> Array:
        """∫_t^∞ e^{t−u} G(u) du at each t, ascending and from the first edge on.

        Piece by piece from the right.
        """
        marks = np.union1d(t, self.edges)
        fall = -np.diff(self(marks)) + np.diff(marks)
        parts = 1 + (np.maximum(fall, 0.0) / FALL).astype(int)
        pieces = zip(marks[:-1], marks[1:], parts, strict=True)
        inner = [np.linspace(low, high, int(count), endpoint=False) for low, high, count in pieces]
        edges = np.append(np.concatenate(inner), marks[-1])
        half = 0.5 * np.diff(edges)[:, None]
        u = edges[:-1, None] + half * (1.0 + STEP)
        value = np.exp(self(u.ravel()).reshape(u.shape) - (u - edges[:-1, None]))
        total = np.append(np.sum(half * STEP_WEIGHTS * value, axis=1), np.exp(self(edges[-1:])))
        for i in range(len(half) - 1, -1, -1):
            total[i] += np.exp(edges[i] - edges[i + 1]) * total[i + 1]
        return np.asarray(total[np.searchsorted(edges, t)])


def _panel(function: Callable[[Array], Array], start: float, width: float) -> tuple[float, Array]:
    """The width, halved until 12 terms suffice, and the terms; looser where G is faint.

    G falls, so no drop of it is missed between the nodes, if the series is right at both ends too.
    """
    while True:
        value = function(start + 0.5 * width * (1.0 + PLACES))
        terms = np.asarray(FIT @ value[:-2])
        room = min(SMOOTH * (1.0 + FAINT * np.exp(-value.max())), 1.0)
        ends = np.abs(chebval(PLACES[-2:], terms) - value[-2:]).max()
        if max(np.abs(terms[-2:]).max(), END * ends) <= room or width <= NARROWEST:
            return width, terms
        width *= 0.5
