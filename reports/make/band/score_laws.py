"""Laws of a score under P and under Q in closed form: draws, tails, and the true δ(ε) of the pair.

With the tails at hand the counts above any thresholds can be drawn as multinomials, so that a
million certifying draws cost what a hundred do. SCORE_LAWS are those of the true privacy loss of
the tasks T1 to T4, so that no score is trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtrc, ndtr, stdtr

from dpaudit import exact
from dpaudit._core.types import Array
from reports.make.tasks import REST, SHIFT, SHRUNK, SPREAD, TASKS, Directions, laplace_loss

Draw = Callable[[np.random.Generator, int, bool], Array]
Tail = Callable[[Array, bool], Array]

# of a standard normal coordinate; equal steps are exact to 1e-12 here
AXIS = np.linspace(-9.0, 9.0, 301)


@dataclass(frozen=True)
class ScoreLaw:
    """One number under both laws of a pair.

    draw : (rng, size, is P) → (size,) scores. tail : (τ (k,), is P) → P(score > τ), (k,). truth : ε
    ↦ δ(ε) of the pair in both directions.
    """

    name: str
    draw: Draw
    tail: Tail
    truth: Directions

    def delta(self, epsilon: Array) -> Array:
        """The larger direction."""
        return np.maximum(*self.truth(epsilon))

    def sides(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """Scores of `size` draws of P and of Q."""
        return self.draw(rng, size, True), self.draw(rng, size, False)


@dataclass
class SimulatedCounts:
    """Counts above thresholds of `size` draws a side that are never made.

    They are multinomials over the cells between the thresholds. One call is one sample of draws, so
    all thresholds that belong to one audit must come in one call.
    """

    law: ScoreLaw
    size: int
    rng: np.random.Generator
    sizes: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = self.size, self.size

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q above each threshold, jointly as of one sample."""
        distinct, back = np.unique(threshold, return_inverse=True)
        x, y = (self._counts(self.law.tail(distinct, is_p))[back] for is_p in (True, False))
        return x, y

    def _counts(self, tail: Array) -> np.ndarray:
        tail = np.minimum.accumulate(np.clip(tail, 0.0, 1.0))
        cells = np.append(tail[:-1] - tail[1:], tail[-1])  # what lies between, then above all
        drawn = self.rng.multinomial(self.size, np.append(cells, 1.0 - tail[0]))[:-1]
        return np.cumsum(drawn[::-1])[::-1]


def normal_score(shift: float, deviation: float = 1.0) -> tuple[Draw, Tail]:
    """N(shift, deviation²) under P and N(−shift, deviation²) under Q."""

    def mean(is_p: bool) -> float:
        return shift if is_p else -shift

    def draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
        return mean(is_p) + deviation * rng.standard_normal(size)

    def tail(threshold: Array, is_p: bool) -> Array:
        return np.asarray(ndtr((mean(is_p) - threshold) / deviation))

    return draw, tail


def chi_square_score(dof: int, scale: float) -> tuple[Draw, Tail]:
    """χ² of `dof` degrees of freedom under P, `scale` times that under Q."""

    def draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
        return rng.chisquare(dof, size) * (1.0 if is_p else scale)

    def tail(threshold: Array, is_p: bool) -> Array:
        return np.asarray(chdtrc(dof, np.maximum(threshold, 0.0) / (1.0 if is_p else scale)))

    return draw, tail


_SLOPE = 0.5 * (1.0 / REST - 1.0)


def _t2_axis(x: Array) -> Array:
    """The loss's part of the first coordinate, and the constants."""
    square = 0.5 * ((x - SHIFT) ** 2 / SPREAD - x**2)
    return np.asarray(square + 0.5 * np.log(SPREAD) + 5.0 * np.log(REST))


def _t2_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    """The first coordinate, and the χ² of 10 degrees of freedom of the others."""
    z = rng.standard_normal(size)
    x = z if is_p else SHIFT + np.sqrt(SPREAD) * z
    return np.asarray(_t2_axis(x) + _SLOPE * (1.0 if is_p else REST) * rng.chisquare(10, size))


def _t2_tail(threshold: Array, is_p: bool) -> Array:
    weight = np.exp(-0.5 * AXIS**2)
    x = AXIS if is_p else SHIFT + np.sqrt(SPREAD) * AXIS
    need = (threshold[:, None] - _t2_axis(x)) / (_SLOPE * (1.0 if is_p else REST))
    return np.asarray(chdtrc(10, np.maximum(need, 0.0)) @ weight / weight.sum())


def _t4_tail(threshold: Array, is_p: bool) -> Array:
    reach = 0.5 * (1.0 - threshold)  # the score exceeds τ in [−1, 1) where x is below this
    inner = 1.0 - 0.5 * np.exp(-reach) if is_p else 0.5 * np.exp(reach - 1.0)
    return np.where(threshold < -1.0, 1.0, np.where(threshold >= 1.0, 0.0, inner))


_SCORES = (
    normal_score(0.5),  # ½ less the output
    (_t2_draw, _t2_tail),
    chi_square_score(30, SHRUNK),  # the squared norm, in which the loss increases
    (lambda rng, size, is_p: laplace_loss(rng.laplace(0.0 if is_p else 1.0, 1.0, size)), _t4_tail),
)
T1, T2, T3, T4 = SCORE_LAWS = tuple(
    ScoreLaw(task.name, *score, task.truth) for task, score in zip(TASKS, _SCORES, strict=True)
)


