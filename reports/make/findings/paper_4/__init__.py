"""Paper 4: Sheffet, Private Approximations of the 2nd-Moment Matrix."""

from pathlib import Path

from reports.make.findings.paper_4 import lemmas, noise, sketches, utility
from reports.make.findings.statement import read_paper

PAPER = read_paper(
    Path(__file__).with_name("statements.toml"),
    lemmas.TESTS,
    sketches.TESTS,
    noise.TESTS,
    utility.TESTS,
)
