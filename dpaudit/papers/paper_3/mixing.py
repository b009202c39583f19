"""Gaussian mixing and regressions on it: paper 3, algorithms 1, 2, 4 and 5, and section 5.2.

A sketch of the data D (n, d) is SD + wξ, where S (k × n) and ξ (k × d) are standard normal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Annotated

import numpy as np
from numpy.polynomial import chebyshev

from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import epsilon_at
from dpaudit.curves.spectrum import Curve
from dpaudit.exact import Atoms, BranchCurve, FirstRelease, adaptive_curve, gaussian_shift
from dpaudit.laws import StudentT, ZeroedRows
from dpaudit.laws.base import draw_in_chunks
from dpaudit.laws.vectors import laplace_log_cdf
from dpaudit.mechanisms.least_squares import RPLS
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive, between
from dpaudit.mechanisms.scatter import RandomProjection
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import printed
from dpaudit.papers.algorithm import (
    JointSpectrumAlgorithm,
    KnownAddedRow,
    KnownAlgorithm,
    KnownReplacedRows,
    Variant,
    check_signs,
    smallest_eigenvalue,
    zeroed_index,
)
from dpaudit.papers.paper_3.sketches import (
    SketchedFit,
    axis_pair,
    grams_of_sketches,
    labelled_pair,
    released_row,
)


@value_class(show_numbers=True, eq=True)
class CalibratedGaussMix(KnownReplacedRows, KnownAddedRow):
    """GaussMix: release SD + σξ with the least σ that lemma 1 and proposition 1 allow.

    Source: paper 3, section 4. σ² = C²γ(k, ε, δ) for k = `rows` mixtures and rows of norm at most
    C = `row_bound`. The paper subtracts a public λ̄ ≤ λ_min(DᵀD), which is 0 here. Output:
    (size, d(d+1)/2), the upper triangle of the sketch's Gram matrix, which is sufficient.
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    paper = 3
    statement = "GaussMix, lemma 1"
    summary = "Gaussian mixing with noise by its Rényi curve (paper 3, lemma 1)"

    @property
    def sigma(self) -> float:
        gamma = printed.gaussmix_gamma(self.rows, self.epsilon, self.delta)
        return math.sqrt(self.row_bound**2 * gamma)

    def known(self, data: Array) -> RandomProjection:
        self.bounded(data)
        return RandomProjection(self.rows, "gram", self.sigma)

    def pair(self) -> NeighbourPair:
        """The row (C, 0) on the axis of λ_min(DᵀD) = C² is zeroed."""
        return axis_pair(self.row_bound, 1.0)


