"""Texts of privacy tests: the message of a failure, and the line of an audit in pytest's summary.
They hold values of the data only if the test asks for them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from dpaudit._core.text import one_line, printable
from dpaudit._core.types import Array, Mechanism, describe
from dpaudit._core.value import brief
from dpaudit.adapters.functions import OneDraw
from dpaudit.auditing.result import AuditResult
from dpaudit.curves.claims import ADVANTAGE, Claim
from dpaudit.neighbours import NeighbourPair
from dpaudit.neighbours.pair import DONE
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.step_result import StepResult
from dpaudit.report.facts import properties
from dpaudit.testing.reporting import Audited
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import count, counted, number, plain

SHOWN = 8  # a message shows at most so many numbers of a row
WIDTH = 14  # characters of the column with the names of facts
ZEROED = (
    "a row of zeros is taken for nobody; if it is somebody, name the relation of the claim, "
    'as in search={"relations": ("remove",)}'
)


class PrivacyFailure(AssertionError):
    """Raised by the assertions of `dpaudit.testing` where a privacy test fails.

    Attributes
    ----------
    result : AuditResult, OneRunResult or StepResult
        The result of the audit that failed.
    facts : dict of str
        The lines of the message, by name. Control characters in names are escaped.
    """

    def __init__(
        self,
        headline: str,
        facts: Mapping[str, str],
        result: AuditResult | OneRunResult | StepResult,
    ) -> None:
        self.result = result
        self.facts = {name: one_line(text) for name, text in facts.items()}
        lines = [f"  {name.ljust(WIDTH - 1)} {text}" for name, text in self.facts.items() if text]
        super().__init__("\n".join([printable(headline), *lines]))


def headline_facts(result: AuditResult) -> dict[str, str]:
    """The certified ε at the claim's δ (or μ or ρ), the δ at its ε, and the reason; certified
    numbers are rounded down.
    """
    head = result.headline
    at = int(np.argmin(np.abs(result.spectrum.epsilon - head.epsilon)))
    place = "" if head.delta is None else f" at δ = {number(head.delta)}"
    low = number(head.certified_delta, down=True)
    name, exact = f"δ({number(head.epsilon)})", result.exact
    reason = result.reason.replace(head.text, "", 1).replace(head.in_delta, "", 1)
    return {
        f"certified {head.symbol}": f"{number(head.certified, down=True)} at least{place}, "
        f"claimed {number(head.claimed)}",
        "certified δ": f"{name} = {low} at least, claimed {number(head.allowed_delta)}",
        "estimate": f"{name} = {number(result.spectrum.delta[at])}",
        "exact": "" if exact is None else f"{name} = {number(exact.delta[at])}",
        "reason": " ".join(reason.split()),
    }


def pair_fact(pair: NeighbourPair, rule: str = "", *, show_data: bool = False) -> dict[str, str]:
    """The line that says which databases were compared. rule : how they were chosen, in words."""
    why = rule.removeprefix(f"{pair.change}: ")
    reason = f" ({why})" if why else ""
    if pair.index is None or pair.relation not in DONE:
        change = f"{pair.change}: " if pair.change else ""
        return {"pair": f"{change}{_shape(pair.left)} and {_shape(pair.right)}{reason}"}
    place = f"{pair.index} of {count(len(pair.left))} (counted from 0)"
    values = f"; it was {_row(pair.left[pair.index])}" if show_data else ""
    if show_data and pair.relation == "replace":
        values += f", now {_row(pair.right[pair.index])}"
    return {"row": f"{place}, {DONE[pair.relation]}{reason}{values}"}


def repeat_facts(
    function: str, mechanism: Mechanism, pair: str, expected: str, settings: Mapping[str, Any]
) -> dict[str, str]:
    keywords = ", ".join(
        f"{name}={_code(name, value)}" for name, value in settings.items() if value is not None
    )
    call = (
        f"dpaudit.testing.{function}({mechanism_code(mechanism)}, {pair}, {expected}, {keywords})"
    )
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    seed = settings.get("rng")
    return {
        "run again": f"pytest '{test}' --dpaudit-seed {seed}" if test else "",
        "in Python": call,
    }


def _code(name: str, value: Any) -> str:
    """The value of a keyword as code. `candidates`, which are rows, appear by name only."""
    if name == "candidates":
        return name
    if isinstance(value, Mapping):
        parts = (f"{key!r}: {_code(key, part)}" for key, part in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    literal = isinstance(value, (bool, int, float, str, list, tuple))
    return repr(value) if literal else f"<{brief(value)}>"


def mechanism_code(mechanism: Mechanism) -> str:
    """A mechanism as code: its class with parameters, or the module and name of a function."""
    if name := getattr(mechanism, "__qualname__", None):
        return f"{mechanism.__module__}.{name}"
    if isinstance(mechanism, OneDraw):
        return f"dpaudit.adapters.one_draw({mechanism_code(mechanism.function)})"
    name, parameters = describe(mechanism)
    return f"{name}({', '.join(f'{key}={plain(value)}' for key, value in parameters.items())})"


def claim_code(claim: Claim) -> str:
    """A claim (ε, δ) as code, "(1.0, 1e-05)"; a claim of another kind in words."""
    if claim.family is not None and claim.family.symbol == ADVANTAGE:
        return f"dpaudit.Claim.advantage({claim.family.value!r})"
    return repr((claim.epsilon, claim.delta)) if claim.epsilon is not None else f"<{claim.text}>"


def pair_code(pair: NeighbourPair, *, show_data: bool = False) -> str:
    """A pair as code that makes it from `data`, with the name `row` for a new row; else "pair"."""
    room = "dpaudit.neighbours."
    if pair.relation in ("zero-out", "remove"):
        function = "zero_row" if pair.relation == "zero-out" else "remove_row"
        return f"{room}{function}(data, {pair.index})"
    if pair.relation == "remove-group":
        return f"{room}remove_group(data, {list(pair.group or ())})"
    if pair.relation == "replace":
        row = f"[{_row(pair.right[pair.index])}]" if show_data else "row"
        return f"{room}replace_row(data, {pair.index}, {row})"
    return "pair"


def chance(rate: float) -> str:
    """A probability of a false failure in words, as "1 in 1,000,000"."""
    odds = 1.0 / rate
    return f"1 in {number(odds if odds >= 1e12 else round(odds))}" if rate < 0.1 else number(rate)


def _row(row: Array) -> str:
    values = ", ".join(f"{value:.6g}" for value in row[:SHOWN])
    return values if len(row) <= SHOWN else f"{values}, … ({len(row)} numbers)"


def _shape(side: Array) -> str:
    return f"{count(len(side))} rows of {side.shape[1]}"


def audited(
    verdict: str,
    claim: str,
    result: AuditResult,
    detectable: Mapping[str, float] | None,
    tried: int | None = None,
) -> Audited:
    """The entry of an audit in the reports of pytest. detectable : as in `AuditResult`. tried :
    number of neighbours that were compared; None if the test named the pair.
    """
    pair, draws = result.subject.pair, result.sizes.total
    change = (pair.change if pair is not None else "") or "two databases"
    among = f"worst of {counted(tried or 0, 'neighbour')} tried"
    power_fact = "no excess detectable"
    if detectable is not None:
        excess, at, power = (number(detectable[key], 3) for key in ("excess", "epsilon", "power"))
        power_fact = f"excess of any shape detectable with probability {power}: {excess} in δ({at})"
    line = (
        f"{_certified(claim, result.headline)}; {power_fact}; "
        f"{change}{' (given)' if tried is None else f', {among}'}; {count(draws)} draws a side"
    )
    facts = properties(
        result.headline.to_dict(),
        detectable,
        verdict=verdict,
        claim=claim,
        neighbour=change,
        tried=tried,
        draws=draws,
    )
    # the audits of one test are compared by the excess at the claim's own ε, if it has one
    own, excess_there = result.settings.claimed_epsilon, inf
    if detectable is not None and own in (None, detectable["epsilon"]):
        excess_there = detectable["excess"]
    return Audited(facts, line, excess_there)


def audited_once(claim: str, result: OneRunResult | StepResult) -> Audited:
    if isinstance(result, OneRunResult):
        canaries = f"{count(result.guesses.canaries)} canaries in one run"
    else:
        seen = result.record["steps"]
        canaries = counted(seen["canaries"], "canary", "canaries")
        canaries += f" in {counted(seen['steps'], 'step')}"
    facts = properties(
        result.headline.to_dict(),
        None,
        verdict=result.verdict,
        claim=claim,
        neighbour=canaries,
        tried=None,
        draws=1,
    )
    return Audited(facts, f"{_certified(claim, result.headline)}; {canaries}", inf)


def _certified(claim: str, head: Headline) -> str:
    """The claim and the certified value: "(1, 0.1)-DP; ε ≥ 1.4 certified at δ = 0.1"."""
    if head.claimed is None:
        return claim
    low = number(head.certified, down=True)
    return f"{claim}; {head.symbol} ≥ {low} certified {head.at}".rstrip()
