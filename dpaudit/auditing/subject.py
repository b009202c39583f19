"""What is audited, and what its draws showed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

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


@value_class
class Setup:
    """What every stage of an audit is given.

    theory : the exact spectrum, where it is known. who : what differs between the databases, in
    words.
    """

    settings: Settings
    theory: Spectrum | None
    clock: Clock
    progress: Progress
    who: str = ""

    @cached_property
    def reference(self) -> Reference | None:
        """The curve that the band is judged by: the claim, or without one the exact spectrum."""
        return Reference.of(self.settings.claim, self.settings.epsilon, self.theory)


@value_class
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
