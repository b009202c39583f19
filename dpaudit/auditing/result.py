"""The result of an audit, which is its record: the content of result.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit._core.frame import frame
from dpaudit._core.result_file import SCHEMA_VERSION, plain, versions
from dpaudit._core.seeds import describe as describe_seed
from dpaudit._core.types import Array, describe
from dpaudit._core.value import value_class
from dpaudit.adapters.trial import Trial
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Subject
from dpaudit.certify.band import Certificate
from dpaudit.certify.estimate import Estimate
from dpaudit.certify.interval import interval
from dpaudit.certify.split import Split
from dpaudit.curves.claims import ADVANTAGE, Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import DegenerateData, InvalidInput
from dpaudit.neighbours import row_statistics
from dpaudit.report.result import Result
from dpaudit.scoring import Fitted
from dpaudit.verdict.attacker import of_band
from dpaudit.verdict.evidence import Evidence, Sequential
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.record import Curves, numbers, read_curves

NOT_KEPT = {
    "certified": "to_dict()['certified'] has ε at a few δ, μ, ρ and divergences",
    "estimate": "spectrum.delta and spectrum.low are kept, and to_dict()['empirical']",
    "settings": "to_dict() has level, seed, samples and classifier",
    "sizes": "to_dict()['samples'] has them",
    "fitted": "to_dict()['classifier'] names the score",
    "subject": "to_dict() names mechanism, dataset and neighbour",
    "sequential": "to_dict()['sequential'] has it",
    "evidence": "to_dict()['evidence'] has it",
    "ledger": "to_dict()['ledger'] has it",
    "trial": "to_dict()['trial'] has it",
}


@value_class
class AuditResult(Result):
    """What an audit found.

    Attributes
    ----------
    spectrum : Spectrum
        The estimate of δ(ε) on the grid (delta; forward and backward by themselves), its certified
        lower bound (low), and a two-sided interval for the δ that this score shows (interval). It
        is made when it is first read, since the interval takes a tenth of a small audit.
    exact : Spectrum or None
        The exact spectrum, or None if it is unknown. A loaded result interpolates it linearly
        between the ε of the grid, which lies above the curve, and has no Rényi divergences.
    claim : Claim or None
        The claim that was judged. In a loaded result, a claim that is neither (ε, δ) nor μ-GDP nor
        ρ-zCDP has δ at the ε of the grid alone; asking for another ε raises `InvalidInput`.
    verdict : {"violated", "not violated", "inconclusive"}
        The verdict on the claim or, without a claim, on the exact spectrum.
    reason : str
        The verdict explained in sentences, the headline first.
    detectable : dict or None
        {"epsilon", "excess", "power"}: the smallest excess in δ(epsilon) that the audit would have
        certified with probability `power`, with a score as good as the true privacy loss, for a
        leak of any shape.
    headline : Headline
        What is claimed and what is certified, at the claim's own δ.
    timings : dict
        The seconds of each step and in total, and the time "started" in UTC.
    peak_memory_mb : float or None
        Peak memory of the process; None if the system does not report it.
    record : dict
        The content of result.json, which `to_dict` copies.
    estimate : Estimate
        The estimates and certified bounds of the two directions. result.json keeps neither this nor
        the attributes below, so a loaded result does not have them.
    settings : Settings
        The settings of the audit.
    sizes : Split
        The split into training, choosing and certifying draws.
    fitted : Fitted
        The score, with its name and notes.
    subject : Subject
        What was audited.
    sequential : Sequential or None
        The e-process of an audit with stop="verdict", else None.
    evidence : Evidence or None
        The evidence against the claim, which a ledger pools over several audits; None without one.
    ledger : dict or None
        The joint verdict of all runs in a ledger, as in result.json.
    trial : Trial or None
        Whether a seed repeats the draws, and the warnings that the mechanism gave; None if the law
        of the outputs is known or the draws were made elsewhere.
    """

    exact: Spectrum | None
    claim: Claim | None
    verdict: str
    reason: str
    detectable: dict[str, float] | None
    headline: Headline
    timings: dict[str, Any]
    peak_memory_mb: float | None
    # A field with a default would hide that a loaded result does not have it.
    estimate: Estimate
    settings: Settings
    sizes: Split
    fitted: Fitted
    subject: Subject
    sequential: Sequential | None
    evidence: Evidence | None
    ledger: dict[str, Any] | None
    trial: Trial | None

    not_kept: ClassVar[Mapping[str, str]] = NOT_KEPT

    @cached_property
    def spectrum(self) -> Spectrum:
        """The estimate with its band and its interval; made when it is first read."""
        estimate = self.estimate
        return Spectrum(
            estimate.epsilon,
            estimate.delta,
            estimate.forward.delta,
            estimate.backward.delta,
            low=estimate.low,
            level=self.settings.level,
            law=f"estimate ({self.fitted.name})",
            interval=interval(estimate, self.settings.alpha),
        )

    @property
    def certified(self) -> Certificate:
        """The certified band, to be read as δ at any ε, ε at a δ, trade-off curve or Gaussian μ."""
        return self.estimate.certified

    def save(self, folder: str | Path, show_data: bool = False) -> Path:
        """Write result.json, report.html and spectrum.png into `folder`; returns the folder.

        The folder is made if it does not exist. show_data : whether to write the values of the row
        that differs, which are otherwise left out. Raises OSError.
        """
        if show_data:
            return replace(self, subject=replace(self.subject, show_data=True)).save(folder)
        return super().save(folder)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each ε of the grid, in ascending order.

        Columns: `epsilon` (nats); and values of δ at that ε, in [0, 1], NaN if unknown: `estimate`
        (for the larger direction; not a bound), `certified` (lower bound for the larger direction;
        all rows hold together at the result's level), `exact`, `claim` (largest δ allowed),
        `interval_low` and `interval_high` (ends of `Spectrum.interval`). Columns with `_forward`
        are for M(D) against M(D'), those with `_backward` for the reverse. An attacker's rates are
        in `roc().to_frame()`.

        Raises ImportError without pandas.
        """
        curves, spectrum, exact = read_curves(self.record), self.spectrum, self.exact
        unknown = np.full(curves.epsilon.shape, np.nan)
        table = {
            "epsilon": curves.epsilon,
            "estimate": curves.estimate,
            "certified": curves.low,
            "exact": curves.exact,
            "claim": curves.claim,
            "interval_low": None if curves.interval is None else curves.interval[0],
            "interval_high": None if curves.interval is None else curves.interval[1],
            "estimate_forward": spectrum.forward,
            "estimate_backward": spectrum.backward,
            "certified_forward": curves.forward,
            "certified_backward": curves.backward,
            "exact_forward": None if exact is None else exact.forward,
            "exact_backward": None if exact is None else exact.backward,
        }
        return frame({key: unknown if delta is None else delta for key, delta in table.items()})

    @cached_property
    def record(self) -> dict[str, Any]:
        """The content of result.json, in JSON types; `to_dict` returns a copy.

        Earlier versions did not write every key: what reads a new one must do without it.
        """
        spectrum, subject, settings, claim = self.spectrum, self.subject, self.settings, self.claim
        fitted, exact, estimate = self.fitted, self.exact, self.estimate
        record = {
            "schema_version": SCHEMA_VERSION,
            "scenario": subject.scenario,
            "scenario_text": subject.scenario_text,
            "mechanism": None if subject.mechanism is None else _mechanism(subject.mechanism),
            "source": subject.source,
            "dataset": subject.dataset,
            "neighbour": _neighbour(subject),
            "search": subject.search,
            "replay": subject.replay,
            "trial": None if self.trial is None else self.trial.to_dict(),
            "level": settings.level,
            "verdict": self.verdict,
            "reason": self.reason,
            "headline": self.headline.to_dict(),
            "epsilon": spectrum.epsilon,
            "empirical": {
                "delta": spectrum.delta,
                "low": spectrum.low,
                "interval": spectrum.interval,
                "forward": {"delta": estimate.forward.delta, "low": estimate.forward.low},
                "backward": {"delta": estimate.backward.delta, "low": estimate.backward.low},
            },
            "certified": self.certified.to_dict(),
            "attacker": of_band(spectrum.epsilon, spectrum.delta, self.certified),
            "exact": None
            if exact is None
            else {
                "delta": exact.delta,
                "law": exact.law,
                "forward": exact.forward,
                "backward": exact.backward,
                "asymptotic": exact.asymptotic,
            },
            "claim": None
            if claim is None
            else {
                "text": claim.text,
                "epsilon": claim.epsilon,
                "delta": claim.delta_at(spectrum.epsilon),
            },
            "detectable": self.detectable,
            "sequential": None if self.sequential is None else self.sequential.to_dict(),
            "ledger": self.ledger,
            "evidence": None if self.evidence is None else self.evidence.to_dict(),
            "samples": {
                "train": self.sizes.train,
                "choose": self.sizes.choose,
                "test": self.sizes.certify,
            },
            "classifier": {
                "requested": settings.classifier
                if isinstance(settings.classifier, str)
                else fitted.name,
                "chosen": fitted.name,
                "note": "; ".join(fitted.notes) or None,
                "portfolio": fitted.portfolio,
                "unread": fitted.unread,
            },
            "seed": describe_seed(settings.seed),
            "versions": versions(),
            "timings": self.timings,
            "peak_memory_mb": self.peak_memory_mb,
        }
        return dict(plain(record))

    @classmethod
    def of(cls, record: dict[str, Any]) -> Self:
        """Make a result from the content of result.json, with the attributes that it keeps."""
        curves = read_curves(record)
        empirical, exact = record["empirical"], record["exact"]
        spectrum = Spectrum(
            curves.epsilon,
            curves.estimate,
            numbers(empirical["forward"]["delta"], "empirical.forward.delta"),
            numbers(empirical["backward"]["delta"], "empirical.backward.delta"),
            low=curves.low,
            level=record["level"],
            law=f"estimate ({record['classifier']['chosen']})",
            interval=curves.interval,
        )
        theory = None
        if curves.exact is not None:
            forward, backward = (
                None if exact[way] is None else numbers(exact[way], f"exact.{way}")
                for way in ("forward", "backward")
            )
            theory = Spectrum(
                curves.epsilon,
                curves.exact,
                forward,
                backward,
                law=curves.law,
                asymptotic=curves.asymptotic,
            )
        return cls._restored(
            record=record,
            spectrum=spectrum,
            exact=theory,
            claim=None if record["claim"] is None else _claim(record["claim"], curves),
            verdict=record["verdict"],
            reason=record["reason"],
            detectable=record["detectable"],
            headline=curves.headline,
            timings=record["timings"],
            peak_memory_mb=record["peak_memory_mb"],
        )


