"""Paper 3: Lev, Srinivasan, Shenfeld, Ligett, Sekhari and Wilson, The Gaussian Mixing Mechanism."""

from reports.make.findings.paper_3 import (
    algorithm_1,
    baselines,
    conversions,
    experiments,
    linear_regression,
    logistic_regression,
    mixing,
    proofs,
    theorem_1_steps,
    theorem_3,
)
from reports.make.findings.statement import Paper

PAPER = Paper(
    number=3,
    name="Lev, Srinivasan, Shenfeld, Ligett, Sekhari and Wilson",
    title="The Gaussian Mixing Mechanism: Rényi Differential Privacy via Gaussian Sketches",
    version="without a version number, as of the code at github.com/omrilev1/GaussMix",
    code="github.com/omrilev1/GaussMix",
    well=(
        "The core of the paper holds: lemma 1 is the exact Rényi divergence of the worst row, it "
        "suffices that one of the two data sets meets the scale bound, and with proposition 1 it "
        "asks for little more ε than there is. Corollary 1 and its whole proof hold, and so "
        "does theorem 1 at C = 1 and η ≥ 1, even if λ̃ were released as well.",
        "With γ and λ̃ in the same units, as your public code has them in algorithm 1, algorithms "
        "1, 2 and 5 passed every test of ours.",
    ),
    advice=(
        "Divide λ̃ by C² in line 6 of algorithm 1, multiply γ by C_X² + C_Y² in algorithm 5, and "
        "take the root of γ wherever it scales noise; the public code does the first and the last.",
        "State the condition of proposition 2 with the ε below corollary 1; the ε below theorem 1 "
        "and (60) need it too.",
        "Theorem 3 passed with the γ of line 2 in place of its rate, for χ < 1; the rate needs "
        "ε and log(1/δ) not large against √(k log(1/δ)) and k. Below it the excess risk keeps "
        "(2χ + χ²)L(θ*). In corollary 2 (1 + χ)² belongs to the optimum, and the loss is positive.",
    ),
    statements=(
        *conversions.STATEMENTS,
        *mixing.STATEMENTS,
        *algorithm_1.STATEMENTS,
        *theorem_1_steps.STATEMENTS,
        *linear_regression.STATEMENTS,
        *theorem_3.STATEMENTS,
        *logistic_regression.STATEMENTS,
        *baselines.STATEMENTS,
        *experiments.STATEMENTS,
        *proofs.STATEMENTS,
    ),
)
