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
from functools import cached_property

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebval, chebvander
from scipy.special import erfc, gammainc, gammaincc, gammaln

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.log_series import unresolved
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

OUTER, OUTER_WEIGHTS = np.polynomial.legendre.leggauss(18)  # on each panel
# panels before and after a knee, of their common length
BEFORE, AFTER = np.array([0.0, 0.015, 0.15, 1.0]), np.array([0.0, 0.15, 1.0])
INNER, INNER_WEIGHTS = np.polynomial.legendre.leggauss(16)
# where the outer integrand is first looked at: it may be narrow near 0; then within its window
SCAN = np.union1d(np.linspace(0.0, 1.0, 65), np.geomspace(1e-6, 1.0, 65))
AGAIN = np.linspace(0.0, 1.0, 65)
DROP = 28.0  # natural-log units below a peak beyond which mass is left out: 7e-13 of it
FAR = 40.0  # beyond √m, in units of √χ²_m: e^{−800}
CHEBYSHEV = chebpts1(14)
PLACES = np.append(CHEBYSHEV, [-1.0, 1.0])
BETWEEN = np.array([-0.93, 0.04])  # where a panel is checked by a finer mesh
FIT = np.linalg.inv(chebvander(CHEBYSHEV, len(CHEBYSHEV) - 1))
SMOOTH = 1e-8  # of the last terms of a series of log P(L > t), beyond which its panel is halved
END = 0.01  # what counts of the error of a series at the ends of its panel
ROUGH = 1e-4  # the same, at most, where P(L > t) is below FAINT
FAINT = 1e-20
CHECKED = 10.0  # of SMOOTH: by how much a panel may differ from a finer mesh between its nodes
NARROWEST = 1e-9  # of a panel, relative to the loss's scale, and to t
FINER = (1, 2, 4, 8)  # parts of each panel of an integral, until two meshes agree
STEP, STEP_WEIGHTS = np.polynomial.legendre.leggauss(10)
FALL = 3.0  # of e^{−t}P(L > t) over a piece of the last integral, in logarithms
BEYOND = 40.0  # of t, and of log P(L > t): what the last integral leaves out is e^{−40}
LEAST = 1e-300
VANISHED = 1e-100  # of P(L > t), below which it counts as this, and δ as 0

