"""Generalised linear models by noisy Newton steps on cut rows: paper 2, algorithms 3, 4 and 5.

A step releases the Hessian and the gradient of the loss at the last iterate, each with Gaussian
noise. Neighbours have one private row replaced, label included. Given the path each step is a
Gaussian shift, but the path depends on the data: only one step has an exact law.

The noise is part of the algorithm, and a step is taken even where it raises the loss: no plain
Newton solver can replace it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import expit

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.linalg import symmetric_matrix
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws import GaussianNoise
from dpaudit.mechanisms.base import Sampler
from dpaudit.mechanisms.parameters import BelowOne, Count, NonNegative, Positive, one_of
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers import printed
from dpaudit.papers.algorithm import Variant, shrunk
from dpaudit.papers.paper_2.truncation import (
    CoefRelease,
    CutRegression,
    Moment,
    PublicAlgorithm,
    PublicRows,
    apart,
    inverse_root,
    whitened,
)

BLOCK = 1 << 19  # linear predictors held at a time


@dataclass(frozen=True)
class Family:
    """An exponential family by b' and b'', its mean and variance in the canonical parameter θ.

    moments : θ ↦ (b'(θ), b''(θ)). steepest : θ ≥ 0 with the largest b'', infinite where b'' grows.
    """

    moments: Callable[[Array], tuple[Array, Array]]
    steepest: float

    def largest(self, reach: float) -> tuple[float, float, float]:
        """max b', max |b'| and max b'' over |θ| ≤ reach; b' increases."""
        ends, curve = self.moments(np.array([-reach, reach, min(reach, self.steepest)]))
        return float(ends[1]), float(np.abs(ends[:2]).max()), float(curve.max())


def _logistic(theta: Array) -> tuple[Array, Array]:
    mean = expit(theta)
    return mean, mean * (1.0 - mean)


def _poisson(theta: Array) -> tuple[Array, Array]:
    with np.errstate(over="ignore"):
        mean = np.exp(theta)
    return mean, mean


def _reflected(theta: Array) -> tuple[Array, Array]:
    mean = expit(-theta)
    return -mean, mean * (1.0 - mean)


FAMILIES = {
    "poisson": Family(_poisson, math.inf),  # b = exp θ
    "logistic": Family(_logistic, 0.0),  # b = ln(1 + exp θ)
    "linear": Family(lambda theta: (theta, np.ones_like(theta)), 0.0),  # b = θ²/2
    "reflected": Family(_reflected, 0.0),  # b = ln(1 + exp(−θ)), labels −1 and 0
}


@value_class
class Newton:
    """Noisy Newton steps from 0 for −Σ(y θ − b(θ))/n + ½βᵀ·penalty·β.

    rows : (n, d + 1) as they are cut, label last. steps : T. penalty : (d, d).
    sigmas : deviations of the Hessian's entries on and above the diagonal, and the gradient's.
    back : (d, d), from an iterate to the coefficient in the data's own coordinates.
    reach : iterates are shrunk to this norm after each step (∞: left alone).
    A Hessian that is singular or overflows makes an iterate NaN.
    """

    rows: Array
    family: Family
    sigmas: tuple[float, float]
    steps: int
    penalty: Array
    back: Array
    reach: float = math.inf

    @property
    def dim(self) -> int:
        """The number d of features."""
        return self.rows.shape[1] - 1

    def means(self, coef: Array) -> Array:
        """Triangle of the Hessian and gradient without noise, (size, d(d+1)/2 + d).

        coef : (size, d), the points at which they are taken.
        """
        features, label = self.rows[:, :-1], self.rows[:, -1]
        row, column = np.triu_indices(self.dim)
        products = features[:, row] * features[:, column]
        out = np.empty((len(coef), len(row) + self.dim))
        count = max(1, BLOCK // len(label))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(coef), count):
                part = slice(start, start + count)
                slope, curve = self.family.moments(coef[part] @ features.T)
                out[part, : len(row)] = curve @ products
                out[part, len(row) :] = slope @ features
            out[:, len(row) :] -= label @ features
            out /= len(label)
            out[:, : len(row)] += self.penalty[row, column]
            out[:, len(row) :] += coef @ self.penalty
        return out

    @property
    def law(self) -> GaussianNoise:
        """The law of the first step's statistics."""
        mean = self.means(np.zeros((1, self.dim)))[0]
        return GaussianNoise(mean, np.repeat(self.sigmas, [len(mean) - self.dim, self.dim]))

    def path(self, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Iterates from 0, (size, T + 1, d), and each step's noisy statistics, (size, T, k)."""
        first = self.law
        coef = np.zeros((size, self.steps + 1, self.dim))
        seen = np.empty((size, self.steps, first.dim))
        for t in range(self.steps):
            mean = first.mean if t == 0 else self.means(coef[:, t])
            seen[:, t] = mean + first.deviation * rng.standard_normal((size, first.dim))
            hessian = symmetric_matrix(seen[:, t, : -self.dim], self.dim)
            coef[:, t + 1] = coef[:, t] - _solved(hessian, seen[:, t, -self.dim :])
            if math.isfinite(self.reach):
                with np.errstate(invalid="ignore"):
                    coef[:, t + 1] = shrunk(coef[:, t + 1], self.reach)
        return coef, seen


def _solved(matrices: Array, vectors: Array) -> Array:
    """x of matrix·x = vector for each pair, (m, d); NaN for a singular or infinite matrix."""
    fine = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(vectors).all(axis=1)
    out = np.full_like(vectors, np.nan)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            out[fine] = np.linalg.solve(matrices[fine], vectors[fine, :, None])[:, :, 0]
        except np.linalg.LinAlgError:  # at least one matrix is singular: solve each by itself
            for i in np.flatnonzero(fine):
                with contextlib.suppress(np.linalg.LinAlgError):
                    out[i] = np.linalg.solve(matrices[i], vectors[i])
    return out


class NewtonAlgorithm(CutRegression):
    """An algorithm of noisy Newton steps: subclasses give `newton`.

    The Hessians have μ together, and so have the gradients.
    """

    unknown = (
        "later steps are taken where the earlier ones, which saw the data, have led; "
        'one step has one with release="statistics"'
    )

    steps: int

    def newton(self, data: Array) -> Newton:
        """The steps on these data."""
        raise NotImplementedError

    def law(self, data: Array) -> GaussianNoise:
        """The law of the statistics of one step. Raises `NoExactSpectrum` for anything else."""
        if self.steps > 1 or self.release != "statistics":
            raise self.no_exact_spectrum()
        return self.newton(data).law

    def prepare(self, data: Array) -> Sampler:
        newton = self.newton(check.matrix("data", data, min_columns=2))
        step = max(1, BLOCK // len(newton.rows))

        def sample(size: int, rng: np.random.Generator) -> Array:
            parts = []
            for start in range(0, size, step):
                coef, seen = newton.path(min(step, size - start), rng)
                released = self.release == "statistics"
                parts.append(seen.reshape(len(seen), -1) if released else coef[:, -1] @ newton.back)
            return np.concatenate(parts)

        return sample

    def iterates(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """β after 0, 1, …, T steps in the data's own coordinates, (size, steps + 1, d)."""
        newton = self.newton(check.matrix("data", data, min_columns=2))
        return np.asarray(newton.path(size, rng)[0] @ newton.back)


class PublicNewton(NewtonAlgorithm, PublicAlgorithm):
    """Newton steps on private rows that are whitened by a public second moment and cut.

    Subclasses give `sigmas`, and `labels`, `family` and `reach` where they are not those of
    logistic regression without a bound on β.
    """

    family: str = "logistic"

    @property
    def labels(self) -> tuple[float, float]:
        """The least and the largest label."""
        return 0.0, 1.0

    @property
    def reach(self) -> float:
        """The norm to which iterates are shrunk."""
        return math.inf

    def sigmas(self, dim: int, rows: int) -> tuple[float, float]:
        """The noise of the Hessian and of the gradient, for n = `rows` private rows."""
        raise NotImplementedError

    def newton(self, data: Array) -> Newton:
        moment, private = self.parts(data)
        root = inverse_root(moment[:-1, :-1] if self.public_moment is None else moment)
        features = whitened(private[:, :-1], root, len(private), self.eta)
        _check_labels(private, *self.labels)
        return Newton(
            np.hstack([features, private[:, -1:]]),
            FAMILIES[self.family],
            self.sigmas(len(root), len(private)),
            self.steps,
            self.ridge * root @ root,
            root,
            self.reach,
        )

    def pair_at(self, cosine: float, labels: tuple[float, float]) -> NeighbourPair:
        """A row at the radius, replaced by one at that cosine to it; the other rows are zeros.

        labels : those of the two rows.
        """
        public, root = self.frame()
        public = np.hstack([public, np.full((len(public), 1), labels[0])])
        dim = len(root)
        reach = printed.algorithm_1_radius(dim, dim + 1, self.eta)
        pairs = zip(apart(cosine, dim), labels, strict=True)
        u, v = (np.append(reach * unit @ root, label) for unit, label in pairs)
        return replace_row(np.vstack([public, np.zeros((dim, dim + 1)), u]), len(public) + dim, v)


@dataclass(frozen=True)
class PMTLR(PublicNewton):
    """DP-PMTLR, algorithm 3: logistic regression by T noisy Newton steps on whitened, cut rows.

    Rows are whitened by a public second moment of the features, (d, d). The loop "t = 0, …, T"
    makes T + 1 steps, T = `steps`, but the output β^(T) needs only T. The claim holds of both
    variants and is loose: whatever the path, T steps together are at most μ-GDP. Labels are 0 and
    1. The other parameters are those of `CutRegression` and `PublicAlgorithm`. Output: (size, d),
    or (size, T(d(d+1)/2 + d)) for the statistics of all steps.
    """

    mu: Positive
    steps: Count = 5
    eta: BelowOne = 0.05
    ridge: NonNegative = 0.0
    public_rows: PublicRows = 0
    public_moment: Moment | None = None
    variant: Variant = "printed"
    release: CoefRelease = "coef"
    summary = (
        "logistic regression by noisy Newton steps on whitened, cut rows (paper 2, algorithm 3)"
    )
    statement = "algorithm 3 (DP-PMTLR)"
    correction = (
        "σ₂ has √(d(1 + ln(2n/η))), as in the proof, where the algorithm has d(1 + ln(2n/η))"
    )

    def sigmas(self, dim: int, rows: int) -> tuple[float, float]:
        first, second = printed.algorithm_3_sigmas(dim, rows, self.eta, self.mu, self.steps)
        if self.variant == "corrected":
            second /= printed.algorithm_1_radius(dim, rows, self.eta)
        return first, second

    def pair(self) -> NeighbourPair:
        """A row at the radius, replaced by one nearly at right angles with another label.

        No other pair differs by more after one step.
        """
        return self.pair_at(0.125, (0.0, 1.0))


@dataclass(frozen=True)
class PMTGLM(PublicNewton):
    """DP-PMTGLM, algorithm 4: a generalised linear model by T noisy Newton steps, for ‖β‖ ≤ R_β.

    Rows are whitened and cut as in algorithm 3 (`PMTLR`), ``|y|`` ≤ R_y = `label_bound`, and R_β =
    `coef_bound`. The `family` is "poisson", "logistic", "linear" (b = θ²/2) or "reflected" (minus a
    Bernoulli label, b = ln(1 + exp(−θ))). The bounds of b' and b'' need ‖β‖ ≤ R_β, which is among
    the input but enforced by no line of the box; and M_{b'} is the largest b', not ``|b'|``. So
    √2·μ fails in two corners (class B of the findings): where b' grows (Poisson), and where it is
    negative (reflected) with a label of R_y. Labels −1 and 0 get exactly enough noise there. A step
    that overflows gives NaN. Output: (size, d), or (size, T(d(d+1)/2 + d)).
    """

    mu: Positive
    label_bound: Positive
    coef_bound: Positive
    steps: Count = 5
    eta: BelowOne = 0.05
    ridge: NonNegative = 0.0
    family: Annotated[str, one_of(*FAMILIES)] = "poisson"
    public_rows: PublicRows = 0
    public_moment: Moment | None = None
    variant: Variant = "printed"
    release: CoefRelease = "coef"
    summary = (
        "generalised linear model by noisy Newton steps on whitened, cut rows "
        "(paper 2, algorithm 4)"
    )
    statement = "algorithm 4 (DP-PMTGLM)"
    correction = "β is shrunk to norm R_β after each step, and M_{b'} is the largest |b'|"

    @property
    def labels(self) -> tuple[float, float]:
        return -self.label_bound, self.label_bound

    @property
    def reach(self) -> float:
        return self.coef_bound if self.variant == "corrected" else math.inf

    def sigmas(self, dim: int, rows: int) -> tuple[float, float]:
        span = self.coef_bound * printed.algorithm_1_radius(dim, rows, self.eta)
        slope, size, curvature = FAMILIES[self.family].largest(span)
        if not math.isfinite(curvature):
            fail("coef_bound", self.coef_bound, "small enough that b'' is finite up to R_β·R")
        slope = size if self.variant == "corrected" else slope
        budget = self.eta, self.mu, self.steps
        return printed.algorithm_4_sigmas(dim, rows, *budget, self.label_bound, slope, curvature)

    def pair(self) -> NeighbourPair:
        """Opposite rows at the radius with the same label: 0 for counts, R_y for other families.

        The mean of counts leaves its bounds.
        """
        label = 0.0 if self.family == "poisson" else self.label_bound
        return self.pair_at(-1.0, (label, label))


@dataclass(frozen=True)
class DPLR(NewtonAlgorithm):
    """DP-LR: logistic regression by T noisy Newton steps on rows cut at √(Tr(Σ) + d ln(n/η)).

    Algorithm 5 (appendix C.5) with theorem 5.4. Tr(Σ) = `trace` ≥ 0 is a public input, T = `steps`,
    and the other parameters are those of `CutRegression`. For n ≥ 2 the claim holds of both
    variants and is loose: the radius is above 1/√2 then, and σ₂ has its square. Labels are 0 and 1.
    Output: (size, d), or (size, T(d(d+1)/2 + d)).
    """

    mu: Positive
    trace: NonNegative
    steps: Count = 5
    eta: BelowOne = 0.05
    ridge: NonNegative = 0.0
    variant: Variant = "printed"
    release: CoefRelease = "coef"
    summary = "logistic regression by noisy Newton steps on cut rows (paper 2, algorithm 5)"
    statement = "algorithm 5 (DP-LR)"
    correction = "σ₂ has the radius where the algorithm has its square"

    def newton(self, data: Array) -> Newton:
        n, dim = len(data), data.shape[1] - 1
        reach = printed.theorem_4_3_radius(self.trace, dim, n, self.eta)
        budget = self.eta, self.mu, self.steps
        first, second = printed.algorithm_5_sigmas(self.trace, dim, n, *budget)
        if self.variant == "corrected":
            second /= reach
        _check_labels(data, 0.0, 1.0)
        rows, unit = np.hstack([shrunk(data[:, :-1], reach), data[:, -1:]]), np.eye(dim)
        penalty = self.ridge * unit
        return Newton(rows, FAMILIES["logistic"], (first, second), self.steps, penalty, unit)

    def pair(self) -> NeighbourPair:
        """A row at the radius, replaced by one nearly at right angles with another label."""
        others = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        reach = printed.theorem_4_3_radius(self.trace, 2, 3, self.eta)
        u, v = apart(0.125, 2)
        others[2, :2] = reach * u
        return replace_row(others, 2, np.append(reach * v, 0.0))


def _check_labels(rows: Array, low: float, high: float) -> None:
    """Raises `InvalidInput` for a label, the last column, outside [low, high]."""
    label = rows[:, -1]
    if label.min() < low or label.max() > high:
        fail("data", Words("a label outside"), f"a label in [{low:g}, {high:g}] in each row")
