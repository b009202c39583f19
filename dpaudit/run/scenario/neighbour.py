"""The [neighbour] table: how D' is chosen, an object for each rule.

- rule = "worst": the row that is the worst when it is zeroed, by theory, at ε = `at`
- rule = "search": the same and other relations without theory (keys in `search.py`)
- rule = "row": row `index` zeroed. rule = "replace": row `index` replaced by `row`
- rule = "add": `row` added. rule = "template": an unusual record (`neighbours.record_templates`)
- rule = "own": the two databases on which a mechanism of a paper shows its claim; without [data]
- no rule: "worst" for a mechanism of dpaudit's own; "search" for another one, unless it turns out
  to have a law
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpaudit import exact, neighbours
from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, Mechanism
from dpaudit.curves.claims import Claim
from dpaudit.curves.metric import MetricClaim
from dpaudit.datasets import Table as Rows
from dpaudit.errors import InvalidInput, NoExactSpectrum, ScenarioError
from dpaudit.mechanisms import LawMechanism
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.scenario.search import KEYS, Search, read_search
from dpaudit.run.scenario.table import Table, numbers, text
from dpaudit.run.scenario.user_mechanism import Call
from dpaudit.search import Selection

UNASKED = "searched, since the scenario names no rule and no output law is known"


@dataclass(frozen=True)
class Worst:
    """The worst of all rows zeroed, by the exact spectrum at ε = `at`."""

    at: float
    rule: ClassVar[str] = "worst"

    def check(self, dataset: Rows) -> None:
        """Nothing depends on the data."""

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """Raises `ScenarioError` where no exact spectrum is known."""
        try:
            found = exact.worst_case(mechanism, data, [self.at])
        except NoExactSpectrum as error:
            raise ScenarioError(
                '[neighbour] rule: give "search", or "row" and an index; "worst" is not known: '
                f"{error}"
            ) from None
        assert found.index is not None
        return neighbours.zero_row(data, int(found.index[0]))

    def text(self, data: Array) -> str:
        """The choice in words, for the report."""
        return f"worst of {len(data):,} rows at ε = {self.at:g}"


@dataclass(frozen=True)
class Zeroed:
    """Row `index` zeroed."""

    index: int
    rule: ClassVar[str] = "row"

    def check(self, dataset: Rows) -> None:
        """Whether the data have the row, and it is not zero. Raises `InvalidInput`."""
        _check_row(dataset, self.index, None, "already zero")

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """Raises `InvalidInput`."""
        return neighbours.zero_row(data, self.index)

    def text(self, data: Array) -> str:
        """The choice in words, for the report."""
        return "row given in the scenario"


@dataclass(frozen=True)
class Replaced:
    """Row `index` replaced by `row`."""

    index: int
    row: tuple[float, ...]

    __repr__ = short_repr
    rule: ClassVar[str] = "replace"

    def check(self, dataset: Rows) -> None:
        """Whether the data have the row, and it changes. Raises `InvalidInput`."""
        _check_row(dataset, self.index, self.row, "unchanged")

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """Raises `InvalidInput`."""
        return neighbours.replace_row(data, self.index, self.row)

    def text(self, data: Array) -> str:
        """The choice in words, for the report."""
        return "row and its replacement given in the scenario"


@dataclass(frozen=True)
class Added:
    """`row` added."""

    row: tuple[float, ...]

    __repr__ = short_repr
    rule: ClassVar[str] = "add"

    def check(self, dataset: Rows) -> None:
        """Whether the row is one of such data. Raises `InvalidInput`."""
        _check_width(self.row, dataset)

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """Raises `InvalidInput`."""
        return neighbours.add_row(data, self.row)

    def text(self, data: Array) -> str:
        """The choice in words, for the report."""
        return "added row given in the scenario"


@dataclass(frozen=True)
class Template:
    """An unusual record added, or left out: one of `neighbours.record_templates`."""

    template: str
    rule: ClassVar[str] = "template"

    def check(self, dataset: Rows) -> None:
        """Whether such data have the template. Raises `InvalidInput`."""
        self.pair(None, dataset.values)

    def pair(self, mechanism: Mechanism | None, data: Array) -> NeighbourPair:
        """Raises `InvalidInput`."""
        pairs = neighbours.record_templates(data)
        return pairs[check.choice("template", self.template, tuple(pairs))]

    def text(self, data: Array) -> str:
        """The choice in words, for the report."""
        return f"the template {self.template!r} for synthesizers"


@dataclass(frozen=True)
class Searched:
    """The worst neighbour that a search finds. asked : whether the scenario asks for a search."""

    search: Search
    asked: bool = True

    __repr__ = short_repr
    rule: ClassVar[str] = "search"

    def check(self, dataset: Rows) -> None:
        """Whether the rows that may come in are rows of such data. Raises as `Search.check`."""
        self.search.check(dataset)

    def text(self, selection: Selection) -> str:
        """The choice in words, for the report."""
        return selection.rule if self.asked else f"{selection.rule}; {UNASKED}"


@dataclass(frozen=True)
class Unstated:
    """No rule for a callable: what it is shows when it is imported, which `settled` is told."""

    worst: Worst
    search: Searched
    rule: ClassVar[str] = "search, or worst where the law is known"

    def check(self, dataset: Rows) -> None:
        """Nothing depends on the data."""

    def settled(self, mechanism: Mechanism) -> Worst | Searched:
        """The worst row by theory where dpaudit may know the law, else a search."""
        return self.worst if isinstance(mechanism, LawMechanism) else self.search


@dataclass(frozen=True)
class Own:
    """The mechanism's own pair of databases."""

    rule: ClassVar[str] = "own"
    text: ClassVar[str] = "the mechanism's own pair of databases"

    def check(self, dataset: Rows) -> None:
        """It is not asked: this rule takes no data."""


