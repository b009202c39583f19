"""The estimators that each of paper 4's figures compares, on one database's second moments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit._core.linalg import symmetric_matrix
from dpaudit._core.types import Array
from dpaudit.laws import ShiftedWishart
from dpaudit.papers import (
    AdaptiveInverseWishart,
    AdaptiveJLRidge,
    AdditiveWishartNoise,
    AnalyzeGaussNoise,
    InverseWishartPosterior,
    JLRidge,
)
from dpaudit.papers.paper_4.matrix_release import scatter_draws

Estimates = Mapping[str, Array]
LEAST = 2  # least rows of a sketch, in units of d

JL, RIDGE = "JL, adaptive (algorithm 2)", "JL ridge (algorithm 1)"
WISHART, SHIFTED = "additive Wishart (algorithm 3)", "additive Wishart, shifted"
POSTERIOR, INVERSE = "inverse Wishart (algorithm 4)", "inverse Wishart, adaptive (algorithm 5)"
INVERSE_N = "inverse Wishart, adaptive, at least n + d"
GAUSS, SCALED, RIGHT = (
    "Analyze Gauss",
    "Analyze Gauss, scaled",
    "Analyze Gauss, scaled, noise put right",
)
PLAIN, PLAIN_JL, PLAIN_POSTERIOR = "not private", "JL, not private", "posterior draw, not private"


@dataclass(frozen=True)
class Setting:
    """ε, δ and B, the parameters that all algorithms have."""

    epsilon: float
    delta: float
    row_bound: float

    @property
    def given(self) -> tuple[float, float, float]:
        """(ε, δ, B)."""
        return self.epsilon, self.delta, self.row_bound


@dataclass(frozen=True)
class Moments:
    """The statistics of the data A that the algorithms need: AᵀA, (d, d), and n = `rows`."""

    gram: Array
    rows: int

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.gram)
        return np.maximum(values[::-1], 0.0), np.ascontiguousarray(vectors.T[::-1])


def drawn(algorithm: Any, moments: Moments, rng: np.random.Generator) -> Array:
    """One draw of an algorithm for data with these moments, (1, d(d+1)/2)."""
    values, axes = moments.axes
    match algorithm:
        case AnalyzeGaussNoise():
            mean = moments.gram[np.triu_indices(len(moments.gram))]
            return np.asarray(mean + algorithm.sigma * rng.standard_normal((1, len(mean))))
        case AdditiveWishartNoise():
            root = algorithm.row_bound * np.eye(len(values))
            return ShiftedWishart(moments.gram, root, algorithm.dof(len(values))).sample(1, rng)
        case InverseWishartPosterior():
            dof = moments.rows + len(values)
            spread = (values + algorithm.prior(dof))[None]
            return scatter_draws(spread, axes, np.array([dof]), rng, inverse=True)
        case _:
            return np.asarray(algorithm.by_axes(values, axes, 1, rng))


def figure_1(moments: Moments, setting: Setting, rng: np.random.Generator) -> Estimates:
    """Algorithm 2, and with its number of rows algorithm 1 and a sketch without padding."""
    values, axes = moments.axes
    adaptive = AdaptiveJLRidge(LEAST * len(values), *setting.given)
    padding, rows = adaptive.chosen(float(values[-1]), 1, rng)
    ridge = JLRidge(int(rows[0]), *setting.given)
    spreads = {JL: values + padding[0], RIDGE: values + ridge.padding**2, PLAIN_JL: values}
    return {
        name: _solved(scatter_draws(spread[None], axes, rows, rng))
        for name, spread in spreads.items()
    }


def figure_2(moments: Moments, setting: Setting, rng: np.random.Generator) -> Estimates:
    """Algorithm 3, the same draw shifted, and least squares."""
    noisy = AdditiveWishartNoise(*setting.given)
    draws = drawn(noisy, moments, rng)
    return {PLAIN: _plain(moments), WISHART: _solved(draws), SHIFTED: _solved(noisy.shifted(draws))}


def figure_3(moments: Moments, setting: Setting, rng: np.random.Generator) -> Estimates:
    """Draws from inverse-Wishart posteriors, and algorithm 2."""
    values, axes = moments.axes
    dof = np.array([moments.rows + len(values)])
    plain = scatter_draws(values[None], axes, dof, rng, inverse=True)
    algorithms = {
        POSTERIOR: InverseWishartPosterior(*setting.given),
        INVERSE_N: AdaptiveInverseWishart(int(dof[0]), *setting.given),
        JL: AdaptiveJLRidge(LEAST * len(values), *setting.given),
        INVERSE: AdaptiveInverseWishart(LEAST * len(values), *setting.given),
    }
    return {PLAIN_POSTERIOR: _solved(plain)} | {
        name: _solved(drawn(algorithm, moments, rng)) for name, algorithm in algorithms.items()
    }


def figure_4(moments: Moments, setting: Setting, rng: np.random.Generator) -> Estimates:
    """The six of section 6, and least squares."""
    return {PLAIN: _plain(moments)} | {
        name: _solved(draws) for name, draws in _six(moments, setting, rng).items()
    }


def figure_5(moments: Moments, setting: Setting, rng: np.random.Generator) -> Estimates:
    """The same as figure 4, as matrices (d, d)."""
    dim, six = len(moments.gram), _six(moments, setting, rng)
    return {PLAIN: moments.gram} | {
        name: symmetric_matrix(draws, dim)[0] for name, draws in six.items()
    }


FIGURES: dict[int, Callable[[Moments, Setting, np.random.Generator], Estimates]] = {
    1: figure_1,
    2: figure_2,
    3: figure_3,
    4: figure_4,
    5: figure_5,
}


def _six(moments: Moments, setting: Setting, rng: np.random.Generator) -> dict[str, Array]:
    """One draw of each of section 6's estimators, (1, d(d+1)/2), and of a corrected one.

    Those that post-process another's draw use the same draw.
    """
    least = LEAST * len(moments.gram)
    right = AnalyzeGaussNoise(*setting.given, variant="corrected")
    gauss, noisy = AnalyzeGaussNoise(*setting.given), AdditiveWishartNoise(*setting.given)
    plain, wishart = drawn(gauss, moments, rng), drawn(noisy, moments, rng)
    return {
        GAUSS: plain,
        JL: drawn(AdaptiveJLRidge(least, *setting.given), moments, rng),
        WISHART: wishart,
        SCALED: gauss.lifted(plain),
        INVERSE: drawn(AdaptiveInverseWishart(least, *setting.given), moments, rng),
        SHIFTED: noisy.shifted(wishart),
        RIGHT: right.lifted(drawn(right, moments, rng)),
    }


def _plain(moments: Moments) -> Array:
    """Least squares of the last column on the others."""
    return np.asarray(np.linalg.solve(moments.gram[:-1, :-1], moments.gram[:-1, -1]))


def _solved(draws: Array) -> Array:
    """The coefficient M_XX⁻¹M_Xy of the first matrix M; for M positive definite the (β, −1) at
    which its quadratic form is least.
    """
    (matrix,) = symmetric_matrix(draws[:1], math.isqrt(2 * draws.shape[1]))
    return np.asarray(np.linalg.solve(matrix[:-1, :-1], matrix[:-1, -1]))
