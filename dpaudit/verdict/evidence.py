"""E-values: the e-process of one sequential audit, and the evidence that an audit contributes
against a claim. The e-values of independent audits of one claim may be multiplied.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.betting import Hits, null_of
from dpaudit.certify.constants import WIDTHS
from dpaudit.curves.claims import Claim

if TYPE_CHECKING:
    from dpaudit.certify.scores import ScoreCells
    from dpaudit.certify.sets import ChosenSet

SAVED = (
    "level", "needed", "e_value", "largest", "rejected_at", "drawn", "tested", "draws", "log_e"
)  # fmt: skip


@dataclass(frozen=True)
class Sequential:
    """The e-process of a sequential audit.

    level, alpha : the confidence of the verdict, and 1 − level.
    draws, log_e : draws a side so far, and the log e-value, after each batch that was bet on; for
        the batch of a rejection, their values at the rejection.
    rejected_at : draws a side, training included, after which the e-value reached `needed`; None
        if it never did.
    drawn : draws a side in all, including the rest of the last batch.
    tested : number of draws a side that were bet on.
    largest : the largest e-value after any draw.
    """

    level: float
    alpha: float
    draws: tuple[int, ...]
    log_e: tuple[float, ...]
    rejected_at: int | None
    drawn: int
    tested: int
    largest: float

    @property
    def needed(self) -> float:
        return 1.0 / self.alpha

    @property
    def e_value(self) -> float:
        return float(np.exp(self.log_e[-1]))

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SAVED}


@dataclass(frozen=True)
class Evidence:
    """The evidence that one audit adds against a claim.

    log_e : the logarithm of an e-value for each width of bet, (k,). draws : number of fresh draws a
    side that were bet on. hits : how many of them are in the set that was bet on; None for an audit
    that stops early, whose e-value comes from its own bets.
    """

    log_e: tuple[float, ...] = field(repr=False)
    draws: int
    hits: Hits | None = None

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "log_e": list(self.log_e)}


def where_to_bet(claim: Claim | None) -> tuple[Array, Array] | None:
    """The ε at which bets against a claim may start, (k,) nats, and the allowed δ; or None."""
    if claim is None:
        return None
    starts = null_of(claim, None)[1]
    return starts, claim.delta_at(starts)


def of_set(claim: Claim | None, bet: ChosenSet | None, cells: ScoreCells) -> Evidence | None:
    """The evidence of an audit with a fixed number of draws, from a set chosen before them. None
    without a claim or a set, or if one side has fewer draws than the other.
    """
    hits = None if bet is None else bet.hits(cells)
    if claim is None or hits is None:
        return None
    return Evidence(tuple(hits.log_e(null_of(claim, None)[0]).tolist()), hits.draws, hits)


def of_process(claim: Claim | None, process: Sequential) -> Evidence | None:
    """The evidence of an audit that may stop early: an e-process at a stopping time is an e-value,
    here the same for all widths.
    """
    if claim is None:
        return None
    log_e = process.log_e[-1] if process.log_e else 0.0
    return Evidence((float(log_e),) * len(WIDTHS), process.tested)
