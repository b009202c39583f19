"""What came of the test of a statement, computed now: a search, or a sweep over a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.report.text import number
from dpaudit.testing import BoundSearch, choices, search_bound
from dpaudit.testing.bound import Trial
from dpaudit.testing.ranges import Choices, Domain
from reports.make.findings.evidence import (
    HOLDS,
    LOOSE,
    SLIP,
    TIGHT,
    UNDEFINED,
    WRONG,
    Evidence,
    symbol,
)
from reports.make.findings.statement import Searched, Statement, Swept
from reports.make.findings.sweep import sweep

DIGITS = 6  # of a number in the words of a range


@dataclass(frozen=True)
class Case:
    """One setting with its evidence."""

    setting: Mapping[str, Any]
    evidence: Evidence


@dataclass(frozen=True)
class Outcome:
    """named : the settings that the statement names. simplest, worst : failing ones, None where
    none was found or looked for; closest : the one with the least room where none fails.

    tried, excluded : settings. failed : how many of them failed, where all were looked at; None of
    a search. ranges : of the parameters, in the paper's letters.
    """

    named: Sequence[Case]
    simplest: Case | None
    worst: Case | None
    closest: Case | None
    tried: int
    excluded: int
    failed: int | None
    ranges: str

    @property
    def holds(self) -> bool:
        """Whether no failure was found."""
        return self.worst is None

    @property
    def first(self) -> Case | None:
        """The setting to show first: one that is named and fails, else the simplest, or closest."""
        named = [one for one in self.named if self.holds or one.evidence.violated]
        return next(iter([*named, *filter(None, (self.simplest, self.worst, self.closest))]), None)


def outcome(test: Searched | Swept, paper: int) -> Outcome:
    """Search or sweep; the letters are the paper's."""
    return _of_search(test, paper) if isinstance(test, Searched) else _of_sweep(test, paper)


def cases(test: Searched | Swept | None) -> list[Case]:
    """The evidence at the settings that a test names, without a search."""
    if test is None:
        return []
    if isinstance(test, Swept):
        return [Case(one, test.test(**one)) for one in (test.setting, *test.more)]
    return [] if test.at is None else [Case(test.at, at(test, test.at))]


def at(test: Searched | Swept, setting: Mapping[str, Any]) -> Evidence:
    """The evidence at any setting that the hypotheses admit; `InvalidInput` at another one."""
    if isinstance(test, Swept):
        return test.test(**setting)
    one = {name: choices(value) for name, value in {**_fixed(test), **setting}.items()}
    found = _search(test, one, 1)
    case = _case(test, found.worst or found.closest)
    assert case is not None
    return case.evidence


def _fixed(test: Searched) -> dict[str, Any]:
    """The parameters of a domain that have one value."""
    read = Domain.of(test.domain)
    pairs = zip(read.names, read.ranges, strict=True)
    return {name: one.value(one.edges[0]) for name, one in pairs if one.size == 1}


def _of_search(test: Searched, paper: int) -> Outcome:
    found = _search(test, test.domain, test.tries)
    named = cases(test)
    failing = [one for one in named if one.evidence.violated]
    return Outcome(
        named=named,
        simplest=_case(test, found.simplest),
        worst=_case(test, found.worst) or next(iter(failing), None),
        closest=_case(test, found.closest) if found.holds and not failing else None,
        tried=found.tried,
        excluded=found.excluded,
        failed=None,
        ranges=ranges(test.domain, paper),
    )


def _search(test: Searched, domain: Mapping[str, Any], tries: int) -> BoundSearch:
    return search_bound(
        test.printed,
        test.exact,
        domain,
        hypotheses=test.hypotheses,
        side=test.side,
        tries=tries,
        tolerance=test.tolerance,
        rounding=test.rounding,
    )


def _case(test: Searched, trial: Trial | None) -> Case | None:
    if trial is None:
        return None
    also = "" if test.also is None else test.also(**trial.setting)
    printed = None if math.isnan(trial.printed) else trial.printed
    kind = test.kind if trial.fails else HOLDS
    verdict = _verdict(test, trial)
    factor = trial.factor if printed is not None else None
    return Case(
        trial.setting, Evidence(test.quantity, printed, trial.exact, kind, verdict, factor, also)
    )


def _verdict(test: Searched, trial: Trial) -> str:
    if math.isnan(trial.printed):
        return UNDEFINED
    if trial.fails:
        return WRONG if test.side == "upper" else SLIP
    return TIGHT if test.side == "both" else LOOSE


def ranges(domain: Mapping[str, Any], paper: int) -> str:
    """ "q 0.01 to 0.9, r 1 to 1000", in the paper's letters; fixed values with "=" between."""
    read = Domain.of(domain)
    return ", ".join(
        f"{symbol(paper, name)}{' = ' if isinstance(one, Choices) and one.size == 1 else ' '}{one}"
        for name, one in zip(read.names, read.ranges, strict=True)
    )


def _of_sweep(test: Swept, paper: int) -> Outcome:
    named = cases(test)
    failing = [one for one in named if one.evidence.violated]
    if not test.grid:
        closest = None if failing else named[0]
        worst = failing[0] if failing else None
        return Outcome(named, None, worst, closest, len(named), 0, len(failing), "")
    over = sweep(test.test, test.grid, test.setting)
    extreme = Case(over.worst, over.evidence)
    worst = extreme if over.failed else next(iter(failing), None)
    grid = {name: list(values) for name, values in test.grid.items()}
    return Outcome(
        named=named,
        simplest=None,
        worst=worst,
        closest=extreme if worst is None else None,
        tried=over.cases,
        excluded=math.prod(map(len, grid.values())) - over.cases,
        failed=over.failed,
        ranges=", ".join(f"{symbol(paper, name)} {span(one)}" for name, one in grid.items()),
    )


def span(values: Sequence[Any]) -> str:
    """The ends of numbers, or all of other values."""
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
        ends = dict.fromkeys((min(values), max(values)))
        return " to ".join(number(one, DIGITS) for one in ends)
    return " or ".join(map(str, values))


def corrected(statement: Statement) -> Outcome | None:
    """What came of the corrected line; None where it has no test."""
    return None if statement.fixed is None else outcome(statement.fixed, statement.paper)
