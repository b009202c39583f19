"""Paper 4: paddings of its sketches and of inverse Wishart draws, theorems and algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpaudit import mechanisms
from dpaudit.exact import spectrum
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers import printed
from reports.make.findings.finding import Evidence, Finding, asked, claimed
from reports.make.findings.measures import SMALL_DELTAS, least, sketch

Padding = Callable[[float, int, float, float], float]
ROWS, DELTAS = (1, 2, 10, 100, 1000, 100_000, 10_000_000), (0.36, 0.3, 1e-2, 1e-5, 1e-10)
SWAP = NeighbourPair(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), "replace", 0)
EPSILONS = (0.01, 0.1, 1.0, 5.0, 20.0, 100.0, 140.0, 160.0, 290.0, 310.0, 400.0)


def _hides(padding: Padding) -> Callable[[int, float, float], Evidence]:
    """δ of a sketch of r rows with w·I appended, for the worst data.

    These are a row of norm B beside nothing else.
    """

    def test(rows: int, epsilon: float, delta: float) -> Evidence:
        square = padding(1.0, rows, epsilon, delta) ** 2
        return claimed(
            delta, sketch(1.0 / (1.0 + square), rows, epsilon), at=f"so w² = {square:.4g} B²"
        )

    return test


def _hides_swap(padding: Padding) -> Callable[[int, float, float], Evidence]:
    """The paper's own neighbours: the row (B, 0) replaced by (0, B), with w·I appended to both."""

    def test(rows: int, epsilon: float, delta: float) -> Evidence:
        size = padding(1.0, rows, epsilon, delta)
        noisy = mechanisms.RandomProjection(rows, padding=size)
        return claimed(
            delta, float(spectrum(noisy, SWAP, epsilon).delta), at=f"so w² = {size**2:.4g} B²"
        )

    return test


def _given(padding: Padding) -> Callable[[int, float, float], Evidence]:
    """The theorem to the letter: σ_min(A) ≥ w of the given A, which contains the row.

    So q = min(1, B²/w²).
    """

    def test(rows: int, epsilon: float, delta: float) -> Evidence:
        square = padding(1.0, rows, epsilon, delta) ** 2
        leak = 1.0 if square <= 1.0 else sketch(1.0 / square, rows, epsilon)
        return claimed(delta, leak, at=f"so w² = {square:.4g} B²")

    return test


def _asked(padding: Padding) -> Callable[[int, float, float], Evidence]:
    """The padding against the least that hides any row of norm B, exactly."""

    def test(rows: int, epsilon: float, delta: float) -> Evidence:
        size = padding(1.0, rows, epsilon, delta)
        return asked("w/B", size, least(mechanisms.RandomProjection(rows), epsilon, delta))

    return test


def _b_4(dof: int, epsilon: float, delta: float) -> Evidence:
    """The padding where it has a value, against the exact δ of a sketch of ν rows.

    The inverse Wishart draw swaps the directions of that sketch.
    """
    size = printed.theorem_b_4_padding(1.0, dof, epsilon, delta)
    if math.isnan(size):
        return asked(
            "w/B",
            size,
            least(mechanisms.InverseWishartDraw(dof), epsilon, delta),
            "the printed w² is negative",
        )
    return claimed(
        delta, sketch(1.0 / (1.0 + size**2), dof, epsilon), at=f"so w² = {size**2:.4g} B²"
    )


def _b_1_for(dof: int, epsilon: float, delta: float) -> Evidence:
    """Theorem B.1's padding in place of B.4's."""
    return _hides(printed.theorem_b_1_padding)(dof, epsilon, delta)


def _own_bound(rows: int, epsilon: float, delta: float, outlier: float) -> Evidence:
    """100 rows of norm 1 and one of norm `outlier`, orthogonal to them.

    Without that row, B and with it w are smaller by the factor `outlier`.
    """
    data = np.zeros((101, 2))
    data[0, 0], data[1:, 1] = outlier, 1.0
    pads = [printed.theorem_3_1_padding(bound, rows, epsilon, delta) for bound in (outlier, 1.0)]
    left, right = (
        np.vstack([side, pad * np.eye(2)]) for side, pad in zip((data, data[1:]), pads, strict=True)
    )
    return claimed(
        delta,
        float(
            spectrum(mechanisms.RandomProjection(rows), NeighbourPair(left, right), epsilon).delta
        ),
    )


