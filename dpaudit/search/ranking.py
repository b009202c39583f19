"""Which changes to audit first: by least squares, by influence, by a user's score, or at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit._core.seeds import generator
from dpaudit.errors import MechanismError
from dpaudit.search.changes import Pool
from dpaudit.search.halving import PARTNERS, SPREAD, Bench, screen
from dpaudit.search.linear import in_turn, measures
from dpaudit.search.tried import Tried

RANKS = ("auto", "linear", "influence", "random")
ORDER_KEY = (1 << 20) + 1  # key below the search's seed that is no rung
Rank = str | Callable[[Array, Array, Array], Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """tried : changes to audit, likeliest first, none with a rung yet. failed : those on which the
    mechanism failed.
    draws : of M(D) and M(D') that this took."""

    tried: list[Tried]
    failed: list[Tried]
    draws: int


def ranking(bench: Bench, changes: Pool, rank: Rank, screened: int, shortlist: int) -> Ranking:
    """The first `shortlist` changes; with the influence of the first `screened` by the ranks that
    need no draws.

    Raises `MechanismError` where it fails on all of them.
    """
    scores = _scores(bench, changes, rank)
    order = np.argsort(-scores, kind="stable")
    if screened == 0:
        return Ranking([Tried(changes[int(e)], float(scores[e])) for e in order[:shortlist]], [], 0)
    looked, rest = order[:screened], order[screened : screened + shortlist]
    moved, found = screen(bench, changes, looked)
    spent = SPREAD + PARTNERS + sum(draws for draws, _ in found)
    tried = [Tried(changes[int(e)], float(scores[e])) for e in looked]
    if found:
        values = _by_influence(moved, rank)
        tried = [
            Tried(one.change, float(value), draws=draws, note=said if isinstance(said, str) else "")
            for one, value, (draws, said) in zip(tried, values, found, strict=True)
        ]
    failed = [one for one in tried if one.note]
    sound = sorted((one for one in tried if not one.note), key=lambda one: one.score, reverse=True)
    left = [Tried(changes[int(e)], float(scores[e])) for e in rest]
    if not sound and not left:
        raise MechanismError(
            f"the mechanism failed on every neighbour that was tried: {failed[0].note}"
        )
    return Ranking([*sound, *left][:shortlist], failed, spent)


def heaviest(data: Array) -> np.ndarray:
    """Rows of the data by what zeroing them does to least squares, (n,)."""
    return np.argsort(-in_turn(measures(data, data, np.zeros_like(data))), kind="stable")


def _scores(bench: Bench, changes: Pool, rank: Rank) -> Array:
    """A score a change, larger first, without a draw."""
    if callable(rank):
        return _user_scores(rank, changes)
    if rank == "random":
        return generator(bench.seed, ORDER_KEY).random(len(changes))
    return in_turn(measures(changes.data, changes.leaving(), changes.coming()))


def _user_scores(rank: Callable[[Array, Array, Array], Any], changes: Pool) -> Array:
    expected = f"a function score(data, out, into) that gives {len(changes)} numbers"
    scores = check.array_of_numbers(
        "rank", rank(changes.data, changes.leaving(), changes.coming()), expected
    )
    if scores.shape != (len(changes),) or np.isnan(scores.astype(np.float64)).any():
        fail(
            "rank", f"shape {scores.shape}" if scores.shape != (len(changes),) else "NaN", expected
        )
    return scores.astype(np.float64)


def _by_influence(moved: Array, rank: Rank) -> Array:
    """Scores from the influence of changes that stand in the order of their ranks, alone or in turn
    with these.
    """
    known = np.nan_to_num(moved, nan=0.0)
    return (
        known
        if rank == "influence"
        else in_turn(np.stack([known, np.arange(len(known), 0.0, -1.0)]))
    )
