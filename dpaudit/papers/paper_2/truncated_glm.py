"""Generalised linear models by noisy Newton steps on cut rows: paper 2, algorithms 3, 4 and 5."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.algorithm import shrunk
from dpaudit.papers.paper_2.newton import FAMILIES, Newton, NewtonAlgorithm
from dpaudit.papers.paper_2.truncation import Moment, PublicAlgorithm, apart, inverse_root, whitened


@dataclass(frozen=True)
class PMTLR(NewtonAlgorithm, PublicAlgorithm):
    """DP-PMTLR: logistic regression by T noisy Newton steps on rows whitened by a public second
    moment and cut.

    Algorithm 3. The loop "t = 0, …, T" makes T + 1 steps, and β^(T), which T of them lead to, is
    the output. The claim holds and is loose: whatever the path, T steps are together μ-GDP at most.

    Parameters
    ----------
    mu : μ > 0. steps : T ≥ 1. eta : η in (0, 1). ridge : λ ≥ 0.
    public_rows : how many first rows of the data are public; or
    public_moment : (d, d), the public second moment of the features.
    variant : "printed" or "corrected" (the claim is true of both).
    release : "coef", or "statistics" for the noisy Hessians and gradients of all steps.

    Labels are 0 and 1. Output: (size, d), or (size, T(d(d+1)/2 + d)). Raises `InvalidInput`,
    `DegenerateData`.
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
    box: ClassVar[str] = "algorithm 3 (DP-PMTLR)"
    correction: ClassVar[str] = (
        "σ₂ has √(d(1 + ln(2n/η))), as in the proof, where the box has d(1 + ln(2n/η))"
    )

    def __post_init__(self) -> None:
        self.check_newton()
        self.check_public()

    def newton(self, data: Array) -> Newton:
        from dpaudit.papers import printed

        rows, root = _public_rows(self, data)
        dim, count = len(root), len(rows)
        first, second = printed.algorithm_3_sigmas(dim, count, self.eta, self.mu, self.steps)
        if self.variant == "corrected":
            second /= printed.algorithm_1_radius(dim, count, self.eta)
        _labels(rows, 0.0, 1.0)
        penalty = self.ridge * root @ root
        return Newton(rows, FAMILIES["logistic"], (first, second), self.steps, penalty, root)

    def pair(self) -> NeighbourPair:
        """Rows at the radius, nearly at right angles, with different labels: the most that one step
        can tell.
        """
        return _public_pair(self, (0.0, 1.0), 0.125)


