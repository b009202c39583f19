"""`[neighbour] rule = "search"`: its keys, and the search itself.

`dpaudit schema --markdown` prints the keys. Rows that may come in are `candidates`, or lie within
`row_bound` and `bounds`, which has a pair a column, the target's last, or one pair for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit import scoring, search
from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.curves.metric import MetricClaim
from dpaudit.datasets import Table as Rows
from dpaudit.errors import ScenarioError
from dpaudit.neighbours.pair import DONE
from dpaudit.run.scenario.table import LINE, Table, flag, numbers, takes, text
from dpaudit.run.scenario.target import TARGET, imported, is_target
from dpaudit.run.worst_case_options import read_candidates
from dpaudit.search import Selection

TABLE = "search.csv"  # the neighbours that were tried, beside the report
PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
UNNAMED = (
    "No relation was named: this is for one row {kinds}, which the claim may not cover; name the "
    "claim's own by --neighbours."
)


@dataclass(frozen=True)
class Search:
    """A search; `options` are the keywords of `dpaudit.search_neighbours` that are given.

    bounds : a file of the least and the largest values. named : whether the claim covers the
    relations, as somebody said.
    """

    options: dict[str, Any]
    candidates: Path | None = None
    rank: str = "auto"
    bounds: Path | None = None
    named: bool = True

    __repr__ = short_repr

    @property
    def imports(self) -> bool:
        """Whether neighbours are ranked by a callable of the user's."""
        return ":" in self.rank

    @property
    def compared(self) -> dict[str, Any]:
        """How neighbours are compared, in JSON types; no other option changes an outcome."""
        metric = self.options.get("claim")
        own = {} if metric is None else {"claim": metric.text}
        quick = self.options.get("quick", search.QUICK)
        return {"at": self.options.get("at"), "quick": quick, **own}

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said before the verdict."""
        kinds = " or ".join(
            DONE.get(one, "added") for one in self.options.get("relations", ("zero-out",))
        )
        unnamed = () if self.named else (UNNAMED.format(kinds=kinds),)
        of_data = self.options.get("bounds") == search.OF_DATA
        return (*unnamed, search.NOT_PUBLIC) if of_data else unnamed

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
        if self.bounds is not None:
            return _bounds_in(self.bounds, dataset)
        given, columns = self.options.get("bounds"), len(dataset.columns)
        if given is None or given == search.OF_DATA:
            return given
        pairs = given * columns if len(given) == 1 else given
        if len(pairs) != columns:
            expected = f"one pair [least, largest], or {columns}, one a column, the target's last"
            fail("bounds", Words(f"{len(given)} pairs"), expected)
        return pairs


KEYS = (  # beside `at`, which other rules have too
    *("relations", "row_bound", "bounds", "candidates"),
    *("shortlist", "budget", "quick", "rank", "named"),
)


def read_search(table: Table, folder: Path, at: float, metric: MetricClaim | None = None) -> Search:
    """Read the keys beside `rule`.

    at : the default of the key `at`. metric : a claim by distance, which compares each neighbour at
    an ε of its own instead.
    """
    checks: dict[str, Any] = {
        "at": partial(check.real, low=0.0),
        "relations": _words,
        "row_bound": partial(check.real, low=0.0, open_=True),
        "bounds": _pairs_or_file,
        "shortlist": partial(check.integer, minimum=1),
        "budget": partial(check.real, low=1.0, open_=True),
        "quick": partial(check.choice, allowed=(search.QUICK, *scoring.ALIASES)),
    }
    found = {key: table.get(key, check, None) for key, check in checks.items()}
    candidates = table.get("candidates", text, None)
    rank = table.get("rank", _rank, "auto")
    named, bounds = table.get("named", flag, True), found["bounds"]
    file = isinstance(bounds, str) and bounds != search.OF_DATA
    found["bounds"] = None if file else bounds
    level: dict[str, Any] = {"at": at} if metric is None else {"claim": metric}
    options = level | {key: value for key, value in found.items() if value is not None}
    _check_incoming(table, options.get("relations", ("zero-out",)))
    return Search(
        options,
        None if candidates is None else folder / Path(candidates).expanduser(),
        rank or "auto",
        folder / Path(bounds).expanduser() if file else None,
        named is not False,
    )


def _check_incoming(table: Table, relations: tuple[str, ...]) -> None:
    """Rows that may come in go with the relations "replace" and "add"."""
    takes = any(one in search.INCOMING for one in relations)
    given = [key for key in search.SOURCES if key in table]
    if takes and not given:
        table.fault("relations", "'replace' and 'add' need candidates, row_bound or bounds")
    if given and not takes:
        table.fault(given[0], 'goes with relations = ["replace"] or ["add"]')


@takes({"type": "array", "items": {"enum": list(search.RELATIONS)}, "minItems": 1})
def _words(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        fail(key, value, "a list of " + ", ".join(map(repr, search.RELATIONS)))
    return tuple(
        check.choice(f"{key}[{place}]", word, search.RELATIONS) for place, word in enumerate(value)
    )


@takes({"anyOf": [LINE, {"type": "array", "items": PAIR, "minItems": 1}]})
def _pairs_or_file(key: str, value: Any) -> tuple[tuple[float, ...], ...] | str:
    """Pairs, a file that holds them, or "data"."""
    return text(key, value) if isinstance(value, str) else _pairs(key, value)


def _bounds_in(path: Path, dataset: Rows) -> Any:
    """(d, 2), from a file with the columns of the data. Raises `DataNotFound`, `InvalidInput`."""
    rows = read_candidates(path, dataset)
    if len(rows) != 2 or (rows[0] > rows[1]).any():
        fail(path.name, Words(f"{len(rows)} rows"), "two rows: the least values, then the largest")
    return rows.T


def _pairs(key: str, value: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list) or not value:
        fail(key, value, "a list of [least, largest], one a column, the target's last")
    pairs = tuple(numbers(f"{key}[{place}]", pair) for place, pair in enumerate(value))
    for place, pair in enumerate(pairs):
        if len(pair) != 2:
            fail(f"{key}[{place}]", list(pair), "[least, largest]")
        if pair[0] > pair[1]:
            fail(
                f"{key}[{place}]", Words(f"{pair[0]:g} first, then {pair[1]:g}"), "[least, largest]"
            )
    return pairs


@takes({"anyOf": [{"enum": list(search.RANKS)}, TARGET]})
def _rank(key: str, value: Any) -> str:
    """A word, or a target that is imported when it is needed."""
    if is_target(value):
        return str(value)
    return check.choice(key, value, search.RANKS)


def _imported(target: str) -> Any:
    """The user's score function, which executes the module."""
    found = imported(target, "[neighbour] rank")
    if not callable(found):
        raise ScenarioError(
            f"[neighbour] rank: {target} must be callable, got {type(found).__name__}"
        )
    return found
