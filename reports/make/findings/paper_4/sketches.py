"""Paper 4, sections 3 and 5: theorems 3.1 and 5.1, algorithms 1, 2, 4 and 5."""

from __future__ import annotations

import dataclasses
import math

from scipy.stats import invwishart

from dpaudit import mechanisms
from dpaudit.exact import spectrum
from dpaudit.papers import JLRidge, printed
from dpaudit.testing import integers, reals
from reports.make.findings.paper_4.paddings import (
    LIMIT,
    WORST,
    of_dof,
    of_rows,
    promised_of_one,
    swapped,
    target,
)
from reports.make.findings.statement import CORNER, Searched, Statement


def _posterior(n: int, k: int, prior: float, square: float, variance: float) -> float:
    """ln of the posterior's density at `variance` less that at 1, AᵀA = `square`, Ψ = `prior`."""
    law = invwishart(df=n + k, scale=square + prior)
    return float(law.logpdf(variance) - law.logpdf(1.0))


def _updated_prior(n: int, k: int, prior: float, square: float, variance: float) -> float:
    """The same by the prior's density and the likelihood of n rows."""
    law = invwishart(df=k, scale=prior)
    likelihood = -0.5 * n * math.log(variance) - 0.5 * square * (1.0 / variance - 1.0)
    return float(law.logpdf(variance) - law.logpdf(1.0)) + likelihood


