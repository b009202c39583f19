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
from dataclasses import dataclass
from typing import Any

from dpaudit.cli import exit_status
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
ONE = (
    "Violated for {found}, not seen for {other}. Which of them is the claim about? Only you can "
    "say: --neighbours {relations}, if it is about the first."
)
HELD = "No violation was seen, neither for rows added or removed nor for rows replaced."
WEAK = "The draws cannot decide for {names}."
LEFT_OUT = "Left out: {name}. There the mechanism cannot be audited: {reason}\n"


@dataclass(frozen=True)
class Judged:
    """What both audits say together. text : for people. status : the exit status."""

    text: str
    status: int


def judged(done: Sequence[ScenarioOutcome]) -> Judged:
    """From the outcomes of both readings, in the order of `READINGS`.

    A reading under which the mechanism cannot run is left out: the claim is then about the other.
    Raises the error of the first one where both fail, and any error that is not dpaudit's own.
    """
    named = dict(zip(READINGS, done, strict=True))
    failed = {name: one.error for name, one in named.items() if one.error is not None}
    for error in failed.values():
        if len(failed) == len(named) or not isinstance(error, DpauditError):
            raise error
    kinds = {name: one.kind for name, one in named.items() if one.error is None}
    found = _of_one(*kinds.values()) if failed else _of_both(kinds, named["replace"].record)
    said = [LEFT_OUT.format(name=WORDS[name], reason=named[name].reason) for name in failed]
    return Judged("".join([*said, found.text]), found.status)


def _of_one(kind: str) -> Judged:
    return Judged(
        f"The verdict is that of the other relation: {kind}.", exit_status.OF_VERDICT[kind]
    )


def _of_both(kinds: Mapping[str, str], replaced: Mapping[str, Any] | None) -> Judged:
    violated = [name for name, kind in kinds.items() if kind == "violated"]
    if len(violated) == 2:
        return Judged(BOTH, exit_status.VIOLATED)
    if replaced is not None and (excess := beyond_group(replaced)) is not None:
        epsilon, delta = (number(one, 3) for one in excess)
        return Judged(GROUP.format(epsilon=epsilon, delta=delta), exit_status.VIOLATED)
    if violated:
        return Judged(_one(violated[0]), exit_status.INCOMPLETE)
    weak = [WORDS[name] for name, kind in kinds.items() if kind == "inconclusive"]
    if weak:
        return Judged(WEAK.format(names=" or ".join(weak)), exit_status.INCOMPLETE)
    return Judged(HELD, exit_status.NOT_VIOLATED)


def _one(name: str) -> str:
    other = next(one for one in READINGS if one != name)
    relations = ",".join(READINGS[name])
    return ONE.format(found=WORDS[name], other=WORDS[other], relations=relations)


def beyond_group(replaced: Mapping[str, Any]) -> tuple[float, float] | None:
    """(2ε, (1 + e^ε)δ) where a replaced row shows more than that for certain; else None.

    replaced : the content of its result.json, with a claim (ε, δ). δ(·) does not increase, so the
    certified bound at any ε' ≥ 2ε is one at 2ε.
    """
    epsilon, delta = replaced["headline"]["claimed"], replaced["headline"]["delta"]
    most = (1.0 + math.exp(epsilon)) * delta
    grid, low = replaced["epsilon"], replaced["empirical"]["low"]
    at_twice = [bound for one, bound in zip(grid, low, strict=True) if one >= 2.0 * epsilon]
    return (2.0 * epsilon, most) if max(at_twice, default=0.0) > most else None