@dataclass(frozen=True)
class PMTGLM(NewtonAlgorithm, PublicAlgorithm):
    """DP-PMTGLM: a generalised linear model by T noisy Newton steps on whitened, cut rows, noise
    for ‖β‖ ≤ R_β.

    Algorithm 4. No step keeps ‖β‖ ≤ R_β, for which b' and b'' are bounded, and M_{b'} is the
    largest b', not |b'|: where b' grows (Poisson) or is negative (reflected) no √2·μ holds.

    Parameters
    ----------
    mu : μ > 0. label_bound : R_y > 0, |y| ≤ R_y. coef_bound : R_β > 0. steps : T ≥ 1. eta : η in
        (0, 1). ridge : λ ≥ 0.
    family : "poisson", "logistic", "linear" (b = θ²/2) or "reflected" (minus a Bernoulli label, b =
        ln(1 + exp(−θ))).
    public_rows : how many first rows of the data are public; or
    public_moment : (d, d), the public second moment of the features.
    variant : "printed" or "corrected".
    release : "coef", or "statistics" for the noisy Hessians and gradients of all steps.

    A step that overflows gives NaN. Output: (size, d), or (size, T(d(d+1)/2 + d)). Raises
    `InvalidInput`, `DegenerateData`.
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
        "generalised linear model by noisy Newton steps on whitened, cut rows (paper 2, algorithm 4)"
    )
    box: ClassVar[str] = "algorithm 4 (DP-PMTGLM)"
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
        from dpaudit.papers import printed

        rows, root = _public_rows(self, data)
        _labels(rows, -self.label_bound, self.label_bound)
        family, corrected = FAMILIES[self.family], self.variant == "corrected"
        span = self.coef_bound * printed.algorithm_1_radius(len(root), len(rows), self.eta)
        slope, size, curve = family.largest(span)
        if not math.isfinite(curve):
            fail(
                "coef_bound", self.coef_bound, "small enough that b'' is finite where it bounds it"
            )
        sigmas = printed.algorithm_4_sigmas(
            len(root),
            len(rows),
            self.eta,
            self.mu,
            self.steps,
            self.label_bound,
            size if corrected else slope,
            curve,
        )
        reach = self.coef_bound if corrected else math.inf
        return Newton(rows, family, sigmas, self.steps, self.ridge * root @ root, root, reach)

    def pair(self) -> NeighbourPair:
        """Opposite rows at the radius with one label: 0 for counts, whose mean leaves its bounds,
        and else R_y.
        """
        label = 0.0 if self.family == "poisson" else self.label_bound
        return _public_pair(self, (label, label), -1.0)


@dataclass(frozen=True)
class DPLR(NewtonAlgorithm):
    """DP-LR: logistic regression by T noisy Newton steps on rows cut at √(Tr(Σ) + d ln(n/η)).

    Algorithm 5 (appendix C.5) with theorem 5.4. Without `trace`, Tr(Σ̂) is read off the private
    data as remark 4.4 does for lack of Σ: one long row then changes the noise, and no μ holds.

    Parameters
    ----------
    mu : μ > 0. steps : T ≥ 1. eta : η in (0, 1). ridge : λ ≥ 0.
    trace : Tr(Σ) ≥ 0, public; None reads it off the private data.
    variant : "printed" or "corrected".
    release : "coef", or "statistics" for the noisy Hessians and gradients of all steps.

    Labels are 0 and 1. Output: (size, d), or (size, T(d(d+1)/2 + d)). Raises `InvalidInput`.
    """

    mu: float
    steps: int = 5
    eta: float = 0.05
    ridge: float = 0.0
    trace: float | None = None
    variant: str = "printed"
    release: str = "coef"
    summary: ClassVar[str] = (
        "logistic regression by noisy Newton steps on cut rows (paper 2, algorithm 5)"
    )
    box: ClassVar[str] = "algorithm 5 (DP-LR)"
    correction: ClassVar[str] = (
        "σ₂ has the radius where the box has its square, and Tr(Σ) must be given"
    )

    def __post_init__(self) -> None:
        self.check_newton()
        if self.trace is not None:
            check.real("trace", self.trace, 0.0)
        elif self.variant == "corrected":
            fail("trace", None, "given for variant='corrected', which takes it as public")

    def newton(self, data: Array) -> Newton:
        from dpaudit.papers import printed

        dim = data.shape[1] - 1
        trace = float(np.sum(data[:, :-1] ** 2)) / len(data) if self.trace is None else self.trace
        reach = printed.theorem_4_3_radius(trace, dim, len(data), self.eta)
        first, second = printed.algorithm_5_sigmas(
            trace, dim, len(data), self.eta, self.mu, self.steps
        )
        if self.variant == "corrected":
            second /= reach
        _labels(data, 0.0, 1.0)
        rows = np.hstack([shrunk(data[:, :-1], reach), data[:, -1:]])
        return Newton(
            rows,
            FAMILIES["logistic"],
            (first, second),
            self.steps,
            self.ridge * np.eye(dim),
            np.eye(dim),
        )

    def pair(self) -> NeighbourPair:
        """With a public trace, rows at the radius nearly at right angles; without, one of 2000
        becomes a long one.
        """
        if self.trace is None:
            axis, one = (
                np.tile(np.eye(2), (1000, 1)),
                np.tile([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0], 250),
            )
            data = np.column_stack([axis, one])
            return replace_row(data, 0, [1e4, 0.0, 1.0])
        from dpaudit.papers import printed

        others = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        reach = printed.theorem_4_3_radius(self.trace, 2, 3, self.eta)
        u, v = apart(0.125, 2)
        others[2, :2] = reach * u
        return replace_row(others, 2, np.append(reach * v, 0.0))


def _public_rows(algorithm: PublicAlgorithm, data: Array) -> tuple[Array, Array]:
    """Private rows whitened and cut, (n, d + 1), label as it is, and Σ̂^{−1/2}."""
    moment, private = algorithm.parts(data)
    root = inverse_root(moment[:-1, :-1] if algorithm.public_moment is None else moment)
    features = whitened(private[:, :-1], root, len(private), algorithm.eta)
    return np.hstack([features, private[:, -1:]]), root


def _public_pair(
    algorithm: PublicAlgorithm, labels: tuple[float, float], cosine: float
) -> NeighbourPair:
    """A row at the radius and one at that cosine to it, beside rows of zeros."""
    from dpaudit.papers import printed

    public, root = algorithm.frame()
    public = np.hstack([public, np.full((len(public), 1), labels[0])])
    dim = len(root)
    reach = printed.algorithm_1_radius(dim, dim + 1, algorithm.eta)
    u, v = (
        np.append(reach * one @ root, label)
        for one, label in zip(apart(cosine, dim), labels, strict=True)
    )
    return replace_row(np.vstack([public, np.zeros((dim, dim + 1)), u]), len(public) + dim, v)


def _labels(rows: Array, low: float, high: float) -> None:
    label = rows[:, -1]
    if label.min() < low or label.max() > high:
        fail(
            "data",
            f"labels from {label.min():g} to {label.max():g}",
            f"a label in [{low:g}, {high:g}] in each row",
        )
