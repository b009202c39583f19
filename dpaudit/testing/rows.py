"""The neighbour that a test audits: by the exact spectrum where that is known, else by a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core import check
from dpaudit._core.keywords import refuse_unknown
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.neighbours import NeighbourPair, zero_row

BUDGET = 10.0  # draws of search and audit in units of the audit's, as of `search_neighbours`
OF_THE_AUDIT = ("samples", "claim")  # settings of a search that the assertion gives


@dataclass(frozen=True, eq=False)
class ChosenPair:
    """A pair, and how it was chosen.

    rule : in words, or "" where it was given. tried : neighbours that were compared, None where the
    pair was given. searched : whether by draws.
    """

    pair: NeighbourPair
    rule: str = ""
    tried: int | None = None
    searched: bool = False

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Search:
    """A search of the worst neighbour, before its draws are granted.

    options : keywords of `dpaudit.search_neighbours`. Raises `InvalidInput`, TypeError.
    """

    data: Array
    options: Mapping[str, Any]

    __repr__ = short_repr

    def __post_init__(self) -> None:
        from dpaudit.search.search import SearchSettings

        known = [one.name for one in fields(SearchSettings) if one.name not in OF_THE_AUDIT]
        refuse_unknown("search of assert_private", self.options, known)
        check.real("budget", self.options.get("budget", BUDGET), 1.0)

    @property
    def times(self) -> float:
        """Draws of search and audit together, in units of the audit's."""
        return float(self.options.get("budget", BUDGET))

    def worst(self, mechanism: Mechanism, **given: Any) -> ChosenPair:
        """given : samples, claim, rng and n_jobs of `dpaudit.search_neighbours`.

        Raises `InvalidInput`, `MechanismError`.
        """
        __tracebackhide__ = True
        from dpaudit.search import select

        options = {"budget": BUDGET, **self.options}
        try:
            found = select(mechanism, self.data, **options, **given)
        except InvalidInput as error:
            if error.argument != "budget":
                raise
            raise InvalidInput(
                f"{error}, or give the pair: dpaudit.neighbours.zero_row(data, 0)",
                argument="samples",
            ) from None
        return ChosenPair(found.best.change.pair(self.data), found.rule, found.audited, True)


def neighbour(
    mechanism: Mechanism,
    pair_or_data: NeighbourPair | ArrayLike,
    claim: Claim,
    epsilon: Array,
    search: Mapping[str, Any] | None,
) -> ChosenPair | Search:
    """The pair that was given; of a database, (n, d), the worst row zeroed, or how to search it.

    epsilon : (m,), where the exact δ(ε) is compared with a claim that has no ε of its own.
    search : keywords of `dpaudit.search_neighbours`, which demand a search in any case.

    Raises `InvalidInput`.
    """
    __tracebackhide__ = True
    if isinstance(pair_or_data, NeighbourPair):
        return ChosenPair(pair_or_data)
    data = _database(pair_or_data)
    if search is None and (index := worst_row(mechanism, data, claim, epsilon)) is not None:
        pair = zero_row(data, index)
        return ChosenPair(pair, "worst of all rows by the exact spectrum", len(data))
    return Search(data, search or {})


def worst_row(mechanism: Mechanism, data: Array, claim: Claim, epsilon: Array) -> int | None:
    """The row whose zeroing makes the exact δ largest at the claim's ε, as a scenario chooses it.

    Of a claim without an ε of its own: the row by which δ(ε) exceeds the claim by most, or comes
    nearest to it. None where no exact spectrum is known.
    """
    points = epsilon if claim.epsilon is None else np.array([claim.epsilon])
    try:
        found = exact.worst_case(mechanism, data, points)
    except NoExactSpectrum:
        return None
    assert found.index is not None
    return int(found.index[int(np.argmax(found.delta - claim.delta_at(points)))])


def _database(data: ArrayLike) -> Array:
    """As (n, d) float64. Raises `InvalidInput` with the next step."""
    numbers = check.array_of_numbers("pair_or_data", data, "numbers, a row for each person")
    if numbers.ndim != 2:
        check.fail(
            "pair_or_data",
            check.Words(f"shape {numbers.shape}"),
            "a 2-D array, a row for each person, or a pair",
            "make rows of one number with data.reshape(-1, 1), or a pair with "
            "dpaudit.neighbours.zero_row(data, 0)",
        )
    return check.matrix("pair_or_data", data)
