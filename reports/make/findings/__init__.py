"""What the papers print, held against exact curves; each statement is tested on demand.

A paper is a folder: `statements.toml` has the words of its statements, the modules beside it their
tests. `statement` says what a statement is, `evidence` what is printed and what is so at one
setting, `outcome` tests a statement, `words` puts that into sentences, `report` into pages.
"""

from reports.make.findings import paper_1, paper_2, paper_3, paper_4
from reports.make.findings.statement import Paper, Statement

PAPERS: tuple[Paper, ...] = (paper_1.PAPER, paper_2.PAPER, paper_3.PAPER, paper_4.PAPER)
STATEMENTS: dict[str, Statement] = {
    statement.key: statement for paper in PAPERS for statement in paper.statements
}
