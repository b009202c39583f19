"""The loop: draw a batch, bet on it by the past, stop or go on; then say what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.result import Findings
from dpaudit.auditing.sequential.guard import Guard
from dpaudit.auditing.sequential.judge import Judge, judge_by_few, judge_by_many
from dpaudit.auditing.sequential.record import FEW, FIRST, Sequential, batch_sizes
from dpaudit.auditing.sequential.source import Batch, BatchSource, Past
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.verdict import judge_e_value, reference_of, with_notes
from dpaudit.certify.band import Certificate, Region
from dpaudit.certify.betting import Counts, Menu, Null
from dpaudit.certify.candidates import evenly_spaced
from dpaudit.certify.estimate import Direction, Estimate
from dpaudit.certify.split import Split
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput
from dpaudit.sampling import Progress
from dpaudit.scoring import Fitted, Sides

BAND = 16  # ε at which a lower bound is kept, in each direction
STARTS = 8  # ε of a curve at which bets may start
# ε at which a claimed curve is read
CURVE = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 120)])
VISIBLE = 1e-3  # bets start at ε whose claimed δ is at least this share of the largest one
SLACK = 1e-12  # added to an exact spectrum, for rounding
# After this many draws a side score and bet no longer change, and further draws are not kept.
FULL = 1 << 20


def audit_sequentially(
    settings: Settings,
    theory: Spectrum | None,
    source: BatchSource,
    clock: Clock,
    progress: Progress,
    who: str = "",
) -> Findings:
    """Draw, bet, and stop once the claim (without one: the exact spectrum) is rejected.

    who : what differs between the databases, in words. Raises `InvalidInput` where there is
    nothing to bet against.
    """
    bettor = _Bettor(settings, _menu(settings.claim, theory), clock)
    guard, last = Guard(settings, bettor.past), 0
    for number, size in enumerate(batch_sizes(settings.samples)):
        with clock.step("sample_s"):
            fresh = source.batch(number, size)
        if number > 0:
            bettor.bet(number, fresh)
        bettor.learn(fresh)
        bettor.drawn += size
        progress("drawing in batches", bettor.drawn, settings.samples)
        guard.look(number, bettor.fitted)
        last = number
        if bettor.rejected_at is not None:
            break
    assert bettor.fitted is not None
    notes = guard.end(last, bettor.fitted, source, rejected=bettor.rejected_at is not None)
    return _findings(settings, theory, bettor, bettor.fitted, notes, who)


def _menu(claim: Claim | None, theory: Spectrum | None) -> Menu:
    return Menu(*null_of(None, theory)) if claim is None else _menu_of(claim)


@lru_cache(maxsize=16)
def _menu_of(claim: Claim) -> Menu:
    return Menu(*null_of(claim, None))


def null_of(claim: Claim | None, theory: Spectrum | None) -> tuple[Null, Array]:
    """The null hypothesis, and the ε at which bets may start."""
    if claim is not None and claim.epsilon is not None:
        own = np.array([claim.epsilon])
        return Null.of(own, np.array([claim.delta])), own
    if claim is not None:
        epsilon, delta = CURVE, claim.delta_at(CURVE)
    elif theory is not None:
        epsilon, delta = theory.epsilon, np.minimum(theory.delta + SLACK, 1.0)
    else:
        raise InvalidInput(
            'stop="verdict" needs a claim or a known exact spectrum: '
            "there is nothing to bet against"
        )
    last = float(epsilon[delta >= VISIBLE * delta.max()].max())
    return Null.of(epsilon, delta), np.unique(np.linspace(0.0, last, STARTS))


@dataclass(repr=False)
class _Bettor:
    """The past, the e-process and the counts.

    odds : log-odds of each batch that was then learned from. judge : what bets on the next batch.
    learned, judged_by, drawn : draws a side in `past`, those that `judge` was made from, and all.
    draws, log_e, largest, rejected_at : as in `Sequential`; `largest` is a logarithm here.
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

    def __post_init__(self) -> None:
        self.counts = Counts(self.settings.epsilon)

    def bet(self, number: int, fresh: Batch) -> None:
        """Bet on each fresh pair in turn, with a score and a bet from the past."""
        if self.judge is None or self.judged_by < self.learned:
            with self.clock.step("fit_s"):
                self.judge = self._new_judge(number, self.past.rows(), fresh.size)
                self.judged_by = self.learned
        with self.clock.step("certify_s"):
            self._settle(self.judge, self.judge.odds(self.past.like(fresh)))

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


def _findings(
    settings: Settings,
    theory: Spectrum | None,
    bettor: _Bettor,
    fitted: Fitted,
    notes: tuple[str, ...],
    who: str,
) -> Findings:
    reference = reference_of(settings, theory)
    assert reference is not None
    record, kept = bettor.record(), _kept(settings)
    estimate = _estimate(settings, bettor, reference.delta, kept)
    judged = judge_e_value(record, estimate, kept, settings, reference, who)
    return Findings(
        estimate=estimate,
        fitted=fitted,
        sizes=Split(FIRST, 0, record.tested),
        judged=with_notes(judged, notes),
        sequential=record,
    )


def _kept(settings: Settings) -> list[int]:
    """Positions on the grid of ε at which bounds are kept, that of a claim's own ε among them."""
    even = evenly_spaced(len(settings.epsilon), BAND)
    own = settings.claimed_epsilon
    near = [] if own is None else [int(np.argmin(np.abs(settings.epsilon - own)))]
    return [int(one) for one in np.unique(np.concatenate([even, near]).astype(int))]


def _estimate(settings: Settings, bettor: _Bettor, reference: Array, kept: list[int]) -> Estimate:
    """Plug-in estimates from all draws that were bet on, and lower bounds that hold at any stopping
    time.

    A bound l at ε' is a region: p ≥ l + e^{ε'} q for a set. Where nothing was rejected the bounds
    are cut at the reference, which only lowers them, so that band and verdict agree.
    """
    share = settings.alpha / (2 * len(kept))
    low = bettor.counts.low(share)[:, kept]
    if bettor.rejected_at is None:
        low = np.minimum(low, reference[kept])
    certified = _certificate(low, settings.epsilon[kept], settings.level)
    most = 1.0 if bettor.rejected_at is not None else reference
    ways = [
        Direction(delta, np.clip(certified.direction(way).delta_at(settings.epsilon), 0.0, most))
        for delta, way in zip(bettor.counts.delta, (True, False), strict=True)
    ]
    draws, shares = int(bettor.counts.pairs[0, 0].sum()), np.full(len(settings.epsilon), share)
    return Estimate(settings.epsilon, ways[0], ways[1], draws, shares, certified)


def _certificate(low: Array, epsilon: Array, level: float) -> Certificate:
    """From lower bounds (2, k), forward first, at k values of ε."""
    regions, forward = [], []
    for way, at in zip(*np.nonzero(low > 0.0), strict=True):
        bound, gamma = low[way, at], np.exp(epsilon[at])
        regions.append(Region(np.array([0.0, (1.0 - bound) / gamma]), np.array([bound, 1.0])))
        forward.append(bool(way == 0))
    return Certificate.of(regions, forward, level)