@value_class(show_numbers=True, eq=True)
class ModifiedGaussMix(JointSpectrumAlgorithm):
    """Release SD + wξ, where w² is γC² minus a private lower bound of λ_min(DᵀD).

    Source: paper 3, algorithm 1. The sketch has k = `rows` rows, and w raises λ_min/C² to at least
    γ = `gamma` > 5/2. `eta` is η > 0, the noise on λ_min in units of C²; None means γ/√k.
    τ = √(2 ln(3/δ)) as in theorem 1. With variant="corrected" line 6 is in units of C² (class A of
    the findings), line 3 has √γ·C instead of γ·C, which is more than needed, and the claim holds at
    small η too (class B). Output: (size, d(d+1)/2), the upper triangle of the sketch's Gram matrix,
    which is sufficient. The noisy λ_min, λ̃, is not released.
    """

    rows: Count
    gamma: Annotated[float, between(2.5, math.inf)]
    delta: BelowOne
    eta: Positive | None = None
    row_bound: Positive = 1.0
    variant: Variant = "printed"
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
        return math.sqrt(2.0 * math.log(3.0 / self.delta))

    @property
    def spread(self) -> float:
        """η, in units of C²."""
        return self.gamma / math.sqrt(self.rows) if self.eta is None else self.eta

    @property
    def claim(self) -> Claim:
        """The (ε, δ) of theorem 1; the corrected variant adds `shortfall` to this ε."""
        epsilon = printed.theorem_1_epsilon(self.rows, self.gamma, self.delta, self.spread)
        return Claim(epsilon + (self.shortfall if self.variant == "corrected" else 0.0), self.delta)

    @property
    def shortfall(self) -> float:
        """The exact ε of λ̃ at δ/3 less theorem 1's √(2 ln(3.75/δ))/η, or 0: so for η above about
        ½.
        """
        mu, share = 1.0 / self.spread, self.delta / 3.0
        textbook = math.sqrt(2.0 * math.log(3.75 / self.delta)) / self.spread
        if gaussian_shift(mu, textbook) <= share:
            return 0.0
        return float(epsilon_at(lambda epsilon: gaussian_shift(mu, epsilon), share)) - textbook

    @property
    def reads_eigenvalue(self) -> bool:
        """Whether line 4 reads λ_min; this is public, since γ and τ are."""
        return self.gamma > self.tau

    @property
    def fixed_noise(self) -> float:
        return self.row_bound * (math.sqrt(self.gamma) if self._is_corrected else self.gamma)

    def noise_at(self, estimate: ArrayLike) -> Array:
        """The noise w of lines 5 and 6 for unclipped estimates λ_min − ηC²(τ − z), (m,)."""
        lower = np.maximum(estimate, 0.0) / (self.row_bound**2 if self._is_corrected else 1.0)
        return np.asarray(self.row_bound * np.sqrt(np.maximum(self.gamma - lower, 0.0)))

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """Draw the noise w of each sketch, (size,), for data with λ_min = `eigenvalue`."""
        if not self.reads_eigenvalue:
            return np.full(size, self.fixed_noise)
        z = rng.standard_normal(size)
        return self.noise_at(eigenvalue - self.spread * self.row_bound**2 * (self.tau - z))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        noise = partial(self.noise, smallest_eigenvalue(self.bounded(data)))
        return grams_of_sketches(data, self.rows, noise, size, rng)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        loss = released_row(pair.left, zeroed_index(pair), self.rows)
        return self.curve_with(pair, loss)

    def curve_with(
        self, pair: NeighbourPair, curve_at: Callable[[float], Curve]
    ) -> tuple[Curve, str]:
        """The curve of λ̃ and a release, given its curve at each noise w; and its law's name."""
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
        """The λ_min/C² of `pair`: 1, where only the noise protects the row.

        As printed it is the value at which line 6 adds noise in one of 30,000 draws, if below 1 +
        γ.
        """
        free = self.gamma / self.row_bound**2 + self.spread * (self.tau + 4.0) + 1.0
        bare = not self._is_corrected and self.reads_eigenvalue and free < 1.0 + self.gamma
        return free if bare else 1.0

    def pair(self) -> NeighbourPair:
        return axis_pair(self.row_bound, self.worst_eigenvalue)

    @property
    def _is_corrected(self) -> bool:
        return self.variant == "corrected"


@value_class(show_numbers=True, eq=True)
class SketchedRegression(JointSpectrumAlgorithm):
    """Release least squares on a sketch SD + wξ whose noise w depends on a private λ_min(DᵀD).

    D = [X, Y], so the rows of D are at most C = √(C_X² + C_Y²) long, where C_X = `row_bound` and
    C_Y = `label_bound`. The sketch has k = `rows` ≥ p rows. Given w the solution has a Student t
    law, from which it is drawn. Subclasses define `noise`. Output: (size, p).
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    label_bound: Positive = 1.0
    variant: Variant = "printed"
    regression = True
    paper = 3

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """Draw the noise w of each sketch, (size,), for data [X, Y] with λ_min = `eigenvalue`."""
        raise NotImplementedError

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        eigenvalue, p = smallest_eigenvalue(self.bounded(data)), data.shape[1] - 1
        if self.rows < p:
            fail("rows", self.rows, f"at least the number of features, {p}")
        fit = SketchedFit.of(data)
        return draw_in_chunks(
            size, p, p, lambda count: fit.draw(self.noise(eigenvalue, count, rng), self.rows, rng)
        )


@value_class(show_numbers=True, eq=True)
class LinearMixing(SketchedRegression, KnownAlgorithm):
    """Release θ = (X̃ᵀX̃)⁻¹X̃ᵀỸ for [X̃, Ỹ] = ModifiedGaussMix([X, Y]) (paper 3, algorithm 2).

    γ > 5/2 is the smallest value for which theorem 1's ε̃(γ/√k, γ, k, δ) is at most ε. The
    parameters are those of `SketchedRegression`, and `variant` is passed on to `ModifiedGaussMix`.
    Output: (size, p).
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
        gamma = _gamma(self.rows, self.epsilon, self.delta, self.variant)
        bound = math.hypot(self.row_bound, self.label_bound)
        return ModifiedGaussMix(self.rows, gamma, self.delta, row_bound=bound, variant=self.variant)

    def known(self, data: Array) -> RPLS:
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
        curve = partial(SketchedFit.of(pair.left).curve, zeroed_index(pair), self.rows)
        return self.mixing.curve_with(pair, curve)

    def pair(self) -> NeighbourPair:
        return labelled_pair(self.row_bound, self.label_bound, self.mixing.worst_eigenvalue)


