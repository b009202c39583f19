"""Paper 2: Cao, Bi and Zhang, truncation of unbounded data via public second moments."""

from reports.make.findings.paper_2 import (
    convergence,
    experiments,
    generalised,
    logistic,
    practical_ridge,
    privacy_facts,
    ridge,
    second_moment,
    tools,
    truncation,
)
from reports.make.findings.statement import Paper

PAPER = Paper(
    number=2,
    name="Cao, Bi and Zhang",
    title="Differentially Private Truncation of Unbounded Data via Public Second Moments",
    version="dated February 27, 2026",
    code="",
    well=(
        "The privacy of algorithms 2, 3 and 5 and of theorem 4.3 holds, with room: a replaced row "
        "moves a second moment by √2R²/n at most, where 2R²/n is allowed.",
        "The change of coordinates is exact: theorems 4.1 and 5.1 hold to rounding wherever no row "
        "is cut, in every step of Newton’s method.",
    ),
    advice=(
        "Remark 4.4 is where privacy is lost, and its idea is what section 6 uses on real data: σ₂ "
        "lacks the factor 2/μ, and Tr(Σ̂) and σ̂² are computed from private rows.",
        "Inequality (1) lost a factor 2√2, and (2), (3) and theorem 3.4 a further 2. The bounds of "
        "theorems 4.2 and 4.3 leave out the noise of the cross moment, which matters for weak "
        "signals and large λ.",
        "Some conditions are missing: ‖Σ‖ before the logarithm in the radius of private rows (with "
        "it, section 3.2’s comparison is in your favour in all units), a bounded range for b″, "
        "constants in lemma A.3 that depend on whitened rows, the same r(φ) in (11) and (12), a "
        "step that keeps ‖β‖ ≤ R_β in algorithm 4. In one dimension, as for labels, the radius of "
        "algorithm 1 should grow with 2 log(n/η).",
    ),
    statements=(
        *privacy_facts.STATEMENTS,
        *truncation.STATEMENTS,
        *second_moment.STATEMENTS,
        *ridge.STATEMENTS,
        *practical_ridge.STATEMENTS,
        *logistic.STATEMENTS,
        *generalised.STATEMENTS,
        *convergence.STATEMENTS,
        *experiments.STATEMENTS,
        *tools.STATEMENTS,
    ),
)
