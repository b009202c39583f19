"""The spectrum of a pair whose privacy loss is monotone in ONE number with a known density.

δ(ε) = E[(1 − e^{ε−L})₊] is integrated as it stands, on the half-line where L > ε. The usual
difference P(L > ε) − e^ε Q(L > ε) loses the digits that the two probabilities share; here every
term is positive, so the relative accuracy is that of the quadrature, in the tail and for nearly
identical neighbours alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.loss_panels import NODES, WEIGHTS, LossPanels

REACH = 8.0  # λ·width of a panel where the density falls as e^{−λx}: 4e-17 relative
PANELS = 10_000  # that may come by halving
DROP = 60.0  # natural-log units below the peak beyond which mass is ignored
UNDERFLOW = 745.0
# of (1 + |s|)·max|L| and of E[e^{sL}] − 1, below which E[e^{sL}] is expanded about 1
SMALL_LOSS, SMALL_MOMENT = (30.0, 0.1)
HALVINGS = 60
# of two meshes, the second with four panels for one; and what rounding does to log E[e^{sL}]
AGREE, REFINED, QUARTERS, ROUNDING = 1e-9, 3, np.arange(4.0) / 4.0, 1e-13
LOOK = 257  # points at which a tilted density is looked at
MOST = 200  # panels of a tilted density, from its peak to e^{−DROP} of it
GRADING = np.concatenate([-(0.2 ** np.arange(12.0)), [0.0], 0.2 ** np.arange(11.0, -1.0, -1.0)])


def hockey_stick(
    log_density: Callable[[Array], Array],
    loss: Callable[[Array], Array],
    thresholds: Array,
    epsilon: Array,
    width: float,
    end: float,
    breaks: Array | None = None,
) -> Array:
    """δ at each ε for a loss that increases with x.

    Parameters
    ----------
    log_density : log of the density of x, on `[min(thresholds), end]`; vectorised.
    loss : x ↦ L(x), increasing; vectorised.
    thresholds : shape (m,), the x at which L(x) = ε (the domain's left end where L > ε throughout).
    epsilon : shape (m,), ascending, as are the thresholds.
    width : length over which the density varies by a factor of order e near its peak.
    end : right end of the domain.
    breaks : points where the density is not smooth; the mesh is graded towards them.
    """
    delta = np.zeros_like(epsilon)
    height = _Height.on(log_density, float(thresholds.min()), end, width)
    alive = thresholds < height.reach()
    if not alive.any():
        return delta
    thresholds, epsilon = thresholds[alive], epsilon[alive]
    onset = _onsets(loss, thresholds, epsilon, width, end)
    edges = height.edges(np.concatenate([thresholds, onset]), width, breaks)
    found = _resolved(log_density, loss, thresholds, epsilon, edges)
    delta[alive] = np.minimum(found, 1.0)
    return delta


def _resolved(
    log_density: Callable[[Array], Array],
    loss: Callable[[Array], Array],
    thresholds: Array,
    epsilon: Array,
    edges: Array,
) -> Array:
    """δ by panels that are halved until no error is seen."""

    def integrated(start: Array, stop: Array) -> LossPanels:
        return LossPanels.between(start, stop, log_density, loss, thresholds, epsilon)

    panels = integrated(edges[:-1], edges[1:])
    most = PANELS + len(edges)
    while len(panels.start) < most:
        found = panels.delta(epsilon)
        rough = panels.rough(found, epsilon)
        if not rough.any():
            return found
        start, stop = panels.start[rough], panels.stop[rough]
        middle = 0.5 * (start + stop)
        halves = integrated(np.append(start, middle), np.append(middle, stop))
        panels = panels.without(rough).with_panels(halves)
    raise NoExactSpectrum(
        "δ(ε) could not be computed to checked accuracy: its integrand is too rough; "
        "use dpaudit.audit, which needs only draws"
    )


def renyi(
    log_density: Callable[[Array], Array],
    loss: Callable[[Array], Array],
    s: float,
    start: float,
    end: float,
    width: float,
    breaks: Array | None = None,
) -> float:
    """log E[e^{sL}]/s over [start, end], and E[L] at s = 0, of a loss with E[e^{−L}] = 1.

    Arguments as of `hockey_stick`. Where L is small, s(E[e^{−L}] − 1) = 0 is added, so that the
    first-order terms cancel before the sum: e^{sL} − 1 + s(e^{−L} − 1) = s(s + 1)L²/2 + …,
    and L + e^{−L} − 1 at s = 0. Two meshes must agree, else `NoExactSpectrum`.
    """
    edges = _tilted_edges(log_density, loss, s, start, end, width / np.sqrt(1.0 + abs(s)), breaks)
    found = _renyi_on(log_density, loss, s, edges)
    for _ in range(REFINED):
        edges = np.append(
            (edges[:-1, None] + np.diff(edges)[:, None] * QUARTERS).ravel(), edges[-1]
        )
        last, found = found, _renyi_on(log_density, loss, s, edges)
        if abs(found - last) <= AGREE * abs(found) + ROUNDING / max(abs(s), ROUNDING):
            return found
    raise NoExactSpectrum(
        f"the Rényi divergence of order {1.0 + s:.6g} could not be computed to checked accuracy: "
        "two meshes disagree; use delta_at"
    )


def _renyi_on(
    log_density: Callable[[Array], Array], loss: Callable[[Array], Array], s: float, edges: Array
) -> float:
    half = 0.5 * np.diff(edges)[:, None]
    x, mass = (edges[:-1, None] + half) + half * NODES, half * WEIGHTS
    value, density = loss(x), mass * np.exp(log_density(x))
    if np.abs(value).max() * (1.0 + abs(s)) < SMALL_LOSS:
        second = (
            value + np.expm1(-value) if s == 0.0 else np.expm1(s * value) + s * np.expm1(-value)
        )
        moment = float(np.sum(density * second))
        if abs(moment) < SMALL_MOMENT:
            return moment if s == 0.0 else float(np.log1p(moment) / s)
    if s == 0.0:
        return float(np.sum(density * value))
    exponent = log_density(x) + s * value
    peak = exponent.max()
    return float((np.log(np.sum(mass * np.exp(exponent - peak))) + peak) / s)


def _tilted_edges(
    log_density: Callable[[Array], Array],
    loss: Callable[[Array], Array],
    s: float,
    start: float,
    end: float,
    width: float,
    breaks: Array | None,
) -> Array:
    """Edges of panels where e^{sL} times the density is within DROP of its peak.

    Panels are of about `width`.
    """
    first, last = _alive(lambda x: log_density(x) + s * loss(x), start, end)
    count = min(max(int((last - first) / width) + 1, 8), MOST)
    marks = np.linspace(first, last, count)
    graded = (
        np.concatenate([b + width * GRADING for b in breaks]) if breaks is not None else marks[:0]
    )
    return np.unique(np.concatenate([marks, graded[(graded > first) & (graded < last)]]))


def _alive(exponent: Callable[[Array], Array], first: float, last: float) -> tuple[float, float]:
    """Where the exponent is within DROP of its peak; a closer look as long as that is narrow."""
    for _ in range(HALVINGS):
        grid = np.linspace(first, last, LOOK)
        value = exponent(grid)
        alive = np.flatnonzero(value > value[np.isfinite(value)].max() - DROP)
        low, high = grid[max(alive[0] - 1, 0)], grid[min(alive[-1] + 1, LOOK - 1)]
        if high - low > 0.2 * (last - first):
            break
        first, last = low, high
    return float(low), float(high)


def _onsets(
    loss: Callable[[Array], Array], thresholds: Array, epsilon: Array, width: float, end: float
) -> Array:
    """Points that halve down to a threshold until L rises by at most 1: 1 − e^{ε−L} bends there."""
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


@dataclass(frozen=True, eq=False, repr=False)
class _Height:
    """The log density on a grid of half-widths: where mass matters and how fast it varies."""

    grid: Array
    value: Array

    @classmethod
    def on(
        cls, log_density: Callable[[Array], Array], first: float, end: float, width: float
    ) -> _Height:
        """The log density from `first` to `end`."""
        grid = (
            np.linspace(first, end, max(int(2 * (end - first) / width) + 2, 33))
            if first < end
            else np.array([end])
        )
        value = log_density(grid)
        finite = np.isfinite(value)
        return cls(grid, np.where(finite, value, value[finite].min() if finite.any() else 0.0))

    def reach(self) -> float:
        """Beyond this point δ is below the smallest float."""
        return float(self.grid[np.flatnonzero(self.value >= self.value.max() - UNDERFLOW)[-1]])

    def window(self, last: float) -> tuple[float, float]:
        """Where mass matters: within DROP of the peak, and of the largest value beyond `last`."""
        after = np.interp(last, self.grid, self.value)
        beyond = max(after, self.value[self.grid >= last].max(initial=-np.inf))
        start = np.flatnonzero(self.value > self.value.max() - DROP)[0]
        stop = np.flatnonzero(self.value > beyond - DROP)[-1]
        low, high = self.grid[max(start - 1, 0)], self.grid[min(stop + 1, len(self.grid) - 1)]
        return min(float(low), last), float(high)

    def edges(self, marks: Array, width: float, breaks: Array | None) -> Array:
        """Panel edges: every mark, steps of `width` near the peak and longer ones in a tail.

        In a tail a step is REACH over the slope of the log density.
        """
        length = np.diff(self.grid)
        slope = np.abs(np.diff(self.value)) / length
        start, stop = self.window(min(float(marks.max()), float(self.grid[-1])))
        # one panel per unit of the integral of 1/step keeps each panel about one local step long
        clock = np.append(0.0, np.cumsum(length * np.maximum(1.0 / width, slope / REACH)))
        inside = np.interp([start, stop], self.grid, clock)
        steps = np.interp(np.arange(np.ceil(inside[0]), inside[1]), clock, self.grid)
        graded = (
            np.concatenate([b + width * GRADING for b in breaks])
            if breaks is not None
            else marks[:0]
        )
        inner = np.concatenate([marks, graded])
        return np.unique(
            np.concatenate([[start, stop], steps, inner[(inner > start) & (inner < stop)]])
        )
