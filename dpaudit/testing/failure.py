"""The message of a failed privacy test: the verdict, its numbers, the row, and how to repeat it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from dpaudit._core.printable import one_line, printable
from dpaudit._core.types import Array, Mechanism, describe
from dpaudit.auditing.result import AuditResult
from dpaudit.curves.claims import Claim
from dpaudit.neighbours import NeighbourPair
from dpaudit.report.text import count, number, plain

SHOWN = 8  # numbers of a row
WIDTH = 14  # of the names of facts, in characters


class PrivacyFailure(AssertionError):
    """A privacy test that failed.

    result : the audit behind it. facts : the lines of the message, by name. Control characters in
    names are escaped.
    """

    def __init__(self, headline: str, facts: Mapping[str, str], result: AuditResult) -> None:
        self.result = result
        self.facts = {name: one_line(text) for name, text in facts.items()}
        lines = [f"  {name.ljust(WIDTH)}{text}" for name, text in self.facts.items() if text]
        super().__init__("\n".join([printable(headline), *lines]))


def values_at(result: AuditResult, claimed: Array, at: int) -> dict[str, str]:
    """ε, certified δ (rounded down), estimate, exact and claimed δ at position `at` of the grid."""
    spectrum, exact = result.spectrum, result.exact
    assert spectrum.low is not None
    low, estimate = number(spectrum.low[at], down=True), number(spectrum.delta[at])
    return {
        "ε": f"{number(spectrum.epsilon[at])} nats",
        "certified δ": f"{low} at least (estimate {estimate})",
        "exact δ": "" if exact is None else number(exact.delta[at]),
        "claimed δ": number(claimed[at]),
    }


def pair_fact(pair: NeighbourPair, rule: str = "") -> dict[str, str]:
    """The line that says which databases were compared. rule : why these, in words.

    "7 of 30 (counted from 0), set to zero (worst of all rows by the exact spectrum); it was 1, 0.3"
    """
    reason = f" ({rule})" if rule else ""
    if pair.index is None:
        sides = f"{_shape(pair.left)} and {_shape(pair.right)}"
        return {"pair": f"two databases, {sides}{reason}"}
    row = pair.left[pair.index]
    change = (
        "set to zero"
        if pair.relation == "zero-out"
        else f"replaced by {_row(pair.right[pair.index])}"
    )
    place = f"{pair.index} of {count(len(pair.left))} (counted from 0)"
    return {"row": f"{place}, {change}{reason}; it was {_row(row)}"}


def draws_fact(samples: int, seed: int) -> dict[str, str]:
    """The line that says how many draws a side were made, and from which seed."""
    return {"draws": f"{count(samples)} a side, seed {seed}"}


def repeat_facts(
    function: str, mechanism: Mechanism, pair: str, expected: str, settings: Mapping[str, Any]
) -> dict[str, str]:
    """How to repeat the test: the pytest command, if pytest runs it, and the call in Python.

    function : the assertion. pair, expected : its arguments, as code. settings : its keywords.
    """
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items() if value is not None)
    call = f"dpaudit.testing.{function}({mechanism_code(mechanism)}, {pair}, {expected}, {given})"
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    seed = settings.get("rng")
    return {
        "run again": f"pytest '{test}' --dpaudit-seed {seed}" if test else "",
        "in Python": call,
    }


def mechanism_code(mechanism: Mechanism) -> str:
    """A mechanism in one line: its class and parameters, or module and name of a function."""
    if name := getattr(mechanism, "__qualname__", None):
        return f"{mechanism.__module__}.{name}"
    name, parameters = describe(mechanism)
    return f"{name}({', '.join(f'{key}={plain(value)}' for key, value in parameters.items())})"


def claim_code(claim: Claim) -> str:
    """A claim as code, (1.0, 1e-05); a claim of another kind in words."""
    return repr((claim.epsilon, claim.delta)) if claim.epsilon is not None else f"<{claim.text}>"


def pair_code(pair: NeighbourPair) -> str:
    """A pair as code, where one line makes it."""
    if pair.relation == "zero-out":
        return f"dpaudit.neighbours.zero_row(data, {pair.index})"
    if pair.relation == "replace":
        row = _row(pair.right[pair.index])
        return f"dpaudit.neighbours.replace_row(data, {pair.index}, [{row}])"
    return "pair"


def chance(rate: float) -> str:
    """A rate of false failures in words: "1 in 1,000,000"; small ones with a power of ten."""
    odds = 1.0 / rate
    return f"1 in {number(odds if odds >= 1e12 else round(odds))}" if rate < 0.1 else number(rate)


def _row(row: Array) -> str:
    shown = ", ".join(f"{value:.6g}" for value in row[:SHOWN])
    return shown if len(row) <= SHOWN else f"{shown}, … ({len(row)} numbers)"


def _shape(side: Array) -> str:
    return f"{count(len(side))} rows of {side.shape[1]}"
