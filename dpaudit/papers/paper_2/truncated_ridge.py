"""Ridge regression from noisy moments of cut rows: paper 2, algorithm 2 and theorem 4.3.

Algorithm 2 cuts by public second moments, theorem 4.3 by known ones. Neighbours have one private
row replaced, label included. The moments (Gram matrix, cross moment) plus Gaussian noise are the
release of `release="statistics"`, whose law is known; the coefficient is worked out from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit.errors import DegenerateData
from dpaudit.laws import ShiftRows
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.data import shrunk
from dpaudit.papers.paper_2.noisy_moments import NoisyMoments, RidgeAlgorithm, shift_rows
from dpaudit.papers.paper_2.printed import (
    algorithm_1_radius,
    algorithm_2_sigmas,
    theorem_4_3_radius,
    theorem_4_3_sigmas,
)
from dpaudit.papers.paper_2.truncation import (
    Moment,
    PublicAlgorithm,
    apart,
    check_privacy,
    inverse_root,
    whitened,
)


@dataclass(frozen=True)
class PMTRR(RidgeAlgorithm, PublicAlgorithm):
    """DP-PMTRR, algorithm 2: ridge regression on rows whitened by public moments and cut.

    √2·μ-GDP is claimed. No single replaced row changes both moments by their maximum: the largest
    joint change is √1.125·μ (μ for one feature), at rows of cosine ½ and labels of opposite sign.
    Output: (size, d), or (size, d(d+1)/2 + d).

    Parameters
    ----------
    mu : float > 0
        μ of the claim.
    eta : float in (0, 1), default 0.05
        η.
    ridge : float ≥ 0, default 0
        λ.
    public_rows : int
        How many first rows of the data are public; or `public_moment` is given.
    public_moment : array of shape (d + 1, d + 1), optional
        The public second moment of features and label, of which the two blocks are used.
    release : {"coef", "statistics"}, default "coef"
        "coef", or "statistics" for the noisy moments themselves.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    DegenerateData
        For singular public moments.
    """

    mu: float
    eta: float = 0.05
    ridge: float = 0.0
    public_rows: int = 0
    public_moment: Moment | None = None
    release: str = "coef"
    summary: ClassVar[str] = (
        "ridge regression on rows whitened by public data and cut (paper 2, algorithm 2)"
    )
    statement: ClassVar[str] = "algorithm 2 (DP-PMTRR)"

    def __post_init__(self) -> None:
        self.check_public()
        self.check_ridge()

    def moments(self, data: Array) -> NoisyMoments:
        """The moments of the private rows, whitened and cut, with their noise."""
        moment, private = self.parts(check.matrix("data", data, min_columns=2))
        root, spread = inverse_root(moment[:-1, :-1]), _label_spread(moment)
        sigmas = algorithm_2_sigmas(len(root), len(private), self.eta, self.mu)
        rows = self._cut(private, private, moment)
        return NoisyMoments(rows, sigmas, penalty=self.ridge * root @ root, back=spread * root)

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        """The pairs for all rows, public ones first.

        Raises `NoExactSpectrum` for the coefficient.
        """
        self.check_release()
        moment, private = self.parts(data)
        moments = self.moments(data)
        found = shift_rows(moments, self._cut(candidates, private, moment))
        return self.among_all(found, candidates)

    def _cut(self, rows: Array, private: Array, moment: Array) -> Array:
        count, label_root = len(private), np.array([[1.0 / _label_spread(moment)]])
        features = whitened(rows[:, :-1], inverse_root(moment[:-1, :-1]), count, self.eta)
        label = whitened(rows[:, -1:], label_root, count, self.eta)
        return np.hstack([features, label])

    def pair(self) -> NeighbourPair:
        """Rows at the radius with cosine ½ and labels of opposite sign: √1.125·μ, the most."""
        public, root = self.frame(labelled=True)
        spread = 1.0 if self.public_moment is None else _label_spread(np.array(self.public_moment))
        public = np.hstack([public, np.ones((len(public), 1))])
        dim = len(root)
        reach, label = (algorithm_1_radius(k, dim + 1, self.eta) for k in (dim, 1))
        u, v = (np.append(reach * one @ root, spread * label) for one in apart(0.5, dim))
        v[-1] *= -1.0
        others = np.hstack([root, np.full((dim, 1), spread)])
        return replace_row(np.vstack([public, others, u]), len(public) + dim, v)


@dataclass(frozen=True)
class DPRR(RidgeAlgorithm):
    """DP-RR, theorem 4.3: ridge regression on rows cut at R = √(Tr(Σ) + d ln(n/η)).

    Labels are cut at R‖β‖. The theorem takes the private rows' second moment Σ and the coefficient
    β as known: here Tr(Σ) and ‖β‖ are public parameters. Labels are cut on both sides, as the proof
    has it (the theorem bounds them from above only). Output: (size, d), or (size, d(d+1)/2 + d).

    Parameters
    ----------
    mu : float > 0
        μ of the claim.
    trace : float ≥ 0
        Tr(Σ).
    coef_norm : float > 0
        ‖β‖.
    eta : float in (0, 1), default 0.05
        η.
    ridge : float ≥ 0, default 0
        λ.
    release : {"coef", "statistics"}, default "coef"
        "coef", or "statistics" for the noisy moments themselves.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    """

    mu: float
    trace: float
    coef_norm: float
    eta: float = 0.05
    ridge: float = 0.0
    release: str = "coef"
    summary: ClassVar[str] = (
        "ridge regression on cut rows, their moments known beforehand (paper 2, theorem 4.3)"
    )
    statement: ClassVar[str] = "theorem 4.3 (DP-RR)"

    def __post_init__(self) -> None:
        check_privacy(self.mu, self.eta)
        check.real("trace", self.trace, 0.0)
        check.real("coef_norm", self.coef_norm, 0.0, open_=True)
        self.check_ridge()

    def moments(self, data: Array) -> NoisyMoments:
        """Of the cut rows."""
        data = check.matrix("data", data, min_columns=2)
        n, dim = len(data), data.shape[1] - 1
        sigmas = theorem_4_3_sigmas(self.trace, self.coef_norm, dim, n, self.eta, self.mu)
        unit = np.eye(dim)
        return NoisyMoments(self._cut(data, n), sigmas, penalty=self.ridge * unit, back=unit)

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        """Raises `NoExactSpectrum` for the coefficient."""
        self.check_release()
        return shift_rows(self.moments(data), self._cut(candidates, len(data)))

    def _cut(self, rows: Array, count: int) -> Array:
        reach = theorem_4_3_radius(self.trace, rows.shape[1] - 1, count, self.eta)
        return cut(rows, reach, reach * self.coef_norm)

    def pair(self) -> NeighbourPair:
        """Rows at the radius with cosine ½ and labels of opposite sign: √1.125·μ, the most."""
        reach = theorem_4_3_radius(self.trace, 2, 3, self.eta)
        u, v = (np.append(reach * one, reach * self.coef_norm) for one in apart(0.5, 2))
        v[-1] *= -1.0
        others = np.hstack([np.eye(2), np.full((2, 1), self.coef_norm)])
        return replace_row(np.vstack([others, u]), 2, v)


def cut(rows: Array, reach: float, label_reach: float) -> Array:
    """Features cut at one radius, the label at another. Raises `InvalidInput`."""
    rows = check.matrix("candidates", rows, min_columns=2)
    return np.hstack([shrunk(rows[:, :-1], reach), shrunk(rows[:, -1:], label_reach)])


def _label_spread(moment: Array) -> float:
    """σ̂_B. Raises `DegenerateData` where every public label is 0."""
    if not moment[-1, -1] > 0.0:
        raise DegenerateData("the public label must have a second moment > 0, got 0")
    return math.sqrt(moment[-1, -1])
