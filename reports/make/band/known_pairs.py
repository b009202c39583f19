"""Pairs whose spectrum is known, each through a score: the true loss, or one that a fit might give.

Scores are true or mis-specified, with ties or without; some laws have sets that are hard on a band.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, stdtr

from dpaudit import exact
from dpaudit._core.types import Array
from reports.make.band.score_laws import T1, T2, T4, ScoreLaw, chi_square_score, normal_score

SHIFT = 0.5  # of T1's score: N(0.5, 1) under P, N(−0.5, 1) under Q


def _mean(is_p: bool) -> float:
    return SHIFT if is_p else -SHIFT


def _folded_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return np.abs(rng.standard_normal(size) + _mean(is_p) - 0.2)


def _folded_tail(threshold: Array, is_p: bool) -> Array:
    mean = _mean(is_p) - 0.2
    return np.where(threshold < 0.0, 1.0, ndtr(mean - threshold) + ndtr(-mean - threshold))


def _rounded_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return np.round(rng.standard_normal(size) + _mean(is_p))


def _rounded_tail(threshold: Array, is_p: bool) -> Array:
    return np.asarray(ndtr(_mean(is_p) - np.floor(threshold) - 0.5))


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


def _sketch_truth(epsilon: Array) -> tuple[Array, Array]:
    return exact.gaussian_sketch(0.5, 3, epsilon)


def _als_truth(epsilon: Array) -> tuple[Array, Array]:
    return exact.als(_H, _T, 1, _ROWS, epsilon)


_COIN = 1.0 / (1.0 + math.e)
PAIRS = (
    ScoreLaw("Gaussian shift, true score", T1.draw, T1.tail, T1.truth),
    ScoreLaw("Gaussian shift, blurred score", *normal_score(SHIFT, np.sqrt(5.0)), T1.truth),
    ScoreLaw("Gaussian shift, folded score", _folded_draw, _folded_tail, T1.truth),
    ScoreLaw("Gaussian shift, rounded score (ties)", _rounded_draw, _rounded_tail, T1.truth),
    ScoreLaw("sketch r = 3, q = 0.5", *chi_square_score(3, 0.5), _sketch_truth),
    ScoreLaw("ALS p = 1, r = 6", _als_draw, _als_tail, _als_truth),
    T2,
    ScoreLaw("Laplace, shift 1 (atoms)", T4.draw, T4.tail, T4.truth),
    _discrete("randomised response, ε = 1", (_COIN, 1.0 - _COIN), (1.0 - _COIN, _COIN)),
    _discrete("infinite loss of mass 0.01", (0.5, 0.49, 0.01), (0.5, 0.5, 0.0)),
    _discrete("rare in Q: 0.02 against 1e-5", (0.98, 0.02), (1.0 - 1e-5, 1e-5)),
    ScoreLaw("null (P = Q)", *normal_score(0.0), _zero),
    _discrete("null (P = Q), three values", (1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3)),
    _discrete("null (P = Q), rare value", (1.0 - 1e-4, 1e-4), (1.0 - 1e-4, 1e-4)),
)