def _mechanism(mechanism: Any) -> dict[str, Any]:
    name, parameters = describe(mechanism)
    text = getattr(mechanism, "summary", "") or getattr(mechanism, "__doc__", "") or ""
    return {
        "name": name,
        "parameters": parameters,
        "description": next(iter(text.strip().splitlines()), ""),
        "regression": bool(getattr(mechanism, "regression", False)),
    }


def _neighbour(subject: Subject) -> dict[str, Any]:
    """The pair in words, with values of a row only if `show_data` is set or the bound is public.

    "tried", "pool" : how many neighbours a search audited, and from how many. Leverage and residual
    share of a row of D, by least squares, are None if they are not defined.
    """
    pair, search = subject.pair, subject.search or {}
    content: dict[str, Any]
    leverage = share = values = None
    if pair is None:
        content = {"relation": "samples", "index": None, "leverage": None, "residual_share": None}
    else:
        if pair.index is not None and pair.relation != "add":
            values = pair.left[pair.index].tolist() if subject.show_data else None
            if pair.left.shape[1] > 1:
                try:
                    rows = row_statistics(pair.left)
                    leverage = float(rows.leverage[pair.index])
                    share = float(rows.residual_share[pair.index])
                except DegenerateData:
                    pass
        content = {
            **pair.to_dict(show_data=subject.show_data),
            "row_taken_out": values,
            "leverage": leverage,
            "residual_share": share,
        }
    tried = sum(trial["rung"] > 0 for trial in search.get("tried", ()))
    return {**content, "rule": subject.rule, "tried": tried or None, "pool": search.get("pool")}


