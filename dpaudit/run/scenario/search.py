"""`[neighbour] rule = "search"`: its keys, and the search itself.

`dpaudit schema --markdown` prints the keys. Rows that may come in are `candidates`, or lie within
`row_bound` and `bounds`, which has a pair a column, the target's last, or one pair for all.
"""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    PlainValidator,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from dpaudit import scoring, search
from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit.curves.claims import Claim, MetricClaim
from dpaudit.datasets import Table as Rows
from dpaudit.datasets.table import read_candidates
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.neighbours.pair import DONE
from dpaudit.run.scenario.section import (
    FLAG,
    LINE,
    Checked,
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
    return items(choice, key, value, "a list of " + ", ".join(map(repr, search.RELATIONS)))


def _pairs(value: Any) -> tuple[tuple[float, ...], ...]:
    expected = "a list of [least, largest], one a column, the target's last"
    pairs = items(numbers, "", value, expected)
    for place, pair in enumerate(pairs):
        if len(pair) != 2 or pair[0] > pair[1]:
            fail(f"[{place}]", Words(f"{len(pair)} numbers"), "[least, largest], in that order")
    return pairs


def _bounds(value: Any, info: ValidationInfo) -> Any:
    """Pairs, "data", or the file that holds them."""
    if isinstance(value, str):
        return value if value == search.OF_DATA else beside(value, info)
    return _pairs(value)


def _rank(key: str, value: Any) -> str:
    """A word, or a target that is imported when it is needed."""
    return str(value) if is_target(value) else check.choice(key, value, search.RANKS)


RANK = Checked(_rank, {"anyOf": [{"enum": list(search.RANKS)}, TARGET]})
RELATIONS = Checked(
    _relations, {"type": "array", "items": {"enum": list(search.RELATIONS)}, "minItems": 1}
)
BOUNDS = {"anyOf": [LINE, {"type": "array", "items": PAIR, "minItems": 1}]}


class Search(Section):
    """The worst neighbour that a search finds."""

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
        """With the ε of the claim in place of an `at` that is not given; a claim by distance
        compares each neighbour at an ε of its own.
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

    def select(self, mechanism: Any, dataset: Rows, **given: Any) -> Selection:
        """given : samples, rng, n_jobs, progress, checkpoint of `dpaudit.search.select`.

        Raises what that does, and `ScenarioError` where the score cannot be imported.
        """
        options = given | self.options
        if self.candidates is not None:
            options["candidates"] = read_candidates(self.candidates, dataset)
        options["bounds"] = self.bounds_of(dataset)
        rank = _imported(self.rank) if self.imports else self.rank
        return search.select(mechanism, dataset.database, rank=rank, **options)

    def bounds_of(self, dataset: Rows) -> Any:
        """As `dpaudit.search_neighbours` takes them: a pair a column, "data" or None.

        Raises `DataNotFound`, `InvalidInput`.
        """
        if isinstance(self.bounds, Path):
            return _bounds_in(self.bounds, dataset)
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
    """A rule with the ε of the claim, or 0, in place of an `at` that is not given."""
    own = claim.epsilon or 0.0 if isinstance(claim, Claim) else 0.0
    return rule if rule.at is not None else rule.model_copy(update={"at": own})


class Searched(Search):
    """The worst neighbour that a search finds, for which the scenario asks."""

    rule: Literal["search"] = "search"


def _bounds_in(path: Path, dataset: Rows) -> Any:
    """(d, 2), from a file with the columns of the data. Raises `DataNotFound`, `InvalidInput`."""
    rows = read_candidates(path, dataset)
    if len(rows) != 2 or (rows[0] > rows[1]).any():
        fail(path.name, Words(f"{len(rows)} rows"), "two rows: the least values, then the largest")
    return rows.T


def _imported(target: str) -> Any:
    """The user's score function, which executes the module."""
    found = imported(target, "[neighbour] rank")
    if not callable(found):
        raise ScenarioError(
            f"[neighbour] rank: {target} must be callable, got {type(found).__name__}"
        )
    return found
