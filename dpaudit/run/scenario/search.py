"""`[neighbour] rule = "search"`: its keys, and the search itself.

- at : ε at which neighbours are compared (the claim's own, else 0)
- relations = ["zero-out"], any of "zero-out", "remove", "replace", "add"
- candidates = "rows.csv" (from the scenario's folder), row_bound = 5.0, bounds = [[least, largest],
  ...] one a column, the target's last: rows that may come in
- rank = "auto", "linear", "influence", "random" or "package.module:callable", the user's
  score(data, out, into)
- shortlist, budget (in audits), quick : as of `dpaudit.search_neighbours`
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit import scoring, search
from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.datasets import Table as Rows
from dpaudit.errors import ScenarioError
from dpaudit.run.scenario.table import Table, numbers, text
from dpaudit.run.scenario.target import imported, is_target
from dpaudit.run.worst_case_options import read_candidates
from dpaudit.search import Selection

TABLE = "search.csv"  # the neighbours that were tried, beside the report


@dataclass(frozen=True)
class Search:
    """A search; `options` are the keywords of `dpaudit.search_neighbours` that are given."""

    options: dict[str, Any]
    candidates: Path | None = None
    rank: str = "auto"

    __repr__ = short_repr

    @property
    def imports(self) -> bool:
        """Whether neighbours are ranked by a callable of the user's."""
        return ":" in self.rank

    @property
    def compared(self) -> dict[str, Any]:
        """How neighbours are compared, in JSON types; no other option changes an outcome."""
        return {"at": self.options["at"], "quick": self.options.get("quick", search.QUICK)}

    def check(self, dataset: Rows) -> None:
        """Whether the candidates and bounds are of such data.

        Raises `DataNotFound`, `InvalidInput`.
        """
        columns = len(dataset.columns)
        if self.candidates is not None:
            read_candidates(self.candidates, dataset)
        if len(self.options.get("bounds", range(columns))) != columns:
            given = f"{len(self.options['bounds'])} pairs"
            fail("bounds", given, f"{columns} pairs [least, largest], the target's last")

    def select(self, mechanism: Any, dataset: Rows, **given: Any) -> Selection:
        """given : samples, rng, n_jobs, progress, checkpoint of `dpaudit.search.select`.

        Raises what that does, and `ScenarioError` where the score cannot be imported.
        """
        options = given | self.options
        if self.candidates is not None:
            options["candidates"] = read_candidates(self.candidates, dataset)
        rank = _imported(self.rank) if self.imports else self.rank
        return search.select(mechanism, dataset.database, rank=rank, **options)


def read_search(table: Table, folder: Path, at: float) -> Search:
    """Read the keys beside `rule`. at : the default of the key `at`."""
    checks: dict[str, Any] = {
        "at": partial(check.real, low=0.0),
        "relations": _words,
        "row_bound": partial(check.real, low=0.0, open_=True),
        "bounds": _pairs,
        "shortlist": partial(check.integer, minimum=1),
        "budget": partial(check.real, low=1.0, open_=True),
        "quick": partial(check.choice, allowed=(search.QUICK, *scoring.ALIASES)),
    }
    found = {key: table.get(key, check, None) for key, check in checks.items()}
    candidates = table.get("candidates", text, None)
    rank = table.get("rank", _rank, "auto")
    options = {"at": at, **{key: value for key, value in found.items() if value is not None}}
    _check_incoming(table, options.get("relations", ("zero-out",)))
    return Search(
        options,
        None if candidates is None else folder / Path(candidates).expanduser(),
        rank or "auto",
    )


def _check_incoming(table: Table, relations: tuple[str, ...]) -> None:
    """Rows that may come in go with the relations "replace" and "add"."""
    takes = any(one in search.INCOMING for one in relations)
    given = [key for key in search.SOURCES if key in table]
    if takes and not given:
        table.fault("relations", "'replace' and 'add' need candidates, row_bound or bounds")
    if given and not takes:
        table.fault(given[0], 'goes with relations = ["replace"] or ["add"]')


def _words(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        fail(key, value, "a list of " + ", ".join(map(repr, search.RELATIONS)))
    return tuple(
        check.choice(f"{key}[{place}]", word, search.RELATIONS) for place, word in enumerate(value)
    )


def _pairs(key: str, value: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list) or not value:
        fail(key, value, "a list of [least, largest], one a column, the target's last")
    pairs = tuple(numbers(f"{key}[{place}]", pair) for place, pair in enumerate(value))
    for place, pair in enumerate(pairs):
        if len(pair) != 2 or pair[0] > pair[1]:
            fail(f"{key}[{place}]", list(pair), "[least, largest]")
    return pairs


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
