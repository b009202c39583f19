"""Paper 3, section 5.1: algorithm 2, its privacy, and how many mixtures it takes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from dpaudit.papers import LinearMixing
from dpaudit.papers.paper_3.sketches import SolvedRow
from dpaudit.testing import integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, stated
from reports.make.findings.statement import CORNER, PRIVACY, Searched, Statement, Swept


def _shown(row_bound: float, mixtures: int, epsilon: float, delta: float) -> float:
    """δ of θ on the algorithm's own pair, at C_X = C_Y, at least.

    No noise is added to either side except for a probability p, and then θ is least squares on a
    sketch: its Student t laws' δ, less (1 + e^ε)p.
    """
    mechanism = LinearMixing(mixtures, epsilon, delta, row_bound, row_bound)
    pair, mixing = mechanism.pair(), mechanism.mixing
    curve = SolvedRow.of(pair.left, 0, mixtures).curve(0.0)
    square = mixing.row_bound**2
    lowest = min(float(np.linalg.eigvalsh(one.T @ one)[0]) for one in (pair.left, pair.right))
    missed = float(ndtr(mixing.tau - (lowest - mixing.gamma) / (mixing.spread * square)))
    leak = max(float(one) for one in curve.delta(np.array(epsilon)))
    return leak - (1.0 + math.exp(epsilon)) * missed


def _kept(row_bound: float, mixtures: int, epsilon: float, delta: float) -> float:
    """λ̃ and θ together, by the corrected line, on the same pair."""
    bounds = (row_bound, row_bound)
    pair = LinearMixing(mixtures, epsilon, delta, *bounds).pair()
    mechanism = LinearMixing(mixtures, epsilon, delta, *bounds, variant="corrected")
    return float(mechanism.joint_spectrum(pair, epsilon).delta)


def _rank(least: int) -> Swept:
    """The rank of X̃ᵀX̃, of k + `least`·d rows with d features, against d, which an inverse takes."""

    def test(mixtures: int, features: int) -> Evidence:
        rows = mixtures + least * features
        sketch = np.random.default_rng(0).standard_normal((rows, features))
        return stated("rank of X̃ᵀX̃", features, float(np.linalg.matrix_rank(sketch.T @ sketch)))

    return Swept(
        test, {"mixtures": 1, "features": 2}, {"mixtures": (1, 2, 5), "features": (2, 5, 20)}
    )


THEOREM_2 = Searched(
    lambda delta: delta,
    _shown,
    {
        "row_bound": reals(1.0, 100.0),
        "mixtures": integers(1000, 100_000),
        "epsilon": reals(0.5, 2.0),
        "delta": reals(1e-6, 0.1),
    },
    kind=CERTIFIED,
    tries=30,
    at={"row_bound": 10.0, "mixtures": 10_000, "epsilon": 1.0, "delta": 1e-5},
)
FEW = _rank(0)
STATEMENTS = (
    Statement(
        "3-equations-6-and-7",
        3,
        "equations (6) and (7)",
        "section 5",
        "If M(X₁, X₂) satisfies RDP w.r.t. (X₁, X₂), then by post-processing the inner-product K … "
        "also satisfies RDP",
        "rows of the concatenated data set",
        untested="the data processing inequality; a row of (X₁, X₂) is what is zeroed",
    ),
    Statement(
        "3-algorithm-2",
        3,
        "algorithm 2 and theorem 2",
        "section 5.1",
        "For any k ≥ 1 the output θ_Lin is (ε, δ)-DP",
        "assumption (A1): ‖x_i‖ ≤ C_X, |y_i| ≤ C_Y; here C_X = C_Y, and θ itself",
        test=THEOREM_2,
        fails=PRIVACY,
        fault="the units of algorithm 1: where rows are long no noise is added, and θ shows it",
        cause="3-algorithm-1-scale",
        corrected="η̃ = √(max{γ − λ̃/C², 0}) in algorithm 1",
        fixed=replace(THEOREM_2, exact=_kept, at=None),
        code="see algorithm 1",
    ),
    Statement(
        "3-theorem-2-rows",
        3,
        "theorem 2, few mixtures",
        "section 5.1",
        "For any k ≥ 1 … θ_Lin ≔ (X̃ᵀX̃)⁻¹X̃ᵀỸ",
        "X̃ is k × d",
        test=FEW,
        fails=CORNER,
        fault="for k < d the matrix X̃ᵀX̃ has no inverse, and θ_Lin no value",
        corrected="for any k ≥ d",
        fixed=_rank(1),
        code="uses k = 2.5·d",
    ),
    Statement(
        "3-theorem-3-chi",
        3,
        "theorem 3, “for any χ”",
        "section 5.1",
        "for any χ satisfying kχ² > c₀d, the following holds with probability at least "
        "1 − c₁ exp{−c₂kχ²}",
        "none on χ; Pilanci and Wainwright have χ ∈ (0, 1)",
        test=FEW,
        fails=CORNER,
        fault="a large χ admits k < d, where θ_Lin has no value, and at k = d a tail that is no "
        "exponential",
        cause="3-theorem-2-rows",
        corrected="for any χ ∈ (0, 1) …",
        fixed=_rank(1),
    ),
)