def _public_bound(rows: int, epsilon: float, delta: float, outlier: float) -> Evidence:
    data = np.vstack([[outlier, 0.0], np.tile([0.0, 1.0], (100, 1))])
    noisy = mechanisms.RandomProjection(
        rows, padding=printed.theorem_3_1_padding(outlier, rows, epsilon, delta)
    )
    return claimed(delta, float(spectrum(noisy, zero_row(data, 0), epsilon).delta))


def _no_epsilon(rows: int, epsilon: float, delta: float) -> Evidence:
    """w² = 8B²√(r ln(4/δ)), without the division by ε."""
    square = 8.0 * math.sqrt(rows * math.log(4.0 / delta))
    return claimed(
        delta, sketch(1.0 / (1.0 + square), rows, epsilon), at=f"so w² = {square:.4g} B²"
    )


def _best_padding(bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Theorem 3.1 where ε ≤ ln(4/δ), theorem B.1 beyond."""
    small = epsilon <= math.log(4.0 / delta)
    return (printed.theorem_3_1_padding if small else printed.theorem_b_1_padding)(
        bound, rows, epsilon, delta
    )


PAD_GRID = {"rows": ROWS, "epsilon": EPSILONS, "delta": DELTAS}

FINDINGS = (
    Finding(
        key="4-theorem-3-1",
        paper=4,
        place="theorem 3.1, padding",
        claim="publishing RA with w·I appended is (ε, δ)-DP for any ε > 0",
        formula="w² = 4B²(√(2r ln(4/δ)) + ln(4/δ))/ε",
        fault="the proof is that of theorem B.1, whose w² is larger from about ε = ln(4/δ) on; the "
        "term 1 and the factor 1 + ε/ln(4/δ) are lost (as r grows it fails from about ε = 300 on, "
        "where δ is near 1/e)",
        corrected="for ε ≤ ln(4/δ); beyond, theorem B.1's w²",
        setting={"rows": 100_000, "epsilon": 400.0, "delta": 0.3},
        test=_hides(printed.theorem_3_1_padding),
        grid=PAD_GRID,
        fixed=_hides(_best_padding),
    ),
    Finding(
        key="4-theorem-3-1-replace",
        paper=4,
        place="theorem 3.1, one row replaced",
        claim="the same for the paper's own neighbours, one row replaced",
        formula="w² = 4B²(√(2r ln(4/δ)) + ln(4/δ))/ε",
        fault="fails at smaller ε and δ than with a row removed: as r grows, from about ε = 150 on",
        corrected="for ε ≤ ln(4/δ); beyond, theorem B.1's w²",
        setting={"rows": 100_000, "epsilon": 400.0, "delta": 0.01},
        test=_hides_swap(printed.theorem_3_1_padding),
        grid=PAD_GRID | {"rows": (10, 1000, 10_000_000)},
        fixed=_hides_swap(_best_padding),
    ),
    Finding(
        key="4-theorem-5-1",
        paper=4,
        place="theorem 5.1, padding",
        claim="a draw of W⁻¹(AᵀA, ν) with σ_min(A) ≥ w is (ε, δ)-DP for any ε > 0",
        formula="w² = 2B²(2√(2ν ln(4/δ)) + 2 ln(4/δ))/ε",
        fault="the same w² as theorem 3.1, and it fails where that does",
        corrected="for ε ≤ ln(4/δ); beyond, theorem B.1's w² with ν for r",
        setting={"rows": 100_000, "epsilon": 400.0, "delta": 0.3},
        test=_hides(printed.theorem_5_1_padding),
        grid=PAD_GRID,
        fixed=_hides(_best_padding),
    ),
    Finding(
        key="4-theorem-3-1-given",
        paper=4,
        place="theorem 3.1, condition",
        claim="given that σ_min(A) ≥ w, publishing RA is (ε, δ)-DP",
        formula="σ_min(A) ≥ w, of the given A",
        fault="nothing is asked of A′: for ε > 4(√(2r ln(4/δ)) + ln(4/δ)) w is below B, and A may "
        "be one row that A′ lacks",
        corrected="σ_min(A) ≥ w for A and for all its neighbours, or w·I appended as in algorithm "
        "1",
        setting={"rows": 2, "epsilon": 30.0, "delta": 0.3},
        test=_given(printed.theorem_3_1_padding),
        grid=PAD_GRID,
        fixed=_given(printed.theorem_b_1_padding),
    ),
    Finding(
        key="4-theorem-b-4",
        paper=4,
        place="theorem B.4, padding",
        claim="a draw of W⁻¹(AᵀA, ν) is (ε, δ)-DP for any ε > 0",
        formula="w² = B²(2√(2ν ln(4/δ)) + 2 ln(4/δ))/(ε(1 − ε/(2 ln(4/δ))))",
        fault="negative from ε = 2 ln(4/δ) on",
        corrected="for ε < 2 ln(4/δ); beyond, theorem B.1's w² with ν for r",
        setting={"dof": 10, "epsilon": 6.0, "delta": 0.35},
        test=_b_4,
        grid={
            "dof": (10, 1000, 100_000),
            "epsilon": (0.01, 0.1, 1.0, 5.0, 20.0, 100.0),
            "delta": DELTAS,
        },
        fixed=_b_1_for,
    ),
    Finding(
        key="4-algorithm-1-bound",
        paper=4,
        place="algorithm 1, B read off the data",
        claim="(ε, δ)-DP with B “a bound on the norm of any row in A” (read as the largest norm "
        "that A has)",
        formula="w from B = max_i ‖A_(i)‖",
        fault="if the bound is computed from A (as paper 1's figure 4 does) w shrinks when the "
        "largest row goes",
        corrected="B public, fixed before the data are seen, longer rows shrunk to it",
        setting={"rows": 10, "epsilon": 1.0, "delta": 1e-5, "outlier": 10.0},
        test=_own_bound,
        grid={"rows": (2, 10, 100), "outlier": (1.5, 3.0, 10.0, 100.0), "epsilon": (0.1, 1.0, 2.0)},
        fixed=_public_bound,
    ),
    Finding(
        key="4-corollary-b-2",
        paper=4,
        place="corollary B.2, padding",
        claim="for ε < 1 and r ≥ 2 ln(4/δ) it suffices to have this w",
        formula="w² ≥ 8B² √(r ln(4/δ))",
        fault="ε is missing: a padding that does not grow as ε falls hides nothing at small ε",
        corrected="w² ≥ 8B² √(r ln(4/δ))/ε, as the corollary's own formula for r has it",
        setting={"rows": 100, "epsilon": 0.01, "delta": 1e-5},
        test=_no_epsilon,
        grid={
            "rows": (100, 1000, 10_000),
            "epsilon": (0.01, 0.1, 0.5, 0.99),
            "delta": SMALL_DELTAS,
        },
        fixed=_hides(printed.corollary_b_2_padding),
    ),
    *(
        Finding(
            key=f"4-loose-{key}",
            paper=4,
            place=place,
            claim="the padding that hides any row of norm B",
            formula=formula,
            fault="more padding than (ε, δ) takes",
            corrected="",
            setting={"rows": 1000, "epsilon": epsilon, "delta": 1e-5},
            test=_asked(padding),
            grid={"rows": (10, 1000), "epsilon": (0.1, 0.5, 0.99), "delta": (1e-2, 1e-5, 1e-10)},
        )
        for key, place, formula, padding, epsilon in (
            ("3-1", "theorem 3.1, padding", "4B²(√(2rL) + L)/ε", printed.theorem_3_1_padding, 1.0),
            (
                "b-1",
                "theorem B.1, padding",
                "B²(1 + (1 + ε/L)(2√(2rL) + 2L)/ε)",
                printed.theorem_b_1_padding,
                1.0,
            ),
            (
                "b-2",
                "corollary B.2, padding with ε",
                "8B²√(rL)/ε",
                printed.corollary_b_2_padding,
                0.5,
            ),
            (
                "b-4",
                "theorem B.4, padding (r stands for ν)",
                "B²(2√(2νL) + 2L)/(ε(1 − ε/(2L)))",
                printed.theorem_b_4_padding,
                1.0,
            ),
        )
    ),
)
