"""Private least squares by a sketch (ALS), output noise (GaussianLS) or a padded sketch (RPLS)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import fail
from dpaudit._core.linalg import LeastSquares, least_squares, padded
from dpaudit._core.types import Adjustable, Array
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.laws import Gaussian, ReplacedStudentRows, ShiftRows, StudentRows, StudentT, bartlett
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism, Sampler
from dpaudit.mechanisms.parameters import BelowOne, Positive, at_least, one_of

SketchRows = Annotated[int, at_least(2)]
LITERAL_BLOCK = 1 << 22  # numbers of the sketching matrix that the literal sampler holds at a time


class SketchedSolution(LawMechanism):
    """The least-squares solution of a Gaussian sketch of r = `rows` rows of `problem(data)`.

    Π times the features and Π times the residual are independent, so the law is Student t about the
    solution, with r − p + 1 degrees of freedom.
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
        """The matrix that is sketched, label last; its first rows are those of the data."""
        raise NotImplementedError

    def fit(self, data: Array) -> LeastSquares:
        """Least squares of the problem. Raises `InvalidInput` for a sketch of too few rows."""
        fit = least_squares(self.problem(data))
        least = len(fit.coef) + 1
        if self.rows < least:
            fail("rows", self.rows, f"at least features + 1 = {least}")
        return fit

    def law(self, data: Array) -> StudentT:
        """Student t about the least-squares solution of the problem."""
        fit = self.fit(data)
        return StudentT(fit.coef, fit.factor.root / fit.norm, self.rows - len(fit.coef) + 1)

    def zeroed_rows(self, data: Array) -> StudentRows:
        """Leverage and residual share of each row of the data in the problem."""
        fit = self.fit(data)
        shares = fit.leverage, fit.residual_share, fit.factor.room, fit.share_room
        leverage, share, room, share_room = (values[: len(data)] for values in shares)
        return StudentRows(leverage, share, room, share_room, len(fit.coef), self.rows)

    def replaced_rows(self, data: Array, candidates: Array) -> ReplacedStudentRows:
        """The changes of eigenvalues for each pair of a row and a candidate.

        In the coordinates of an orthonormal basis of [B, b] whose last axis is the residual w, the
        label of a candidate is its own residual over ‖w‖, and the other coordinates are those of B.
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


@dataclass(frozen=True)
class ALS(SketchedSolution):
    """Approximate least squares, x̃ = (ΠB)†Πb with Π an r × n standard normal matrix.

    Output: (size, p). Source: paper 1, figure 1; Sarlós 2006.

    Parameters
    ----------
    rows : int
        r ≥ p + 1, number of sketch rows.
    sampler : {"student", "wishart", "literal"}, default "student"
        Three routes to one law: "student" (the exact law, O(p) numbers a draw), "wishart" (Bartlett
        factors of (ΠD)ᵀΠD, O(d²)) or "literal" (the algorithm as printed, r·n numbers).

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> data = np.column_stack([np.ones(6), np.arange(6.0), np.arange(6.0) ** 2])  # label last
    >>> dp.mechanisms.ALS(rows=20)(data, 4, rng=np.random.default_rng(0)).shape
    (4, 2)
    """

    rows: SketchRows
    sampler: Annotated[str, one_of("student", "wishart", "literal")] = "student"
    summary = "approximate least squares on a Gaussian sketch (paper 1, figure 1)"

    def problem(self, data: Array) -> Array:
        return data

    def prepare(self, data: Array) -> Sampler:
        law = self.law(data)  # with any sampler this refuses data on which the law is not defined
        if self.sampler == "student":
            return law.sample
        if self.sampler == "wishart":
            return self._wishart_sampler(data)
        return lambda size, rng: np.stack([self._literal_draw(data, rng) for _ in range(size)])

    def _wishart_sampler(self, data: Array) -> Sampler:
        """Draws from Bartlett factors of (ΠD)ᵀΠD.

        (ΠD)ᵀΠD = (UR)ᵀ(UR) with U an upper triangular Bartlett factor and R the QR root of D, so
        x̃ = x_opt + ‖w‖R₁₁⁻¹z, where U₁₁z = u₁₂ is solved by back substitution in all draws at once.
        """
        fit = self.fit(data)
        features = len(fit.coef)
        to_scale = fit.norm * solve_triangular(fit.factor.root, np.eye(features)).T

        def sample(size: int, rng: np.random.Generator) -> Array:
            upper = bartlett(size, features + 1, self.rows, rng).transpose(0, 2, 1)
            z = np.empty((size, features))
            for i in range(features - 1, -1, -1):
                solved = np.einsum("sj,sj->s", upper[:, i, i + 1 : features], z[:, i + 1 :])
                z[:, i] = (upper[:, i, features] - solved) / upper[:, i, i]
            return fit.coef + z @ to_scale

        return sample

    def _literal_draw(self, data: Array, rng: np.random.Generator) -> Array:
        """Sketch the data, in blocks of its rows, and solve the sketched problem."""
        sketch = np.zeros((self.rows, data.shape[1]))
        step = max(1, LITERAL_BLOCK // self.rows)
        for start in range(0, len(data), step):
            part = data[start : start + step]
            sketch += rng.standard_normal((self.rows, len(part))) @ part
        return np.asarray(np.linalg.lstsq(sketch[:, :-1], sketch[:, -1], rcond=None)[0])


@dataclass(frozen=True)
class GaussianLS(LawMechanism):
    """The least-squares solution plus noise, x_opt + N(0, σ²I_p) (paper 1, propositions 1 and 2).

    Output: (size, p). A label that the features fit exactly does not leave the law undefined, since
    all noise comes from σ.

    Parameters
    ----------
    sigma : float > 0, optional
        σ. Give either this, or the others.
    epsilon, delta, sensitivity : float > 0, nats, float in (0, 1) and float > 0, optional
        They give σ = sensitivity·√(2 ln(1.25/δ))/ε (proposition 2), where the sensitivity of the
        solution is in Euclidean norm.
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
        """The standard deviation σ, as passed or as calibrated."""
        if self.sigma is not None:
            return float(self.sigma)
        assert self.epsilon
        assert self.delta
        assert self.sensitivity
        return self.sensitivity * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon

    @property
    def claim(self) -> Claim | None:
        """(ε, δ)-DP where σ is calibrated to it."""
        return (
            None if self.epsilon is None or self.delta is None else Claim(self.epsilon, self.delta)
        )

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
        """With another σ, which no longer comes from proposition 2."""
        return GaussianLS(**{parameter: value})


