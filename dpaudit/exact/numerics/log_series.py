"""Positive functions of one number by Chebyshev series of their logarithms, and their convolution.

All terms of a convolution are positive, so relative accuracy survives in the tail. Whatever is
built here is checked: a series at points between its nodes, an integral by a mesh twice as fine.

Two kinds of curves δ(ε) are made of such series. `SignedCurve` is a curve at any real ε, to be
averaged over the privacy loss u of another release: given u, what is left of ε for the others is
ε − u, so δ(ε) = E[δ'(ε − u)] + P(u = ∞) with δ' the curve of the others. Below 0 it follows from
the other direction: δ'(−e) = 1 − e^{−e} + e^{−e}·δ''(e). `LazyCurve` is a curve on fixed panels,
each fitted and checked when it is first asked: its values do not depend on which ε are asked, and
a search that asks many times pays for each panel once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, chebpts2, chebvander

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.special import unresolved

COUNT = 16  # terms on a panel
CHEBYSHEV = chebpts2(COUNT)  # with both ends: a function may be seen at an end of its panel alone
FIT = np.linalg.inv(chebvander(CHEBYSHEV, COUNT - 1))
# Chebyshev coefficients → those of powers, highest first. They grow at most as (1 + √2)ⁿ, slower
# than the terms of a resolved panel fall, so Horner's rule loses no digits
POWERS = np.column_stack(
    [np.append(np.zeros(COUNT - 1 - n), cheb2poly(np.eye(n + 1)[n])[::-1]) for n in range(COUNT)]
)
BETWEEN = np.array([-0.37, 0.61])  # where a panel is checked
GAUSS, WEIGHTS = np.polynomial.legendre.leggauss(12)
# a panel is resolved if its last terms are below PRECISE, or where f is below e^{−FAINT} of its
# peak below LOOSER times as much
PRECISE, FAINT, LOOSER = 1e-13, 50.0, 1e7
# what halving does not resolve is noise of the function: after each halving the last terms may be
# NOISIER times as large, up to NOISY
NOISIER, NOISY = 4.0, 1e-10
AGREE = 1e-9  # of a value and its check
CHECKED = 40.0  # units below the peak down to which a function is checked: 4e-18 of it
DEEP = 250.0  # natural-log units below the peak beyond which a function is 0
BEYOND = 700.0  # at most this far below e^{−|x|} of the peak: what a logarithm of 0 counts as
DROP = 45.0  # units below the peak of an integrand beyond which it is left out: 3e-20 of it
INSIDE = 1e-9  # an edge of one series whose place in the other is below INSIDE·|x| is left out
ROUNDING = 2e-14  # relative, of x
ROUGH = 1e-4  # of log f: a panel that is less resolved is halved, whatever the rounding
NARROWEST = 1e-14  # relative width of a panel
MOST = 4000  # panels
ROUNDS = 12  # how often panels that are off are halved; next to a bound on x they become narrow
FINER = (1, 1, 2, 4)  # parts of a panel, until two meshes agree
BLOCK = 1 << 13  # numbers at a time: stays in cache

STEPS, NARROWER = 12, 8.0  # edges of the first mesh of a signed curve, each NARROWER than the last
CONTOUR = 2e-10  # accuracy of the log of a δ that comes from a contour integral
LEVELS = np.array([0.0, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0])  # 1 − e^{−e} between them is smooth
CONTINUED = 1e-100  # a curve is not continued where δ is smaller
SMALLEST = 1e-300
LEAST = 1e-13  # δ below which two meshes may differ by AGREE of this
LAZY_PRECISE, LAZY_MOST = 1e-10, 24  # accuracy of the series of a lazy curve, and its panels
LAZY_FINER = (1, 2, 4, 8)  # how many times as fine as the first mesh

LogFunction = Callable[[Array], Array]
Delta = Callable[[Array], Array]


@value_class
class LogSeries:
    """log f on panels; −∞ beyond them.

    edges : (n + 1,), ascending. terms : (COUNT, n), Chebyshev coefficients on each panel.
    """

    edges: Array
    terms: Array

    @classmethod
    def of(
        cls,
        function: LogFunction,
        edges: Array,
        precise: float = PRECISE,
        most: int = MOST,
        finer: LogFunction | None = None,
    ) -> LogSeries:
        """The series of log f of at most so many panels, checked between its nodes by a finer mesh.

        function : x ↦ log f(x), (k,) → (k,). f(x) counts as seen under both P and Q, whose
        densities of a loss x are f(x) and f(x)e^{−x}. Raises `NoExactSpectrum`.
        """
        for _ in range(ROUNDS):
            fit = cls._fitted(function, edges, precise, most)
            off = fit._off(finer or function)
            if not off.any():
                return fit
            edges = fit._halved(off)
        return unresolved("a series of a curve is off")

    @classmethod
    def _fitted(
        cls, function: LogFunction, edges: Array, precise: float = PRECISE, most: int = MOST
    ) -> LogSeries:
        """The series; panels are halved until the last terms are negligible, or the panel is."""
        low, high, peak, count = edges[:-1], edges[1:], -np.inf, len(edges)
        resolved = []
        while len(low):
            terms, height = _chebyshev_terms(function, low, high)
            peak = max(peak, float(height.max()))
            room = precise * np.exp(np.clip(peak - FAINT - height, 0.0, np.log(LOOSER)))
            room += _rounding(low, high, terms)
            ready = np.abs(terms[:, -2:]).max(axis=1) <= room
            ready |= (height < peak - DEEP) | _narrow(low, high)
            precise = max(precise, min(NOISIER * precise, NOISY))
            resolved.append((low[ready], high[ready], terms[ready], height[ready]))
            middle = 0.5 * (low + high)[~ready]
            low, high = np.append(low[~ready], middle), np.append(middle, high[~ready])
            count += len(middle)
            if count > most:
                unresolved("a function of the loss is too rough")
        low, high, terms, height = map(np.concatenate, zip(*resolved, strict=True))
        order = np.argsort(low)
        alive = np.flatnonzero(height[order] >= peak - DEEP)
        order = order[alive[0] : alive[-1] + 1]  # without the negligible panels at both ends
        edges = np.append(low[order], high[order[-1]])
        return cls(edges, np.ascontiguousarray(terms[order].T))

    def __call__(self, x: Array, at: Array | None = None) -> Array:
        """log f(x), in the shape of x; `at` chooses the panels, where it is not x itself."""
        at = x if at is None else at
        place = np.clip(np.searchsorted(self.edges, at, side="right") - 1, 0, len(self.edges) - 2)
        y = (x - self.edges[place]) * self._scale[place] - 1.0
        value = np.zeros_like(y)
        for power in self._powers:
            value *= y
            value += power[place]
        value[..., (at < self.edges[0]) | (at > self.edges[-1])] = -np.inf
        return value

    @cached_property
    def _scale(self) -> Array:
        """2 over the length of each panel."""
        return np.asarray(2.0 / np.diff(self.edges))

    @cached_property
    def _powers(self) -> Array:
        """(COUNT, n), the coefficients of powers on each panel, highest first."""
        return np.asarray(POWERS @ self.terms)

    def mirrored(self) -> LogSeries:
        """x ↦ x + log f(−x).

        The density of the loss under the other law, where f is that of its negative under the one.
        """
        edges, terms = -self.edges[::-1], self.terms[:, ::-1].copy()
        terms[1::2] *= -1.0
        terms[0] += 0.5 * (edges[1:] + edges[:-1])
        terms[1] += 0.5 * np.diff(edges)
        return LogSeries(edges, terms)

    def convolved(self, other: LogSeries) -> LogSeries:
        """log of ∫ f(u) g(x − u) du; each panel is checked between its nodes by a finer mesh.

        Raises `NoExactSpectrum`.
        """
        ends = [self.edges[0] + other.edges[0], self.edges[-1] + other.edges[-1]]
        near = self._edges_near_mode(other), other._edges_near_mode(self)
        edges = np.unique(np.concatenate([ends, *near]))
        for parts in FINER:
            fit = LogSeries._fitted(lambda x: convolution(self, other, x, parts), edges)  # noqa: B023
            off = fit._off(lambda x: convolution(self, other, x, 2 * parts))  # noqa: B023
            if not off.any():
                return fit
            edges = fit._halved(off)
        return unresolved("two meshes of a convolution of losses disagree")

    def masses(self) -> tuple[Array, Array]:
        """Nodes and the masses of f there, (panels, nodes) each."""
        half = 0.5 * np.diff(self.edges)[:, None]
        x = self.edges[:-1, None] + half * (1.0 + GAUSS)
        return x, half * WEIGHTS * np.exp(self(x))

    def spread(self) -> float:
        """The standard deviation of x under f."""
        x, mass = self.masses()
        mass = mass / mass.sum()
        return float(np.sqrt(np.sum(mass * (x - np.sum(mass * x)) ** 2)))

    def _edges_near_mode(self, other: LogSeries) -> Array:
        """Some edges, moved by the mode of the other."""
        mode = other.edges[np.argmax(other(other.edges))]
        return self.edges[:: max(len(self.edges) // COUNT, 1)] + mode

    def _off(self, finer: LogFunction) -> np.ndarray:
        """On which panels the series differs from log f between its nodes."""
        low, high = self.edges[:-1], self.edges[1:]
        x = 0.5 * (low + high)[:, None] + 0.5 * (high - low)[:, None] * BETWEEN
        value = finer(x.ravel()).reshape(x.shape)
        room = AGREE + _rounding(low, high, self.terms.T)[:, None]
        seen = _height(x, value) > _height(x, value).max() - CHECKED
        seen &= ~_narrow(low, high)[:, None]
        return np.asarray(np.any((np.abs(value - self(x)) > room) & seen, axis=1))

    def _halved(self, which: np.ndarray) -> Array:
        """The edges, and the middles of some panels."""
        return np.union1d(self.edges, 0.5 * (self.edges[:-1] + self.edges[1:])[which])


def _chebyshev_terms(function: LogFunction, low: Array, high: Array) -> tuple[Array, Array]:
    """Chebyshev coefficients of log f on each panel, (n, COUNT), and its height there, (n,)."""
    half = 0.5 * (high - low)[:, None]
    inner = (low[:, None] + half) + half * CHEBYSHEV[1:-1]
    x = np.concatenate([low[:, None], inner, high[:, None]], axis=1)
    value = np.maximum(function(x.ravel()).reshape(x.shape), -BEYOND - DEEP - np.abs(x))
    terms = value @ FIT.T
    # there is no polynomial where log f ends: there its smallest value stands for all
    end = _narrow(low, high)
    terms[end] = np.eye(COUNT)[0] * value[end].min(axis=1, keepdims=True)
    return terms, _height(x, value).max(axis=1)


def _narrow(low: Array, high: Array) -> np.ndarray:
    """Whether a panel is too narrow to be halved: at the end of the losses."""
    return np.asarray(high - low <= NARROWEST * np.maximum(np.abs(low), np.abs(high)))


def _rounding(low: Array, high: Array, terms: Array) -> Array:
    """How much rounding of x and of log f changes log f on a panel, (n,); terms : (n, COUNT)."""
    slope = np.abs(terms[:, 1:]).sum(axis=1) / (high - low)
    own = 0.1 * ROUNDING * np.abs(terms).max(axis=1)
    return np.minimum(ROUNDING * np.maximum(np.abs(low), np.abs(high)) * slope + own, ROUGH)


def _height(x: Array, value: Array) -> Array:
    """The larger of log f(x) and log f(x) − x."""
    return np.asarray(value - np.minimum(x, 0.0))


def convolution(
    series: LogSeries, other: LogSeries | SignedCurve, x: Array, parts: int = 1
) -> Array:
    """log of ∫ f(u) g(x − u) du at each x, (k,), by Gauss nodes between all edges of both.

    parts : into how many each interval between two edges is cut.
    """
    step = max(1, BLOCK // (parts * (len(series.edges) + len(other.edges))))
    blocks = [_block(series, other, x[at : at + step], parts) for at in range(0, len(x), step)]
    return np.concatenate(blocks)


def _block(series: LogSeries, other: LogSeries | SignedCurve, x: Array, parts: int) -> Array:
    u, v = _marks(series, other, x, parts)
    with np.errstate(invalid="ignore"):
        value = series(u) + other(v)
    value = np.where(np.isnan(value), -np.inf, value)
    peak = np.maximum(value.max(axis=1), -BEYOND * DEEP)
    alive = np.maximum(value[:, 1:], value[:, :-1]) > peak[:, None] - DROP
    by_v = np.abs(v) < np.abs(u)
    by_v = by_v[:, 1:] & by_v[:, :-1]
    length = np.where(by_v, -np.diff(v, axis=1), np.diff(u, axis=1))
    row, column = np.nonzero(alive & (length > 0.0))
    by_v, half = by_v[row, column], 0.5 * length[row, column]
    near = np.where(by_v, v[row, column + 1], u[row, column]) + half
    far = x[row] - near
    u, v = np.where(by_v, far, near), np.where(by_v, near, far)
    # no edge lies inside an interval: its middle tells the panels
    apart = half * GAUSS[:, None]  # nodes × intervals, as long rows are faster
    height = series(u + apart, u) + other(v - apart, v) - peak[row]
    total = np.bincount(row, half * (WEIGHTS @ np.exp(np.minimum(height, BEYOND))), len(x))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(2.0 * total if series is other else total) + peak)


def _marks(
    series: LogSeries, other: LogSeries | SignedCurve, x: Array, parts: int
) -> tuple[Array, Array]:
    """For each x the ends of the intervals, (k, n): u ascending, and v = x − u descending.

    An edge of either series is kept as it is: where v is much smaller than x, x − (x − v) has lost
    its digits. Half of the intervals by symmetry, where both series are series.
    """
    shape = (len(x), len(series.edges) + len(other.edges))
    u, v = np.empty(shape), np.empty(shape)
    at = len(series.edges)
    u[:, :at], v[:, at:] = series.edges, other.edges[::-1]
    v[:, :at], u[:, at:] = x[:, None] - u[:, :at], x[:, None] - v[:, at:]
    low, high = _ends(series, other, x)
    # an edge of one series in a tiny part of the other may be left out: its panels agree there
    lost = np.abs(np.hstack([v[:, :at], u[:, at:]])) < INSIDE * np.abs(x)[:, None]
    before = (u < low[0]) | (v > low[1]) | lost
    after = ~before & ((u > high[0]) | (v < high[1]))
    u, v = (np.where(before, low[i], np.where(after, high[i], w)) for i, w in enumerate((u, v)))
    order = np.argsort(u, axis=1, kind="stable")
    u = _cut(np.hstack([low[0], np.take_along_axis(u, order, axis=1), high[0]]), parts)
    v = np.hstack([low[1], np.take_along_axis(v, order, axis=1), high[1]])
    return u, _cut(np.minimum.accumulate(v, axis=1), parts)


def _ends(
    series: LogSeries, other: LogSeries | SignedCurve, x: Array
) -> tuple[tuple[Array, Array], ...]:
    """(u, v), (k, 1) each, where the integral starts and stops."""
    x = x[:, None]
    first, last = series.edges[0], series.edges[-1]
    begins, stops = x - other.edges[-1] <= first, x - other.edges[0] >= last
    low = np.where(begins, first, x - other.edges[-1]), np.where(begins, x - first, other.edges[-1])
    if series is other:
        low = 0.5 * x, 0.5 * x
    high = np.where(stops, last, x - other.edges[0]), np.where(stops, x - last, other.edges[0])
    return low, (np.maximum(low[0], high[0]), np.minimum(low[1], high[1]))


def _cut(marks: Array, parts: int) -> Array:
    """Each interval in as many parts."""
    if parts == 1:
        return marks
    share = np.arange(parts) / parts
    cut = marks[:, :-1, None] + np.diff(marks, axis=1)[..., None] * share
    return np.hstack([cut.reshape(len(marks), -1), marks[:, -1:]])


@value_class
class SignedCurve:
    """log δ at real ε.

    ahead, back : log δ of both directions at ε ≥ 0, None where δ = 0. reach : the largest |ε| below
    0.
    """

    ahead: LogSeries | None
    back: LogSeries | None
    reach: float

    @classmethod
    def pair(
        cls, curve: tuple[Delta, Delta] | None, reach: float
    ) -> tuple[SignedCurve, SignedCurve]:
        """Forward and backward, for |ε| ≤ reach; None for a release without any loss."""
        if curve is None:
            return cls(None, None, reach), cls(None, None, reach)
        edges = np.append(0.0, reach * NARROWER ** -np.arange(STEPS - 1.0, -1.0, -1.0))
        ahead, back = (LogSeries.of(_log_of(delta), edges, CONTOUR) for delta in curve)
        return cls(ahead, back, reach), cls(back, ahead, reach)

    def doubled(self, curve: tuple[Delta, Delta] | None) -> tuple[SignedCurve, SignedCurve]:
        """`pair` of the same curve for twice the reach, with the same panels up to here."""
        reach = 2.0 * self.reach
        if curve is None or self.ahead is None or self.back is None:
            return self.pair(None, reach)
        both = []
        for series, delta in zip((self.ahead, self.back), curve, strict=True):
            end = series.edges[-1]
            # beyond a series that ends before `reach` δ has vanished and counts as 0
            if end >= self.reach and delta(end[None])[0] >= CONTINUED:
                more = LogSeries.of(_log_of(delta), np.array([end, reach]), CONTOUR)
                edges = np.concatenate([series.edges, more.edges[1:]])
                series = LogSeries(edges, np.hstack([series.terms, more.terms]))
            both.append(series)
        ahead, back = both
        return SignedCurve(ahead, back, reach), SignedCurve(back, ahead, reach)

    @property
    def edges(self) -> Array:
        """Points between which the curve is smooth."""
        below = -np.append(LEVELS[self.reach > LEVELS], self.reach)
        if self.ahead is None or self.back is None:
            return np.unique(below)
        return np.unique(np.concatenate([below, self.ahead.edges, -self.back.edges]))

    def __call__(self, x: Array, at: Array | None = None) -> Array:
        """log δ(x); `at`, of the sign of x, chooses the panels of the series."""
        at = x if at is None else at
        down = np.minimum(x, 0.0)
        with np.errstate(divide="ignore", under="ignore"):
            if self.ahead is None or self.back is None:
                return np.log(-np.expm1(down))
            low = np.log(-np.expm1(down) + np.exp(down + self.back(-down, np.maximum(-at, 0.0))))
        return np.where(at < 0.0, low, self.ahead(np.maximum(x, 0.0), np.maximum(at, 0.0)))


@value_class
class LazyCurve:
    """A falling function, by series between 0, unit, 2 unit, 4 unit, …; below 0 as it stands.

    on_mesh : (k,) → (k,), values ≥ 0, by a mesh so many times as fine as the first. unit : about
    the length over which it falls. least : what is smaller counts as 0.
    """

    on_mesh: Callable[[Array, int], Array]
    unit: float
    least: float = SMALLEST
    panels: dict[int, Delta] = field(default_factory=dict)

    def __call__(self, epsilon: Array) -> Array:
        """δ at each ε, (m,). Raises `NoExactSpectrum`."""
        delta, ahead = np.empty_like(epsilon), epsilon >= 0.0
        delta[~ahead] = self.direct(epsilon[~ahead])
        places = np.maximum(np.frexp(epsilon / self.unit)[1], 0)  # the power of 2 above ε/unit
        for place in map(int, np.unique(places[ahead])):
            if place not in self.panels:
                low = np.ldexp(0.5, place) if place else 0.0
                self.panels[place] = self._panel(self.unit * np.array([low, 2.0**place]))
            at = ahead & (places == place)
            delta[at] = self.panels[place](epsilon[at])
        return delta

    def direct(self, epsilon: Array) -> Array:
        """Without series: by the first mesh that agrees with the one before, half as fine.

        Raises `NoExactSpectrum` where there is none.
        """
        if not len(epsilon):
            return epsilon
        delta = self.on_mesh(epsilon, LAZY_FINER[0])
        for parts in LAZY_FINER[1:]:
            last, delta = delta, self.on_mesh(epsilon, parts)
            if np.all(np.abs(delta - last) <= AGREE * np.maximum(delta, LEAST)):
                return delta
        return unresolved("two meshes of an average over losses disagree")

    def _panel(self, ends: Array) -> Delta:
        """The values between two ends: by a series, or as they stand where it would be long."""
        if self.direct(ends[:1])[0] < self.least:
            return np.zeros_like
        first = _log_of(lambda x: self.on_mesh(x, 1))
        second = _log_of(lambda x: self.on_mesh(x, 2))
        try:
            series = LogSeries.of(first, ends, LAZY_PRECISE, LAZY_MOST, second)
        except NoExactSpectrum:
            return self.direct
        return lambda epsilon: np.exp(series(epsilon))


def _log_of(delta: Delta) -> Delta:
    """ε ↦ log δ(ε)."""

    def log_delta(x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(delta(x))

    return log_delta
