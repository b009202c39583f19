"""The pairs T1–T4 as laws of their true likelihood ratio: draws of it, its tails, and the true
δ(ε).

With the truth as the score only bands are compared, and with its tails in hand the counts above any
thresholds can be drawn as multinomials, so that a million draws cost what a hundred do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtrc, ndtr

from dpaudit import exact
from dpaudit._core.check import Array

# of a standard normal coordinate; equal steps are exact to 1e-12 here
AXIS = np.linspace(-9.0, 9.0, 301)


@dataclass(frozen=True)
class Task:
    """draw: (rng, size, is P) → (size,) scores. tail: (τ (k,), is P) → P(score > τ). truth: ε ↦ the
    two δ(ε).
    """

    name: str
    draw: Callable[[np.random.Generator, int, bool], Array]
    tail: Callable[[Array, bool], Array]
    truth: Callable[[Array], tuple[Array, Array]]

    def delta(self, epsilon: Array) -> Array:
        """The larger direction."""
        return np.maximum(*self.truth(epsilon))

    def sides(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """Scores of `size` draws of P and of Q."""
        return self.draw(rng, size, True), self.draw(rng, size, False)


@dataclass
class Simulated:
    """Counts above thresholds of `size` draws a side that were never made: multinomials over the
    cells between.

    One draw of the cells a call, so all thresholds that belong to one audit must come in one call.
    """

    task: Task
    size: int
    rng: np.random.Generator
    sizes: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = self.size, self.size

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q above each threshold, jointly as of one sample."""
        distinct, back = np.unique(threshold, return_inverse=True)
        x, y = (self._counts(self.task.tail(distinct, is_p))[back] for is_p in (True, False))
        return x, y

    def _counts(self, tail: Array) -> np.ndarray:
        tail = np.minimum.accumulate(np.clip(tail, 0.0, 1.0))
        cells = np.append(tail[:-1] - tail[1:], tail[-1])  # what lies between, then above all
        drawn = self.rng.multinomial(self.size, np.append(cells, 1.0 - tail[0]))[:-1]
        return np.cumsum(drawn[::-1])[::-1]


def _t1_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return rng.standard_normal(size) + (0.5 if is_p else -0.5)


def _t1_tail(threshold: Array, is_p: bool) -> Array:
    return np.asarray(ndtr((0.5 if is_p else -0.5) - threshold))


_VARIANCE, _SHIFT, _REST = 0.97 / 0.85, 0.5, 0.97
_SLOPE = 0.5 * (1.0 / _REST - 1.0)


def _t2_axis(x: Array) -> Array:
    """The loss's part of the first coordinate, and the constants."""
    square = 0.5 * ((x - _SHIFT) ** 2 / _VARIANCE - x**2)
    return np.asarray(square + 0.5 * np.log(_VARIANCE) + 5.0 * np.log(_REST))


def _t2_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    x = (
        rng.standard_normal(size)
        if is_p
        else _SHIFT + np.sqrt(_VARIANCE) * rng.standard_normal(size)
    )
    return np.asarray(_t2_axis(x) + _SLOPE * (1.0 if is_p else _REST) * rng.chisquare(10, size))


def _t2_tail(threshold: Array, is_p: bool) -> Array:
    weight = np.exp(-0.5 * AXIS**2)
    x = AXIS if is_p else _SHIFT + np.sqrt(_VARIANCE) * AXIS
    need = (threshold[:, None] - _t2_axis(x)) / (_SLOPE * (1.0 if is_p else _REST))
    return np.asarray(chdtrc(10, np.maximum(need, 0.0)) @ weight / weight.sum())


def _t2_truth(epsilon: Array) -> tuple[Array, Array]:
    mean, cov = np.zeros(11), np.diag([_VARIANCE] + [_REST] * 10)
    mean[0] = _SHIFT
    return exact.gaussian_pair(np.zeros(11), np.eye(11), mean, cov, epsilon)


def _t3_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return rng.chisquare(30, size) * (1.0 if is_p else 0.8)


def _t3_tail(threshold: Array, is_p: bool) -> Array:
    return np.asarray(chdtrc(30, np.maximum(threshold, 0.0) / (1.0 if is_p else 0.8)))


def _t3_truth(epsilon: Array) -> tuple[Array, Array]:
    return exact.gaussian_pair(np.zeros(30), np.eye(30), np.zeros(30), 0.8 * np.eye(30), epsilon)


def _t4_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    """|x − 1| − |x| without the rounding that would split its atoms at ±1."""
    return np.clip(1.0 - 2.0 * rng.laplace(0.0 if is_p else 1.0, 1.0, size), -1.0, 1.0)


def _t4_tail(threshold: Array, is_p: bool) -> Array:
    reach = 0.5 * (1.0 - threshold)  # the score exceeds τ in [−1, 1) where x is below this
    inner = 1.0 - 0.5 * np.exp(-reach) if is_p else 0.5 * np.exp(reach - 1.0)
    return np.where(threshold < -1.0, 1.0, np.where(threshold >= 1.0, 0.0, inner))


def _t4_truth(epsilon: Array) -> tuple[Array, Array]:
    delta = np.maximum(-np.expm1(0.5 * (epsilon - 1.0)), 0.0)
    return delta, delta


def _shift_truth(epsilon: Array) -> tuple[Array, Array]:
    delta = exact.gaussian_shift(1.0, epsilon)
    return delta, delta


TASKS = (
    Task("T1", _t1_draw, _t1_tail, _shift_truth),
    Task("T2", _t2_draw, _t2_tail, _t2_truth),
    Task("T3", _t3_draw, _t3_tail, _t3_truth),
    Task("T4", _t4_draw, _t4_tail, _t4_truth),
)
