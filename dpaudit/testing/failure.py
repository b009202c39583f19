"""What a failed test of privacy says: the verdict, the numbers behind it, the row, and how to see
it again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from dpaudit._core.types import describe
from dpaudit.auditing.result import AuditResult
from dpaudit.curves.claims import Claim
from dpaudit.neighbours import NeighbourPair
from dpaudit.report.text import number, plain

SHOWN = 8  # numbers of a row
WIDTH = 14


class PrivacyFailure(AssertionError):
    """A test of privacy that failed. result : the audit behind it. facts : the lines of its
    message, by name.
    """

    def __init__(self, headline: str, facts: Mapping[str, str], result: AuditResult) -> None:
        self.result, self.facts = result, dict(facts)
        lines = [f"  {name.ljust(WIDTH)}{text}" for name, text in facts.items() if text]
        super().__init__("\n".join([headline, *lines]))


def values_at(result: AuditResult, claimed: Any, at: int) -> dict[str, str]:
    """ε, certified δ (rounded down), estimate, exact and claimed δ at one place of the grid."""
    spectrum, exact = result.spectrum, result.exact
    assert spectrum.low is not None
    return {
        "ε": f"{number(spectrum.epsilon[at])} nats",
        "certified δ": f"{number(spectrum.low[at], down=True)} at least (estimate {number(spectrum.delta[at])})",
        "exact δ": "" if exact is None else number(exact.delta[at]),
        "claimed δ": number(claimed[at]),
    }


def row_text(pair: NeighbourPair, rule: str) -> str:
    """Which databases: "row 7 of 30 set to zero (worst of all rows, by the exact spectrum); it was
    1, 0.3".
    """
    chosen = f" ({rule})" if rule else ""
    if pair.index is None:
        return f"two databases, {_shape(pair.left)} and {_shape(pair.right)}{chosen}"
    done = (
        "set to zero"
        if pair.relation == "zero-out"
        else f"replaced by {_row(pair.right[pair.index])}"
    )
    return f"{pair.index} of {len(pair.left):,} (counted from 0), {done}{chosen}; it was {_row(pair.left[pair.index])}"


def again(
    function: str, mechanism: Any, pair: str, held: str, settings: Mapping[str, Any]
) -> dict[str, str]:
    """The test to run again, where pytest runs it, and the call in Python; both with the seed."""
    said = ", ".join(f"{name}={value!r}" for name, value in settings.items() if value is not None)
    call = f"dpaudit.testing.{function}({called(mechanism)}, {pair}, {held}, {said})"
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    seed = settings.get("rng")
    return {
        "run again": f"pytest '{test}' --dpaudit-seed {seed}" if test else "",
        "in Python": call,
    }


def called(mechanism: Any) -> str:
    """A mechanism in a line: its class with parameters, or module and name of a function."""
    if name := getattr(mechanism, "__qualname__", None):
        return f"{mechanism.__module__}.{name}"
    name, parameters = describe(mechanism)
    return f"{name}({', '.join(f'{key}={plain(value)}' for key, value in parameters.items())})"


def claim_code(claim: Claim) -> str:
    """(1.0, 1e-05) for a claim of one (ε, δ), else its words."""
    return repr((claim.epsilon, claim.delta)) if claim.epsilon is not None else f"<{claim.text}>"


def chance(rate: float) -> str:
    """A rate of false failures: "1 in 1,000,000"."""
    return f"1 in {number(round(1.0 / rate))}" if rate < 0.1 else number(rate)


def pair_code(pair: NeighbourPair) -> str:
    """The pair as Python makes it, where that takes a line."""
    if pair.relation == "zero-out":
        return f"dpaudit.neighbours.zero_row(data, {pair.index})"
    if pair.relation == "replace":
        return (
            f"dpaudit.neighbours.replace_row(data, {pair.index}, [{_row(pair.right[pair.index])}])"
        )
    return "pair"


def _row(row: Any) -> str:
    shown = ", ".join(f"{value:.6g}" for value in row[:SHOWN])
    return shown if len(row) <= SHOWN else f"{shown}, … ({len(row)} numbers)"


def _shape(side: Any) -> str:
    return f"{len(side):,} rows of {side.shape[1]}"
