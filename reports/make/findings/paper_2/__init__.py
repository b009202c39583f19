"""Paper 2: Cao, Bi and Zhang, truncation of unbounded data via public second moments."""

from pathlib import Path

from reports.make.findings.paper_2 import newton, ridge, truncation
from reports.make.findings.statement import read_paper

PAPER = read_paper(
    Path(__file__).with_name("statements.toml"),
    truncation.TESTS,
    ridge.TESTS,
    newton.TESTS,
)