@lru_cache(maxsize=256)
def _gamma(rows: int, epsilon: float, delta: float, variant: str) -> float:
    """The γ of line 2; if corrected, large enough that the corrected theorem 1 gives at most ε."""

    def excess(gamma: float) -> float:
        claim = ModifiedGaussMix(rows, gamma, delta, variant="corrected").claim
        assert claim.epsilon is not None
        return claim.epsilon - epsilon

    gamma = printed.linear_mixing_gamma(rows, epsilon, delta)
    if variant == "printed" or ModifiedGaussMix(rows, gamma, delta).shortfall == 0.0:
        return gamma
    if excess(gamma) <= 0.0:
        return gamma
    from scipy.optimize import brentq  # here: slow to import

    return float(brentq(excess, gamma, gamma * 1e3, xtol=1e-9))


@value_class(show_numbers=True, eq=True)
class LogisticMixing(JointSpectrumAlgorithm):
    """Logistic regression: release −b₁/(2b₂) times the θ of LinearMixing with labels ±1.

    Source: paper 3, section 5.2 and appendix G. The logistic function σ has ln σ(s) ≈
    b₀ + b₁s + b₂s² on [−Q, Q], Q = `radius`, fitted with Chebyshev's weight. θ is scaled after the
    sketch, as in appendix G, so the label bound is C_Y = 1. The other parameters are those of
    `LinearMixing`. Output: (size, p).
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    radius: Positive = 4.0
    variant: Variant = "printed"
    regression = True
    paper = 3
    statement = "section 5.2, appendix G"
    summary = "logistic regression by a quadratic loss on a noisy sketch (paper 3, section 5.2)"
    unknown = LinearMixing.unknown
    correction = LinearMixing.correction

    @property
    def linear(self) -> LinearMixing:
        return LinearMixing(self.rows, self.epsilon, self.delta, self.row_bound, 1.0, self.variant)

    @property
    def scale(self) -> float:
        _, slope, bend = surrogate(self.radius)
        return -0.5 * slope / bend

    def law(self, data: Array) -> StudentT:
        law = self.linear.known(check_signs(data)).law(data)
        return StudentT(self.scale * law.mean, law.root / self.scale, law.dof)

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        return self.linear.zeroed_rows(check_signs(data))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.scale * self.linear.run(check_signs(data), size, rng)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        return self.linear.joint_curve(pair)

    def pair(self) -> NeighbourPair:
        """Rows with small features, half with each label, set λ_min; a row (C_X, 1) is zeroed."""
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
    """(b₀, b₁, b₂) of the parabola b₀ + b₁s + b₂s² nearest to −ln(1 + e^{−s}) on [−Q, Q].

    Q = `radius`. It is fitted by least squares with Chebyshev's weight; b₁ = ½ and b₂ < 0.
    """
    nodes = radius * np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    fit = chebyshev.chebfit(nodes / radius, -np.logaddexp(0.0, -nodes), 2)
    value, slope, bend = chebyshev.cheb2poly(fit)
    return float(value), float(slope / radius), float(bend / radius**2)


class SheffetAlgorithm(SketchedRegression):
    """The common part of algorithms 4 and 5, with C² = C_X² + C_Y². Subclasses define `gamma`."""

    unknown = "a mixture of two Student t laws (`joint_spectrum` has it with the branch known)"

    @property
    def gamma(self) -> float:
        """The threshold γ of line 3: the least λ_min(DᵀD) at which no noise is needed."""
        raise NotImplementedError

    @property
    def square_bound(self) -> float:
        return self.row_bound**2 + self.label_bound**2

    @property
    def sigma(self) -> float:
        """The noise w in the branch that adds noise."""
        return math.sqrt(self.gamma) if self.variant == "corrected" else self.gamma

    def margin(self, eigenvalue: float) -> float:
        """λ_min minus the threshold of line 5 at z = 0, in units of the Laplace scale 4C²/ε."""
        scale = 4.0 * self.square_bound / self.epsilon
        return (eigenvalue - self.gamma) / scale - math.log(1.0 / self.delta)

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        return np.where(rng.laplace(size=size) < self.margin(eigenvalue), 0.0, self.sigma)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        curve = partial(SketchedFit.of(pair.left).curve, zeroed_index(pair), self.rows)
        sides = (self.bounded(side) for side in (pair.left, pair.right))
        margins = np.array([self.margin(smallest_eigenvalue(side)) for side in sides])
        left, right = np.array([laplace_log_cdf(margins), laplace_log_cdf(-margins)]).T
        curves = curve(0.0), curve(self.sigma)
        return BranchCurve(Atoms(left, right), curves), "the branch and Student t (finite rows)"

    def pair(self) -> NeighbourPair:
        """Databases with λ_min(DᵀD) = C²: only the noise hides the zeroed row (C_X, C_Y)."""
        return labelled_pair(self.row_bound, self.label_bound, 1.0)


@value_class(show_numbers=True, eq=True)
class SheffetOLS(SheffetAlgorithm):
    """Algorithm 4 (Sheffet 2017): θ from SD if λ_min > γ + z + 4C²ln(1/δ)/ε, else from SD + γξ.

    γ = 4C²(√(2k ln(8/δ)) + 2 ln(8/δ))/ε and z ~ Lap(4C²/ε). The parameters are those of
    `SketchedRegression`. With variant="corrected" the noise is √γ·ξ instead of γ·ξ, since γ is a
    variance; the printed noise is too small if γ < 1, for short rows (class B of the findings).
    The corrected γ is also at least that of algorithm 5, which matters only for ε far above 10.
    Output: (size, p); the branch is not released.
    """

    statement = "algorithm 4, Sheffet's algorithm"
    summary = (
        "least squares on a sketch, noisy if λ_min is small (paper 3, algorithm 4; Sheffet 2017)"
    )
    correction = "√γ·ξ for γ·ξ in line 9; γ no less than algorithm 5's"

    @property
    def gamma(self) -> float:
        gamma = printed.sheffet_2017_gamma(self.rows, self.epsilon, self.delta)
        if self.variant == "corrected":
            gamma = max(gamma, printed.sheffet_renyi_gamma(self.rows, self.epsilon, self.delta))
        return self.square_bound * gamma


@value_class(show_numbers=True, eq=True)
class SheffetRenyiOLS(SheffetAlgorithm):
    """Algorithm 5: algorithm 4 with γ by lemma 1 and proposition 1 for (ε/2, δ)-DP.

    The parameters are those of `SketchedRegression`. With variant="corrected" γ is multiplied by C²
    (line 3 omits it: class A of the findings), and the noise is √γ·ξ instead of γ·ξ. Output:
    (size, p).
    """

    statement = "algorithm 5, Sheffet's algorithm with paper 3's analysis"
    summary = "algorithm 4 with γ by the Rényi curve (paper 3, algorithm 5)"
    correction = "γ·C² for γ in line 3, √γ·ξ for γ·ξ in line 9"

    @property
    def gamma(self) -> float:
        gamma = printed.sheffet_renyi_gamma(self.rows, self.epsilon, self.delta)
        return gamma * self.square_bound if self.variant == "corrected" else gamma
