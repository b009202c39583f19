"""Paper 3: Lev, Srinivasan, Shenfeld, Ligett, Sekhari and Wilson, The Gaussian Mixing Mechanism."""

from reports.make.findings.paper_3 import algorithms, formulas_and_proofs, mixing, units_and_data

FINDINGS = (
    *mixing.FINDINGS,
    *algorithms.FINDINGS,
    *units_and_data.FINDINGS,
    *formulas_and_proofs.FINDINGS,
)
