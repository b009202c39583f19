"""The [neighbour] table: how D' is chosen, a model for each rule.

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
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from dpaudit import exact, neighbours
from dpaudit._core import check
from dpaudit._core.types import Array, Mechanism
from dpaudit.curves.claims import Claim, MetricClaim
from dpaudit.datasets import Table as Rows
from dpaudit.errors import InvalidInput, NoExactSpectrum, ScenarioError
from dpaudit.mechanisms import LawMechanism
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.scenario.search import UNASKED, Search, Searched, at_claim
from dpaudit.run.scenario.section import NUMBERS, TEXT, Reader, Section, integer, number
from dpaudit.run.scenario.user_mechanism import Call
from dpaudit.search import Selection

Index = Annotated[int, integer(0)]
Row = Annotated[tuple[float, ...], NUMBERS]


class Rule(Section):
    """How the second database is chosen. words : the choice, for the report."""

    words: ClassVar[str] = ""
    elsewhere: ClassVar = {
        **dict.fromkeys(set(Search.model_fields) - {"at"}, 'rule = "search"'),
        **Search.elsewhere,
    }

    def against(self, claim: Claim | MetricClaim | None) -> Any:
        """The rule for a claim, on which most do not depend."""
        return self

    def check(self, dataset: Rows) -> None:
        """Whether the data have what the rule names. Raises `InvalidInput`."""

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """The two databases. Raises `InvalidInput`, and `ScenarioError` where none are known."""
        raise NotImplementedError

    def text(self, data: Array) -> str:
        """The choice in words, for the report."""
        return self.words


class Worst(Rule):
    """The worst of all rows zeroed, by the exact spectrum at ε = `at`."""

    rule: Literal["worst"] = "worst"
    """How the pair is chosen; without it worst where theory knows it, else search."""
    at: Annotated[float | None, number(0.0)] = None
    """ε, nats, at which neighbours are compared; by default the claim's."""

    def against(self, claim: Claim | MetricClaim | None) -> Worst:
        """With the ε of the claim in place of an `at` that is missing."""
        return at_claim(self, claim)

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """Raises `ScenarioError` where no exact spectrum is known."""
        try:
            found = exact.worst_case(mechanism, data, [self.at or 0.0])
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


class Zeroed(Rule):
    """Row `index` zeroed."""

    words: ClassVar = "row given in the scenario"
    rule: Literal["row"] = "row"
    index: Index
    """The row that is zeroed or replaced, counted from 0."""

    def check(self, dataset: Rows) -> None:
        """Whether the data have the row, and it is not zero. Raises `InvalidInput`."""
        _check_row(dataset, self.index, None, "already zero")

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """As `Rule.pair`."""
        return neighbours.zero_row(data, self.index)


class Replaced(Rule):
    """Row `index` replaced by `row`."""

    words: ClassVar = "row and its replacement given in the scenario"
    rule: Literal["replace"] = "replace"
    index: Index
    """The row that is zeroed or replaced, counted from 0."""
    row: Row
    """The row that comes in."""

    def check(self, dataset: Rows) -> None:
        """Whether the data have the row, and it changes. Raises `InvalidInput`."""
        _check_row(dataset, self.index, self.row, "unchanged")

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """As `Rule.pair`."""
        return neighbours.replace_row(data, self.index, self.row)


class Added(Rule):
    """`row` added."""

    words: ClassVar = "added row given in the scenario"
    rule: Literal["add"] = "add"
    row: Row
    """The row that comes in."""

    def check(self, dataset: Rows) -> None:
        """Whether the row is one of such data. Raises `InvalidInput`."""
        _check_width(self.row, dataset)

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        """As `Rule.pair`."""
        return neighbours.add_row(data, self.row)


class Template(Rule):
    """An unusual record added, or left out: one of `neighbours.record_templates`."""

    rule: Literal["template"] = "template"
    template: Annotated[str, TEXT]
    """The unusual record: outside, extreme, combination or rarest."""

    def check(self, dataset: Rows) -> None:
        """Whether such data have the template. Raises `InvalidInput`."""
        self.pair(None, dataset.values)

    def pair(self, mechanism: Mechanism | None, data: Array) -> NeighbourPair:
        """As `Rule.pair`."""
        pairs = neighbours.record_templates(data)
        return pairs[check.choice("template", self.template, tuple(pairs))]

    def text(self, data: Array) -> str:
        """The choice in words, for the report."""
        return f"the template {self.template!r} for synthesizers"


class Unstated(Search):
    """No rule for a callable: what it is shows when it is imported, which `settled` is told."""

    rule: ClassVar[str] = "search, or worst where the law is known"

    def settled(self, mechanism: Mechanism) -> Worst | Unstated:
        """The worst row by theory where dpaudit may know the law and no key of a search stands in
        the table, else a search.
        """
        known = isinstance(mechanism, LawMechanism) and not self.values_set("at")
        return Worst(at=self.at) if known else self

    def text(self, selection: Selection) -> str:
        """The choice in words, for the report."""
        return f"{super().text(selection)}; {UNASKED}"


class Own(Rule):
    """The mechanism's own pair of databases."""

    rule: Literal["own"] = "own"
    words: ClassVar = "the mechanism's own pair of databases"


Neighbour = Worst | Zeroed | Replaced | Added | Template | Searched | Unstated | Own
RULES: dict[str, type[Any]] = {
    str(model.model_fields["rule"].default): model
    for model in (Worst, Searched, Zeroed, Replaced, Added, Template, Own)
}


def read_neighbour(reader: Reader, mechanism: Any) -> Any:
    """The rule with its keys; None after a fault. mechanism : of the scenario, not yet loaded."""
    table = reader.table("neighbour")
    if "rule" not in table:
        return reader.read(Unstated if isinstance(mechanism, Call) else Worst, "neighbour")
    try:
        rule = check.choice("rule", table["rule"], tuple(RULES))
    except InvalidInput as error:
        return reader.refuse("neighbour", error)
    return reader.read(RULES[rule], "neighbour")


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
