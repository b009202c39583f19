"""Generalised linear models by noisy Newton steps on cut rows: paper 2, algorithms 3, 4 and 5.

A step releases the Hessian and the gradient of the loss at the last iterate, each with Gaussian
noise. Neighbours have one private row replaced, label included. Given the earlier iterates, each
step is a Gaussian shift, but these depend on the data: an exact law is known for one step only.

The noise is part of the algorithm, and a step is taken even if it raises the loss, so that an
ordinary Newton solver cannot be used.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
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
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import printed
from dpaudit.papers.algorithm import Variant, shrunk
from dpaudit.papers.paper_2.truncation import (
    CoefRelease,
    CutRegression,
    Moment,
    PublicAlgorithm,
    PublicRows,
    inverse_root,
    pair_at,
    whitened,
)

BLOCK = 1 << 19  # linear predictors in memory at a time


@value_class(show_numbers=True, eq=True)
class Family:
    """An exponential family with log-partition function b(θ), mean b'(θ) and variance b''(θ).

    moments : the function θ ↦ (b'(θ), b''(θ)). steepest : the θ ≥ 0 at which b'' is largest;
    infinite if b'' increases.
    """

    moments: Callable[[Array], tuple[Array, Array]]
    steepest: float

    def largest(self, reach: float) -> tuple[float, float, float]:
        """The maxima of b', |b'| and b'' over |θ| ≤ reach, for an increasing b'."""
        with np.errstate(over="ignore"):
            ends, curve = self.moments(np.array([-reach, reach, min(reach, self.steepest)]))
        return float(ends[1]), float(np.abs(ends[:2]).max()), float(curve.max())


def _bernoulli(mean: Array, sign: float = 1.0) -> tuple[Array, Array]:
    return sign * mean, mean * (1.0 - mean)


FAMILIES = {
    "poisson": Family(lambda theta: (np.exp(theta),) * 2, math.inf),  # b = exp θ
    "logistic": Family(lambda theta: _bernoulli(expit(theta)), 0.0),  # b = ln(1 + exp θ)
    "linear": Family(lambda theta: (theta, np.ones_like(theta)), 0.0),  # b = θ²/2
    # b = ln(1 + exp(−θ)), labels −1 and 0
    "reflected": Family(lambda theta: _bernoulli(expit(-theta), -1.0), 0.0),
}


@value_class
class Newton:
    """Noisy Newton steps from β = 0 for the loss −Σ(y θ − b(θ))/n + ½βᵀ·penalty·β, θ = xᵀβ.

    rows : the cut rows (x, y), (n, d + 1). steps : the number T of steps. penalty : (d, d).
    sigmas : the deviations of the noise on the Hessian's entries on and above the diagonal, and on
    the gradient's. back : (d, d), maps an iterate to the coefficient in the data's coordinates.
    reach : the norm to which iterates are shrunk after each step; ∞ for no bound.
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
        return self.rows.shape[1] - 1

    def means(self, coef: Array) -> Array:
        """The Hessian's upper triangle and the gradient, without noise, (size, d(d+1)/2 + d).

        coef : the points β, (size, d), at which they are evaluated.
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
        """The law of the first step's noisy Hessian and gradient."""
        mean = self.means(np.zeros((1, self.dim)))[0]
        return GaussianNoise(mean, np.repeat(self.sigmas, [len(mean) - self.dim, self.dim]))

    def path(self, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw iterates from 0, (size, T + 1, d), and the steps' noisy statistics, (size, T, k)."""
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
    """The solutions x of matrix·x = vector, (m, d); NaN for a singular or infinite matrix."""
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
    """An algorithm that takes noisy Newton steps; subclasses define `newton`.

    The noisy Hessians of all steps together are μ-GDP, and so are the noisy gradients.
    """

    unknown = (
        "later steps are taken where the earlier ones, which saw the data, have led; "
        'one step has one with release="statistics"'
    )

    steps: int

    def newton(self, data: Array) -> Newton:
        raise NotImplementedError

    def law(self, data: Array) -> GaussianNoise:
        if self.steps > 1 or self.release != "statistics":
            raise self.no_exact_spectrum()
        return self.newton(data).law

    def prepare(self, data: Array) -> Sampler:
        newton = self.newton(check.matrix("data", data, min_columns=2))
        step, back = max(1, BLOCK // len(newton.rows)), newton.back

        def part(size: int, rng: np.random.Generator) -> Array:
            coef, seen = newton.path(size, rng)
            return seen.reshape(size, -1) if self.release == "statistics" else coef[:, -1] @ back

        return lambda size, rng: np.concatenate(
            [part(min(step, size - start), rng) for start in range(0, size, step)]
        )

    def iterates(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw β after 0, 1, …, T steps in the data's coordinates, (size, steps + 1, d)."""
        newton = self.newton(check.matrix("data", data, min_columns=2))
        return np.asarray(newton.path(size, rng)[0] @ newton.back)


class PublicNewton(NewtonAlgorithm, PublicAlgorithm):
    """Newton steps on private rows that are whitened by a public second moment and cut.

    Subclasses define `sigmas`. They also define `labels`, `family` and `reach`, unless the model is
    logistic regression without a bound on β.
    """

    family: str = "logistic"

    @property
    def labels(self) -> tuple[float, float]:
        """The smallest and the largest label allowed."""
        return 0.0, 1.0

    @property
    def reach(self) -> float:
        """The norm to which iterates are shrunk; ∞ for no bound."""
        return math.inf

    def sigmas(self, dim: int, rows: int) -> tuple[float, float]:
        """The noise deviations for the Hessian and the gradient, for n = `rows` private rows."""
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

    def pair_of(self, cosine: float, labels: tuple[float, float]) -> NeighbourPair:
        """A row at the radius becomes one at the angle arccos(cosine) to it; others are zeros."""
        public, root = self.frame()
        public = np.hstack([public, np.full((len(public), 1), labels[0])])
        dim = len(root)
        reach = printed.algorithm_1_radius(dim, dim + 1, self.eta)
        others = np.vstack([public, np.zeros((dim, dim + 1))])
        return pair_at(others, reach, root, cosine, labels)


@value_class(show_numbers=True, eq=True)
class PMTLR(PublicNewton):
    """DP-PMTLR, algorithm 3: logistic regression by T noisy Newton steps on whitened, cut rows.

    Rows are whitened by a public second moment of the features, (d, d). The printed loop
    "t = 0, …, T" makes T + 1 steps, T = `steps`, but the output β^(T) needs only T. The claim is
    true for both variants and loose: whatever the iterates, T steps together are μ-GDP. Labels are
    0 and 1. The other parameters are those of `CutRegression` and `PublicAlgorithm`. Output:
    (size, d), or (size, T(d(d+1)/2 + d)) for the statistics of all steps.
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
        """A row at the radius, and one nearly at right angles with the other label."""
        return self.pair_of(0.125, (0.0, 1.0))


@value_class(show_numbers=True, eq=True)
class PMTGLM(PublicNewton):
    """DP-PMTGLM, algorithm 4: a generalised linear model by T noisy Newton steps, for ‖β‖ ≤ R_β.

    Rows are whitened and cut as in algorithm 3 (`PMTLR`), ``|y|`` ≤ R_y = `label_bound`, and R_β =
    `coef_bound`. The `family` is "poisson", "logistic", "linear" (b = θ²/2) or "reflected" (minus a
    Bernoulli label, b = ln(1 + exp(−θ))). The bounds of b' and b'' require ‖β‖ ≤ R_β, which is an
    input of the printed algorithm but enforced by none of its lines; and M_{b'} is the largest b',
    not ``|b'|``. So the claim √2·μ fails in two cases (class B of the findings): for Poisson, where
    b' grows, and for "reflected", where b' is negative, with a label of R_y. With labels −1 and 0
    the noise is exactly enough for "reflected". A step that overflows gives NaN. Output: (size, d),
    or (size, T(d(d+1)/2 + d)).
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
        """Opposite rows at the radius with equal labels: 0 for Poisson, R_y for other families.

        The mean of the Poisson family leaves its bounds.
        """
        label = 0.0 if self.family == "poisson" else self.label_bound
        return self.pair_of(-1.0, (label, label))


@value_class(show_numbers=True, eq=True)
class DPLR(NewtonAlgorithm):
    """DP-LR: logistic regression by T noisy Newton steps on rows cut at √(Tr(Σ) + d ln(n/η)).

    Source: algorithm 5 (appendix C.5) and theorem 5.4. Tr(Σ) = `trace` ≥ 0 is a public input,
    T = `steps`, and the other parameters are those of `CutRegression`. For n ≥ 2 the claim is true
    for both variants and loose, since the radius is then above 1/√2, and σ₂ has its square. Labels
    are 0 and 1. Output: (size, d), or (size, T(d(d+1)/2 + d)).
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
        others = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        reach = printed.theorem_4_3_radius(self.trace, 2, 3, self.eta)
        return pair_at(others, reach, np.eye(2), 0.125, (1.0, 0.0))


def _check_labels(rows: Array, low: float, high: float) -> None:
    if rows[:, -1].min() < low or rows[:, -1].max() > high:
        fail("data", Words("a label outside"), f"a label in [{low:g}, {high:g}] in each row")
