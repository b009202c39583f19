"""Private least squares by a sketch (ALS), by output noise (GaussianLS) or a padded sketch (RPLS).

B is the (n, p) matrix of features, b the label column, and D = [B, b] the data, (n, d) with
d = p + 1. x_opt is the least-squares solution, and w = b − B·x_opt the residuals.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.linalg import LeastSquares, least_squares, padded
from dpaudit._core.types import Adjustable, Array
from dpaudit._core.value import value_class
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.laws import Gaussian, ReplacedStudentRows, ShiftRows, StudentRows, StudentT
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism, Sampler
from dpaudit.mechanisms.parameters import BelowOne, Positive, at_least, one_of

SketchRows = Annotated[int, at_least(2)]
LITERAL_BLOCK = 1 << 22  # entries of the sketching matrix that the literal sampler holds at once


class SketchedSolution(LawMechanism):
    """Release the least-squares solution of Π·problem(data), Π an (r, n) standard normal matrix.

    r = `rows`. Π times the features and Π times the residuals are independent, so the output has a
    multivariate Student t law about the exact solution, with r − p + 1 degrees of freedom.
    """

    regression = True
    zero_rows_matter = False
    no_added_row = (
        "no worst row within a bound that is proved: no row has both the largest leverage and the "
        "largest residual share, and no order of the rows in between is proved"
    )
    adjustable = (Adjustable("rows", -1, whole=True, by_columns=True),)

    rows: int

    def problem(self, data: Array) -> Array:
        """The matrix that is sketched, with the label last; its first n rows are the data."""
        raise NotImplementedError

    def fit(self, data: Array) -> LeastSquares:
        """Least squares on `problem(data)`. Raises `InvalidInput` for too few sketch rows."""
        fit = least_squares(self.problem(data))
        least = len(fit.coef) + 1
        if self.rows < least:
            fail("rows", self.rows, f"at least features + 1 = {least}")
        return fit

    def law(self, data: Array) -> StudentT:
        fit = self.fit(data)
        return StudentT(fit.coef, fit.factor.root / fit.norm, self.rows - len(fit.coef) + 1)

    def zeroed_rows(self, data: Array) -> StudentRows:
        fit = self.fit(data)
        shares = fit.leverage, fit.residual_share, fit.factor.room, fit.share_room
        leverage, share, room, share_room = (values[: len(data)] for values in shares)
        return StudentRows(leverage, share, room, share_room, len(fit.coef), self.rows)

    def replaced_rows(self, data: Array, candidates: Array) -> ReplacedStudentRows:
        """The pairs for every row and candidate, by how they change eigenvalues of DᵀD and BᵀB.

        They are computed in an orthonormal basis of the columns of [B, b] whose last axis is the
        residual w. The last coordinate of a candidate is its residual over ‖w‖, and its other
        coordinates are those of its features in the basis of B.
        """
        candidates = replacement.check_candidates(data, candidates)
        fit = self.fit(data)
        features = len(fit.coef)
        label = candidates[:, -1] - candidates[:, :-1] @ fit.coef
        new = replacement.whitened(fit.factor, candidates[:, :-1])
        new = np.column_stack([new, label / fit.norm])
        old = np.column_stack([fit.factor.basis, fit.residual / fit.norm])[: len(data)]

        def changes(columns: int) -> Array:
            return replacement.over_pairs(
                data[:, :columns],
                candidates[:, :columns],
                lambda some: replacement.eigenvalue_changes(old[some, :columns], new[:, :columns]),
            )

        (up, down), (inner_up, inner_down) = changes(features + 1), changes(features)
        return ReplacedStudentRows(up, down, inner_up, inner_down, features, self.rows)


@value_class(show_numbers=True, eq=True)
class ALS(SketchedSolution):
    """Approximate least squares: release x̃ = (ΠB)†Πb with Π an r × n standard normal matrix.

    Output: (size, p). Source: paper 1, figure 1; Sarlós 2006.

    rows : r ≥ p + 1, the number of sketch rows. sampler : how a draw is made; both have the same
    law. "student" draws from the exact law with O(p) random numbers, and "literal" runs the
    algorithm as printed with r·n.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> data = np.column_stack([np.ones(6), np.arange(6.0), np.arange(6.0) ** 2])  # label last
    >>> dp.mechanisms.ALS(rows=20)(data, 4, rng=np.random.default_rng(0)).shape
    (4, 2)
    """

    rows: SketchRows
    sampler: Annotated[str, one_of("student", "literal")] = "student"
    summary = "approximate least squares on a Gaussian sketch (paper 1, figure 1)"

    def problem(self, data: Array) -> Array:
        return data

    def prepare(self, data: Array) -> Sampler:
        law = self.law(data)  # raises for data without a law, whichever sampler is used
        if self.sampler == "student":
            return law.sample
        step = max(1, LITERAL_BLOCK // self.rows)
        parts = [data[start : start + step] for start in range(0, len(data), step)]

        def sample(size: int, rng: np.random.Generator) -> Array:
            solutions = []
            for _ in range(size):
                sketch = np.zeros((self.rows, data.shape[1]))
                for part in parts:
                    sketch += rng.standard_normal((self.rows, len(part))) @ part
                solutions.append(np.linalg.lstsq(sketch[:, :-1], sketch[:, -1], rcond=None)[0])
            return np.array(solutions)

        return sample


@value_class(show_numbers=True, eq=True)
class GaussianLS(LawMechanism):
    """Release the least-squares solution with noise, x_opt + N(0, σ²I_p).

    Output: (size, p). Source: paper 1, propositions 1 and 2. The law is defined even if the
    features fit the label exactly, since the noise does not depend on the residuals.

    sigma : σ > 0; pass either this or the other three parameters. epsilon, delta, sensitivity :
    > 0, in nats, in (0, 1), and > 0, in Euclidean norm. The noise is then
    σ = sensitivity·√(2 ln(1.25/δ))/ε (proposition 2).
    """

    sigma: Positive | None = None
    epsilon: Positive | None = None
    delta: BelowOne | None = None
    sensitivity: Positive | None = None
    regression = True
    zero_rows_matter = False
    summary = "least squares plus Gaussian noise (paper 1, propositions 1 and 2)"
    adjustable = (Adjustable("sigma"),)
    claimed = "(ε, δ)-DP where both are given"

    def __post_init__(self) -> None:
        calibrated = [value is None for value in (self.epsilon, self.delta, self.sensitivity)]
        if any(calibrated) if self.sigma is None else not all(calibrated):
            expected = "given, or else all of epsilon, delta and sensitivity (not both)"
            fail("sigma", self.sigma, expected)
        super().__post_init__()

    @property
    def noise(self) -> float:
        """The standard deviation σ: `sigma`, or that of proposition 2."""
        if self.sigma is not None:
            return float(self.sigma)
        assert self.epsilon
        assert self.delta
        assert self.sensitivity
        return self.sensitivity * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon

    @property
    def claim(self) -> Claim | None:
        if self.epsilon is None or self.delta is None:
            return None
        return Claim(self.epsilon, self.delta)

    def law(self, data: Array) -> Gaussian:
        fit = least_squares(data, exact=True)
        return Gaussian(fit.coef, np.eye(len(fit.coef)) / self.noise)

    def zeroed_rows(self, data: Array) -> ShiftRows:
        return ShiftRows(least_squares(data, exact=True).displacement / self.noise)

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        candidates = replacement.check_candidates(data, candidates)
        change = replacement.solution_changes(least_squares(data, exact=True), data, candidates)
        return ShiftRows(change / self.noise)

    def adjusted(self, parameter: str, value: float) -> GaussianLS:
        """A copy with another σ, which has no claim since σ no longer comes from proposition 2."""
        return GaussianLS(**{parameter: value})


@value_class(show_numbers=True, eq=True)
class RPLS(SketchedSolution):
    """Random-projection least squares: run ALS on the data with the rows c₂·I appended.

    Output: (size, p). Source: paper 1, figure 4, after Sheffet.

    rows : r ≥ p + 1, the number of sketch rows. epsilon, delta : > 0, in nats, and in (0, 1). The
    padding is then c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε, as printed. padding : c₂ > 0 itself, instead
    of `epsilon` and `delta`. row_bound : a public bound c₁ > 0 on the row norms. If it is None, c₁
    is the largest row norm of the private data, as printed.
    """

    rows: SketchRows
    epsilon: Positive | None = None
    delta: BelowOne | None = None
    padding: Positive | None = None
    row_bound: Positive | None = None
    summary = "least squares on a Gaussian sketch of padded data (paper 1, figure 4)"
    claimed = "(ε, δ)-DP where both are given"

    def __post_init__(self) -> None:
        missing = [value is None for value in (self.epsilon, self.delta, self.row_bound)]
        if any(missing[:2]) if self.padding is None else not all(missing):
            fail("padding", self.padding, "given alone, or else epsilon and delta (not both)")
        super().__post_init__()

    @property
    def claim(self) -> Claim | None:
        return (
            None if self.epsilon is None or self.delta is None else Claim(self.epsilon, self.delta)
        )

    def adjustable_parameter(self, name: str | None) -> Adjustable:
        """The parameter `rows`, if `padding` was passed.

        δ is not monotone in the padding: more padding shrinks leverages, but it may increase the
        share of the residuals that one row explains.
        """
        if name in ("padding", "epsilon", "delta", "row_bound"):
            raise InvalidInput(
                f"parameter must be 'rows' for {self.name}, got {name!r}: δ of padded least "
                "squares is not monotone in the padding, so calibrate its rows at a padding of "
                "your choice"
            )
        if self.padding is None:
            expected = "an RPLS with `padding`, which by epsilon and delta would grow with the rows"
            fail("mechanism", self, expected)
        return super().adjustable_parameter(name)

    def pad(self, data: Array) -> float:
        """The padding for these data. Raises `InvalidInput` for a row beyond `row_bound`."""
        if self.padding is not None:
            return float(self.padding)
        assert self.epsilon
        assert self.delta
        largest = np.linalg.norm(data, axis=1).max()
        bound = float(largest) if self.row_bound is None else self.row_bound
        if bound < largest * (1.0 - 1e-12):
            fail("row_bound", bound, "at least the largest row norm")
        return bound * math.sqrt(
            4.0 * (2.0 * self.rows + 1.0) * math.log(4.0 / self.delta) / self.epsilon
        )

    def problem(self, data: Array) -> Array:
        return padded(data, self.pad(data))

    def replaced_rows(self, data: Array, candidates: Array) -> ReplacedStudentRows:
        if self.padding is None and self.row_bound is None:
            raise NoExactSpectrum(
                f"{self.name} without padding or row_bound pads by the longest row of the data, "
                "which a replacement may change: give one of them, or use dpaudit.exact.spectrum "
                "on one pair"
            )
        self.pad(replacement.check_candidates(data, candidates))
        return super().replaced_rows(data, candidates)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """The index of the longest row if its norm is c₁, since zeroing it shrinks the padding."""
        if self.padding is not None or self.row_bound is not None:
            return ()
        norms = np.linalg.norm(data, axis=1)
        largest = np.flatnonzero(norms == norms.max())
        return (int(largest[0]),) if len(largest) == 1 else ()
