"""Gaussian mixing and regressions on it: paper 3, algorithms 1, 2, 4 and 5, and section 5.2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated

import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import brentq

from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import epsilon_at
from dpaudit.curves.spectrum import Curve
from dpaudit.exact import Atoms, BranchCurve, FirstRelease, adaptive_curve, gaussian_shift
from dpaudit.laws import StudentT, ZeroedRows
from dpaudit.laws.vectors import laplace_log_cdf
from dpaudit.mechanisms.least_squares import RPLS
from dpaudit.mechanisms.parameters import BelowOne, Count, NonNegative, Positive, Release, between
from dpaudit.mechanisms.scatter import RandomProjection
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import printed
from dpaudit.papers.algorithm import (
    JointSpectrumAlgorithm,
    KnownAddedRow,
    KnownAlgorithm,
    KnownReplacedRows,
    Sampling,
    Variant,
    check_signs,
    smallest_eigenvalue,
    zeroed_index,
)
from dpaudit.papers.paper_3.sketches import (
    NoisySketch,
    SolvedRow,
    axis_pair,
    labelled_pair,
    released_row,
)


@dataclass(frozen=True)
class CalibratedGaussMix(KnownReplacedRows, KnownAddedRow):
    """GaussMix: SD + σξ with the least σ that lemma 1 and proposition 1 allow (paper 3, section 4).

    σ² = C²γ(k, ε, δ) − λ̄ for k = `rows` mixtures and rows of norm at most C = `row_bound`.
    `scale_bound` is λ̄ ≥ 0, a promise that λ_min(DᵀD) ≥ λ̄, which is not checked; 0 promises
    nothing. Output: (size, d(d+1)/2), the upper triangle of the sketch's Gram matrix, for
    release="gram"; or (size, k·d) for "sketch".
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    scale_bound: NonNegative = 0.0
    release: Release = "gram"
    sampler: Sampling = "sufficient"
    paper = 3
    statement = "GaussMix, lemma 1"
    summary = "Gaussian mixing with noise by its Rényi curve (paper 3, lemma 1)"

    @property
    def sigma(self) -> float:
        """The standard deviation σ ≥ 0 of the noise."""
        gamma = printed.gaussmix_gamma(self.rows, self.epsilon, self.delta)
        return math.sqrt(max(self.row_bound**2 * gamma - self.scale_bound, 0.0))

    def known(self, data: Array) -> RandomProjection:
        self.bounded(data)
        return RandomProjection(self.rows, self.release, self.sigma)

    def literal(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        sigma = self.sigma
        sketch = NoisySketch(data, self.rows, lambda count, _: np.full(count, sigma))
        return sketch.released(self.release, self.sampler, size, rng)

    def pair(self) -> NeighbourPair:
        """λ_min(DᵀD) = max(C², λ̄), and the zeroed row lies on the axis of λ_min."""
        return axis_pair(self.row_bound, max(1.0, self.scale_bound / self.row_bound**2))


@dataclass(frozen=True)
class ModifiedGaussMix(JointSpectrumAlgorithm):
    """SD + wξ, w² being γC² less a private lower bound of λ_min(DᵀD) (paper 3, algorithm 1).

    The sketch has k = `rows` rows, γ = `gamma` > 5/2 is the least λ_min/C² aimed at, and `eta` is η
    > 0, the noise on λ_min in units of C²; None stands for γ/√k. τ = √(2 ln(3/δ)) as in theorem 1.
    With variant="corrected" line 6 is in units of C² (class A of the findings), line 3 has √γ·C for
    γ·C (where too much is added), and the claim holds at small η too (class B). Output: (size,
    d(d+1)/2), the upper triangle of the sketch's Gram matrix, for release="gram"; or (size, k·d)
    for "sketch". λ̃ itself is not part of it.
    """

    rows: Count
    gamma: Annotated[float, between(2.5, math.inf)]
    delta: BelowOne
    eta: Positive | None = None
    row_bound: Positive = 1.0
    release: Release = "gram"
    variant: Variant = "printed"
    sampler: Sampling = "sufficient"
    paper = 3
    statement = "algorithm 1, ModifiedGaussMix"
    claimed = "(ε̃(η, γ, k, δ), δ)-DP"
    summary = "Gaussian mixing that adds less noise where λ_min is large (paper 3, algorithm 1)"
    unknown = (
        "its noise depends on a private λ_min that is not released (`joint_spectrum` bounds it)"
    )
    correction = (
        "λ̃/C² for λ̃ in line 6, √γ·C for γ·C in line 3; "
        "in theorem 1 the exact ε of λ̃ where √(2 ln(3.75/δ))/η is less"
    )

    @property
    def tau(self) -> float:
        """τ = √(2 ln(3/δ)), in units of the noise on λ_min."""
        return math.sqrt(2.0 * math.log(3.0 / self.delta))

    @property
    def spread(self) -> float:
        """η as it is passed, or else γ/√k."""
        return self.gamma / math.sqrt(self.rows) if self.eta is None else self.eta

    @property
    def claim(self) -> Claim:
        """Theorem 1; the corrected variant adds the `shortfall` of its first term to ε."""
        epsilon = printed.theorem_1_epsilon(self.rows, self.gamma, self.delta, self.spread)
        return Claim(epsilon + (self.shortfall if self.variant == "corrected" else 0.0), self.delta)

    @property
    def shortfall(self) -> float:
        """How far the textbook √(2 ln(3.75/δ))/η is below the exact ε of λ̃ at δ/3, nats.

        It is 0 where the textbook's is not below, as for every η above about ½.
        """
        mu, share = 1.0 / self.spread, self.delta / 3.0
        textbook = math.sqrt(2.0 * math.log(3.75 / self.delta)) / self.spread
        if gaussian_shift(mu, textbook) <= share:
            return 0.0
        return float(epsilon_at(lambda epsilon: gaussian_shift(mu, epsilon), share)) - textbook

    @property
    def reads_eigenvalue(self) -> bool:
        """Whether line 4's branch runs; public, since γ and τ are."""
        return self.gamma > self.tau

    @property
    def fixed_noise(self) -> float:
        """w of line 3, where λ_min is not read."""
        return self.row_bound * (math.sqrt(self.gamma) if self._is_corrected else self.gamma)

    def noise_at(self, estimate: ArrayLike) -> Array:
        """w for λ_min − ηC²(τ − z), (m,), which is not yet clipped at 0 (lines 5 and 6)."""
        lower = np.maximum(estimate, 0.0) / (self.row_bound**2 if self._is_corrected else 1.0)
        return np.asarray(self.row_bound * np.sqrt(np.maximum(self.gamma - lower, 0.0)))

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """w of each draw, (size,), for data with λ_min = `eigenvalue`."""
        if not self.reads_eigenvalue:
            return np.full(size, self.fixed_noise)
        z = rng.standard_normal(size)
        return self.noise_at(eigenvalue - self.spread * self.row_bound**2 * (self.tau - z))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        eigenvalue = smallest_eigenvalue(self.bounded(data))
        sketch = NoisySketch(data, self.rows, lambda count, rng: self.noise(eigenvalue, count, rng))
        return sketch.released(self.release, self.sampler, size, rng)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        """The curve of λ̃ and the sketch together, for a zeroed row."""
        loss = released_row(pair.left, zeroed_index(pair), self.rows)
        return self.curve_beside(pair, loss)

    def curve_beside(
        self, pair: NeighbourPair, curve_at: Callable[[float], Curve]
    ) -> tuple[Curve, str]:
        """The curve of λ̃ and a release that has the curve `curve_at(w)` at noise w, and its law."""
        left, right = (smallest_eigenvalue(self.bounded(side)) for side in (pair.left, pair.right))
        if not self.reads_eigenvalue:
            return curve_at(self.fixed_noise), "fixed noise"
        square = self.row_bound**2
        shift = self.spread * square * self.tau
        first = FirstRelease.gaussian(left - shift, right - shift, self.spread * square)
        at_noise = cache(curve_at)

        def curve(estimate: float) -> Curve:
            return at_noise(float(self.noise_at(estimate)))

        highest = self.gamma * (square if self._is_corrected else 1.0)
        return adaptive_curve(first, curve, breaks=(0.0, highest)), "λ̃ and a sketch with noise by λ̃"

    @property
    def worst_eigenvalue(self) -> float:
        """λ_min/C² of `pair`: 1, or where the printed line 6 almost never adds noise.

        At 1 the noise alone protects the row. `free` is the λ_min/C² at which the printed line 6
        adds noise in one of 30,000 draws; it is taken where it is less than 1 + γ.
        """
        free = self.gamma / self.row_bound**2 + self.spread * (self.tau + 4.0) + 1.0
        bare = not self._is_corrected and self.reads_eigenvalue and free < 1.0 + self.gamma
        return free if bare else 1.0

    def pair(self) -> NeighbourPair:
        """The row on the axis of λ_min is zeroed."""
        return axis_pair(self.row_bound, self.worst_eigenvalue)

    @property
    def _is_corrected(self) -> bool:
        return self.variant == "corrected"


@dataclass(frozen=True)
class SketchedRegression(JointSpectrumAlgorithm):
    """Least squares on a sketch SD + wξ whose noise w depends on a private λ_min(DᵀD).

    D = [X, Y], so the rows of D are at most C = √(C_X² + C_Y²) long, where C_X = `row_bound` and
    C_Y = `label_bound`. The sketch has k = `rows` ≥ p rows. Given w the solution is Student t, from
    which the "sufficient" sampler draws. Subclasses give `noise`. Output: (size, p).
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    label_bound: Positive = 1.0
    variant: Variant = "printed"
    sampler: Sampling = "sufficient"
    regression = True
    paper = 3

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """w of each draw, (size,), for data [X, Y] with λ_min = `eigenvalue`."""
        raise NotImplementedError

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        eigenvalue = smallest_eigenvalue(self.bounded(data))
        sketch = NoisySketch(data, self.rows, lambda count, rng: self.noise(eigenvalue, count, rng))
        return sketch.solution(self.sampler, size, rng)


class LinearMixing(SketchedRegression, KnownAlgorithm):
    """θ = (X̃ᵀX̃)⁻¹X̃ᵀỸ of [X̃, Ỹ] = ModifiedGaussMix([X, Y]) (paper 3, algorithm 2).

    γ > 5/2 is the smallest with ε̃(γ/√k, γ, k, δ) ≤ ε. The parameters are those of
    `SketchedRegression`, and the variant is that of algorithm 1, `ModifiedGaussMix`. Output: (size,
    p).
    """

    statement = "algorithm 2, LinearMixing"
    summary = "least squares on a noisy Gaussian sketch (paper 3, algorithm 2)"
    unknown = (
        "its noise depends on a private λ_min that is not released, unless γ ≤ τ "
        "(`joint_spectrum` bounds it)"
    )
    correction = ModifiedGaussMix.correction

    @property
    def mixing(self) -> ModifiedGaussMix:
        """Algorithm 1, with the parameters with which line 3 calls it."""
        gamma = _gamma(self.rows, self.epsilon, self.delta, self.variant)
        bound = math.hypot(self.row_bound, self.label_bound)
        return ModifiedGaussMix(self.rows, gamma, self.delta, row_bound=bound, variant=self.variant)

    def known(self, data: Array) -> RPLS:
        """RP LS, where λ_min is not read. Raises `NoExactSpectrum` elsewhere."""
        self.bounded(data)
        mixing = self.mixing
        if mixing.reads_eigenvalue:
            raise self.no_exact_spectrum()
        return RPLS(self.rows, padding=mixing.fixed_noise)

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        return self.mixing.noise(eigenvalue, size, rng)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        for side in (pair.left, pair.right):
            self.bounded(side)
        row = SolvedRow.of(pair.left, zeroed_index(pair), self.rows)
        return self.mixing.curve_beside(pair, row.curve)

    def pair(self) -> NeighbourPair:
        """Algorithm 1's pair, rotated so that the row (C_X, C_Y) is zeroed."""
        return labelled_pair(self.row_bound, self.label_bound, self.mixing.worst_eigenvalue)


@lru_cache(maxsize=256)
def _gamma(rows: int, epsilon: float, delta: float, variant: str) -> float:
    """γ of line 2; corrected, at least the γ for which the corrected theorem 1 gives ε."""

    def excess(gamma: float) -> float:
        claimed = ModifiedGaussMix(rows, gamma, delta, variant="corrected").claim.epsilon
        assert claimed is not None
        return claimed - epsilon

    gamma = printed.linear_mixing_gamma(rows, epsilon, delta)
    if variant == "printed" or ModifiedGaussMix(rows, gamma, delta).shortfall == 0.0:
        return gamma
    if excess(gamma) <= 0.0:
        return gamma
    return float(brentq(excess, gamma, gamma * 1e3, xtol=1e-9))


@dataclass(frozen=True)
class LogisticMixing(JointSpectrumAlgorithm):
    """Logistic regression: −b₁/(2b₂) times LinearMixing's θ with the labels ±1 (appendix G).

    ln σ(s) ≈ b₀ + b₁s + b₂s² on [−Q, Q], Q = `radius`, fitted with Chebyshev's weight. The scaling
    follows the sketch, as in appendix G, so the label bound is C_Y = 1. The other parameters are
    those of `LinearMixing`. Output: (size, p).
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    radius: Positive = 4.0
    variant: Variant = "printed"
    sampler: Sampling = "sufficient"
    regression = True
    paper = 3
    statement = "section 5.2, appendix G"
    summary = "logistic regression by a quadratic loss on a noisy sketch (paper 3, section 5.2)"
    unknown = LinearMixing.unknown
    correction = LinearMixing.correction

    @property
    def linear(self) -> LinearMixing:
        """Algorithm 2, whose solution is then scaled."""
        return LinearMixing(
            self.rows, self.epsilon, self.delta, self.row_bound, 1.0, self.variant, self.sampler
        )

    @property
    def scale(self) -> float:
        """−b₁/(2b₂)."""
        _, slope, bend = surrogate(self.radius)
        return -0.5 * slope / bend

    def law(self, data: Array) -> StudentT:
        """LinearMixing's law, scaled. Raises `NoExactSpectrum` where LinearMixing does."""
        law = self.linear.known(check_signs(data)).law(data)
        return StudentT(self.scale * law.mean, law.root / self.scale, law.dof)

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        return self.linear.zeroed_rows(check_signs(data))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.scale * self.linear.run(check_signs(data), size, rng)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        return self.linear.joint_curve(pair)

    def pair(self) -> NeighbourPair:
        """Rows with small features, half of each label, which make λ_min; (C_X, 1) is zeroed."""
        eigenvalue = self.linear.mixing.worst_eigenvalue
        square = 1.0 + self.row_bound**2
        count = int(np.ceil(max(eigenvalue * square, 2.0) / 2.0)) * 2
        feature = min(np.sqrt(eigenvalue * square / count), self.row_bound)
        label = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
        rows = np.column_stack([np.full(count, feature), label])
        return NeighbourPair(
            np.vstack([[self.row_bound, 1.0], rows]), np.vstack([[0.0, 0.0], rows]), "zero-out", 0
        )


def surrogate(radius: float) -> tuple[float, float, float]:
    """(b₀, b₁, b₂), the parabola nearest to −ln(1 + e^{−s}) on [−Q, Q], Q = `radius`.

    It is nearest in least squares with Chebyshev's weight; b₁ = ½ and b₂ < 0.
    """
    nodes = radius * np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    fit = chebyshev.chebfit(nodes / radius, -np.logaddexp(0.0, -nodes), 2)
    value, slope, bend = chebyshev.cheb2poly(fit)
    return float(value), float(slope / radius), float(bend / radius**2)


class SheffetAlgorithm(SketchedRegression):
    """What algorithms 4 and 5 share; C² = C_X² + C_Y². Subclasses give γ, in the units of λ_min."""

    unknown = "a mixture of two Student t laws (`joint_spectrum` has it with the branch known)"

    @property
    def gamma(self) -> float:
        """The least λ_min at which no noise is added, as line 3 sets it."""
        raise NotImplementedError

    @property
    def square_bound(self) -> float:
        """C_X² + C_Y²."""
        return self.row_bound**2 + self.label_bound**2

    @property
    def sigma(self) -> float:
        """w where noise is added: γ as printed, √γ as corrected."""
        return math.sqrt(self.gamma) if self.variant == "corrected" else self.gamma

    def margin(self, eigenvalue: float) -> float:
        """λ_min less the threshold of line 5 at z = 0, in units of the Laplace scale 4C²/ε."""
        scale = 4.0 * self.square_bound / self.epsilon
        return (eigenvalue - self.gamma) / scale - math.log(1.0 / self.delta)

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """w of each draw, (size,): 0 or `sigma`."""
        return np.where(rng.laplace(size=size) < self.margin(eigenvalue), 0.0, self.sigma)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        """The curve of the branch taken and the solution together, for a zeroed row."""
        row = SolvedRow.of(pair.left, zeroed_index(pair), self.rows)
        sides = (self.bounded(side) for side in (pair.left, pair.right))
        margins = np.array([self.margin(smallest_eigenvalue(side)) for side in sides])
        left, right = np.array([laplace_log_cdf(margins), laplace_log_cdf(-margins)]).T
        curves = row.curve(0.0), row.curve(self.sigma)
        return BranchCurve(Atoms(left, right), curves), "the branch and Student t (finite rows)"

    def pair(self) -> NeighbourPair:
        """DᵀD = C²·I, a little more on the second axis; only the noise hides the row (C_X, C_Y)."""
        return labelled_pair(self.row_bound, self.label_bound, 1.0)


class SheffetOLS(SheffetAlgorithm):
    """Algorithm 4 (Sheffet 2017): θ from SD where λ_min > γ + z + 4C²ln(1/δ)/ε, else from SD + γξ.

    γ = 4C²(√(2k ln(8/δ)) + 2 ln(8/δ))/ε and z ~ Lap(4C²/ε). The parameters are those of
    `SketchedRegression`. With variant="corrected" √γ·ξ stands for γ·ξ (γ is a variance; where it is
    below 1, for short rows, the printed noise is too little: class B of the findings), and γ is at
    least algorithm 5's, which differs only for ε far above 10. Output: (size, p); the branch is not
    part of it.
    """

    statement = "algorithm 4, Sheffet's algorithm"
    summary = (
        "least squares on a sketch, noisy if λ_min is small (paper 3, algorithm 4; Sheffet 2017)"
    )
    correction = "√γ·ξ for γ·ξ in line 9; γ no less than algorithm 5's"

    @property
    def gamma(self) -> float:
        """C² times the printed γ; the corrected variant has no less than algorithm 5."""
        gamma = printed.sheffet_2017_gamma(self.rows, self.epsilon, self.delta)
        if self.variant == "corrected":
            gamma = max(gamma, printed.sheffet_renyi_gamma(self.rows, self.epsilon, self.delta))
        return self.square_bound * gamma


class SheffetRenyiOLS(SheffetAlgorithm):
    """Algorithm 4 with γ by lemma 1 and proposition 1 at (ε/2, δ) (paper 3, algorithm 5).

    The parameters are those of `SketchedRegression`. With variant="corrected" γ is in units of C²
    (line 3 prints none: class A of the findings), and √γ·ξ stands for γ·ξ. Output: (size, p).
    """

    statement = "algorithm 5, Sheffet's algorithm with paper 3's analysis"
    summary = "algorithm 4 with γ by the Rényi curve (paper 3, algorithm 5)"
    correction = "γ·C² for γ in line 3, √γ·ξ for γ·ξ in line 9"

    @property
    def gamma(self) -> float:
        """γ without units, as printed; the corrected variant has it in units of C²."""
        gamma = printed.sheffet_renyi_gamma(self.rows, self.epsilon, self.delta)
        return gamma * self.square_bound if self.variant == "corrected" else gamma
