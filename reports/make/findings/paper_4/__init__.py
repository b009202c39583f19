"""Paper 4: Sheffet, Private Approximations of the 2nd-Moment Matrix."""

from reports.make.findings.paper_4 import (
    bounds_and_proofs,
    experiments,
    noise,
    replaced_row,
    sketches,
)

FINDINGS = (
    *sketches.FINDINGS,
    *noise.FINDINGS,
    *replaced_row.FINDINGS,
    *bounds_and_proofs.FINDINGS,
    *experiments.FINDINGS,
)
