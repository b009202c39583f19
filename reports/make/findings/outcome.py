"""What came of the test of a statement, computed now: a search, or a sweep over a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import DpauditError
from dpaudit.testing import BoundSearch, choices, search_bound
from dpaudit.testing.bound import Trial
from dpaudit.testing.ranges import Choices, ranges_of, value_of
from dpaudit.verdict.numbers import number
from reports.make.findings import PAPERS
from reports.make.findings.evidence import (
    HOLDS,
    LOOSE,
    SLIP,
    TIGHT,
    UNDEFINED,
    WRONG,
    Evidence,
    Grid,
    Test,
)
from reports.make.findings.statement import Searched, Swept, Tested

DIGITS = 6  # significant digits of a number in the words of a range
SYMBOLS = {
    "row_bound": "B",
    "rows": "r",
    "dof": "ν",
    "dim": "d",
    "features": "p",
    "leverage": "q",
    "residual_share": "t",
    "mixtures": "k",
    "columns": "d",
    "chi": "χ",
    "share_of_ones": "P(y = 1)",
    "mu": "μ",
    "public_rows": "n_B",
    "coef_bound": "R_β",
    "steps": "T",
    "gamma": "γ",
    "rho": "ρ",
    "epsilon": "ε",
    "delta": "δ",
    "padding": "w",
    "order": "α",
    "spread": "C₂",
    "eta": "η",
    "nu": "ν",
    "ridge": "λ",
    "coef": "β",
    "trace": "Tr(Σ)",
    "radius": "Q",
    "depth": "−y/(R‖β‖)",
    "sigma": "σ",
    "sigma_1": "σ₁",
    "sigma_2": "σ₂",
    "other_epsilon": "ε′",
    "norm": "‖a‖",
}


@dataclass(frozen=True)
class Case:
    """One setting with its evidence."""

    setting: Mapping[str, Any]
    evidence: Evidence


@dataclass(frozen=True)
class Outcome:
    """The result of a search or a sweep.

    named : the settings that the statement names.
    simplest, worst : settings that fail, None where none was found or looked for.
    closest : the setting with the least room where none fails.
    tried, excluded : numbers of settings.
    failed : how many of the settings failed, None for a search, which does not count them.
    ranges : the ranges of the parameters, in the paper's letters.
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


def outcome(test: Tested, paper: int) -> Outcome:
    """Search or sweep; the letters are those of the paper."""
    return _searched(test, paper) if isinstance(test, Searched) else _swept(test, paper)


def cases(test: Tested | None) -> list[Case]:
    """The evidence at the settings that a test names, without a search."""
    if test is None:
        return []
    if isinstance(test, Swept):
        return [Case(one, test.test(**one)) for one in (test.setting, *test.more)]
    return [] if test.at is None else [Case(test.at, at(test, test.at))]


def at(test: Tested, setting: Mapping[str, Any]) -> Evidence:
    """The evidence at any setting that the hypotheses admit; `InvalidInput` at another one."""
    if isinstance(test, Swept):
        return test.test(**setting)
    fixed = {  # the parameters that have one value
        name: value_of(values, values.edges[0])
        for name, values in ranges_of(test.domain).items()
        if values.size == 1
    }
    single = {name: choices(value) for name, value in {**fixed, **setting}.items()}
    search = _search(test, single, 1)
    case = _case(test, search.worst or search.closest)
    assert case is not None
    return case.evidence


def _searched(test: Searched, paper: int) -> Outcome:
    search = _search(test, test.domain, test.tries)
    named = cases(test)
    failing = [one for one in named if one.evidence.violated]
    return Outcome(
        named=named,
        simplest=_case(test, search.simplest),
        worst=_case(test, search.worst) or next(iter(failing), None),
        closest=_case(test, search.closest) if search.holds and not failing else None,
        tried=search.tried,
        excluded=search.excluded,
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
    return ", ".join(
        f"{symbol(paper, name)}{' = ' if isinstance(one, Choices) and one.size == 1 else ' '}{one}"
        for name, one in ranges_of(domain).items()
    )


def _swept(test: Swept, paper: int) -> Outcome:
    named = cases(test)
    failing = [one for one in named if one.evidence.violated]
    if not test.grid:
        closest = None if failing else named[0]
        worst = failing[0] if failing else None
        return Outcome(named, None, worst, closest, len(named), 0, len(failing), "")
    over = sweep(test.test, test.grid, test.setting)
    worst = over.worst if over.failed else next(iter(failing), None)
    grid = {name: list(values) for name, values in test.grid.items()}
    return Outcome(
        named=named,
        simplest=None,
        worst=worst,
        closest=over.worst if worst is None else None,
        tried=over.cases,
        excluded=math.prod(map(len, grid.values())) - over.cases,
        failed=over.failed,
        ranges=", ".join(f"{symbol(paper, name)} {span(one)}" for name, one in grid.items()),
    )


def symbol(paper: int, name: str) -> str:
    """A paper's letter for a parameter, or its name."""
    return PAPERS[paper - 1].letters.get(name, SYMBOLS.get(name, name))


def span(values: Sequence[Any]) -> str:
    """The ends of numbers, or all of other values."""
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
        ends = dict.fromkeys((min(values), max(values)))
        return " to ".join(number(one, DIGITS) for one in ends)
    return " or ".join(map(str, values))


@dataclass(frozen=True)
class Sweep:
    """A test over a range of settings: where it fails most, and how often.

    cases : how many settings the statement admits. failed : at how many of these it fails.
    worst : the case that fails by the largest factor (or has no value); where none fails, the one
        that is closest to failing.
    """

    cases: int
    failed: int
    worst: Case


def sweep(test: Test, grid: Grid, setting: Mapping[str, Any] | None = None) -> Sweep:
    """Try `test` at `setting` changed to every point of `grid` that the statement admits.

    The test raises one of this package's errors at a point that the statement excludes. Raises
    `ValueError` if it excludes them all.
    """
    tried: list[Case] = []
    for values in itertools.product(*grid.values()):
        point = {**(setting or {}), **dict(zip(grid, values, strict=True))}
        with suppress(DpauditError):
            tried.append(Case(point, test(**point)))
    if not tried:
        raise ValueError("the statement admits no setting of this grid")
    failed = sum(case.evidence.violated for case in tried)
    return Sweep(len(tried), failed, max(tried, key=lambda case: _badness(case.evidence)))


def _badness(evidence: Evidence) -> tuple[int, float]:
    """Failing before holding; the larger factor if it fails, the smaller if it holds."""
    factor = math.inf if evidence.factor is None else evidence.factor
    return (1, factor) if evidence.violated else (0, -factor)