Neighbour = Worst | Zeroed | Replaced | Added | Template | Searched | Unstated | Own
RULES = tuple(one.rule for one in (Worst, Searched, Zeroed, Replaced, Added, Template, Own))

OTHER_RULES = {  # keys, and the rule that they go with
    **dict.fromkeys(KEYS, f'rule = "{Searched.rule}"'),
    "index": f'rule = "{Zeroed.rule}" or "{Replaced.rule}"',
    "row": f'rule = "{Replaced.rule}" or "{Added.rule}"',
    "template": f'rule = "{Template.rule}"',
}


def read_neighbour(
    table: Table, claim: Claim | MetricClaim | None, folder: Path, mechanism: Any
) -> Neighbour | None:
    """The rule with its keys; None after a fault. mechanism : of the scenario, not yet loaded."""
    user = isinstance(mechanism, Call)
    default = Searched.rule if user else Worst.rule
    rule = table.get("rule", partial(check.choice, allowed=RULES), default)
    if rule is None:
        return None
    metric = claim if isinstance(claim, MetricClaim) else None
    own = claim.epsilon or 0.0 if isinstance(claim, Claim) else 0.0
    asked = "rule" in table
    readers: dict[str, Any] = {
        Searched.rule: lambda: Searched(read_search(table, folder, own, metric), asked),
        Worst.rule: lambda: Worst(table.get("at", partial(check.real, low=0.0), own)),
        Own.rule: Own,
        Zeroed.rule: lambda: Zeroed(_index(table)),
        Replaced.rule: lambda: Replaced(_index(table), table.get("row", numbers)),
        Added.rule: lambda: Added(table.get("row", numbers)),
        Template.rule: lambda: Template(table.get("template", text)),
    }
    found: Neighbour = readers[rule]()
    table.close(OTHER_RULES)
    if isinstance(found, Searched) and not asked and set(table.content) <= {"at"}:
        return Unstated(Worst(found.search.options.get("at", own)), found)
    return found


def _check_row(dataset: Rows, index: int, row: tuple[float, ...] | None, same: str) -> None:
    """Raises `InvalidInput` unless `row` (None: zeros) can take the place of row `index`."""
    if index >= dataset.n:
        check.fail("index", index, f"a row number below {dataset.n}")
    old = dataset.values[index]
    new = np.zeros(len(old)) if row is None else np.array(row)
    _check_width(new, dataset)
    if np.array_equal(new, old):
        raise InvalidInput(f"row {index} is {same}: no neighbour")


def _check_width(row: Sequence[float] | Array, dataset: Rows) -> None:
    """Raises `InvalidInput` unless a row has the columns of the data."""
    width = dataset.values.shape[1]
    if len(row) != width:
        check.fail("row", check.Words(f"{len(row)} numbers"), f"{width} numbers, one a column")


def _index(table: Table) -> Any:
    return table.get("index", partial(check.integer, minimum=0))
