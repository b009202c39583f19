"""The verdict on a claim of which nobody said whether its neighbours add, remove or replace rows.

A claim is accused only where it fails whichever of them it is about. So it does where the audits of
both find a violation. It also does where a replacement shows more than two steps of the claim: a
mechanism that is (ε, δ)-DP when a row is added or removed is (2ε, (1 + e^ε)δ)-DP when one is
replaced, since a removal and an addition replace it (group privacy; Dwork & Roth 2014, theorem 2.2,
and Vadhan 2017, lemma 2.2, for δ > 0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.saved import save_record
from dpaudit.curves.readings import LARGEST
from dpaudit.errors import DpauditError
from dpaudit.report.text import number
from dpaudit.run.suite.suite import ScenarioOutcome
from dpaudit.run.written import READINGS

WORDS = {"add-remove": "one row added or removed", "replace": "one row replaced"}
BOTH = "Violated, whichever neighbours the claim is about: rows added or removed, or rows replaced."
GROUP = (
    "Violated, whichever neighbours the claim is about: if it held for rows added or removed, "
    "δ({epsilon}) would be at most {delta} for rows replaced."
)
SINGLE = (
    "Violated for {shown}, not seen for {other}. Which of them is the claim about? Only you can "
    "say: --neighbours {relations}, if it is about the first."
)
NEITHER = "No violation was seen, neither for rows added or removed nor for rows replaced."
WEAK = "The draws cannot decide for {names}."
LEFT_OUT = (
    "Left out: {name}. There the mechanism cannot be audited: {reason}\n"
    "The verdict is that of the other relation: {kind}."
)


def alone(result: AuditResult) -> AuditResult:
    """The result of an audit under a relation that nobody named, by itself.

    A violation is inconclusive, since the claim may be about another relation. The reason has a
    sentence on that (`Search.notes`).
    """
    return replace(result, verdict="inconclusive") if result.verdict == "violated" else result


def together(done: Sequence[ScenarioOutcome]) -> tuple[list[ScenarioOutcome], str]:
    """The outcomes under both relations with the one verdict on the claim, and it in a sentence.

    done : in the order of `READINGS`, each audit as `alone` leaves it. Their reports are written
        again, with the verdict and the sentence.

    A relation under which the mechanism cannot run is left out: the claim is then about the other.
    Where both fail, or an error is not dpaudit's own, the outcomes stay as they are, and the
    sentence is "".
    """
    named = dict(zip(READINGS, done, strict=True))
    audited = {name: case.record for name, case in named.items() if case.record is not None}
    failed = {name: case for name, case in named.items() if case.error is not None}
    if not audited or not all(isinstance(case.error, DpauditError) for case in failed.values()):
        return list(done), ""
    kinds = {name: _own(record) for name, record in audited.items()}
    if failed:
        (name, case), (verdict,) = *failed.items(), kinds.values()
        text = LEFT_OUT.format(name=WORDS[name], reason=case.reason, kind=verdict)
    else:
        verdict, text = _of_both(kinds, audited["replace"])
    return [_judged(named[name], verdict, text) for name in audited], text


def _own(record: Mapping[str, Any]) -> str:
    """The verdict of an audit on the claim as one about its own relation."""
    return "violated" if record["headline"]["exceeded"] else str(record["verdict"])


def _judged(case: ScenarioOutcome, verdict: str, text: str) -> ScenarioOutcome:
    assert case.record is not None
    reason = " ".join([*text.split("\n"), case.record["reason"]])
    record = {**case.record, "verdict": verdict, "reason": reason}
    save_record(record, case.folder)
    return replace(case, kind=verdict, reason=reason, record=record)


def _of_both(kinds: Mapping[str, str], replaced: Mapping[str, Any]) -> tuple[str, str]:
    """The verdict, and why, from that of each relation.

    replaced : the content of result.json for a replaced row.
    """
    violated = [name for name, kind in kinds.items() if kind == "violated"]
    if len(violated) == 2:
        return "violated", BOTH
    if (excess := beyond_group(replaced)) is not None:
        epsilon, delta = (number(value, 3) for value in excess)
        return "violated", GROUP.format(epsilon=epsilon, delta=delta)
    if violated:
        (name,), (other,) = violated, set(kinds) - set(violated)
        relations = ",".join(READINGS[name])
        words = {"shown": WORDS[name], "other": WORDS[other], "relations": relations}
        return "inconclusive", SINGLE.format(**words)
    weak = [WORDS[name] for name, kind in kinds.items() if kind == "inconclusive"]
    if weak:
        return "inconclusive", WEAK.format(names=" or ".join(weak))
    return "not violated", NEITHER


def beyond_group(replaced: Mapping[str, Any]) -> tuple[float, float] | None:
    """(2ε, (1 + e^ε)δ) where a replaced row shows more than that for certain; else None.

    replaced : the content of its result.json, with a claim (ε, δ). δ(·) does not increase, so the
    certified bound at any ε' ≥ 2ε is one at 2ε.
    """
    epsilon, delta = replaced["headline"]["claimed"], replaced["headline"]["delta"]
    most = (1.0 + math.exp(min(epsilon, LARGEST))) * delta
    grid, low = replaced["epsilon"], replaced["empirical"]["low"]
    at_twice = [bound for at, bound in zip(grid, low, strict=True) if at >= 2.0 * epsilon]
    return (2.0 * epsilon, most) if max(at_twice, default=0.0) > most else None
