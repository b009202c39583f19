"""What the papers print, held against exact curves; each finding is recomputed on demand.

A finding is an entry in a module of its paper: a claim in words, a setting, and a test that takes
the setting by name and gives `Evidence` (made by `claimed`, `asked` or `stated`). A paper is a
folder with `FINDINGS`, in the order of the page.
"""

from reports.make.findings import paper_1, paper_2, paper_3, paper_4
from reports.make.findings.finding import Evidence, Finding, asked, claimed, stated
from reports.make.findings.sweep import Sweep, of_finding, sweep

PAPERS = (paper_1, paper_2, paper_3, paper_4)
FINDINGS: dict[str, Finding] = {one.key: one for paper in PAPERS for one in paper.FINDINGS}

__all__ = [
    "FINDINGS",
    "Evidence",
    "Finding",
    "Sweep",
    "asked",
    "claimed",
    "of_finding",
    "stated",
    "sweep",
]
