"""What the papers print, held against exact curves; each statement is tested on demand.

A paper is a folder with `PAPER`, whose statements are in the order of the paper. `statement` says
what a statement is, `evidence` what is printed and what is so at one setting, `outcome` tests a
statement, `words` puts that into sentences, `report` and `letter` into pages.
"""

from reports.make.findings import paper_1, paper_2, paper_3, paper_4
from reports.make.findings.evidence import Evidence, asked, claimed, stated
from reports.make.findings.statement import Paper, Statement
from reports.make.findings.sweep import Sweep, sweep

PAPERS: tuple[Paper, ...] = (paper_1.PAPER, paper_2.PAPER, paper_3.PAPER, paper_4.PAPER)
STATEMENTS: dict[str, Statement] = {one.key: one for paper in PAPERS for one in paper.statements}

__all__ = [
    "PAPERS",
    "STATEMENTS",
    "Evidence",
    "Paper",
    "Statement",
    "Sweep",
    "asked",
    "claimed",
    "stated",
    "sweep",
]
