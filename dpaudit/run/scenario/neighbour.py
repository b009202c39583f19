"""The [neighbour] table: how D' is chosen, a model for each rule.

- rule = "worst": the row that is the worst when it is zeroed, by theory, at ε = `at`
- rule = "search": the same and other relations without theory
- rule = "row": row `index` zeroed. rule = "replace": row `index` replaced by `row`
- rule = "add": `row` added. rule = "template": an unusual record (`neighbours.record_templates`)
- rule = "own": the two databases on which a mechanism of a paper shows its claim; without [data]
- no rule: "worst" for a mechanism of dpaudit's own; "search" for another one, unless it turns out
  to have a law
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import (
    PlainValidator,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from dpaudit import exact, neighbours, scoring, search
from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array, Mechanism
from dpaudit.curves.claims import Claim, MetricClaim
from dpaudit.datasets import Table as Rows
from dpaudit.datasets.table import read_candidates
from dpaudit.errors import InvalidInput, NoExactSpectrum, ScenarioError
from dpaudit.mechanisms import LawMechanism
from dpaudit.neighbours import NeighbourPair
from dpaudit.neighbours.pair import DONE
from dpaudit.run.scenario.mechanism import Call
from dpaudit.run.scenario.section import (
    FLAG,
    LINE,
    NUMBERS,
    TEXT,
    Checked,
    Reader,
    ScenarioPath,
    Section,
    beside,
    integer,
    items,
    number,
    numbers,
    one_of,
)
from dpaudit.run.scenario.target import TARGET, imported, is_target
from dpaudit.search import Selection, search_neighbours

TABLE = "search.csv"  # the neighbours that were tried, beside the report
PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
PARAMETERS = inspect.signature(search_neighbours).parameters
USUAL = {name: parameter.default for name, parameter in PARAMETERS.items()}
UNNAMED = (
    "No relation was named: this is for one row {kinds}, which the claim may not cover; name the "
    "claim's own by --neighbours."
)
UNASKED = "searched, since the scenario names no rule and no output law is known"


def _relations(key: str, value: Any) -> tuple[str, ...]:
    choice = partial(check.choice, allowed=search.RELATIONS)
    expected = "a list of " + ", ".join(map(repr, search.RELATIONS))
    return items(choice, key, value, expected)


def _bounds(value: Any, info: ValidationInfo) -> Any:
    """Pairs, "data", or the file that holds them."""
    if isinstance(value, str):
        return value if value == search.OF_DATA else beside(value, info)
    expected = "a list of [least, largest], one a column, the target's last"
    pairs = items(numbers, "", value, expected)
    for place, pair in enumerate(pairs):
        if len(pair) != 2 or pair[0] > pair[1]:
            fail(f"[{place}]", Words(f"{len(pair)} numbers"), "[least, largest], in that order")
    return pairs


def _rank(key: str, value: Any) -> str:
    """A word, or a target that is imported when it is needed."""
    return str(value) if is_target(value) else check.choice(key, value, search.RANKS)


RANK = Checked(_rank, {"anyOf": [{"enum": list(search.RANKS)}, TARGET]})
RELATIONS = Checked(
    _relations, {"type": "array", "items": {"enum": list(search.RELATIONS)}, "minItems": 1}
)
BOUNDS = {"anyOf": [LINE, {"type": "array", "items": PAIR, "minItems": 1}]}


class Search(Section):
    """The worst neighbour that a search finds.

    Rows that may come in are `candidates`, or lie within `row_bound` and `bounds`, which has a pair
    a column, the target's last, or one pair for all.
    """

    elsewhere: ClassVar = {
        "index": 'rule = "row" or "replace"',
        "row": 'rule = "replace" or "add"',
        "template": 'rule = "template"',
    }
    at: Annotated[float | None, number(0.0)] = None
    """ε, nats, at which neighbours are compared; by default the claim's."""
    relations: Annotated[tuple[str, ...], RELATIONS] = USUAL["relations"]
    """What the search may do to one row."""
    row_bound: Annotated[float | None, number(0.0, open_=True)] = None
    """PUBLIC bound of the norm of rows that may come in, with replace or add."""
    bounds: Annotated[Any, PlainValidator(_bounds), WithJsonSchema(BOUNDS)] = None
    """PUBLIC least and largest value of each column, a CSV file of them, or "data"."""
    shortlist: Annotated[int, integer(1)] = USUAL["shortlist"]
    """Number of neighbours that get a quick audit."""
    budget: Annotated[float, number(1.0, open_=True)] = USUAL["budget"]
    """Draws of search and audit together, over those of the audit."""
    quick: Annotated[str, one_of(*dict.fromkeys((search.QUICK, *scoring.ALIASES)))] = USUAL["quick"]
    """The classifier of the quick audits."""
    candidates: ScenarioPath = None
    """A CSV file of rows that may come in, with replace or add."""
    rank: Annotated[str, RANK] = USUAL["rank"]
    """Which neighbours are tried first, or a callable that ranks them."""
    named: Annotated[bool, FLAG] = True
    """false if the relations are a guess: a violation is then inconclusive."""

    _metric: MetricClaim | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _rows_come_in(self) -> Search:
        """Rows that may come in go with the relations "replace" and "add"."""
        takes = any(relation in search.INCOMING for relation in self.relations)
        sources = [key for key in search.SOURCES if key in self.model_fields_set]
        if takes and not sources:
            message = "'replace' and 'add' need candidates, row_bound or bounds"
            raise InvalidInput(message, argument="relations")
        if sources and not takes:
            message = 'goes with relations = ["replace"] or ["add"]'
            raise InvalidInput(message, argument=sources[0])
        return self

    def against(self, claim: Claim | MetricClaim | None) -> Search:
        """The search for a claim: it compares at the claim's ε, unless `at` is given.

        A claim by distance compares each neighbour at an ε of its own.
        """
        if not isinstance(claim, MetricClaim):
            return at_claim(self, claim)
        copy = self.model_copy()
        copy._metric = claim
        return copy

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of `dpaudit.search_neighbours`, but for rows and bounds in files."""
        apart = ("rule", "at", "candidates", "rank", "named")
        files = ("bounds",) if isinstance(self.bounds, Path) else ()
        level = {} if self.at is None else {"at": self.at}
        claim = {} if self._metric is None else {"claim": self._metric}
        return {**level, **claim, **self.values_set(*apart, *files)}

    @property
    def imports(self) -> bool:
        """Whether neighbours are ranked by a callable of the user's."""
        return ":" in self.rank

    @property
    def compared(self) -> dict[str, Any]:
        """How neighbours are compared, in JSON types; no other option changes an outcome."""
        own = {} if self._metric is None else {"claim": self._metric.text}
        return {"at": self.at, "quick": self.quick, **own}

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said before the verdict."""
        kinds = " or ".join(DONE.get(relation, "added") for relation in self.relations)
        unnamed = () if self.named else (UNNAMED.format(kinds=kinds),)
        return (*unnamed, search.NOT_PUBLIC) if self.bounds == search.OF_DATA else unnamed

    def check(self, dataset: Rows) -> None:
        """Whether the candidates and bounds are of such data.

        Raises `DataNotFound`, `InvalidInput`.
        """
        if self.candidates is not None:
            read_candidates(self.candidates, dataset)
        self.bounds_of(dataset)

    def select(self, mechanism: Any, dataset: Rows, **settings: Any) -> Selection:
        """Search the worst neighbour.

        settings : draws, rng, n_jobs, progress, checkpoint of `dpaudit.search.select`, which says
        what is raised; `ScenarioError` where the score cannot be imported.
        """
        options = settings | self.options
        if self.candidates is not None:
            options["candidates"] = read_candidates(self.candidates, dataset)
        options["bounds"] = self.bounds_of(dataset)
        rank: Any = self.rank
        if self.imports:
            rank = imported(self.rank, "[neighbour] rank")
            if not callable(rank):
                wrong = f"{self.rank} must be callable, got {type(rank).__name__}"
                raise ScenarioError(f"[neighbour] rank: {wrong}")
        return search.select(mechanism, dataset.database, rank=rank, **options)

    def bounds_of(self, dataset: Rows) -> Any:
        """The bounds as `dpaudit.search_neighbours` takes them: a pair a column, "data" or None.

        Raises `DataNotFound`, `InvalidInput`.
        """
        if isinstance(self.bounds, Path):
            rows = read_candidates(self.bounds, dataset)
            if len(rows) != 2 or (rows[0] > rows[1]).any():
                two = "two rows: the least values, then the largest"
                fail(self.bounds.name, Words(f"{len(rows)} rows"), two)
            return rows.T
        pairs, columns = self.bounds, len(dataset.columns)
        if pairs is None or pairs == search.OF_DATA:
            return pairs
        pairs = pairs * columns if len(pairs) == 1 else pairs
        if len(pairs) != columns:
            expected = f"one pair [least, largest], or {columns}, one a column, the target's last"
            fail("bounds", Words(f"{len(self.bounds)} pairs"), expected)
        return pairs

    def text(self, selection: Selection) -> str:
        """The choice in words, for the report."""
        return selection.rule


def at_claim(rule: Any, claim: Claim | MetricClaim | None) -> Any:
    """A rule that compares at the ε of the claim, or at 0, unless it has an `at` of its own."""
    own = claim.epsilon or 0.0 if isinstance(claim, Claim) else 0.0
    return rule if rule.at is not None else rule.model_copy(update={"at": own})


class Searched(Search):
    """The worst neighbour that a search finds, for which the scenario asks."""

    rule: Literal["search"] = "search"


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
        return at_claim(self, claim)

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        try:
            worst = exact.worst_case(mechanism, data, [self.at or 0.0])
        except NoExactSpectrum as error:
            raise ScenarioError(
                '[neighbour] rule: give "search", or "row" and an index; "worst" is not known: '
                f"{error}"
            ) from None
        assert worst.index is not None
        return neighbours.zero_row(data, int(worst.index[0]))

    def text(self, data: Array) -> str:
        return f"worst of {len(data):,} rows at ε = {self.at:g}"


class Zeroed(Rule):
    """Row `index` zeroed."""

    words: ClassVar = "row given in the scenario"
    rule: Literal["row"] = "row"
    index: Index
    """The row that is zeroed or replaced, counted from 0."""

    def check(self, dataset: Rows) -> None:
        _check_row(dataset, self.index, None, "already zero")

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
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
        _check_row(dataset, self.index, self.row, "unchanged")

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        return neighbours.replace_row(data, self.index, self.row)


class Added(Rule):
    """`row` added."""

    words: ClassVar = "added row given in the scenario"
    rule: Literal["add"] = "add"
    row: Row
    """The row that comes in."""

    def check(self, dataset: Rows) -> None:
        _check_width(self.row, dataset)

    def pair(self, mechanism: Mechanism, data: Array) -> NeighbourPair:
        return neighbours.add_row(data, self.row)


class Template(Rule):
    """An unusual record added, or left out: one of `neighbours.record_templates`."""

    rule: Literal["template"] = "template"
    template: Annotated[str, TEXT]
    """The unusual record: outside, extreme, combination or rarest."""

    def check(self, dataset: Rows) -> None:
        self.pair(None, dataset.values)

    def pair(self, mechanism: Mechanism | None, data: Array) -> NeighbourPair:
        pairs = neighbours.record_templates(data)
        return pairs[check.choice("template", self.template, tuple(pairs))]

    def text(self, data: Array) -> str:
        return f"the template {self.template!r} for synthesizers"


class Unstated(Search):
    """No rule for a callable, which `settled` chooses when the callable is imported."""

    rule: ClassVar[str] = "search, or worst where the law is known"

    def settled(self, mechanism: Mechanism) -> Worst | Unstated:
        """The worst row by theory where dpaudit may know the law and no key of a search stands in
        the table, else a search.
        """
        known = isinstance(mechanism, LawMechanism) and not self.values_set("at")
        return Worst(at=self.at) if known else self

    def text(self, selection: Selection) -> str:
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
