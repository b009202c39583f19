"""The [neighbour] table, which says how to choose the second database D'; a model for each rule.

- rule = "worst": zero the row with the largest exact δ at ε = `at`
- rule = "search": search the worst neighbour by draws, for zeroed rows and other relations
- rule = "row": zero row `index`. rule = "replace": replace row `index` by `row`
- rule = "add": add `row`. rule = "template": an unusual record (`neighbours.record_templates`)
- rule = "own": the two databases with which a mechanism of a paper comes; without [data]
- no rule: "worst" for a mechanism of dpaudit; "search" for another one, unless its output law
  turns out to be known when it is loaded
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import PlainValidator, PrivateAttr, ValidationInfo, WithJsonSchema, model_validator

from dpaudit import exact, neighbours, scoring, search
from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.note import Note
from dpaudit._core.types import Array, Mechanism
from dpaudit.curves.claims import Claim, MetricClaim
from dpaudit.datasets import Table as Rows
from dpaudit.datasets.table import read_candidates
from dpaudit.errors import InvalidInput, NoExactSpectrum, ScenarioError
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
from dpaudit.sampling.block import Preparable
from dpaudit.search import Selection, search_neighbours

TABLE = "search.csv"  # the neighbours that were tried, beside the report
PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
PARAMETERS = inspect.signature(search_neighbours).parameters
USUAL = {name: parameter.default for name, parameter in PARAMETERS.items()}
UNNAMED = "No neighbours were named (--neighbours): this audit is about one row {kinds}."
UNASKED = "searched, since the scenario names no rule and no output law is known"


def _relations(key: str, value: Any) -> tuple[str, ...]:
    choice = partial(check.choice, allowed=search.RELATIONS)
    expected = "a list of " + ", ".join(map(repr, search.RELATIONS))
    return items(choice, key, value, expected)


def _bounds(value: Any, info: ValidationInfo) -> Any:
    """The key `bounds`: pairs (least, largest), the word "data", or the path of a CSV file."""
    if isinstance(value, str):
        return value if value == search.OF_DATA else beside(value, info)
    expected = "a list of [least, largest], one a column, the target's last"
    pairs = items(numbers, "", value, expected)
    for place, pair in enumerate(pairs):
        if len(pair) != 2 or pair[0] > pair[1]:
            fail(f"[{place}]", Words(f"{len(pair)} numbers"), "[least, largest], in that order")
    return pairs


def _rank(key: str, value: Any) -> str:
    """The key `rank`: one of `search.RANKS`, or "module:callable", which the search imports."""
    return str(value) if is_target(value) else check.choice(key, value, search.RANKS)


RANK = Checked(_rank, {"anyOf": [{"enum": list(search.RANKS)}, TARGET]})
RELATIONS = Checked(
    _relations, {"type": "array", "items": {"enum": list(search.RELATIONS)}, "minItems": 1}
)
BOUNDS = {"anyOf": [LINE, {"type": "array", "items": PAIR, "minItems": 1}]}


class Search(Section):
    """The worst neighbour that a search by draws finds.

    Rows that the relations "replace" and "add" may insert are `candidates`, or lie within
    `row_bound` and `bounds`: one pair for each column, the target's last, or one pair for all.
    """

    elsewhere: ClassVar = {
        "index": 'rule = "row" or "replace"',
        "row": 'rule = "replace" or "add"',
        "template": 'rule = "template"',
    }
    at: Annotated[float | None, number(0.0)] = None
    """ε, nats, at which neighbours are compared; by default the claim's."""
    relations: Annotated[tuple[str, ...], RELATIONS] = ("zero-out",)
    """What the search may do to one row."""
    row_bound: Annotated[float | None, number(0.0, open_=True)] = None
    """PUBLIC bound of the norm of rows that replace or add may insert."""
    bounds: Annotated[Any, PlainValidator(_bounds), WithJsonSchema(BOUNDS)] = None
    """PUBLIC least and largest value of each column, a CSV file of them, or "data"."""
    shortlist: Annotated[int, integer(1)] = USUAL["shortlist"]
    """Number of neighbours that get a quick audit."""
    budget: Annotated[float, number(1.0, open_=True)] = USUAL["budget"]
    """Draws of search and audit together, divided by the draws of the audit."""
    quick: Annotated[str, one_of(*dict.fromkeys((search.QUICK, *scoring.ALIASES)))] = USUAL["quick"]
    """The classifier of the quick audits."""
    candidates: ScenarioPath = None
    """A CSV file of rows that replace or add may insert."""
    rank: Annotated[str, RANK] = USUAL["rank"]
    """Which neighbours are tried first, or a callable that ranks them."""
    named: Annotated[bool, FLAG] = True
    """false if the relations are a guess: a violation is then inconclusive."""

    _metric: MetricClaim | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _rows_come_in(self) -> Search:
        takes = any(relation in search.INCOMING for relation in self.relations)
        sources = [key for key in search.SOURCES if key in self.model_fields_set]
        if takes and not sources:
            message = "'replace' and 'add' need candidates, row_bound or bounds"
            raise InvalidInput(message, argument="relations")
        if sources and not takes:
            message = "goes with the relations 'replace' and 'add'"
            raise InvalidInput(message, argument=sources[0])
        return self

    def against(self, claim: Claim | MetricClaim | None) -> Search:
        """The search for this claim: neighbours are compared at its ε or, for a claim by distance,
        at the ε of each distance.
        """
        if not isinstance(claim, MetricClaim):
            return at_claim(self, claim)
        copy = self.model_copy()
        copy._metric = claim
        return copy

    @property
    def options(self) -> dict[str, Any]:
        apart = ("rule", "at", "candidates", "rank", "named")
        files = ("bounds",) if isinstance(self.bounds, Path) else ()
        level = {} if self.at is None else {"at": self.at}
        claim = {} if self._metric is None else {"claim": self._metric}
        return {**level, **claim, **self.values_set(*apart, *files)}

    @property
    def imports(self) -> bool:
        return ":" in self.rank

    @property
    def compared(self) -> dict[str, Any]:
        """The options that change the outcome for one neighbour, in JSON types."""
        own = {} if self._metric is None else {"claim": self._metric.text}
        return {"at": self.at, "quick": self.quick, **own}

    @property
    def notes(self) -> tuple[Note, ...]:
        kinds = " or ".join(DONE.get(relation, "added") for relation in self.relations)
        unnamed = () if self.named else (Note(UNNAMED.format(kinds=kinds)),)
        return (*unnamed, search.NOT_PUBLIC) if self.bounds == search.OF_DATA else unnamed

    def check(self, dataset: Rows) -> None:
        """Raise `DataNotFound` or `InvalidInput` unless candidates and bounds fit the columns of
        the data.
        """
        if self.candidates is not None:
            read_candidates(self.candidates, dataset)
        self.bounds_of(dataset)

    def select(self, mechanism: Any, dataset: Rows, **settings: Any) -> Selection:
        """The outcome of the search. settings : draws, rng, n_jobs, progress, checkpoint of
        `dpaudit.search.select`.
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
        """The argument `bounds` of `dpaudit.search_neighbours`. Raises `DataNotFound`,
        `InvalidInput`.
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
        return selection.rule


