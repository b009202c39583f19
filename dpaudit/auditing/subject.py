"""What is audited, and what its draws showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Mechanism
from dpaudit.certify.estimate import Estimate
from dpaudit.certify.split import Split
from dpaudit.neighbours import NeighbourPair
from dpaudit.scoring import Fitted
from dpaudit.verdict.evidence import Evidence, Sequential
from dpaudit.verdict.judgement import Verdict


@dataclass(frozen=True, eq=False)
class Subject:
    """What is audited, known before the first draw is made.

    mechanism, pair : None where draws from elsewhere are audited.
    scenario : its name. dataset : as result.json has it. rule : how the neighbour was chosen.
    scenario_text : of its file. source : SHA-256 and commit of the mechanism's own code.
    search : the search that chose the neighbour, as result.json has it.
    show_data : whether result.json may hold the values of the row that differs.
    notes : sentences on the choice of the pair, which stand before the verdict.
    replay : what `dpaudit.replay` saw on the pair, as result.json has it; None where it says
        nothing.
    """

    mechanism: Mechanism | None = None
    pair: NeighbourPair | None = None
    scenario: str | None = None
    dataset: dict[str, Any] | None = None
    rule: str | None = None
    scenario_text: str | None = None
    source: dict[str, str | None] | None = None
    search: dict[str, Any] | None = None
    show_data: bool = False
    notes: tuple[str, ...] = ()
    replay: dict[str, Any] | None = None

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Findings:
    """What the draws showed.

    estimate : both directions, estimated and certified. fitted : the score.
    sizes : the split, draws a side. sequential : the e-process of an audit with stop="verdict".
    evidence : against the claim, which several audits may pool.
    """

    estimate: Estimate
    fitted: Fitted
    sizes: Split
    judged: Verdict
    sequential: Sequential | None = None
    evidence: Evidence | None = None

    __repr__ = short_repr
