"""The spectrum of a pair whose privacy loss is monotone in ONE number with a known density.

δ(ε) = E[(1 − e^{ε−L})₊] is integrated as it stands, on the half-line where L > ε. The usual
difference P(L > ε) − e^ε Q(L > ε) loses the digits that the two probabilities share; here every
term is positive, so the relative accuracy is that of the quadrature, in the tail and for nearly
identical neighbours alike.

The integrals of 1 − e^{ε−L} are computed on panels, each with its error, which is read off the
nodes that are there: if the Legendre coefficients of an integrand fall off geometrically,
c_n ~ ρ^{−n}, Gauss's rule with N nodes is off by about c_{2N} ~ c_N²/c_0. A panel whose error is
seen in some δ is halved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
from numpy.polynomial.legendre import legvander

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.special import unresolved

ORDER = 12  # Gauss–Legendre nodes on a panel
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
LEGENDRE = WEIGHTS[:, None] * legvander(NODES, ORDER - 1) * (np.arange(ORDER) + 0.5)
OUTER_TERMS = LEGENDRE[:, [0, -2, -1]]  # node values → first and last two Legendre coefficients
RESOLVED = 4e-10  # relative error of a δ that one panel may cause
LOSS_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)  # relative rounding error of a loss
SMALLEST = 1e-290  # a smaller δ or mass need not be resolved
REACH = 8.0  # λ·width of a panel where the density falls as e^{−λx}: 4e-17 relative
PANELS = 10_000  # how many panels may be added by halving
DROP = 60.0  # natural-log units below the peak beyond which mass is ignored
UNDERFLOW = 745.0  # natural-log units below the peak beyond which δ underflows
# values of (1 + |s|)·max|L| and of E[e^{sL}] − 1 below which E[e^{sL}] is expanded about 1
SMALL_LOSS, SMALL_MOMENT = (30.0, 0.1)
HALVINGS = 60
# agreement of two meshes, of which the second has four panels for one; how many times the mesh is
# refined; and what rounding does to log E[e^{sL}]
AGREE, REFINED, ROUNDING = 1e-9, 3, 1e-13
LOOK = 257  # points at which a tilted density is looked at
MOST = 200  # panels of a tilted density, from its peak to e^{−DROP} of it
GRADING = np.concatenate([-(0.2 ** np.arange(12.0)), [0.0], 0.2 ** np.arange(11.0, -1.0, -1.0)])

Function = Callable[[Array], Array]


def hockey_stick(
    log_density: Function,
    loss: Function,
    thresholds: Array,
    epsilon: Array,
    width: float,
    end: float,
    breaks: Array | None = None,
) -> Array:
    """δ at each ε for a loss that increases with x.

    The density of x has the logarithm `log_density` on [min(thresholds), end], and varies by a
    factor of order e over `width` near its peak; `loss` is x ↦ L(x). Both are vectorised.
    thresholds : (m,), ascending, the x at which L(x) = ε, or the domain's left end where L > ε
    throughout. epsilon : (m,), ascending. breaks : points where the density is not smooth, towards
    which the mesh is graded.
    """
    delta, first = np.zeros_like(epsilon), float(thresholds.min())
    # the density on a grid of half-widths: where mass is and how fast it varies
    count = max(int(2 * (end - first) / width) + 2, 33)
    grid = np.linspace(first, end, count) if first < end else np.array([end])
    height = log_density(grid)
    finite = np.isfinite(height)
    height = np.where(finite, height, height[finite].min() if finite.any() else 0.0)
    seen = np.flatnonzero(height >= height.max() - UNDERFLOW)[-1]
    alive = thresholds < grid[min(seen + 1, len(grid) - 1)]
    if not alive.any():
        return delta
    thresholds, epsilon = thresholds[alive], epsilon[alive]
    marks = np.concatenate([thresholds, _onsets(loss, thresholds, epsilon, width, end)])
    edges = _edges(grid, height, marks, width, breaks)
    function = log_density, loss, thresholds, epsilon
    panels = Panels.between(edges[:-1], edges[1:], *function)
    most = PANELS + len(edges)
    while len(panels.start) < most:
        total = panels.delta(epsilon)
        rough = panels.rough(total, epsilon)
        if not rough.any():
            delta[alive] = np.minimum(total, 1.0)
            return delta
        start, stop = panels.start[rough], panels.stop[rough]
        middle = 0.5 * (start + stop)
        halves = Panels.between(np.append(start, middle), np.append(middle, stop), *function)
        panels = panels.replaced(rough, halves)
    return unresolved("its integrand is too rough")


@value_class
class Panels:
    """Integrals over panels, arrays of shape (k,), for losses that increase with x.

    start, stop : the ends. interval : the last ε whose threshold lies before the panel.
    own : ∫ (1 − e^{ε−L}) of the density at this ε. mass : ∫ of the density. own_error,
    mass_error : the errors of these two integrals.
    """

    start: Array
    stop: Array
    interval: np.ndarray
    own: Array
    mass: Array
    own_error: Array
    mass_error: Array

    @classmethod
    def between(
        cls,
        start: Array,
        stop: Array,
        log_density: Function,
        loss: Function,
        thresholds: Array,
        epsilon: Array,
    ) -> Panels:
        """The integrals by Gauss's rule; no threshold lies within a panel."""
        half = 0.5 * (stop - start)
        x = (start + half)[:, None] + half[:, None] * NODES
        interval = np.searchsorted(thresholds, start + half, side="right") - 1
        density = half[:, None] * np.exp(log_density(x))
        gain = density * -np.expm1(np.minimum(epsilon[interval, None] - loss(x), 0.0))
        mean, before_last, last = (np.concatenate([gain, density]) @ OUTER_TERMS).T
        size = np.abs(before_last) + np.abs(last)
        error = 2.0 * size * (size / np.maximum(mean, SMALLEST))
        return cls(start, stop, interval, *np.split(2.0 * mean, 2), *np.split(error, 2))

    def replaced(self, some: np.ndarray, others: Panels) -> Panels:
        names = [field.name for field in fields(self)]
        pairs = ((getattr(self, name)[~some], getattr(others, name)) for name in names)
        return Panels(*(np.concatenate(pair) for pair in pairs))

    def delta(self, epsilon: Array) -> Array:
        """δ at each ε, (m,), joined from the right.

        1 − e^{ε_j−L} = (1 − e^{−g}) + e^{−g}(1 − e^{ε_{j+1}−L}) with g = ε_{j+1} − ε_j.
        """
        own = np.bincount(self.interval, self.own, len(epsilon)).astype(np.float64)
        gap = np.append(np.diff(epsilon), 0.0)
        own[:-1] -= np.expm1(-gap[:-1]) * self._tail(len(epsilon))[1:]
        joined, last = [], 0.0
        for term, share in zip(own[::-1].tolist(), np.exp(-gap[::-1]).tolist(), strict=True):
            last = term + share * last
            joined.append(last)
        return np.array(joined[::-1])

    def rough(self, delta: Array, epsilon: Array) -> np.ndarray:
        """Panels whose error is seen in δ: at their own ε, or by their mass at a smaller one.

        An error that is less than what the rounding of L may do to L − ε is not seen.
        """
        own = np.maximum(delta, SMALLEST)[self.interval]
        rounding = LOSS_ROUNDING * epsilon[self.interval] * self.mass
        tail = np.maximum(self._tail(len(delta)), SMALLEST)[self.interval]
        own_seen = self.own_error > RESOLVED * own + rounding
        return np.asarray(own_seen | ((self.mass_error > RESOLVED * tail) & (self.interval > 0)))

    def _tail(self, count: int) -> Array:
        mass = np.bincount(self.interval, self.mass, count)
        return np.asarray(np.cumsum(mass[::-1])[::-1])


