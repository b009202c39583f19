"""Paper 3: Lev, Srinivasan, Shenfeld, Ligett, Sekhari and Wilson, The Gaussian Mixing Mechanism."""

from pathlib import Path

from reports.make.findings.paper_3 import algorithm_1, experiments, mixing, regression
from reports.make.findings.statement import read_paper

PAPER = read_paper(
    Path(__file__).with_name("statements.toml"),
    mixing.TESTS,
    algorithm_1.TESTS,
    regression.TESTS,
    experiments.TESTS,
)
