"""What an audit adds to the evidence of others against the same claim: e-values, which multiply."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from dpaudit._core.types import Array
from dpaudit.auditing.sequential.record import Sequential
from dpaudit.certify.betting import Hits, null_of
from dpaudit.certify.constants import WIDTHS
from dpaudit.certify.scores import ScoreCells
from dpaudit.certify.sets import ChosenSet
from dpaudit.curves.claims import Claim


@dataclass(frozen=True)
class Evidence:
    """The logarithm of an e-value for each width of bet, (k,), from fresh draws.

    draws : that were bet on, a side. hits : of them in the set that was bet on; None of an audit
    that stops, whose e-value is that of its own bets.
    """

    log_e: tuple[float, ...] = field(repr=False)
    draws: int
    hits: Hits | None = None

    def to_dict(self) -> dict[str, Any]:
        """In JSON types."""
        return {**asdict(self), "log_e": list(self.log_e)}


def where_to_bet(claim: Claim | None) -> tuple[Array, Array] | None:
    """The ε at which bets against a claim may start, (k,), and the δ that it allows there."""
    if claim is None:
        return None
    starts = null_of(claim, None)[1]
    return starts, claim.delta_at(starts)


def of_set(claim: Claim | None, bet: ChosenSet | None, cells: ScoreCells) -> Evidence | None:
    """Of an audit whose draws were fixed in advance, from a set that was chosen before them.

    None without a claim, and where one side has fewer draws than the other.
    """
    hits = None if bet is None else bet.hits(cells)
    if claim is None or hits is None:
        return None
    return Evidence(tuple(hits.log_e(null_of(claim, None)[0]).tolist()), hits.draws, hits)


def of_process(claim: Claim | None, process: Sequential) -> Evidence | None:
    """Of an audit that stops: an e-process at a stopping time, whatever the widths of its bets."""
    if claim is None:
        return None
    log_e = process.log_e[-1] if process.log_e else 0.0
    return Evidence((float(log_e),) * len(WIDTHS), process.tested)