def at_claim(rule: Any, claim: Claim | MetricClaim | None) -> Any:
    """The rule with `at` set to the claim's ε, or to 0 without one, unless it has `at` already."""
    own = claim.epsilon or 0.0 if isinstance(claim, Claim) else 0.0
    return rule if rule.at is not None else rule.model_copy(update={"at": own})


class Searched(Search):
    """The search that rule = "search" asks for."""

    rule: Literal["search"] = "search"


Index = Annotated[int, integer(0)]
Row = Annotated[tuple[float, ...], NUMBERS]


class Rule(Section):
    """A rule that chooses the second database without draws.

    words : the rule, for the report. change : makes the pair of the data and the keys of the table.
    """

    words: ClassVar[str] = ""
    change: ClassVar[Callable[..., NeighbourPair]]
    elsewhere: ClassVar = {
        **dict.fromkeys(set(Search.model_fields) - {"at"}, 'rule = "search"'),
        **Search.elsewhere,
    }

    def against(self, claim: Claim | MetricClaim | None) -> Any:
        return self

    def check(self, dataset: Rows) -> None:
        """Check that the rule fits the data. Raises `InvalidInput`."""
        self.pair(None, dataset.database)

    def pair(self, mechanism: Mechanism | None, data: Array) -> NeighbourPair:
        """The two databases. Raises `InvalidInput`, and `ScenarioError` if theory has no answer."""
        return self.change(data, **self.values_set("rule"))

    def text(self, data: Array) -> str:
        return self.words


