"""Ridge regression from noisy moments of rows cut by their own moments: paper 2, remark 4.4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import ShiftRows
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.paper_2.noisy_moments import NoisyMoments, RidgeAlgorithm, shift_rows
from dpaudit.papers.paper_2.printed import (
    remark_4_4_label_radius,
    remark_4_4_sigmas,
    theorem_4_3_radius,
)
from dpaudit.papers.paper_2.truncated_ridge import cut
from dpaudit.papers.paper_2.truncation import apart, check_privacy


@dataclass(frozen=True)
class PracticalDPRR(RidgeAlgorithm):
    """DP-RR with radii and noise set by the private data's own moments (remark 4.4).

    The moments are Tr(Σ̂) and σ̂² = Σy²/n. One long row changes the noise and the cut of all other
    rows, so no μ holds. And σ₂ lacks the factor 2/μ: even with public moments it is too small for
    μ < √2. Both are of class A of the findings: a user would meet them. Output: (size, d), or
    (size, d(d+1)/2 + d).

    Parameters
    ----------
    mu : float > 0
        μ of the claim.
    eta : float in (0, 1), default 0.05
        η.
    ridge : float ≥ 0, default 0
        λ.
    trace : float > 0, optional
        Public value of Tr(Σ); given with variant="corrected" only.
    label_moment : float > 0, optional
        Public value of E y²; given with variant="corrected" only.
    variant : {"printed", "corrected"}, default "printed"
        Which form of the algorithm.
    release : {"coef", "statistics"}, default "coef"
        "coef", or "statistics" for the noisy moments themselves.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    """

    mu: float
    eta: float = 0.05
    ridge: float = 0.0
    trace: float | None = None
    label_moment: float | None = None
    variant: str = "printed"
    release: str = "coef"
    summary: ClassVar[str] = (
        "ridge regression on rows cut by moments of their own (paper 2, remark 4.4)"
    )
    statement: ClassVar[str] = "remark 4.4 (DP-RR in practice)"
    correction: ClassVar[str] = (
        "Tr(Σ) and σ² are public numbers, and σ₂ has the factor 2/μ of theorem 4.3"
    )

    def __post_init__(self) -> None:
        self.check_variant()
        check_privacy(self.mu, self.eta)
        for name in ("trace", "label_moment"):
            value = getattr(self, name)
            if (value is None) == (self.variant == "corrected"):
                fail(name, value, "given for variant='corrected' only, which takes it as public")
            if value is not None:
                check.real(name, value, 0.0, open_=True)
        self.check_ridge()

    def moments(self, data: Array) -> NoisyMoments:
        """The moments of the cut rows, with their noise."""
        data = check.matrix("data", data, min_columns=2)
        dim = data.shape[1] - 1
        trace, label = self._scales(data)
        first, second = remark_4_4_sigmas(trace, label, dim, len(data), self.eta, self.mu)
        if self.variant == "corrected":
            second *= 2.0 / self.mu
        rows, unit = self._cut(data, data), np.eye(dim)
        return NoisyMoments(rows, (first, second), penalty=self.ridge * unit, back=unit)

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        """Raises `NoExactSpectrum` for the printed variant, and for the coefficient."""
        self.check_release()
        if self.variant == "printed":
            raise NoExactSpectrum(
                f"{self.name} has no closed form for all replacements at once, "
                "since each changes the noise; use dpaudit.exact.spectrum on one pair"
            )
        return shift_rows(self.moments(data), self._cut(candidates, data))

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """As printed every row, since each changes the noise."""
        return tuple(range(len(data))) if self.variant == "printed" else ()

    def _scales(self, data: Array) -> tuple[float, float]:
        """Tr(Σ̂) and σ̂²: the private data's own, as printed, or the public numbers."""
        if self.trace is not None and self.label_moment is not None:
            return self.trace, self.label_moment
        features, label = data[:, :-1], data[:, -1]
        return float(np.sum(features**2)) / len(data), float(label @ label) / len(data)

    def _cut(self, rows: Array, data: Array) -> Array:
        trace, label = self._scales(data)
        reach = theorem_4_3_radius(trace, data.shape[1] - 1, len(data), self.eta)
        return cut(rows, reach, remark_4_4_label_radius(label, len(data), self.eta))

    def pair(self) -> NeighbourPair:
        """As printed: one of 2000 rows becomes 10,000 times as long. Corrected: as for `DPRR`."""
        if self.variant == "printed":
            data = np.hstack([np.tile(np.eye(2), (1000, 1)), np.ones((2000, 1))])
            return replace_row(data, 0, [1e4, 0.0, 1.0])
        trace, label = self._scales(np.empty((0, 3)))
        reach = theorem_4_3_radius(trace, 2, 3, self.eta)
        label_reach = remark_4_4_label_radius(label, 3, self.eta)
        u, v = (np.append(reach * one, label_reach) for one in apart(0.5, 2))
        v[-1] *= -1.0
        return replace_row(np.vstack([np.eye(2, 3), u]), 2, v)
