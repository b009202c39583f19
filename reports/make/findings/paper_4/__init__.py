"""Paper 4: Sheffet, Private Approximations of the 2nd-Moment Matrix."""

from reports.make.findings.paper_4 import (
    experiments,
    gaussian_noise,
    lemmas,
    preliminaries,
    ridge,
    sketch_theorems,
    sketches,
    utility,
    wishart_noise,
    wishart_proofs,
)
from reports.make.findings.statement import Paper

PAPER = Paper(
    number=4,
    name="Sheffet",
    title="Private Approximations of the 2nd-Moment Matrix Using Existing Techniques in Linear "
    "Regression",
    version="arXiv 1507.00056, dated August 18, 2018; the steps of algorithms 2 and 5 "
    "are missing from our copy",
    code="",
    well=(
        "All three algorithms are private as meant, for replaced rows and with room to spare: "
        "theorem B.1 (the Johnson–Lindenstrauss transform, with √r and not √r log r) holds at "
        "every ε > 0 that we tried, theorem 3.1 follows from it for all ε ≤ 1, theorem 4.1 "
        "(additive Wishart noise) holds, and theorem B.4 (the inverse-Wishart posterior) wherever "
        "its w² is positive.",
        "Lemma A.1 and claim A.2 hold, and the observation that the determinant and the exponent "
        "pull in opposite directions is what makes exact values of δ simple to compute for all of "
        "these releases.",
    ),
    advice=(
        "Two formulas of noise should be put right, since a reader may take them from the page: "
        "theorem B.5's (divide by B⁴) and Analyze Gauss's for a replaced row (2B⁴). In our text "
        "section 2's variance has ε for ε², and corollary B.2's w² is not divided by ε; both may "
        "be the conversion's, and then nothing is to be done there.",
        "Theorem B.3 should ask for C₂ > 1, the bound on χ² in section 2 for k > 2 ln(2/ν), and "
        "the box of algorithm 3 for ε < 1. In appendix C the Woodbury formula has the wrong sign, "
        "and with it theorem C.3 the factor (C − 2)/(C − 1), where 1 belongs. The second half of "
        "lemma A.3 names the wrong end of the spectrum. No privacy theorem rests on "
        "that half or on appendix C.",
    ),
    statements=(
        *preliminaries.STATEMENTS,
        *gaussian_noise.SECTION_2,
        *ridge.STATEMENTS,
        *sketches.SECTION_3,
        *wishart_noise.SECTION_4,
        *sketches.SECTION_5,
        *experiments.STATEMENTS,
        *lemmas.STATEMENTS,
        *sketch_theorems.APPENDIX_B_1,
        *wishart_noise.APPENDIX_B,
        *wishart_proofs.STATEMENTS,
        *sketch_theorems.APPENDIX_B_3,
        *gaussian_noise.APPENDIX_B,
        *utility.STATEMENTS,
    ),
)
