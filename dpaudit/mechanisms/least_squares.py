"""Private least squares: by sketching alone (ALS), by output noise (GaussianLS), by padding and
sketching (RPLS).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit._core.linalg import least_squares, padded
from dpaudit._core.types import Adjustable
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput
from dpaudit.laws import Gaussian, ShiftRows, StudentRows, StudentT, bartlett
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism, Sampler

LITERAL_BLOCK = 1 << 22  # numbers of the sketching matrix held at a time by the literal sampler


@dataclass(frozen=True)
class ALS(LawMechanism):
    """Approximate least squares, x̃ = (ΠB)†Πb with Π an r × n standard normal matrix (paper 1,
    figure 1; Sarlós 2006).

    Parameters
    ----------
    rows : r ≥ p + 1, number of sketch rows.
    sampler : "student" (the exact law, O(p) numbers a draw), "wishart" (Bartlett factors of
        (ΠD)ᵀΠD, O(d²)) or "literal" (the algorithm as printed, r·n numbers); three routes to one
        law.

    Output: (size, p). Raises `InvalidInput`, `DegenerateData`.

    >>> import numpy as np
    >>> import dpaudit as dp
    >>> data = np.column_stack([np.ones(6), np.arange(6.0), np.arange(6.0) ** 2])  # label last
    >>> dp.mechanisms.ALS(rows=20)(data, 4, rng=np.random.default_rng(0)).shape
    (4, 2)
    """

    rows: int
    sampler: str = "student"
    summary: ClassVar[str] = "approximate least squares on a Gaussian sketch (paper 1, figure 1)"
    adjustable: ClassVar[tuple[Adjustable, ...]] = (
        Adjustable("rows", -1, whole=True, by_columns=True),
    )

    def __post_init__(self) -> None:
        check.integer("rows", self.rows, 2)
        check.choice("sampler", self.sampler, ("student", "wishart", "literal"))

    def law(self, data: Array) -> StudentT:
        return sketched_solution_law(data, self.rows)

    def zeroed_rows(self, data: Array) -> StudentRows:
        return sketched_solution_rows(data, self.rows)

    def prepare(self, data: Array) -> Sampler:
        law = self.law(data)  # also refuses data that have none, whatever the sampler
        if self.sampler == "literal":
            return lambda size, rng: _literal(data, self.rows, size, rng)
        return law.sample if self.sampler == "student" else _wishart_sampler(data, self.rows)


@dataclass(frozen=True)
class GaussianLS(LawMechanism):
    """The least-squares solution plus noise, x_opt + N(0, σ²I_p) (paper 1, propositions 1 and 2).

    Parameters
    ----------
    sigma : σ > 0; or
    epsilon, delta, sensitivity : σ = sensitivity·√(2 ln(1.25/δ))/ε (proposition 2).

    Output: (size, p). Raises `InvalidInput`, `DegenerateData`.
    """

    sigma: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    sensitivity: float | None = None
    summary: ClassVar[str] = "least squares plus Gaussian noise (paper 1, propositions 1 and 2)"
    adjustable: ClassVar[tuple[Adjustable, ...]] = (Adjustable("sigma"),)
    claimed: ClassVar[str] = "(ε, δ)-DP where both are given"

    def __post_init__(self) -> None:
        calibrated = (self.epsilon, self.delta, self.sensitivity)
        if (self.sigma is None) == any(part is None for part in calibrated) or (
            self.sigma is not None and any(part is not None for part in calibrated)
        ):
            fail(
                "sigma",
                self.sigma,
                "given, or else all of epsilon, delta and sensitivity (not both)",
            )
        for name in ("sigma", "epsilon", "sensitivity"):
            if getattr(self, name) is not None:
                check.real(name, getattr(self, name), 0.0, open_=True)
        if self.delta is not None:
            check.real("delta", self.delta, 0.0, 1.0, open_=True)

    @property
    def noise(self) -> float:
        """σ, given or calibrated."""
        if self.sigma is not None:
            return float(self.sigma)
        assert self.epsilon is not None
        assert self.delta is not None
        assert self.sensitivity is not None
        return self.sensitivity * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon

    @property
    def claim(self) -> Claim | None:
        return (
            None if self.epsilon is None or self.delta is None else Claim(self.epsilon, self.delta)
        )

    def law(self, data: Array) -> Gaussian:
        fit = least_squares(data)
        return Gaussian(fit.coef, np.eye(len(fit.coef)) / self.noise)

    def zeroed_rows(self, data: Array) -> ShiftRows:
        return ShiftRows(least_squares(data).displacement / self.noise)

    def adjusted(self, parameter: str, value: float) -> GaussianLS:
        """With another σ, which no longer comes from proposition 2."""
        return GaussianLS(**{parameter: value})

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        candidates = replacement.checked(data, candidates)
        return ShiftRows(
            replacement.solution_changes(least_squares(data), data, candidates) / self.noise
        )


@dataclass(frozen=True)
class RPLS(LawMechanism):
    """Random-projection least squares: ALS on the data padded with c₂·I (paper 1, figure 4, after
    Sheffet).

    Parameters
    ----------
    rows : r ≥ p + 1.
    epsilon, delta : c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε as printed; or
    padding : c₂ > 0 itself.
    row_bound : c₁, a public bound on the row norms; None reads max‖D_i‖ off the private data, as
        printed.

    Output: (size, p). Raises `InvalidInput`, `DegenerateData`.
    """

    rows: int
    epsilon: float | None = None
    delta: float | None = None
    padding: float | None = None
    row_bound: float | None = None
    summary: ClassVar[str] = "least squares on a Gaussian sketch of padded data (paper 1, figure 4)"
    adjustable: ClassVar[tuple[Adjustable, ...]] = (
        Adjustable("rows", -1, whole=True, by_columns=True),
    )
    claimed: ClassVar[str] = "(ε, δ)-DP where both are given"

    def __post_init__(self) -> None:
        check.integer("rows", self.rows, 2)
        calibrated = (self.epsilon, self.delta)
        if (self.padding is None) == any(part is None for part in calibrated) or (
            self.padding is not None
            and any(part is not None for part in (*calibrated, self.row_bound))
        ):
            fail("padding", self.padding, "given alone, or else epsilon and delta (not both)")
        for name in ("epsilon", "padding", "row_bound"):
            if getattr(self, name) is not None:
                check.real(name, getattr(self, name), 0.0, open_=True)
        if self.delta is not None:
            check.real("delta", self.delta, 0.0, 1.0, open_=True)

    @property
    def claim(self) -> Claim | None:
        return (
            None if self.epsilon is None or self.delta is None else Claim(self.epsilon, self.delta)
        )

    def adjustable_parameter(self, name: str | None) -> Adjustable:
        """`rows`, at a padding of the caller's choice: δ is not monotone in the padding.

        Padding shrinks leverages, but a row may come to explain more of the residuals. Raises
        `InvalidInput`.
        """
        if name in ("padding", "epsilon", "delta", "row_bound"):
            raise InvalidInput(
                f"parameter must be 'rows' for {self.name}, got {name!r}: δ of padded least squares is not monotone in "
                "the padding, so calibrate its rows at a padding of your choice"
            )
        if self.padding is None:
            fail(
                "mechanism",
                self,
                "an RPLS with `padding`, which by epsilon and delta would grow with the rows",
            )
        return super().adjustable_parameter(name)

    def pad(self, data: Array) -> float:
        """c₂ for these data."""
        if self.padding is not None:
            return float(self.padding)
        assert self.epsilon is not None
        assert self.delta is not None
        bound = float(_norms(data).max()) if self.row_bound is None else self.row_bound
        if bound < _norms(data).max() * (1.0 - 1e-12):
            fail("row_bound", bound, f"at least the largest row norm, {_norms(data).max():g}")
        return bound * math.sqrt(
            4.0 * (2.0 * self.rows + 1.0) * math.log(4.0 / self.delta) / self.epsilon
        )

    def padded(self, data: Array) -> Array:
        """[D; c₂I], shape (n + d, d)."""
        return padded(data, self.pad(data))

    def law(self, data: Array) -> StudentT:
        return sketched_solution_law(self.padded(data), self.rows)

    def zeroed_rows(self, data: Array) -> StudentRows:
        family = sketched_solution_rows(self.padded(data), self.rows)
        n = len(data)
        return StudentRows(
            family.leverage[:n], family.residual_share[:n], family.features, family.rows
        )

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """The row whose norm sets c₁ read off the data: without it the padding shrinks."""
        if self.padding is not None or self.row_bound is not None:
            return ()
        norms = _norms(data)
        largest = np.flatnonzero(norms == norms.max())
        return (int(largest[0]),) if len(largest) == 1 else ()


def _norms(data: Array) -> Array:
    return np.asarray(np.linalg.norm(data, axis=1))


def _sketch_dof(rows: int, features: int) -> int:
    if rows < features + 1:
        fail("rows", rows, f"at least features + 1 = {features + 1}")
    return rows - features + 1


def sketched_solution_law(data: Array, rows: int) -> StudentT:
    """ΠB and Πw are independent, so (ΠB)†Πb is Student t about x_opt with r − p + 1 degrees of
    freedom.
    """
    fit = least_squares(data)
    return StudentT(fit.coef, fit.factor.root / fit.norm, _sketch_dof(rows, len(fit.coef)))


def sketched_solution_rows(data: Array, rows: int) -> StudentRows:
    """Leverage and residual share of every row of the least-squares problem that is sketched."""
    fit = least_squares(data)
    _sketch_dof(rows, len(fit.coef))
    return StudentRows(fit.leverage, fit.residual_share, len(fit.coef), rows)


def _wishart_sampler(data: Array, rows: int) -> Sampler:
    """(ΠD)ᵀΠD = (UR)ᵀ(UR) with U upper triangular Bartlett, R the QR root of D: x̃ = x_opt +
    ‖w‖R₁₁⁻¹U₁₁⁻¹u₁₂.
    """
    fit = least_squares(data)
    features = len(fit.coef)
    turn = fit.norm * solve_triangular(fit.factor.root, np.eye(features)).T

    def sample(size: int, rng: np.random.Generator) -> Array:
        return fit.coef + _upper_solution(size, features, rows, rng) @ turn

    return sample


def _upper_solution(size: int, features: int, rows: int, rng: np.random.Generator) -> Array:
    """U₁₁⁻¹u₁₂ for UᵀU ~ Wishart(I, rows), by back substitution over the batch; shape (size,
    features).
    """
    upper = bartlett(size, features + 1, rows, rng).transpose(0, 2, 1)
    solution = np.empty((size, features))
    for i in range(features - 1, -1, -1):
        known = np.einsum("sj,sj->s", upper[:, i, i + 1 : features], solution[:, i + 1 :])
        solution[:, i] = (upper[:, i, features] - known) / upper[:, i, i]
    return solution


def _literal(data: Array, rows: int, size: int, rng: np.random.Generator) -> Array:
    return np.stack([_literal_draw(data, rows, rng) for _ in range(size)])


def _literal_draw(data: Array, rows: int, rng: np.random.Generator) -> Array:
    """Sketch in blocks of database rows, then solve: the algorithm box, line by line."""
    sketch = np.zeros((rows, data.shape[1]))
    step = max(1, LITERAL_BLOCK // rows)
    for start in range(0, len(data), step):
        part = data[start : start + step]
        sketch += rng.standard_normal((rows, len(part))) @ part
    solution: Any = np.linalg.lstsq(sketch[:, :-1], sketch[:, -1], rcond=None)[0]
    return np.asarray(solution)