AGREE = 1e-6  # of the total variation of both directions
IMPOSSIBLE = np.array([-np.inf])  # ln R of an output that the other database cannot give
Tail = Callable[[float, Array], Array]  # `gammainc` or `gammaincc`
LogTail = Callable[[Array, int], Array]


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

        Relative accuracy 1e-7 for δ ≥ 1e-20, 1e-3 down to 2e-100, below which it is 0. Raises
        `InvalidInput`; `NoExactSpectrum` where two meshes disagree, or the two directions at
        ε = 0, where both are the total variation.
        """
        if not self._agreeing:
            unresolved("the two directions disagree at ε = 0")
        return by_sorted_epsilon(epsilon, self._both)

    def _both(self, epsilon: Array) -> Curves:
        ahead, back = self._directions
        return ahead.delta(epsilon), back.delta(epsilon)

    @cached_property
    def _directions(self) -> tuple[_Direction, _Direction]:
        up, down, freedom = self.up, self.down, self._freedom
        return _Direction(up, down, freedom), _Direction(down, up, freedom)

    @cached_property
    def _agreeing(self) -> bool:
        """Whether both directions have one total variation: it comes from different integrals."""
        ahead, back = (float(one[0]) for one in self._both(np.zeros(1)))
        return abs(ahead - back) <= AGREE * max(ahead, back)

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

    @property
    def scale(self) -> float:
        """About the spread of the loss, by its slope in α and β."""
        size = self.up + self.down
        return max(abs(self.power), 0.5) * size / (size + self.freedom) / np.sqrt(self.freedom)

    def delta(self, epsilon: Array) -> Array:
        """δ at each ε, (m,) ascending."""
        if self.power == 0.0:  # the loss has one finite value
            gain = -np.expm1(np.minimum(epsilon - self.middle, 0.0))
            return np.asarray(self._floor + (1.0 - self._floor) * gain)
        found = self._tail.discounted(epsilon)
        return np.where(found < 2.0 * VANISHED, 0.0, np.minimum(found, 1.0))

    @cached_property
    def _floor(self) -> float:
        """P(R ≤ 0) = P(L = ∞); two meshes must agree."""
        for parts in FINER:
            once, twice = (float(self.below(IMPOSSIBLE, n)[0]) for n in (parts, 2 * parts))
            if abs(once - twice) <= SMOOTH * max(twice, LEAST):
                return twice
        return unresolved("two meshes of P(L = ∞) disagree")

    @cached_property
    def _tail(self) -> _Series:
        return _Series(self._log_tail, self.scale)

    def _log_tail(self, t: Array, parts: int) -> Array:
        """log P(L > t), (k,), on a mesh `parts` times as fine."""
        log_ratio = np.clip((self.middle - t) / self.power, -600.0, 600.0)
        if self.power > 0.0:
            found = self.below(log_ratio, parts)
        else:
            found = self.below(IMPOSSIBLE, parts) + self.above(log_ratio, parts)
        return np.asarray(np.log(np.clip(found, VANISHED, 1.0)))

    def below(self, log_ratio: Array, parts: int = 1) -> Array:
        """P(R ≤ r) at each ln r, (k,); r = 0 at −∞."""
        found, near = np.empty_like(log_ratio), log_ratio < 0.0
        found[near] = self._outer(log_ratio[near], self._reach_x, gammainc, 0.0, parts)
        found[~near] = self._outer(log_ratio[~near], self._reach_y, gammaincc, self.down, parts)
        found[~near] += gammainc(0.5 * self.freedom, 0.5 * self.down)  # y < β
        return found

    def above(self, log_ratio: Array, parts: int = 1) -> Array:
        """P(R > r) at each ln r, (k,)."""
        found, near = np.empty_like(log_ratio), log_ratio < 0.0
        found[near] = self._outer(log_ratio[near], self._reach_x, gammaincc, 0.0, parts)
        found[~near] = self._outer(log_ratio[~near], self._reach_y, gammainc, self.down, parts)
        return found

    def _reach_x(self, x: Array, log_ratio: Array) -> tuple[Array, Array]:
        """N² and b of {R ≤ r} = {w ≤ b(1 − n²/N²)} given x, r < 1."""
        top = self.down * (x + self.up)
        return top / self.up, top / (-np.expm1(log_ratio) * x + self.up)

    def _reach_y(self, y: Array, log_ratio: Array) -> tuple[Array, Array]:
        """N² and b of {R ≤ r} = {w ≥ b(1 − n²/N²)} given y ≥ β, r ≥ 1."""
        top = self.up * np.maximum(y - self.down, 0.0)
        return top / self.down, top / (np.expm1(log_ratio) * y + self.down)

    def _outer(
        self,
        log_ratio: Array,
        reach: Callable[..., tuple[Array, Array]],
        tail: Tail,
        least: float,
        parts: int,
    ) -> Array:
        """E over χ²_m = least + z² of the inner integral for each r; Gauss nodes about the peak."""
        if not len(log_ratio):
            return np.zeros(0)
        column = log_ratio[:, None]

        def log_value(z: Array) -> Array:
            size, bound = reach(least + z**2, column)
            inner = _log_inner(size, bound, self.freedom - 1, tail)
            return np.asarray(self._log_density(z, least) + inner)

        z = np.broadcast_to(SCAN * (np.sqrt(self.freedom) + FAR), (len(log_ratio), len(SCAN)))
        for _ in range(2):
            start, end = _window(z, log_value(z))
            z = start[:, None] + (end - start)[:, None] * AGAIN
        z, weight = _panels(start, end, self._knee(log_ratio), parts)
        size, bound = reach(least + z**2, column)
        inner = _inner(size, bound, self.freedom - 1, tail, parts)
        return np.asarray(np.sum(weight * np.exp(self._log_density(z, least)) * inner, axis=1))

    def _knee(self, log_ratio: Array) -> Array:
        """The z beyond which N² and b are almost linear in z²."""
        with np.errstate(divide="ignore", over="ignore"):
            near = 4.0 * np.sqrt(self.up / np.maximum(-np.expm1(log_ratio), 0.0))
        return np.where(log_ratio < 0.0, near, 8.0 * np.sqrt(self.down * (1.0 + 1.0 / self.up)))

    def _log_density(self, z: Array, least: float) -> Array:
        """Of z where least + z² ~ χ²_m."""
        x = np.sqrt(least + z**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(log_chi(x, self.freedom) + (np.log(z / x) if least > 0.0 else 0.0))


def _inner(size: Array, bound: Array, freedom: int, tail: Tail, parts: int) -> Array:
    """E over n of P(w ≤ b(1 − n²/N²)), or of P(w > …), which is 1 where |n| > N.

    Arrays of one shape. n = N sin φ. The integrand falls at least as e^{−rate·sin²φ}, since log P
    is concave in b.
    """
    width = np.sqrt(size)
    rate = _rate(size, bound, tail(0.5 * freedom, 0.5 * bound), freedom, tail)
    top = np.arcsin(np.sqrt(np.minimum(DROP / np.maximum(rate, LEAST), 1.0)))
    place, weight = _unit(INNER, INNER_WEIGHTS, parts)
    angle = top[..., None] * place
    share = np.sin(angle) ** 2
    chance = tail(0.5 * freedom, 0.5 * bound[..., None] * (1.0 - share))
    terms = np.exp(-0.5 * size[..., None] * share) * chance * np.cos(angle)
    inside = np.sqrt(2.0 / np.pi) * width * top * (terms @ weight)
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


def _unit(nodes: Array, weights: Array, parts: int) -> tuple[Array, Array]:
    """Nodes and weights of [0, 1] in equal parts."""
    place = (np.arange(parts)[:, None] + 0.5 * (1.0 + nodes)) / parts
    return place.ravel(), np.tile(0.5 * weights / parts, parts)


def _window(z: Array, log_value: Array) -> tuple[Array, Array]:
    """Where each row of `log_value` falls to DROP below its peak; both (k, points).

    Between points by its chords.
    """
    above = log_value - log_value.max(axis=1, keepdims=True) + DROP
    alive, rows = above > 0.0, np.arange(len(above))
    count = z.shape[1]
    first, last = np.argmax(alive, axis=1), count - 1 - np.argmax(alive[:, ::-1], axis=1)

    def crossing(inside: np.ndarray, outside: np.ndarray) -> Array:
        high, low = above[rows, inside], np.minimum(above[rows, outside], 0.0)
        step = z[rows, outside] - z[rows, inside]
        return np.asarray(z[rows, inside] + step * high / (high - low))

    # at z = 0 the density may vanish as a power
    start = np.where(first > 1, crossing(first, first - 1), z[:, 0])
    return start, crossing(last, np.minimum(last + 1, count - 1))


def _panels(start: Array, end: Array, knee: Array, parts: int) -> tuple[Array, Array]:
    """Nodes and weights, (k, panels·OUTER·parts), on both sides of a knee.

    Where the knee is not between `start` and `end`, on both sides of the middle.
    """
    middle = np.where((knee > start) & (knee < end), knee, 0.5 * (start + end))
    first = start[:, None] + (middle - start)[:, None] * BEFORE
    edges = np.hstack([first, middle[:, None] + (end - middle)[:, None] * AFTER[1:]])
    size = np.diff(edges, axis=1)[..., None]
    place, weight = _unit(OUTER, OUTER_WEIGHTS, parts)
    z = edges[:, :-1, None] + size * place
    return z.reshape(len(start), -1), (size * weight).reshape(len(start), -1)


class _Series:
    """log G(t) of a falling G at t ≥ 0 by Chebyshev series on panels that grow as they are asked.

    function : (t, parts) → log G(t), (k,), by a mesh `parts` times as fine. The panels start at 0
    and do not depend on what is asked, so neither do the values.
    """

    def __init__(self, function: LogTail, scale: float) -> None:
        self.function, self.scale, self.width, self.parts = function, scale, scale, 1
        self.edges, self.terms = np.zeros(1), np.zeros((len(CHEBYSHEV), 0))

    def __call__(self, t: Array) -> Array:
        place = np.clip(np.searchsorted(self.edges, t, side="right") - 1, 0, len(self.edges) - 2)
        low, high = self.edges[place], self.edges[place + 1]
        return np.asarray(
            chebval((2.0 * t - low - high) / (high - low), self.terms[:, place], tensor=False)
        )

    def _reach(self, last: float) -> None:
        """Panels past `last`, to where e^{last − t}G(t) is negligible beside G(last)."""
        while self.edges[-1] <= last:
            self._extend()
        height = float(self(np.array([last]))[0])
        while self.edges[-1] - last + height - self.terms[:, -1].sum() < BEYOND:
            self._extend()

    def _extend(self) -> None:
        """One panel more, halved until its terms suffice and a finer mesh agrees."""
        start = float(self.edges[-1])
        terms = self._fitted(start)
        while terms is None:
            self.width *= 0.5
            terms = self._fitted(start)
        self.terms = np.column_stack([self.terms, terms])
        self.edges = np.append(self.edges, start + self.width)
        self.width *= 2.0

    def _fitted(self, start: float) -> Array | None:
        """The terms of the next panel, None if it is too wide.

        G falls, so no drop of it is missed between the nodes, if the series is right at both ends
        too.
        """
        value = self.function(start + 0.5 * self.width * (1.0 + PLACES), self.parts)
        terms = np.asarray(FIT @ value[:-2])
        faint = np.exp(np.minimum(0.25 * (np.log(FAINT) - value.max()), 50.0))
        room = min(SMOOTH * (1.0 + faint), ROUGH)
        ends = np.abs(chebval(PLACES[-2:], terms) - value[-2:]).max()
        narrow = self.width <= NARROWEST * max(self.scale, start)
        if max(np.abs(terms[-2:]).max(), END * ends) > room and not narrow:
            return None
        between = start + 0.5 * self.width * (1.0 + BETWEEN)
        finer, room = self.function(between, 2 * self.parts), CHECKED * room
        if np.abs(chebval(BETWEEN, terms) - finer).max() <= room:
            return terms
        if np.abs(self.function(between, self.parts) - finer).max() <= room:
            return terms if narrow else None
        if self.parts == FINER[-1]:
            unresolved("two meshes of P(L > ε) disagree")
        self.parts *= 2
        return self._fitted(start)

    def discounted(self, t: Array) -> Array:
        """∫_t^∞ e^{t−u} G(u) du at each t ≥ 0, ascending; piece by piece from the right.

        Between two marks that are far from each other only the first BEYOND counts.
        """
        self._reach(float(t[-1]))
        marks = np.union1d(t, self.edges[self.edges > t[0]])
        length = np.minimum(np.diff(marks), BEYOND)
        fall = self(marks[:-1]) - self(marks[:-1] + length) + length
        parts = 1 + (np.maximum(fall, 0.0) / FALL).astype(int)
        first = np.cumsum(parts) - parts
        step = np.repeat(length / parts, parts)
        place = np.arange(len(step)) - np.repeat(first, parts)
        start = np.repeat(marks[:-1], parts) + step * place
        ahead = 0.5 * step[:, None] * (1.0 + STEP)
        value = np.exp(self((start[:, None] + ahead).ravel()).reshape(ahead.shape) - ahead)
        total = np.append(0.5 * step * (value @ STEP_WEIGHTS), np.exp(self(marks[-1:])))
        carry = np.exp(-np.diff(np.append(start, marks[-1])))
        for i in range(len(start) - 1, -1, -1):
            total[i] += carry[i] * total[i + 1]
        return np.asarray(total[np.append(first, len(start))[np.searchsorted(marks, t)]])