def _onsets(loss: Function, thresholds: Array, epsilon: Array, width: float, end: float) -> Array:
    """Marks that halve the way to each threshold until L ≤ ε + 1: 1 − e^{ε−L} bends there."""
    points = [thresholds[:0]]
    steep, step = np.ones(len(thresholds), dtype=bool), width
    for _ in range(HALVINGS):
        near = np.minimum(thresholds + step, end)
        steep &= loss(near) - epsilon > 1.0
        if not steep.any():
            break
        points.append(near[steep])
        step *= 0.5
    return np.concatenate(points)


def _edges(grid: Array, height: Array, marks: Array, width: float, breaks: Array | None) -> Array:
    """Panel edges where mass matters: every mark, and steps of `width` or longer ones in a tail.

    Mass matters within DROP of the peak and of the largest density beyond the last threshold. In a
    tail a step is REACH over the slope of the log density.
    """
    last = min(float(marks.max()), float(grid[-1]))
    beyond = max(np.interp(last, grid, height), height[grid >= last].max(initial=-np.inf))
    first_alive = np.flatnonzero(height > height.max() - DROP)[0]
    last_alive = np.flatnonzero(height > beyond - DROP)[-1]
    start = min(float(grid[max(first_alive - 1, 0)]), last)
    stop = float(grid[min(last_alive + 1, len(grid) - 1)])
    length = np.diff(grid)
    slope = np.abs(np.diff(height)) / length
    # one panel per unit of the integral of 1/step keeps each panel about one local step long
    clock = np.append(0.0, np.cumsum(length * np.maximum(1.0 / width, slope / REACH)))
    inside = np.interp([start, stop], grid, clock)
    steps = np.interp(np.arange(np.ceil(inside[0]), inside[1]), clock, grid)
    inner = np.concatenate([marks, _graded(breaks, width)])
    inner = inner[(inner > start) & (inner < stop)]
    return np.unique(np.concatenate([[start, stop], steps, inner]))


