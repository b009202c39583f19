"""Which neighbour of a database a test looks at, if it is not told: by theory where that is known, else by weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import _check, exact
from dpaudit._check import Array
from dpaudit.claims import Claim
from dpaudit.errors import DegenerateData, NoExactSpectrum
from dpaudit.neighbours import NeighbourPair, row_statistics, zero_row


@dataclass(frozen=True, eq=False)
class Chosen:
    """A pair, and in words why this one."""

    pair: NeighbourPair
    rule: str


def chosen(mechanism: Any, pair_or_data: Any, claim: Claim, epsilon: Array, rows: int) -> list[Chosen]:
    """The pairs to audit: the one given, or those of a database, (n, d), with one row set to zero.

    epsilon : (m,), where the exact δ(ε) is held against the claim. rows : how many to try where nothing exact is known.
    Raises `InvalidInput`.
    """
    if isinstance(pair_or_data, NeighbourPair):
        return [Chosen(pair_or_data, "")]
    data = _check.matrix("pair_or_data", pair_or_data)
    if (index := worst_row(mechanism, data, claim, epsilon)) is not None:
        return [Chosen(zero_row(data, index), "worst of all rows by the exact spectrum")]
    heavy = heaviest(data, rows)
    if not heavy:
        _check.fail("pair_or_data", "rows of zeros", "a database with a row that is not zero")
    return [Chosen(zero_row(data, index), rule) for index, rule in heavy.items()]


def worst_row(mechanism: Any, data: Array, claim: Claim, epsilon: Array) -> int | None:
    """The row whose exact δ(ε), if it is zeroed, exceeds the claim by most, or comes nearest; None if none is known."""
    try:
        found = exact.worst_case(mechanism, data, epsilon)
    except NoExactSpectrum:
        return None
    assert found.index is not None
    return int(found.index[int(np.argmax(found.delta - claim.delta_at(epsilon)))])


def heaviest(data: Array, rows: int) -> dict[int, str]:
    """At most `rows` rows, each the first of one order or the next of it: what removing them does to least squares,
    leverage, distance from the mean. Rows of zeros have no neighbour.
    """
    kept = np.flatnonzero(np.any(data != 0.0, axis=1))
    orders = {name: kept[np.argsort(-weight[kept], kind="stable")] for name, weight in _weights(data).items()}
    found: dict[int, str] = {}
    for place in range(min(rows, len(kept))):  # each order has so many rows, so more is never needed
        for name, order in orders.items():
            which = "of largest" if place == 0 else f"number {place + 1} by"
            found.setdefault(int(order[place]), f"{which} {name}")
    return dict(list(found.items())[:rows])


def _weights(data: Array) -> dict[str, Array]:
    """(n,) each; the first two need a label in the last column that is no exact function of the others."""
    away = data - data.mean(axis=0)
    spread = data.std(axis=0)
    far = np.linalg.norm(away / np.where(spread > 0.0, spread, 1.0), axis=1)
    weights = {"distance from the mean": far, "norm": np.linalg.norm(data, axis=1)}
    if data.shape[1] == 1:
        return weights
    try:
        statistics = row_statistics(data)
    except DegenerateData:
        return weights
    return {"effect on least squares": statistics.displacement, "leverage": statistics.leverage, **weights}