def _by_epsilon(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Theorem 3.1's w up to ε = ½ ln(4/δ), theorem B.1's beyond."""
    small = epsilon <= 0.5 * math.log(4.0 / delta)
    padding = printed.theorem_3_1_padding if small else printed.theorem_b_1_padding
    return padding(row_bound, rows, epsilon, delta)


def _algorithm_1(rows: int, row_bound: float, epsilon: float, delta: float) -> float:
    """δ(ε) of the algorithm's output on its own pair."""
    noisy = JLRidge(rows, epsilon, delta, row_bound)
    return float(spectrum(noisy, noisy.pair(), epsilon).delta)


def _right_algorithm_1(rows: int, row_bound: float, epsilon: float, delta: float) -> float:
    """The same with theorem B.1's w."""
    pair = JLRidge(rows, epsilon, delta, row_bound).pair()
    size = printed.theorem_b_1_padding(row_bound, rows, epsilon, delta)
    noisy = mechanisms.RandomProjection(rows, padding=size)
    return float(spectrum(noisy, pair, epsilon).delta)


THEOREM_3_1 = of_rows(
    swapped(printed.theorem_3_1_padding), at={"rows": 100_000, "epsilon": 400.0, "delta": 0.01}
)
GIVEN = of_rows(
    promised_of_one(printed.theorem_3_1_padding), at={"rows": 3, "epsilon": 30.0, "delta": 0.3}
)
ALGORITHM_1 = Searched(
    printed=target,
    exact=_algorithm_1,
    domain={
        "rows": integers(3, 10**7),
        "row_bound": reals(0.01, 100.0),
        "epsilon": reals(0.01, 400.0),
        "delta": reals(1e-12, LIMIT),
    },
    tries=500,
)
THEOREM_5_1 = of_dof(
    printed.theorem_5_1_padding, at={"dof": 100_000, "epsilon": 400.0, "delta": 0.01}
)

SECTION_3 = (
    Statement(
        key="4-theorem-3-1",
        paper=4,
        place="theorem 3.1",
        section="section 3",
        printed="Fix ε > 0 and δ ∈ (0, 1/e). Fix B > 0. Fix a positive integer r and let w be such "
        "that w² = 4B²(√(2r ln(4/δ)) + ln(4/δ))/ε. Let A be a (n × d)-matrix with d < r and where "
        "each row of A has bounded L₂-norm of B. Given that σ_min(A) ≥ w, the algorithm that picks "
        "a (r × n)-matrix R whose entries are i.i.d samples from a normal distribution N(0,1) and "
        "publishes R·A is (ε, δ)-differentially private.",
        hypotheses_text=f"any ε > 0, δ < 1/e; {WORST}",
        test=THEOREM_3_1,
        fails=CORNER,
        fault="the proof in appendix B is that of theorem B.1, whose w² has the term 1 and the "
        "factor 1 + ε/ln(4/δ) besides; without them it fails at large ε, beyond what anyone would "
        "use. For ε ≤ ½ ln(4/δ), so for all ε ≤ 1, theorem 3.1 follows from theorem B.1",
        corrected="as printed for ε ≤ ½ ln(4/δ), where theorem B.1 implies it; theorem B.1's w² "
        "beyond",
        fixed=dataclasses.replace(THEOREM_3_1, exact=swapped(_by_epsilon)),
    ),
    Statement(
        key="4-theorem-3-1-given",
        paper=4,
        place="theorem 3.1, σ_min of A alone",
        section="section 3",
        printed="Given that σ_min(A) ≥ w, the algorithm … is (ε, δ)-differentially private.",
        hypotheses_text="read to the letter: the promise is of A; its neighbour A′ may have "
        "σ_min(A′)² = w² − B² (the proof in appendix B assumes both)",
        test=GIVEN,
        fails=CORNER,
        fault="at large ε w is about B or less, and A′ may lack what makes up all of A on one axis",
        cause="4-theorem-3-1",
        corrected="theorem B.1's w, which is larger than B: then the promise of A alone is enough",
        fixed=dataclasses.replace(GIVEN, exact=promised_of_one(printed.theorem_b_1_padding)),
    ),
    Statement(
        key="4-algorithm-1",
        paper=4,
        place="algorithm 1",
        section="section 3",
        printed="Set w = √(4B²(√(2r ln(4/δ)) + ln(4/δ))/ε). Set A′ as the concatenation of A with "
        "wI_{d×d}. Sample a r × (n + d)-matrix R whose entries are i.i.d samples from a normal "
        "Gaussian. return M = (1/r)(RA′)ᵀ(RA′) …",
        hypotheses_text="“Privacy parameters: ε, δ > 0”; B is an input, a bound on the norm of any "
        "row; “it is clear that Algorithm 1 is (ε, δ)-differentially private”",
        test=ALGORITHM_1,
        fails=CORNER,
        fault="follows from theorem 3.1",
        cause="4-theorem-3-1",
        corrected="theorem B.1's w",
        fixed=dataclasses.replace(ALGORITHM_1, exact=_right_algorithm_1),
    ),
    Statement(
        key="4-algorithm-2",
        paper=4,
        place="algorithm 2",
        section="section 3",
        printed="Algorithm 2: Approximating Regression (Ridge or standard) while Preserving "
        "Privacy.",
        hypotheses_text="part of the budget pays for an estimate of σ_min(AᵀA)",
        untested="the steps of the box are missing from our text, which has the caption alone",
    ),
)
SECTION_5 = (
    Statement(
        key="4-posterior",
        paper=4,
        place="the posterior",
        section="section 5",
        printed="if our prior belief is that V ∼ W_d⁻¹(Ψ, k), then after viewing n examples in the "
        "dataset A our posterior is V ∼ W_d⁻¹((AᵀA + Ψ), n + k).",
        hypotheses_text="the rows of A are i.i.d. N(0, V); tested for d = 1",
        test=Searched(
            printed=_posterior,
            exact=_updated_prior,
            domain={
                "n": integers(1, 1000),
                "k": integers(1, 50),
                "prior": reals(0.1, 100.0),
                "square": reals(0.1, 1000.0),
                "variance": reals(0.1, 100.0),
            },
            side="both",
            quantity="log density ratio",
            tolerance=1e-6,
            rounding=1e-8,
            tries=300,
        ),
    ),
    Statement(
        key="4-algorithm-4",
        paper=4,
        place="algorithm 4",
        section="section 5",
        printed="Set ψ ← (2B²/ε)(2√(2(n+d) ln(4/δ)) + 2 ln(4/δ)). Sample "
        "M ∼ W_d⁻¹((AᵀA + ψ·I_{d×d}), n + d).",
        hypotheses_text="“Privacy parameters: ε, δ > 0”; here ν = n + d",
        test=THEOREM_5_1,
        fails=CORNER,
        fault="ψ is theorem 5.1's w², and with it theorem 3.1's",
        cause="4-theorem-3-1",
        corrected="ψ of theorem B.1, with n + d for r",
        fixed=of_dof(printed.theorem_b_1_padding),
    ),
    Statement(
        key="4-theorem-5-1",
        paper=4,
        place="theorem 5.1",
        section="section 5",
        printed="Fix ε > 0 and δ ∈ (0, 1/e). Fix B > 0. Let A be a (n × d)-matrix and fix an "
        "integer ν ≥ d. Let w be such that w² = 2B²(2√(2ν ln(4/δ)) + 2 ln(4/δ))/ε. Then, given "
        "that σ_min(A) ≥ w, the algorithm that samples a matrix from W_d⁻¹(AᵀA, ν) is (ε, δ)-"
        "differentially private.",
        hypotheses_text=f"any ε > 0, δ < 1/e; rows of norm at most B; {WORST}",
        test=THEOREM_5_1,
        fails=CORNER,
        fault="the same w² as theorem 3.1, for a release with the same privacy loss; at large ε",
        cause="4-theorem-3-1",
        corrected="theorem B.1's w², with ν for r",
        fixed=of_dof(printed.theorem_b_1_padding),
    ),
    Statement(
        key="4-algorithm-5",
        paper=4,
        place="algorithm 5",
        section="section 5",
        printed="Algorithm 5: Sampling from an Inverse-Wishart Distribution whose degrees of "
        "freedom are determined by the input.",
        untested="the steps of the box are missing from our text, which has the caption alone",
    ),
)