@dataclass(frozen=True)
class RPLS(SketchedSolution):
    """Random-projection least squares: ALS on the data padded with c₂·I.

    Output: (size, p). Source: paper 1, figure 4, after Sheffet.

    Parameters
    ----------
    rows : int
        r ≥ p + 1.
    epsilon, delta : float > 0, nats, and float in (0, 1), optional
        They give c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε as printed.
    padding : float > 0, optional
        c₂ itself, instead of `epsilon` and `delta`.
    row_bound : float > 0, optional
        c₁, a public bound on the row norms. With None it is max‖D_i‖ of the private data, as
        printed.
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
        """(ε, δ)-DP where the padding is calibrated to it."""
        return (
            None if self.epsilon is None or self.delta is None else Claim(self.epsilon, self.delta)
        )

    def adjustable_parameter(self, name: str | None) -> Adjustable:
        """`rows`, at a padding of the caller's choice. Raises `InvalidInput`.

        δ is not monotone in the padding: more padding shrinks leverages, but a row may come to
        explain more of the residuals.
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
        """c₂ for these data. Raises `InvalidInput` when a row is longer than `row_bound`."""
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
        """[D; c₂I], shape (n + d, d)."""
        return padded(data, self.pad(data))

    def replaced_rows(self, data: Array, candidates: Array) -> ReplacedStudentRows:
        """The changes at one padding.

        Raises `NoExactSpectrum` where the padding is read off the data, so that replacing a row may
        change it, and `InvalidInput` for a candidate longer than `row_bound`.
        """
        if self.padding is None and self.row_bound is None:
            raise NoExactSpectrum(
                f"{self.name} without padding or row_bound pads by the longest row of the data, "
                "which a replacement may change: give one of them, or use dpaudit.exact.spectrum "
                "on one pair"
            )
        self.pad(replacement.check_candidates(data, candidates))
        return super().replaced_rows(data, candidates)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """The longest row, where c₁ is its norm: without it the padding shrinks."""
        if self.padding is not None or self.row_bound is not None:
            return ()
        norms = np.linalg.norm(data, axis=1)
        largest = np.flatnonzero(norms == norms.max())
        return (int(largest[0]),) if len(largest) == 1 else ()
