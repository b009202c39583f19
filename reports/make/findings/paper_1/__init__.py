"""Paper 1: Lu, Magdon-Ismail, Wei and Zikas, OLS with random projections."""

from reports.make.findings.paper_1 import (
    experiments,
    gaussians,
    impossibility,
    projections,
    sketched_solution,
    zeroed_row,
)
from reports.make.findings.statement import Paper

PAPER = Paper(
    number=1,
    name="Lu, Magdon-Ismail, Wei and Zikas",
    title="Privacy-Utility Tradeoff of OLS with Random Projections",
    version="manuscript, © 2023 ACM; a later version is arXiv 2309.01243, “The Normal "
    "Distributions Indistinguishability Spectrum and its Application to Privacy-Preserving Machine "
    "Learning”, which we have not compared",
    code="github.com/stoneboat/NDIS, of the later version",
    well=(
        "The core of the paper is exact: lemma 2 gives the whole DP spectrum of any two normal "
        "laws, and propositions 1 and 2, lemmas 4, 5 and 8 and propositions 11, 13 and 14 follow "
        "from it without loss; each agrees with another computation to the accuracy of both.",
        "ALS is private without any noise of its own, as claimed. At a finite number of rows r "
        "its output is Student t with r − p + 1 degrees of freedom, so that its exact δ can be "
        "computed too; lemma 3 was never below it wherever we searched, and often well above.",
        "That private least squares needs a restriction on the database (lemma 6) is right, with "
        "the constants of its proof.",
    ),
    advice=(
        "Lemma 10: leave out the split on ε and take the larger direction, which is the first one "
        "at every ε > 0; your public code does so. Lemma 11: r independent squared normals make a "
        "χ² of r degrees of freedom, not r times one square; lemma 5 itself is right, and so is "
        "compute_IS of your public code.",
        "Figure 4: c₁ should be a public bound on the norms of rows if the box is to be (ε, δ)-DP, "
        "as in your alt19_RP_DP.py.",
        "Corollary 1 needs the mean square for the variance of the norm, and section 5 means it "
        "too; lemma 7 needs a row of zeros; proposition 12 needs c ≥ 0; proposition 6 and lemmas "
        "3, 4 and 5 need the rank of the neighbour that propositions 1 and 2 assume.",
        "On Flight the comparison of figure 2 came out the other way for us at every r from 1200 "
        "to 100,000: it depends on the units of the coefficients.",
    ),
    statements=(
        *sketched_solution.STATEMENTS,
        *gaussians.STATEMENTS,
        *zeroed_row.STATEMENTS,
        *projections.STATEMENTS,
        *impossibility.STATEMENTS,
        *experiments.STATEMENTS,
    ),
)
