"""What bets: the past, the e-process, and the counts of a sequential audit so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from dpaudit import scoring
from dpaudit._core.seeds import Purpose, below
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.sequential.judge import Judge, judge_by_few, judge_by_many
from dpaudit.auditing.sequential.record import FEW
from dpaudit.auditing.sequential.source import Batch, Past
from dpaudit.auditing.settings import Settings
from dpaudit.certify.bet_choice import Menu
from dpaudit.certify.betting import Counts, null_of
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.scoring import Fitted, Sides
from dpaudit.scoring.base import nan_count
from dpaudit.verdict.evidence import Sequential

# After this many draws a side score and bet no longer change, and further draws are not kept.
FULL = 1 << 20


def menu_of(claim: Claim | None, theory: Spectrum | None) -> Menu:
    """The bets against a claim or, without one, the exact spectrum. Raises `InvalidInput`."""
    return Menu(*null_of(None, theory)) if claim is None else _menu_of_claim(claim)


@lru_cache(maxsize=16)
def _menu_of_claim(claim: Claim) -> Menu:
    return Menu(*null_of(claim, None))


@dataclass(repr=False)
class Bettor:
    """The past, the e-process and the counts.

    odds : log-odds of each batch that was then learned from. judge : what bets on the next batch.
    learned, judged_by, drawn : draws a side in `past`, those that `judge` was made from, and all.
    draws, log_e, largest, rejected_at : as in `Sequential`; `largest` is a logarithm here.
    undefined : how many scores that were bet on were NaN.
    """

    settings: Settings
    menu: Menu
    clock: Clock
    past: Past = field(default_factory=Past)
    odds: list[Sides] = field(default_factory=list)
    judge: Judge | None = None
    learned: int = 0
    judged_by: int = 0
    draws: list[int] = field(default_factory=list)
    log_e: list[float] = field(default_factory=list)
    largest: float = 0.0
    drawn: int = 0
    rejected_at: int | None = None
    fitted: Fitted | None = None
    undefined: int = 0

    def __post_init__(self) -> None:
        self.counts = Counts(self.settings.epsilon)

    def bet(self, number: int, fresh: Batch) -> None:
        """Bet on each fresh pair in turn, with a score and a bet from the past."""
        if self.judge is None or self.judged_by < self.learned:
            with self.clock.step("fit_s"):
                self.judge = self._new_judge(number, self.past.rows(), fresh.size)
                self.judged_by = self.learned
        with self.clock.step("certify_s"):
            scores = scoring.scores(self.judge.fitted.score, self.past.like(fresh))
            self.undefined += nan_count(scores)
            self._settle(self.judge, self.judge.odds(scores))

    def learn(self, fresh: Batch) -> None:
        """Add a batch to the past until that is full."""
        if self.learned < FULL:
            self.past.add(fresh)
            self.learned += fresh.size

    def record(self) -> Sequential:
        """The e-process so far."""
        return Sequential(
            level=self.settings.level,
            alpha=self.settings.alpha,
            draws=tuple(self.draws),
            log_e=tuple(self.log_e),
            rejected_at=self.rejected_at,
            drawn=self.drawn,
            tested=int(self.counts.pairs[0, 0].sum()),
            largest=float(np.exp(self.largest)),
        )

    def _settle(self, judge: Judge, odds: Sides) -> None:
        path = (self.log_e[-1] if self.log_e else 0.0) + np.cumsum(judge.bet.payoff(odds.P, odds.Q))
        over = np.flatnonzero(path >= -np.log(self.settings.alpha))
        if len(over):
            path = path[: over[0] + 1]
            self.rejected_at = self.drawn + len(path)
        self.draws.append(self.drawn + len(path))
        self.log_e.append(float(path[-1]))
        self.largest = max(self.largest, float(path.max()))
        if self.learned < FULL:
            self.odds.append(odds)
        self.counts.add(judge.cuts, odds.P, odds.Q)
        self.fitted = judge.fitted

    def _new_judge(self, number: int, past: Sides, upcoming: int) -> Judge:
        seed = below(self.settings.seed, Purpose.BATCH, number)
        if len(past.P) < FEW:
            return judge_by_few(self.settings, self.menu, past, seed)
        earlier = [np.concatenate([getattr(one, side) for one in self.odds]) for side in "PQ"]
        return judge_by_many(self.settings, self.menu, past, Sides(*earlier), seed, upcoming)
