"""Paper 1: Lu, Magdon-Ismail, Wei and Zikas, OLS with random projections."""

from reports.make.findings.paper_1 import privacy, utility

FINDINGS = (*privacy.FINDINGS, *utility.FINDINGS)
