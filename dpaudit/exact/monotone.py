"""The spectrum of a pair whose privacy loss is monotone in ONE number with a known density.

δ(ε) = E[(1 − e^{ε−L})₊] is integrated as it stands, on the half-line where L > ε. The usual difference
P(L > ε) − e^ε Q(L > ε) loses the digits that the two probabilities share; here every term is positive, so the
relative accuracy is that of the quadrature, in the tail and for nearly identical neighbours alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit._check import Array

ORDER = 12  # Gauss–Legendre points a panel: 4e-17 relative on e^{-λx} with λ·width ≤ 8 (`REACH`)
REACH = 8.0
DROP = 60.0  # natural-log units below the peak beyond which mass is ignored
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)


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
    alive = thresholds < end
    delta = np.zeros_like(epsilon)
    if not alive.any():
        return delta
    thresholds, epsilon = thresholds[alive], epsilon[alive]
    onset = _onsets(loss, thresholds, epsilon, width, end)
    edges = _edges(log_density, np.concatenate([thresholds, onset]), width, end, breaks)
    half = 0.5 * np.diff(edges)
    x = (edges[:-1] + half)[:, None] + half[:, None] * NODES
    mass = half[:, None] * WEIGHTS * np.exp(log_density(x))
    interval = np.searchsorted(thresholds, 0.5 * (edges[:-1] + edges[1:]), side="right") - 1
    own = np.sum(mass * -np.expm1(np.minimum(epsilon[interval, None] - loss(x), 0.0)), axis=1)
    delta[alive] = _accumulate(
        epsilon,
        np.bincount(interval, own, len(epsilon)),
        np.bincount(interval, mass.sum(axis=1), len(epsilon)),
    )
    return np.minimum(delta, 1.0)


def _accumulate(epsilon: Array, own: Array, mass: Array) -> Array:
    """Join intervals from the right: 1 − e^{ε_j−L} = (1 − e^{−g}) + e^{−g}(1 − e^{ε_{j+1}−L}), g = ε_{j+1} − ε_j."""
    delta = own.copy()
    tail = 0.0
    for j in range(len(epsilon) - 2, -1, -1):
        tail += mass[j + 1]
        gap = epsilon[j + 1] - epsilon[j]
        delta[j] += -np.expm1(-gap) * tail + np.exp(-gap) * delta[j + 1]
    return delta


def _onsets(
    loss: Callable[[Array], Array], thresholds: Array, epsilon: Array, width: float, end: float
) -> Array:
    """Points that halve down to a threshold wherever 1 − e^{ε−L} saturates within a fraction of `width`."""
    rise = loss(np.minimum(thresholds + width, end)) - epsilon
    levels = np.ceil(np.log2(np.maximum(rise / REACH, 1.0))).astype(int)
    halves = [thresholds[levels >= k] + width * 0.5**k for k in range(1, levels.max() + 1)]
    return np.concatenate([thresholds[:0], *halves])


def _edges(
    log_density: Callable[[Array], Array], marks: Array, width: float, end: float, breaks: Array | None
) -> Array:
    """Panel edges: every mark, steps of `width` near the peak and of REACH over the slope in a tail."""
    first, last = marks.min(), marks.max()
    grid = np.linspace(first, end, max(int(2 * (end - first) / width) + 2, 33))
    height = log_density(grid)
    height = np.where(np.isfinite(height), height, np.nanmin(np.where(np.isfinite(height), height, np.inf)))
    slope = np.abs(np.gradient(height, grid))
    step = np.minimum(width, REACH / np.maximum(slope, REACH / width))
    start, stop = _window(grid, height, min(last, end))
    edges = [marks[(marks >= start) & (marks < stop)], [start, stop]]
    # one panel per unit of the integral of 1/step keeps each panel about one local step long
    clock = np.concatenate([[0.0], np.cumsum(np.diff(grid) / np.minimum(step[:-1], step[1:]))])
    inside = np.interp([start, stop], grid, clock)
    edges.append(np.interp(np.arange(np.ceil(inside[0]), inside[1]), clock, grid))
    if breaks is not None:
        reach = width * 0.2 ** np.arange(12)
        graded = np.concatenate([np.concatenate([[b], b - reach, b + reach]) for b in breaks])
        edges.append(graded[(graded > start) & (graded < stop)])
    return np.unique(np.concatenate([np.asarray(part, dtype=np.float64) for part in edges]))


def _window(grid: Array, height: Array, last: float) -> tuple[float, float]:
    """Where mass matters: within DROP of the peak, and within DROP of the peak beyond the last threshold."""
    beyond = height[grid >= last].max() if np.any(grid >= last) else height[-1]
    keep = np.flatnonzero(height > min(height.max(), beyond) - DROP)
    start = np.flatnonzero(height > height.max() - DROP)[0]
    low = grid[max(start - 1, 0)] if start > 0 else grid[0]
    high = grid[min(keep[-1] + 1, len(grid) - 1)]
    return min(float(low), last), float(high)
