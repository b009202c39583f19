"""Paper 1's least squares with a printed privacy claim: Gaussian LS and RP LS."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import gdp_mu
from dpaudit.errors import DegenerateData, NoExactSpectrum
from dpaudit.laws import Gaussian, ShiftRows, StudentRows, StudentT
from dpaudit.mechanisms.least_squares import ALS, RPLS
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers.algorithm import Algorithm

OUTLYING = 1_000.0  # norm of a pair's one outlying row, in units of the others' norm
MOST_ROWS = 20_000  # of a pair


@dataclass(frozen=True)
class GaussianMechanismLS(Algorithm):
    """Gaussian LS, M_{ε,δ}: the least squares solution plus N(0, σ²I) (paper 1, proposition 2).

    σ = s√(2 ln(1.25/δ))/ε with s = ‖x_opt − x′_opt‖. The text computes s from the private
    database itself: here s is the largest over its rows.

    Parameters
    ----------
    epsilon, delta : ε > 0 in nats, δ in (0, 1).
    sensitivity : s, a public bound on ‖x_opt − x′_opt‖; given with variant="corrected" only.
    variant : "printed", or "corrected": s is public, and σ is no less than (ε, δ)-DP needs. The
        printed σ is less at large ε (it is proved for ε < 1).

    Output: (size, p). Raises `InvalidInput`, also where the solution moves by more than the public
    bound, and `DegenerateData` where no finite s exists.
    """

    epsilon: float
    delta: float
    sensitivity: float | None = None
    variant: str = "printed"
    regression: ClassVar[bool] = True
    paper: ClassVar[int] = 1
    statement: ClassVar[str] = "proposition 2, Gaussian LS"
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = (
        "least squares plus noise at its own sensitivity (paper 1, proposition 2)"
    )
    unknown: ClassVar[str] = "σ changes with every row that is zeroed"
    correction: ClassVar[str] = "the sensitivity is public, and the noise no less than (ε, δ) takes"

    def __post_init__(self) -> None:
        self.check_variant()
        check.real("epsilon", self.epsilon, 0.0, open_=True)
        check.real("delta", self.delta, 0.0, 1.0, open_=True)
        _check_public("sensitivity", self.sensitivity, self.variant)

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP: proposition 2."""
        return Claim(self.epsilon, self.delta)

    def noise(self, data: Array) -> float:
        """σ for these data. Raises as the class says."""
        moved = float(least_squares(data).displacement.max())
        if self.sensitivity is None:
            if not 0.0 < moved < math.inf:
                raise DegenerateData(
                    f"the largest move of the solution is {moved:g}: no noise is proportional to it"
                )
            return moved * self._printed()
        if moved > self.sensitivity * (1.0 + 1e-12):
            fail(
                "sensitivity",
                self.sensitivity,
                f"at least the largest move of the solution, {moved:g}",
            )
        needed = 1.0 / float(gdp_mu(np.array(self.epsilon), np.array(self.delta)))
        return self.sensitivity * max(self._printed(), needed)

    def _printed(self) -> float:
        """σ/s as printed."""
        return math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon

    def law(self, data: Array) -> Gaussian:
        """N(x_opt, σ²I)."""
        fit = least_squares(data)
        return Gaussian(fit.coef, np.eye(len(fit.coef)) / self.noise(data))

    def zeroed_rows(self, data: Array) -> ShiftRows:
        """Shifts by ‖x_opt − x′_opt‖/σ. The printed variant raises `NoExactSpectrum`."""
        if self.sensitivity is None:
            raise NoExactSpectrum(
                f"{self.name}: {self.unknown}; use dpaudit.exact.spectrum on one pair"
            )
        return ShiftRows(least_squares(data).displacement / self.noise(data))

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """In the printed variant all rows, since each of them changes the noise."""
        return tuple(range(len(data))) if self.sensitivity is None else ()

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Least squares plus Gaussian noise, (size, p)."""
        solution = least_squares(data).coef
        return np.asarray(solution + self.noise(data) * rng.standard_normal((size, len(solution))))

    def pair(self) -> NeighbourPair:
        """Eleven rows near y = 0 and one far off, which is zeroed.

        A public s equals the move of the solution when that row is zeroed.
        """
        x = np.linspace(1.0, 2.0, 12)
        data = np.column_stack([x, np.r_[1.0, 1e-3 * np.cos(7.0 * x[1:])]])
        if self.sensitivity is None:
            return zero_row(data, 0)
        unit = self.sensitivity / float(least_squares(data).displacement.max())
        return zero_row(data * [1.0, unit], 0)


@dataclass(frozen=True)
class RandomProjectionLS(Algorithm):
    """RP LS: least squares on a Gaussian sketch of the data with c₂·I appended (paper 1, figure 4).

    Parameters
    ----------
    rows : r ≥ p + 1, of the sketch.
    epsilon, delta : c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε as printed. Its source (paper 4, theorem
        3.1) has √(2r ln(4/δ)), so this is more padding than is needed.
    row_bound : c₁, a public bound on the row norms; given with variant="corrected" only. As
        printed c₁ is the largest norm of the data.
    variant : "printed" or "corrected".
    sampler : "sufficient" (Student's t, p numbers a draw) or "literal" (line by line).

    Output: (size, p). Raises `InvalidInput`, also for a row beyond the public bound, and
    `DegenerateData`.
    """

    rows: int
    epsilon: float
    delta: float
    row_bound: float | None = None
    variant: str = "printed"
    sampler: str = "sufficient"
    regression: ClassVar[bool] = True
    paper: ClassVar[int] = 1
    statement: ClassVar[str] = "figure 4, RP LS"
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = "least squares on a sketch of padded data (paper 1, figure 4)"
    correction: ClassVar[str] = "c₁ is a public bound on the row norms"

    def __post_init__(self) -> None:
        self.check_variant()
        _check_public("row_bound", self.row_bound, self.variant)
        self._known  # noqa: B018  its own checks

    @property
    def _known(self) -> RPLS:
        return RPLS(self.rows, self.epsilon, self.delta, row_bound=self.row_bound)

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP: figure 4."""
        return Claim(self.epsilon, self.delta)

    def law(self, data: Array) -> StudentT:
        """Multivariate Student's t: the law of least squares on a Gaussian sketch."""
        return self._known.law(data)

    def zeroed_rows(self, data: Array) -> StudentRows:
        """The pairs with one row zeroed, for every row but the exceptional one."""
        return self._known.zeroed_rows(data)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """In the printed variant the row that sets c₁: without it the padding shrinks."""
        return self._known.exceptional_rows(data)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Least squares on sketches of the padded data, (size, p)."""
        sampler = "student" if self.sampler == "sufficient" else "literal"
        return ALS(self.rows, sampler)(self._known.padded(data), size, rng=rng)

    def pair(self) -> NeighbourPair:
        """Many short rows and one of norm c₁, which is zeroed.

        As printed the padding then shrinks to a thousandth.
        """
        bound = 1.0 if self.row_bound is None else self.row_bound
        square = RPLS(self.rows, self.epsilon, self.delta, row_bound=1.0).pad(np.ones((1, 1))) ** 2
        angle = np.linspace(0.3, 1.2, min(MOST_ROWS, math.ceil(20.0 * square)))
        short = np.column_stack([np.cos(angle), np.sin(angle)]) / OUTLYING
        return zero_row(bound * np.vstack([[1.0, 0.0], short]), 0)


def _check_public(name: str, value: float | None, variant: str) -> None:
    """Raises `InvalidInput` unless the public bound is given for the corrected variant only."""
    if (value is not None) != (variant == "corrected"):
        fail(name, value, "a number with variant='corrected', None with variant='printed'")
    if value is not None:
        check.real(name, value, 0.0, open_=True)
