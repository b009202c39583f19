"""Generalised linear models by noisy Newton steps on cut rows: paper 2, algorithms 3, 4 and 5."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.data import shrunk
from dpaudit.papers.paper_2.noisy_newton import FAMILIES, Newton, NewtonAlgorithm
from dpaudit.papers.paper_2.printed import (
    algorithm_1_radius,
    algorithm_3_sigmas,
    algorithm_4_sigmas,
    algorithm_5_sigmas,
    theorem_4_3_radius,
)
from dpaudit.papers.paper_2.truncation import Moment, PublicAlgorithm, apart, inverse_root, whitened


@dataclass(frozen=True)
class PMTLR(NewtonAlgorithm, PublicAlgorithm):
    """DP-PMTLR, algorithm 3: logistic regression by T noisy Newton steps on whitened, cut rows.

    Rows are whitened by a public second moment. The loop "t = 0, …, T" makes T + 1 steps, but the
    output β^(T) needs only T. The claim holds and is loose: whatever the path, T steps together are
    at most μ-GDP. Labels are 0 and 1. Output: (size, d), or (size, T(d(d+1)/2 + d)).

    Parameters
    ----------
    mu : float > 0
        μ of the claim.
    steps : int ≥ 1, default 5
        Number of steps, T.
    eta : float in (0, 1), default 0.05
        η.
    ridge : float ≥ 0, default 0
        λ.
    public_rows : int
        How many first rows of the data are public; or `public_moment` is given.
    public_moment : array of shape (d, d), optional
        The public second moment of the features.
    variant : {"printed", "corrected"}, default "printed"
        The claim is true of both.
    release : {"coef", "statistics"}, default "coef"
        "coef", or "statistics" for the noisy Hessians and gradients of all steps.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    DegenerateData
        In a call, when the data leave the law undefined.
    """

    mu: float
    steps: int = 5
    eta: float = 0.05
    ridge: float = 0.0
    public_rows: int = 0
    public_moment: Moment | None = None
    variant: str = "printed"
    release: str = "coef"
    summary: ClassVar[str] = (
        "logistic regression by noisy Newton steps on whitened, cut rows (paper 2, algorithm 3)"
    )
    statement: ClassVar[str] = "algorithm 3 (DP-PMTLR)"
    correction: ClassVar[str] = (
        "σ₂ has √(d(1 + ln(2n/η))), as in the proof, where the algorithm has d(1 + ln(2n/η))"
    )

    def __post_init__(self) -> None:
        self.check_newton()
        self.check_public()

    def newton(self, data: Array) -> Newton:
        """The steps on the private rows, whitened and cut."""
        rows, root = _public_rows(self, data)
        dim, count = len(root), len(rows)
        first, second = algorithm_3_sigmas(dim, count, self.eta, self.mu, self.steps)
        if self.variant == "corrected":
            second /= algorithm_1_radius(dim, count, self.eta)
        _check_labels(rows, 0.0, 1.0)
        penalty = self.ridge * root @ root
        return Newton(rows, FAMILIES["logistic"], (first, second), self.steps, penalty, root)

    def pair(self) -> NeighbourPair:
        """A row at the radius, replaced by one nearly at right angles with another label.

        No other pair differs by more after one step.
        """
        return _public_pair(self, (0.0, 1.0), 0.125)


@dataclass(frozen=True)
class PMTGLM(NewtonAlgorithm, PublicAlgorithm):
    """DP-PMTGLM, algorithm 4: a generalised linear model by T noisy Newton steps, for ‖β‖ ≤ R_β.

    Rows are whitened and cut as in algorithm 3. The bounds of b' and b'' need ‖β‖ ≤ R_β, which is
    among the input but enforced by no line of the box; and M_{b'} is the largest b', not ``|b'|``.
    So √2·μ fails in two corners (class B of the findings): where b' grows (Poisson), and where it
    is negative (reflected) with a label of R_y. Labels −1 and 0 get exactly enough noise there.

    A step that overflows gives NaN. Output: (size, d), or (size, T(d(d+1)/2 + d)).

    Parameters
    ----------
    mu : float > 0
        μ of the claim.
    label_bound : float > 0
        R_y, ``|y|`` ≤ R_y.
    coef_bound : float > 0
        R_β.
    steps : int ≥ 1, default 5
        Number of steps, T.
    eta : float in (0, 1), default 0.05
        η.
    ridge : float ≥ 0, default 0
        λ.
    family : {"poisson", "logistic", "linear", "reflected"}, default "poisson"
        "linear" has b = θ²/2; "reflected" is minus a Bernoulli label, b = ln(1 + exp(−θ)).
    public_rows : int
        How many first rows of the data are public; or `public_moment` is given.
    public_moment : array of shape (d, d), optional
        The public second moment of the features.
    variant : {"printed", "corrected"}, default "printed"
        Which form of the algorithm.
    release : {"coef", "statistics"}, default "coef"
        "coef", or "statistics" for the noisy Hessians and gradients of all steps.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    DegenerateData
        In a call, when the data leave the law undefined.
    """

    mu: float
    label_bound: float
    coef_bound: float
    steps: int = 5
    eta: float = 0.05
    ridge: float = 0.0
    family: str = "poisson"
    public_rows: int = 0
    public_moment: Moment | None = None
    variant: str = "printed"
    release: str = "coef"
    summary: ClassVar[str] = (
        "generalised linear model by noisy Newton steps on whitened, cut rows "
        "(paper 2, algorithm 4)"
    )
    statement: ClassVar[str] = "algorithm 4 (DP-PMTGLM)"
    correction: ClassVar[str] = (
        "β is shrunk to norm R_β after each step, and M_{b'} is the largest |b'|"
    )

    def __post_init__(self) -> None:
        self.check_newton()
        check.choice("family", self.family, tuple(FAMILIES))
        for name in ("label_bound", "coef_bound"):
            check.real(name, getattr(self, name), 0.0, open_=True)
        self.check_public()

    def newton(self, data: Array) -> Newton:
        """The steps on the private rows, whitened and cut."""
        rows, root = _public_rows(self, data)
        _check_labels(rows, -self.label_bound, self.label_bound)
        corrected = self.variant == "corrected"
        reach = self.coef_bound if corrected else math.inf
        penalty, sigmas = self.ridge * root @ root, self._sigmas(len(root), len(rows))
        return Newton(rows, FAMILIES[self.family], sigmas, self.steps, penalty, root, reach)

    def _sigmas(self, dim: int, rows: int) -> tuple[float, float]:
        span = self.coef_bound * algorithm_1_radius(dim, rows, self.eta)
        slope, size, curvature = FAMILIES[self.family].largest(span)
        if not math.isfinite(curvature):
            fail("coef_bound", self.coef_bound, "small enough that b'' is finite up to R_β·R")
        return algorithm_4_sigmas(
            dim,
            rows,
            self.eta,
            self.mu,
            self.steps,
            label_bound=self.label_bound,
            slope=size if self.variant == "corrected" else slope,
            curvature=curvature,
        )

    def pair(self) -> NeighbourPair:
        """Opposite rows at the radius with the same label: 0 for counts, R_y for other families.

        The mean of counts leaves its bounds.
        """
        label = 0.0 if self.family == "poisson" else self.label_bound
        return _public_pair(self, (label, label), -1.0)


@dataclass(frozen=True)
class DPLR(NewtonAlgorithm):
    """DP-LR: logistic regression by T noisy Newton steps on rows cut at √(Tr(Σ) + d ln(n/η)).

    Algorithm 5 (appendix C.5) with theorem 5.4. Tr(Σ) is a public input. The claim holds for n ≥ 2
    and is loose: the radius is above 1/√2 then, and σ₂ has its square. Labels are 0 and 1. Output:
    (size, d), or (size, T(d(d+1)/2 + d)).

    Parameters
    ----------
    mu : float > 0
        μ of the claim.
    trace : float ≥ 0
        Tr(Σ).
    steps : int ≥ 1, default 5
        Number of steps, T.
    eta : float in (0, 1), default 0.05
        η.
    ridge : float ≥ 0, default 0
        λ.
    variant : {"printed", "corrected"}, default "printed"
        For n ≥ 2 the claim is true of both.
    release : {"coef", "statistics"}, default "coef"
        "coef", or "statistics" for the noisy Hessians and gradients of all steps.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    """

    mu: float
    trace: float
    steps: int = 5
    eta: float = 0.05
    ridge: float = 0.0
    variant: str = "printed"
    release: str = "coef"
    summary: ClassVar[str] = (
        "logistic regression by noisy Newton steps on cut rows (paper 2, algorithm 5)"
    )
    statement: ClassVar[str] = "algorithm 5 (DP-LR)"
    correction: ClassVar[str] = "σ₂ has the radius where the algorithm has its square"

    def __post_init__(self) -> None:
        self.check_newton()
        check.real("trace", self.trace, 0.0)

    def newton(self, data: Array) -> Newton:
        """The steps on the cut rows."""
        n, dim = len(data), data.shape[1] - 1
        reach = theorem_4_3_radius(self.trace, dim, n, self.eta)
        first, second = algorithm_5_sigmas(self.trace, dim, n, self.eta, self.mu, self.steps)
        if self.variant == "corrected":
            second /= reach
        _check_labels(data, 0.0, 1.0)
        rows, unit = np.hstack([shrunk(data[:, :-1], reach), data[:, -1:]]), np.eye(dim)
        penalty = self.ridge * unit
        return Newton(rows, FAMILIES["logistic"], (first, second), self.steps, penalty, unit)

    def pair(self) -> NeighbourPair:
        """A row at the radius, replaced by one nearly at right angles with another label."""
        others = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        reach = theorem_4_3_radius(self.trace, 2, 3, self.eta)
        u, v = apart(0.125, 2)
        others[2, :2] = reach * u
        return replace_row(others, 2, np.append(reach * v, 0.0))


def _public_rows(algorithm: PublicAlgorithm, data: Array) -> tuple[Array, Array]:
    """Private rows with the features whitened and cut, (n, d + 1), and Σ̂^{−1/2}, (d, d)."""
    moment, private = algorithm.parts(data)
    root = inverse_root(moment[:-1, :-1] if algorithm.public_moment is None else moment)
    features = whitened(private[:, :-1], root, len(private), algorithm.eta)
    return np.hstack([features, private[:, -1:]]), root


def _public_pair(
    algorithm: PublicAlgorithm, labels: tuple[float, float], cosine: float
) -> NeighbourPair:
    """A row at the radius, replaced by one at that cosine to it; the other rows are zeros."""
    public, root = algorithm.frame()
    public = np.hstack([public, np.full((len(public), 1), labels[0])])
    dim = len(root)
    reach = algorithm_1_radius(dim, dim + 1, algorithm.eta)
    u, v = (
        np.append(reach * one @ root, label)
        for one, label in zip(apart(cosine, dim), labels, strict=True)
    )
    return replace_row(np.vstack([public, np.zeros((dim, dim + 1)), u]), len(public) + dim, v)


def _check_labels(rows: Array, low: float, high: float) -> None:
    """Raises `InvalidInput` for a label, the last column, outside [low, high]."""
    label = rows[:, -1]
    if label.min() < low or label.max() > high:
        fail("data", Words("a label outside"), f"a label in [{low:g}, {high:g}] in each row")