def _graded(breaks: Array | None, width: float) -> Array:
    if breaks is None or not len(breaks):
        return np.zeros(0)
    return np.concatenate([point + width * GRADING for point in breaks])


def renyi(
    log_density: Function,
    loss: Function,
    s: float,
    start: float,
    end: float,
    width: float,
    breaks: Array | None = None,
    lost: float = 0.0,
) -> float:
    """Return the Rényi divergence log E[e^{sL}]/s of order 1 + s (E[L] at s = 0) over [start, end].

    lost : 1 − E[e^{−L}], the mass of the other law where the density is 0.

    The other arguments are those of `hockey_stick`. Where L is small, s(E[e^{−L}] − 1 + lost) = 0
    is added, so that the first-order terms cancel before the sum: e^{sL} − 1 + s(e^{−L} − 1) =
    s(s + 1)L²/2 + …, and L + e^{−L} − 1 at s = 0. Two meshes must agree, else `NoExactSpectrum`.
    """

    def exponent(x: Array) -> Array:
        return log_density(x) + s * loss(x)

    for _ in range(HALVINGS):  # look closer as long as the part that matters is narrow
        grid = np.linspace(start, end, LOOK)
        height = exponent(grid)
        alive = np.flatnonzero(height > height[np.isfinite(height)].max() - DROP)
        low, high = grid[max(alive[0] - 1, 0)], grid[min(alive[-1] + 1, LOOK - 1)]
        if high - low > 0.2 * (end - start):
            break
        start, end = low, high
    width = width / np.sqrt(1.0 + abs(s))
    marks = np.linspace(low, high, min(max(int((high - low) / width) + 1, 8), MOST))
    graded = _graded(breaks, width)
    edges = np.union1d(marks, graded[(graded > low) & (graded < high)])
    divergence = _renyi_on(log_density, loss, s, edges, lost)
    for _ in range(REFINED):
        quarters = edges[:-1, None] + np.diff(edges)[:, None] * (np.arange(4.0) / 4.0)
        edges = np.append(quarters.ravel(), edges[-1])
        last, divergence = divergence, _renyi_on(log_density, loss, s, edges, lost)
        room = AGREE * abs(divergence) + ROUNDING / max(abs(s), ROUNDING)
        if abs(divergence - last) <= room:
            return divergence
    raise NoExactSpectrum(
        f"the Rényi divergence of order {1.0 + s:.6g} could not be computed to checked accuracy: "
        "two meshes disagree; use delta_at"
    )


def _renyi_on(log_density: Function, loss: Function, s: float, edges: Array, lost: float) -> float:
    half = 0.5 * np.diff(edges)[:, None]
    x, mass = (edges[:-1, None] + half) + half * NODES, half * WEIGHTS
    value, log_p = loss(x), log_density(x)
    density = mass * np.exp(log_p)
    if np.abs(value).max() * (1.0 + abs(s)) < SMALL_LOSS:
        back = np.expm1(-value)
        second = value + back if s == 0.0 else np.expm1(s * value) + s * back
        moment = float(np.sum(density * second)) + (lost if s == 0.0 else s * lost)
        if abs(moment) < SMALL_MOMENT:
            return moment if s == 0.0 else float(np.log1p(moment) / s)
    if s == 0.0:
        return float(np.sum(density * value))
    exponent = log_p + s * value
    peak = exponent.max()
    return float((np.log(np.sum(mass * np.exp(exponent - peak))) + peak) / s)