# Pairs of known spectrum through scores that are true or mis-specified, with ties or without; some
# laws have sets that are hard on a band.

MEAN = 0.5  # of T1's score: N(0.5, 1) under P, N(−0.5, 1) under Q


def _mean(is_p: bool) -> float:
    return MEAN if is_p else -MEAN


def _folded_tail(threshold: Array, is_p: bool) -> Array:
    mean = _mean(is_p) - 0.2
    return np.where(threshold < 0.0, 1.0, ndtr(mean - threshold) + ndtr(-mean - threshold))


_H, _T, _ROWS = 0.4, 0.2, 6
_AT, _ROOT = np.sqrt(_H * _T / (1.0 - _H)), np.sqrt((1.0 - _H) / (1.0 - _T))


def _als_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    x = rng.standard_normal(size) / np.sqrt(rng.chisquare(_ROWS, size))
    x = x if is_p else _AT + x / _ROOT
    return np.asarray(np.log1p((_ROOT * (x - _AT)) ** 2) - np.log1p(x**2))


def _als_tail(threshold: Array, is_p: bool) -> Array:
    """The loss exceeds τ where 1 + ρ²(x − s)² > e^τ (1 + x²).

    That is outside or between the roots of a quadratic.
    """
    square, half = _ROOT**2 - np.exp(threshold), _ROOT**2 * _AT
    inside = half**2 - square * (1.0 + half * _AT - np.exp(threshold))
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.sort(
            (half + np.array([[-1.0], [1.0]]) * np.sqrt(np.maximum(inside, 0.0))) / square, axis=0
        )
    x = roots if is_p else (roots - _AT) * _ROOT
    between = np.where(inside > 0.0, np.diff(stdtr(_ROWS, x * np.sqrt(_ROWS)), axis=0)[0], 0.0)
    return np.where(square > 0.0, 1.0 - between, between)


def _discrete(name: str, p: tuple[float, ...], q: tuple[float, ...]) -> ScoreLaw:
    """Outcomes 0, 1, … with these probabilities, each its own score."""
    laws = {True: np.array(p), False: np.array(q)}

    def tail(threshold: Array, is_p: bool) -> Array:
        above = np.append(np.cumsum(laws[is_p][::-1])[::-1], 0.0)
        return np.asarray(above[np.clip(np.floor(threshold) + 1.0, 0, len(above) - 1).astype(int)])

    def truth(epsilon: Array) -> tuple[Array, Array]:
        gamma = np.exp(epsilon)[:, None]
        gains = laws[True] - gamma * laws[False], laws[False] - gamma * laws[True]
        forward, backward = (np.clip(gain, 0.0, None).sum(axis=1) for gain in gains)
        return forward, backward

    return ScoreLaw(
        name,
        lambda rng, size, is_p: rng.choice(len(p), size, p=laws[is_p]).astype(float),
        tail,
        truth,
    )


def _zero(epsilon: Array) -> tuple[Array, Array]:
    return np.zeros_like(epsilon), np.zeros_like(epsilon)


_COIN = 1.0 / (1.0 + math.e)
PAIRS = (
    ScoreLaw("Gaussian shift, true score", T1.draw, T1.tail, T1.truth),
    ScoreLaw("Gaussian shift, blurred score", *normal_score(MEAN, np.sqrt(5.0)), T1.truth),
    ScoreLaw(
        "Gaussian shift, folded score",
        lambda rng, size, is_p: np.abs(rng.standard_normal(size) + _mean(is_p) - 0.2),
        _folded_tail,
        T1.truth,
    ),
    ScoreLaw(
        "Gaussian shift, rounded score (ties)",
        lambda rng, size, is_p: np.round(rng.standard_normal(size) + _mean(is_p)),
        lambda threshold, is_p: np.asarray(ndtr(_mean(is_p) - np.floor(threshold) - 0.5)),
        T1.truth,
    ),
    ScoreLaw(
        "sketch r = 3, q = 0.5",
        *chi_square_score(3, 0.5),
        lambda epsilon: exact.gaussian_sketch(0.5, 3, epsilon),
    ),
    ScoreLaw(
        "ALS p = 1, r = 6",
        _als_draw,
        _als_tail,
        lambda epsilon: exact.als(_H, _T, 1, _ROWS, epsilon),
    ),
    T2,
    ScoreLaw("Laplace, shift 1 (atoms)", T4.draw, T4.tail, T4.truth),
    _discrete("randomised response, ε = 1", (_COIN, 1.0 - _COIN), (1.0 - _COIN, _COIN)),
    _discrete("infinite loss of mass 0.01", (0.5, 0.49, 0.01), (0.5, 0.5, 0.0)),
    _discrete("rare in Q: 0.02 against 1e-5", (0.98, 0.02), (1.0 - 1e-5, 1e-5)),
    ScoreLaw("null (P = Q)", *normal_score(0.0), _zero),
    _discrete("null (P = Q), three values", (1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3)),
    _discrete("null (P = Q), rare value", (1.0 - 1e-4, 1e-4), (1.0 - 1e-4, 1e-4)),
)
