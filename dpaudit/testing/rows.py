"""The neighbour that a test audits: by the exact spectrum where that is known, else by a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit.curves.claims import Claim
from dpaudit.errors import NoExactSpectrum
from dpaudit.neighbours import NeighbourPair, zero_row


@dataclass(frozen=True, eq=False)
class ChosenPair:
    """A pair. rule : why this one, in words, or "". samples : draws a side that are left for it."""

    pair: NeighbourPair
    rule: str
    samples: int


def choose_pair(
    mechanism: Mechanism,
    pair_or_data: NeighbourPair | ArrayLike,
    claim: Claim,
    *,
    epsilon: Array,
    samples: int,
    seed: int,
    search: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> ChosenPair:
    """The pair that was given; for a database, (n, d), the pair with the worst row set to zero.

    The worst row is that of the exact spectrum where it is known, else that of a search.

    epsilon : (m,), where the exact δ(ε) is compared with the claim.
    samples : draws a side in all; a search takes half of them, which are not used again.
    search : keywords of `dpaudit.search.select`, which demand a search in any case.

    Raises `InvalidInput`, `MechanismError`.
    """
    if isinstance(pair_or_data, NeighbourPair):
        return ChosenPair(pair_or_data, "", samples)
    data = check.matrix("pair_or_data", pair_or_data)
    if search is None and (index := worst_row(mechanism, data, claim, epsilon)) is not None:
        return ChosenPair(zero_row(data, index), "worst of all rows by the exact spectrum", samples)
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
    rule = selection.rule if pair.index is None else selection.comparison
    return ChosenPair(pair, rule, left)


def worst_row(mechanism: Mechanism, data: Array, claim: Claim, epsilon: Array) -> int | None:
    """The row whose zeroing makes the exact δ(ε) exceed the claim by most, or come nearest to it.

    None where no exact spectrum is known.
    """
    try:
        found = exact.worst_case(mechanism, data, epsilon)
    except NoExactSpectrum:
        return None
    assert found.index is not None
    return int(found.index[int(np.argmax(found.delta - claim.delta_at(epsilon)))])