def _claim(content: Mapping[str, Any], curves: Curves) -> Claim:
    """The claim of a record, rebuilt if that restores its name and δ; else its δ on the grid."""
    text, delta, head = content["text"], numbers(content["delta"], "claim.delta"), curves.headline
    claim = None
    if head.symbol == ADVANTAGE and head.claimed is not None:
        claim = Claim.advantage(head.claimed)
    elif content["epsilon"] is not None:
        own = int(np.argmin(np.abs(curves.epsilon - content["epsilon"])))
        claim = Claim(content["epsilon"], float(delta[own]))
    elif head.claimed is not None and head.symbol in ("μ", "ρ"):
        claim = Claim.gdp(head.claimed) if head.symbol == "μ" else Claim.zcdp(head.claimed)
    if (
        claim is not None
        and text.startswith(claim.text)
        and np.allclose(claim.delta_at(curves.epsilon), delta, rtol=1e-9, atol=1e-12)
    ):
        return replace(claim, text=text, origin=head.origin)
    return Claim(None, 0.0, text, GridCurve(text, curves.epsilon, delta))


@value_class(show_numbers=True)
class GridCurve:
    """A claim known only at the ε of a grid. epsilon, delta : (m,) arrays."""

    text: str
    epsilon: Array
    delta: Array

    def __call__(self, epsilon: Array) -> Array:
        """δ at points of the grid. Raises `InvalidInput` for an ε that is not on the grid."""
        at = np.searchsorted(self.epsilon, epsilon).clip(max=len(self.epsilon) - 1)
        if np.any(self.epsilon[at] != epsilon):
            raise InvalidInput(
                f"a saved result has the claim {self.text} at the ε of its grid alone; make "
                "the claim again for other ε",
                argument="epsilon",
            )
        return np.asarray(self.delta[at])