class Worst(Rule):
    """Zero the worst row: the one with the largest exact δ at ε = `at`."""

    rule: Literal["worst"] = "worst"
    """How the pair is chosen; by default worst if theory knows the worst row, else search."""
    at: Annotated[float | None, number(0.0)] = None
    """ε, nats, at which neighbours are compared; by default the claim's."""

    def against(self, claim: Claim | MetricClaim | None) -> Worst:
        return at_claim(self, claim)

    def check(self, dataset: Rows) -> None:
        """Which row is the worst is known when the mechanism is loaded."""

    def pair(self, mechanism: Mechanism | None, data: Array) -> NeighbourPair:
        assert mechanism is not None
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
    words: ClassVar = "row given in the scenario"
    change: ClassVar = staticmethod(neighbours.zero_row)
    rule: Literal["row"] = "row"
    index: Index
    """The row that is zeroed or replaced, counted from 0."""


class Replaced(Rule):
    words: ClassVar = "row and its replacement given in the scenario"
    change: ClassVar = staticmethod(neighbours.replace_row)
    rule: Literal["replace"] = "replace"
    index: Index
    """The row that is zeroed or replaced, counted from 0."""
    row: Row
    """The row that comes in."""


class Added(Rule):
    words: ClassVar = "added row given in the scenario"
    change: ClassVar = staticmethod(neighbours.add_row)
    rule: Literal["add"] = "add"
    row: Row
    """The row that comes in."""


class Template(Rule):
    """Add or remove an unusual record, one of `neighbours.record_templates`."""

    rule: Literal["template"] = "template"
    template: Annotated[str, TEXT]
    """The unusual record: outside, extreme, combination or rarest."""

    def pair(self, mechanism: Mechanism | None, data: Array) -> NeighbourPair:
        pairs = neighbours.record_templates(data)
        return pairs[check.choice("template", self.template, tuple(pairs))]

    def text(self, data: Array) -> str:
        return f"the template {self.template!r} for synthesizers"


class Unstated(Search):
    """The user's mechanism without a rule; `settled` chooses one when the mechanism is loaded."""

    rule: ClassVar[str] = "search, or worst where the law is known"

    def settled(self, mechanism: Mechanism) -> Worst | Unstated:
        """The rule "worst" if the output law may be known and the table has no key of a search."""
        known = isinstance(mechanism, Preparable) and not self.values_set("at")
        return Worst(at=self.at) if known else self

    def text(self, selection: Selection) -> str:
        return f"{super().text(selection)}; {UNASKED}"


class Own(Rule):
    """The pair of databases that the mechanism itself defines."""

    rule: Literal["own"] = "own"
    words: ClassVar = "the mechanism's own pair of databases"


Neighbour = Worst | Zeroed | Replaced | Added | Template | Searched | Unstated | Own
RULES: dict[str, type[Any]] = {
    str(model.model_fields["rule"].default): model
    for model in (Worst, Searched, Zeroed, Replaced, Added, Template, Own)
}


def read_neighbour(reader: Reader, mechanism: Any) -> Any:
    """The rule with its keys; None after a fault. mechanism : as `read_mechanism` returns it."""
    table = reader.table("neighbour")
    if "rule" not in table:
        return reader.read(Unstated if isinstance(mechanism, Call) else Worst, "neighbour")
    try:
        rule = check.choice("rule", table["rule"], tuple(RULES))
    except InvalidInput as error:
        return reader.refuse("neighbour", error)
    return reader.read(RULES[rule], "neighbour")
