"""Which neighbour of a database a test looks at, if it is not told: by theory where that is known,
else by a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit.curves.claims import Claim
from dpaudit.errors import NoExactSpectrum
from dpaudit.neighbours import NeighbourPair, zero_row


@dataclass(frozen=True, eq=False)
class Chosen:
    """A pair, in words why this one, and how many draws a side are left to audit it."""

    pair: NeighbourPair
    rule: str
    samples: int


def chosen(
    mechanism: Any,
    pair_or_data: Any,
    claim: Claim,
    epsilon: Array,
    samples: int,
    seed: int,
    search: Mapping[str, Any] | None,
    n_jobs: int | None = None,
) -> Chosen:
    """The pair given; of a database, (n, d), the row to set to zero by theory; or what a search
    finds.

    epsilon : (m,), where the exact δ(ε) is held against the claim. samples : draws a side in all; a
    search takes half of them, none of which is used again. search : keywords of `search.select`,
    which ask for a search whatever is known. Raises `InvalidInput`, `MechanismError`.
    """
    if isinstance(pair_or_data, NeighbourPair):
        return Chosen(pair_or_data, "", samples)
    data = check.matrix("pair_or_data", pair_or_data)
    if search is None and (index := worst_row(mechanism, data, claim, epsilon)) is not None:
        return Chosen(zero_row(data, index), "worst of all rows by the exact spectrum", samples)
    from dpaudit.search import select

    left = samples // 2
    settings = {
        "budget": samples / max(left, 1),
        "samples": max(left, 1),
        "claim": claim,
        "rng": seed,
        "n_jobs": n_jobs,
    }
    selection = select(mechanism, data, **{**settings, **(search or {})})
    pair = selection.best.change.pair(data)
    return Chosen(
        pair, selection.rule if pair.index is None else selection.rule.partition(": ")[2], left
    )


def worst_row(mechanism: Any, data: Array, claim: Claim, epsilon: Array) -> int | None:
    """The row whose exact δ(ε), if it is zeroed, exceeds the claim by most, or comes nearest; None
    if none is known.
    """
    try:
        found = exact.worst_case(mechanism, data, epsilon)
    except NoExactSpectrum:
        return None
    assert found.index is not None
    return int(found.index[int(np.argmax(found.delta - claim.delta_at(epsilon)))])
