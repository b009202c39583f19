"""Paper 2: Cao, Bi and Zhang, truncation of unbounded data via public second moments."""

from reports.make.findings.paper_2 import gaussian_privacy, moments, newton

FINDINGS = (*moments.FINDINGS, *newton.FINDINGS, *gaussian_privacy.FINDINGS)
