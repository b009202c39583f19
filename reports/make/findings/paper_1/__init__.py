"""Paper 1: Lu, Magdon-Ismail, Wei and Zikas, OLS with random projections."""

from pathlib import Path

from reports.make.findings.paper_1 import experiments, normal_laws, regression
from reports.make.findings.statement import read_paper

PAPER = read_paper(
    Path(__file__).with_name("statements.toml"),
    regression.TESTS,
    normal_laws.TESTS,
    experiments.TESTS,
)
