"""Group privacy: what a claim about one row says of databases that differ in k rows.

A claim δ(ε) about one row bounds what any set S can show: P(S) ≤ g(Q(S)), where g(a) is the least
of δ(ε) + e^ε a and, by the complement of S, of 1 − e^{−ε}(1 − δ(ε) − a), over all ε ≥ 0. Along a
chain of k neighbours P₀(S) ≤ g(P₁(S)) ≤ … ≤ g∘…∘g(P_k(S)), since g increases. Hence

    δ_k(ε) = max over a in [0, 1] of g∘…∘g(a) − e^ε a.

This is theorem 2.14 of Dong, Roth & Su 2022, 1 − (1 − f)^{∘k}, read as hockey-stick divergence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves import readings

LINES, SETS = 1000, 6000  # the ε of the lines that make up g, and the number of arguments a of g
# δ of all rows together, and ε in nats, behind which that curve is not read
NEGLIGIBLE, FARTHEST = 1e-18, 500.0
LEAST = 1e-30  # the smallest probability a > 0 on the grid


def chained(steps: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return (ε, δ) for the ends of a chain of databases whose step i is (εᵢ, δᵢ)-DP.

    ε is the sum of the εᵢ. δ is g∘…∘g(0): no slope of g∘…∘g is above e^ε, so its largest distance
    from e^ε a is at a = 0. For k equal steps that is δ(e^{kε} − 1)/(e^ε − 1) (Vadhan 2017,
    lemma 2.2), or less where the other line of g is lower, which is near 1.

    >>> epsilon, delta = chained([(1.0, 1e-5)] * 3)
    >>> epsilon, round(delta / 1e-5, 6)  # 1 + e + e²
    (3.0, 11.107338)
    """
    total, leak = 0.0, 0.0
    for epsilon, delta in steps:
        total += epsilon
        line = delta + np.exp(min(epsilon, readings.LARGEST)) * leak
        other = 1.0 - np.exp(-epsilon) * max(1.0 - delta - leak, 0.0)
        leak = float(min(line, other))
    return total, leak


def repeated(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """Return (ε, δ) of `chained` for k = `size` equal steps, in closed form.

    Steps follow the first line, δ + e^ε a, up to where the lines meet, a = (1 − δ)/(1 + e^ε). From
    there on they follow the other one, by which 1 − a becomes e^{−ε}(1 − a − δ).
    """
    if epsilon == 0.0 or delta in (0.0, 1.0):
        return size * epsilon, min(size * delta, 1.0)
    log_delta, shrink = np.log(delta), -np.expm1(-epsilon)
    meet = np.logaddexp(0.0, np.log1p(-delta) + np.log(np.tanh(0.5 * epsilon)) - log_delta)
    first = min(np.floor(meet / epsilon) + 1.0, size)
    leak = np.exp(log_delta + (first - 1.0) * epsilon) * -np.expm1(-first * epsilon) / shrink
    rest = (size - first) * epsilon
    if rest > 0.0:
        leak = 1.0 - np.exp(-rest) * (1.0 - leak)
        leak -= delta * np.exp(-epsilon) * np.expm1(-rest) / shrink
    return size * epsilon, float(min(leak, 1.0))


@value_class
class GroupCurve:
    """The function ε ↦ δ_k(ε), an upper bound made of lines δ + e^ε a that lie above g∘…∘g.

    log_slope : (m,), the ε of each line, ascending, the first −∞. intercept : (m,), the δ of each.

    Each line is an upper bound. Between two of them, δ + e^ε a of a weighted mean is one too, and
    behind the last its δ. So δ_k is never too small, and larger than the least by what a grid
    loses: g is made of the lines of `LINES` ε, and `SETS` of its arguments are followed through
    g, g∘g, g∘g∘g∘g, …, each made of lines of the one before.
    """

    log_slope: Array
    intercept: Array

    @classmethod
    def of(cls, delta_of: Callable[[Array], Array], size: int) -> GroupCurve:
        power, parts = _lines(delta_of, NEGLIGIBLE / size), []
        while size > 1:
            parts += [power] * (size % 2)
            power, size = cls._composed([power, power]), size // 2
        return cls._composed([*parts, power])

    @classmethod
    def _composed(cls, parts: list[GroupCurve]) -> GroupCurve:
        """Lines above the composition of the functions g in `parts`, the first applied first."""
        a = np.concatenate([[0.0], np.geomspace(LEAST, 1.0, SETS)])
        slope, intercept = np.zeros_like(a), np.zeros_like(a)
        for lines in parts:
            at = lines.lowest(a)
            step = lines.log_slope[at], lines.intercept[at]
            rise = np.exp(step[0])
            a = np.minimum(step[1] + rise * a, 1.0)
            slope, intercept = slope + step[0], step[1] + rise * intercept
        within = np.abs(slope) <= readings.LARGEST
        # no set has a probability above 1
        slope, intercept = np.append(slope[within], -np.inf), np.append(intercept[within], 1.0)
        return cls(*_hull(slope, np.minimum(intercept, 1.0)))

    def __call__(self, epsilon: Array) -> Array:
        near = np.minimum(epsilon, readings.LARGEST)
        return np.interp(np.exp(near), np.exp(self.log_slope), self.intercept)

    def lowest(self, a: Array) -> np.ndarray:
        """The index of the line that is lowest at each probability a."""
        crossing = -np.diff(self.intercept) / np.diff(np.exp(self.log_slope))  # descending
        return len(crossing) - np.searchsorted(crossing[::-1], a, side="right")


def _lines(delta_of: Callable[[Array], Array], least: float) -> GroupCurve:
    """The lines of g with δ > `least`: those of S (ε ≥ 0), those of its complement (ε < 0)."""
    far = float(delta_of(np.array([FARTHEST]))[0])
    end = min(float(readings.epsilon_at(delta_of, max(far, least), None)), FARTHEST)
    epsilon = np.concatenate([np.linspace(0.0, end, LINES), np.geomspace(1e-4, 1.0, LINES) * end])
    delta = delta_of(np.unique(epsilon))
    epsilon = np.unique(epsilon)
    other = -np.expm1(-epsilon) + np.exp(-epsilon) * delta
    slope, intercept = np.append(epsilon, -epsilon), np.append(delta, other)
    return GroupCurve(*_hull(slope, intercept))


def _hull(log_slope: Array, intercept: Array) -> tuple[Array, Array]:
    """By slope the lines lowest for some a: those on the lower hull of the intercepts."""
    order = np.lexsort((intercept, log_slope))
    slope, height = np.exp(log_slope[order]), intercept[order]
    hull: list[int] = []
    for at in range(len(order)):
        if hull and slope[hull[-1]] == slope[at]:
            continue
        while len(hull) > 1:
            left, middle = hull[-2:]
            rise = (height[at] - height[left]) / (slope[at] - slope[left])
            if height[middle] < height[left] + rise * (slope[middle] - slope[left]):
                break
            hull.pop()  # the middle line is nowhere the lowest of the three
        hull.append(at)
    return log_slope[order][hull], height[hull]
