"""What the papers print, held against exact curves: each finding is recomputed whenever it is asked
for.

A finding is added by its entry in the module of its paper: a claim in words, a setting, and a test
that takes the setting by name and gives `Evidence` (`claimed`, `asked` or `stated`). `python -m
reports.make.findings` prints them.
"""

from reports.make.findings import (
    paper_1,
    paper_1_utility,
    paper_2,
    paper_2_loose,
    paper_2_newton,
    paper_3,
    paper_3_boxes,
    paper_3_slips,
    paper_3_use,
    paper_4,
    paper_4_experiments,
    paper_4_noise,
    paper_4_replaced,
    paper_4_slips,
)
from reports.make.findings.finding import Evidence, Finding, asked, claimed, stated
from reports.make.findings.sweep import Sweep, of_finding, sweep

PARTS = (
    paper_1,
    paper_1_utility,
    paper_2,
    paper_2_newton,
    paper_2_loose,
    paper_3,
    paper_3_boxes,
    paper_3_use,
    paper_3_slips,
    paper_4,
    paper_4_noise,
    paper_4_replaced,
    paper_4_slips,
    paper_4_experiments,
)
FINDINGS: dict[str, Finding] = {one.key: one for part in PARTS for one in part.FINDINGS}

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
