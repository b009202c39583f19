"""The data that pass between the stages of an audit: its subject, set-up and findings."""

from __future__ import annotations

from typing import Any

from dpaudit._core.note import Note
from dpaudit._core.types import Mechanism
from dpaudit._core.value import value_class
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.settings import Settings
from dpaudit.certify.estimate import Estimate
from dpaudit.certify.split import Split
from dpaudit.curves.spectrum import Spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import Progress
from dpaudit.scoring import Fitted
from dpaudit.verdict.evidence import Evidence, Sequential
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.judgement import Verdict


@value_class
class Subject:
    """What is audited, known before the first draw is made.

    mechanism, pair : None if draws from elsewhere are audited.
    scenario, scenario_text : name of the scenario, and text of its file.
    dataset : description of the data, as in result.json. rule : how the neighbour was chosen.
    source : SHA-256 of the mechanism's own code.
    search : the search that chose the neighbour, as in result.json.
    show_data : whether result.json may contain the values of the row that differs.
    notes : on the choice of the pair, before the headline in the reason.
    replay : the findings of `dpaudit.replay` on the pair, as in result.json; None without any.
    """

    mechanism: Mechanism | None = None
    pair: NeighbourPair | None = None
    scenario: str | None = None
    dataset: dict[str, Any] | None = None
    rule: str | None = None
    scenario_text: str | None = None
    source: dict[str, str] | None = None
    search: dict[str, Any] | None = None
    show_data: bool = False
    notes: tuple[Note, ...] = ()
    replay: dict[str, Any] | None = None


@value_class
class Setup:
    """The inputs that all stages of an audit share.

    theory : the exact spectrum, or None if it is unknown. reference : the curve that the band is
    compared with: the claim or, without one, the exact spectrum; None without either. who : what
    differs between the databases, in words such as "row 11 zeroed".
    """

    settings: Settings
    theory: Spectrum | None
    reference: Reference | None
    clock: Clock
    progress: Progress
    who: str = ""


@value_class
class Findings:
    """The results of the stages that use draws.

    estimate : estimates and certified bounds of both directions. fitted : the score.
    sizes : the split, in draws a side. sequential : the e-process of an audit with stop="verdict".
    evidence : the evidence against the claim, which several audits may pool.
    notes : on claim and draws, before the headline in the reason.
    """

    estimate: Estimate
    fitted: Fitted
    sizes: Split
    judged: Verdict
    notes: tuple[Note, ...] = ()
    sequential: Sequential | None = None
    evidence: Evidence | None = None
