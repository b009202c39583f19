"""Ridge regression from noisy moments of cut rows: paper 2, algorithm 2, theorem 4.3, remark 4.4.

The radius to which rows are cut depends on public second moments in algorithm 2, on known ones in
theorem 4.3, and on those of the private rows in remark 4.4. Neighbours have one private row
replaced, label included. `release="statistics"` releases the moments (Gram matrix and cross moment)
with Gaussian noise, whose law is known; the coefficient is computed from these.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.linalg import symmetric_matrix, upper_triangle
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import DegenerateData, NoExactSpectrum
from dpaudit.laws import CHUNK, GaussianNoise, ShiftRows
from dpaudit.mechanisms.base import Sampler
from dpaudit.mechanisms.parameters import BelowOne, NonNegative, Positive
from dpaudit.mechanisms.second_moment import SufficientStatistics
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers import printed
from dpaudit.papers.algorithm import ReplacementAlgorithm, Variant, shrunk
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


@value_class
class NoisyMoments:
    """The moments AᵀA/n and Aᵀy/n of cut rows [A, y], and the Gaussian noise G and g added to them.

    rows : [A, y], (n, d + 1), after cutting. sigmas : the standard deviations of the entries of G
    and of g. penalty : (d, d), added to AᵀA/n + G before solving. back : (d, d), the matrix that
    maps the solution to the coefficient.
    """

    rows: Array
    sigmas: tuple[float, float]
    penalty: Array
    back: Array

    @property
    def law(self) -> GaussianNoise:
        features, label = self.rows[:, :-1], self.rows[:, -1]
        gram = upper_triangle(features.T @ features / len(label))
        cross = features.T @ label / len(label)
        deviation = np.repeat(self.sigmas, [len(gram), len(cross)])
        return GaussianNoise(np.concatenate([gram, cross]), deviation)

    def coef(self, statistics: Array) -> Array:
        """The coefficients (size, d) from noisy statistics (size, d(d + 1)/2 + d)."""
        dim = self.rows.shape[1] - 1
        gram = symmetric_matrix(statistics[:, :-dim], dim) + self.penalty
        return np.asarray(np.linalg.solve(gram, statistics[:, -dim:, None])[:, :, 0] @ self.back.T)


class RidgeAlgorithm(CutRegression, ReplacementAlgorithm):
    """An algorithm that releases noisy moments of cut rows, or the ridge coefficient from them.

    Subclasses define `moments` and `cut`.
    """

    unknown = (
        "the coefficient is worked out of noisy moments; "
        'release="statistics" has a spectrum, which bounds it'
    )

    def moments(self, data: Array) -> NoisyMoments:
        raise NotImplementedError

    def cut(self, rows: Array, data: Array) -> Array:
        """The given rows, label last, cut as the algorithm cuts the rows of `data`."""
        raise NotImplementedError

    def law(self, data: Array) -> GaussianNoise:
        if self.release != "statistics":
            raise self.no_exact_spectrum()
        return self.moments(data).law

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        """The average of n rows with noise σ has the privacy of their sum with noise n·σ."""
        if self.release != "statistics":
            raise self.no_exact_spectrum()
        moments = self.moments(data)
        noisy = SufficientStatistics(*(len(moments.rows) * sigma for sigma in moments.sigmas))
        return noisy.replaced_rows(moments.rows, self.cut(candidates, data))

    def prepare(self, data: Array) -> Sampler:
        moments = self.moments(data)
        law = moments.law
        if self.release == "statistics":
            return law.sample

        def sample(size: int, rng: np.random.Generator) -> Array:
            steps = (min(CHUNK, size - start) for start in range(0, size, CHUNK))
            return np.concatenate([moments.coef(law.sample(step, rng)) for step in steps])

        return sample


@value_class(show_numbers=True, eq=True)
class PMTRR(RidgeAlgorithm, PublicAlgorithm):
    """DP-PMTRR, algorithm 2: ridge regression on rows whitened by public moments and cut.

    The claim is √2·μ-GDP. No single replaced row changes both moments by their maximum: the largest
    joint shift is √1.125·μ (μ for one feature), for rows of cosine ½ and labels of opposite sign.
    The parameters are those of `CutRegression` and `PublicAlgorithm`. The public moment is that of
    features and label, (d + 1, d + 1), but only its two diagonal blocks are used; a call raises
    `DegenerateData` if it is singular. Output: (size, d), or (size, d(d+1)/2 + d).
    """

    mu: Positive
    eta: BelowOne = 0.05
    ridge: NonNegative = 0.0
    public_rows: PublicRows = 0
    public_moment: Moment | None = None
    release: CoefRelease = "coef"
    summary = "ridge regression on rows whitened by public data and cut (paper 2, algorithm 2)"
    statement = "algorithm 2 (DP-PMTRR)"

    def moments(self, data: Array) -> NoisyMoments:
        moment, private = self.parts(check.matrix("data", data, min_columns=2))
        root, spread = inverse_root(moment[:-1, :-1]), _label_spread(moment)
        sigmas = printed.algorithm_2_sigmas(len(root), len(private), self.eta, self.mu)
        rows = self.cut(private, data)
        return NoisyMoments(rows, sigmas, penalty=self.ridge * root @ root, back=spread * root)

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        return self.among_all(super().replaced_rows(data, candidates), candidates)

    def cut(self, rows: Array, data: Array) -> Array:
        moment, private = self.parts(data)
        count, label_root = len(private), np.array([[1.0 / _label_spread(moment)]])
        features = whitened(rows[:, :-1], inverse_root(moment[:-1, :-1]), count, self.eta)
        label = whitened(rows[:, -1:], label_root, count, self.eta)
        return np.hstack([features, label])

    def pair(self) -> NeighbourPair:
        """Rows at the radius with cosine ½ and opposite labels: the largest shift, √1.125·μ."""
        public, root = self.frame(labelled=True)
        spread = 1.0 if self.public_moment is None else _label_spread(np.array(self.public_moment))
        public = np.hstack([public, np.ones((len(public), 1))])
        dim = len(root)
        reach, label = (printed.algorithm_1_radius(k, dim + 1, self.eta) for k in (dim, 1))
        others = np.vstack([public, np.hstack([root, np.full((dim, 1), spread)])])
        return pair_at(others, reach, root, 0.5, (spread * label, -spread * label))


class RadiusRidge(RidgeAlgorithm):
    """A ridge regression whose rows are cut at two radii, without whitening.

    Subclasses define `radii` and `sigmas`.
    """

    def radii(self, data: Array) -> tuple[float, float]:
        """The radii at which features and labels are cut."""
        raise NotImplementedError

    def sigmas(self, data: Array) -> tuple[float, float]:
        """The standard deviations of the noise on AᵀA/n and on Aᵀy/n."""
        raise NotImplementedError

    def moments(self, data: Array) -> NoisyMoments:
        data = check.matrix("data", data, min_columns=2)
        unit = np.eye(data.shape[1] - 1)
        return NoisyMoments(self.cut(data, data), self.sigmas(data), self.ridge * unit, unit)

    def cut(self, rows: Array, data: Array) -> Array:
        rows = check.matrix("candidates", rows, min_columns=2)
        reach, label_reach = self.radii(data)
        return np.hstack([shrunk(rows[:, :-1], reach), shrunk(rows[:, -1:], label_reach)])

    def worst_pair(self, others: Array) -> NeighbourPair:
        """As for `PMTRR`; others : the two rows that both databases share, (2, 3)."""
        reach, label_reach = self.radii(np.zeros((3, 3)))
        return pair_at(others, reach, np.eye(2), 0.5, (label_reach, -label_reach))


@value_class(show_numbers=True, eq=True)
class DPRR(RadiusRidge):
    """DP-RR, theorem 4.3: ridge regression on rows cut at R = √(Tr(Σ) + d ln(n/η)).

    Labels are cut at R‖β‖. The theorem assumes that the private rows' second moment Σ and the
    coefficient β are known: here Tr(Σ) = `trace` ≥ 0 and ‖β‖ = `coef_norm` > 0 are public
    parameters, in addition to those of `CutRegression`. Labels are cut from above and below, as in
    the proof; the theorem cuts them only from above. Output: (size, d), or (size, d(d+1)/2 + d).
    """

    mu: Positive
    trace: NonNegative
    coef_norm: Positive
    eta: BelowOne = 0.05
    ridge: NonNegative = 0.0
    release: CoefRelease = "coef"
    summary = "ridge regression on cut rows, their moments known beforehand (paper 2, theorem 4.3)"
    statement = "theorem 4.3 (DP-RR)"

    def radii(self, data: Array) -> tuple[float, float]:
        reach = printed.theorem_4_3_radius(self.trace, data.shape[1] - 1, len(data), self.eta)
        return reach, reach * self.coef_norm

    def sigmas(self, data: Array) -> tuple[float, float]:
        shape = data.shape[1] - 1, len(data)
        return printed.theorem_4_3_sigmas(self.trace, self.coef_norm, *shape, self.eta, self.mu)

    def pair(self) -> NeighbourPair:
        return self.worst_pair(np.hstack([np.eye(2), np.full((2, 1), self.coef_norm)]))


@value_class(show_numbers=True, eq=True)
class PracticalDPRR(RadiusRidge):
    """DP-RR with radii and noise computed from the private data's own moments (remark 4.4).

    The moments are Tr(Σ̂) and σ̂² = Σy²/n. One long row changes the noise, and the radius for all
    other rows, so the algorithm is μ-GDP for no μ. Moreover σ₂ lacks the factor 2/μ: even with
    public moments it is too small for μ < √2. Both errors are of class A of the findings, since a
    user would meet them. The parameters are those of `CutRegression`; with variant="corrected",
    Tr(Σ) = `trace` > 0 and E y² = `label_moment` > 0 are public numbers that must be passed.
    Output: (size, d), or (size, d(d+1)/2 + d).
    """

    mu: Positive
    eta: BelowOne = 0.05
    ridge: NonNegative = 0.0
    trace: Positive | None = None
    label_moment: Positive | None = None
    variant: Variant = "printed"
    release: CoefRelease = "coef"
    summary = "ridge regression on rows cut by moments of their own (paper 2, remark 4.4)"
    statement = "remark 4.4 (DP-RR in practice)"
    correction = "Tr(Σ) and σ² are public numbers, and σ₂ has the factor 2/μ of theorem 4.3"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("trace", self.trace), ("label_moment", self.label_moment)):
            if (value is None) == (self.variant == "corrected"):
                fail(name, value, "given for variant='corrected' only, which takes it as public")

    def radii(self, data: Array) -> tuple[float, float]:
        trace, label = self._scales(data)
        reach = printed.theorem_4_3_radius(trace, data.shape[1] - 1, len(data), self.eta)
        return reach, printed.remark_4_4_label_radius(label, len(data), self.eta)

    def sigmas(self, data: Array) -> tuple[float, float]:
        shape = data.shape[1] - 1, len(data)
        first, second = printed.remark_4_4_sigmas(*self._scales(data), *shape, self.eta, self.mu)
        return first, second * (2.0 / self.mu if self.variant == "corrected" else 1.0)

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        if self.variant == "printed" and self.release == "statistics":
            raise NoExactSpectrum(
                f"{self.name} has no closed form for all replacements at once, "
                "since each changes the noise; use dpaudit.exact.spectrum on one pair"
            )
        return super().replaced_rows(data, candidates)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        return tuple(range(len(data))) if self.variant == "printed" else ()

    def _scales(self, data: Array) -> tuple[float, float]:
        if self.trace is not None and self.label_moment is not None:
            return self.trace, self.label_moment
        features, label = data[:, :-1], data[:, -1]
        return float(np.sum(features**2)) / len(data), float(label @ label) / len(data)

    def pair(self) -> NeighbourPair:
        if self.variant == "printed":
            data = np.hstack([np.tile(np.eye(2), (1000, 1)), np.ones((2000, 1))])
            return replace_row(data, 0, [1e4, 0.0, 1.0])
        return self.worst_pair(np.eye(2, 3))


def _label_spread(moment: Array) -> float:
    """The root mean square σ̂_B of the public labels. Raises `DegenerateData` if all are 0."""
    if not moment[-1, -1] > 0.0:
        raise DegenerateData("the public label must have a second moment > 0, got 0")
    return math.sqrt(moment[-1, -1])
