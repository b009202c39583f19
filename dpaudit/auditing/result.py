"""What an audit found, and what it was about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dpaudit._core.shown.short_repr import html_repr, short_repr
from dpaudit._core.types import Mechanism
from dpaudit.adapters.trial import Trial
from dpaudit.auditing.record import to_dict
from dpaudit.auditing.saved import Recorded, SavedResult
from dpaudit.auditing.settings import Settings
from dpaudit.certify.band import Certificate
from dpaudit.certify.estimate import Estimate
from dpaudit.certify.split import Split
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.scoring import Fitted
from dpaudit.verdict.evidence import Evidence, Sequential
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.judgement import Verdict


@dataclass(frozen=True, eq=False)
class Subject:
    """What is audited, known before the first draw is made.

    mechanism, pair : None where draws from elsewhere are audited.
    scenario : its name. dataset : as result.json has it. rule : how the neighbour was chosen.
    scenario_text : of its file. source : SHA-256 and commit of the mechanism's own code.
    search : the search that chose the neighbour, as result.json has it.
    show_data : whether result.json may hold the values of the row that differs.
    notes : sentences on the choice of the pair, said before the verdict. replay : what
    `dpaudit.replay` saw on the pair, as result.json has it; None where it says nothing.
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


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Recorded):
    """What an audit found.

    Attributes
    ----------
    spectrum : Spectrum
        With delta (the estimate), low (certified), forward and backward estimates, and interval
        (two-sided, of what this score shows).
    exact : Spectrum or None
        The exact spectrum, where one is known.
    claim : Claim or None
        The claim that was judged.
    verdict : {"violated", "not violated", "inconclusive"}
        What the audit says of the claim, or of the exact spectrum where nothing is claimed.
    reason : str
        The verdict for people, the headline first.
    detectable : dict or None
        {"epsilon", "excess", "power"}: the smallest excess in δ(epsilon) that the audit would have
        certified with probability `power` whatever the leak's shape, by a score as good as the true
        privacy loss.
    headline : Headline
        What is claimed and what is certified, at the claim's own δ.
    estimate : Estimate
        Both directions by themselves, estimated and certified.
    settings : Settings
        How it was audited.
    sizes : Split
        The split into training, choosing and certifying draws.
    fitted : Fitted
        The score.
    subject : Subject
        What was audited.
    timings : dict
        Seconds, and "started" in UTC.
    peak_memory_mb : float or None
        None where the system does not tell.
    sequential : Sequential or None
        The e-process of an audit with stop="verdict", else None.
    evidence : Evidence or None
        Against the claim, which a ledger pools over several audits; None without a claim.
    ledger : dict or None
        What all runs in a ledger say together, as result.json has it.
    trial : Trial or None
        Whether a seed repeats the draws, and what the mechanism warned of; None where the law is
        known, and of draws made elsewhere.
    """

    spectrum: Spectrum
    exact: Spectrum | None
    claim: Claim | None
    verdict: str
    reason: str
    detectable: dict[str, float] | None
    headline: Headline
    estimate: Estimate
    settings: Settings
    sizes: Split
    fitted: Fitted
    subject: Subject
    timings: dict[str, Any]
    peak_memory_mb: float | None
    sequential: Sequential | None = None
    evidence: Evidence | None = None
    ledger: dict[str, Any] | None = None
    trial: Trial | None = None

    def __repr__(self) -> str:
        return f"AuditResult({self.verdict}: {self.headline.text})"

    _repr_html_ = html_repr

    @property
    def certified(self) -> Certificate:
        """The certified band at any ε, and as ε at a given δ, trade-off curve and Gaussian μ."""
        return self.estimate.certified

    def save(self, folder: str | Path, show_data: bool = False) -> Path:
        """Write result.json, report.html and spectrum.png.

        Parameters
        ----------
        folder : path
            It is made if it does not exist.
        show_data : bool, default False
            With the values of the row that differs, which are left out otherwise.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        OSError
            When a file cannot be written.
        """
        if show_data:
            return replace(self, subject=replace(self.subject, show_data=True)).save(folder)
        return super().save(folder)

    @cached_property
    def _record(self) -> dict[str, Any]:
        return to_dict(self)

    @staticmethod
    def load(folder: str | Path) -> SavedResult:
        """Read a saved result: verdict, headline, curves and report, of what result.json keeps.

        Parameters
        ----------
        folder : path
            One that `save` or `dpaudit run` wrote.

        Returns
        -------
        SavedResult
            Its `to_dict()` is the content of result.json.

        Raises
        ------
        InvalidInput
            When the folder holds no result, or it was changed.
        """
        return SavedResult.load(folder)
