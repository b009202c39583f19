"""The loop: draw a wave, bet on it by the past, stop or go on; then say what was found."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpaudit import power
from dpaudit._core.check import Array
from dpaudit._core.seeds import Stream, below
from dpaudit.auditing.sequential.judge import Ask, Judge, judge_by_few, judge_by_many
from dpaudit.auditing.sequential.record import FEW, FIRST, Sequential, sizes
from dpaudit.auditing.sequential.source import Past, Raw, Source
from dpaudit.auditing.verdict import reference_of
from dpaudit.certify.band import Certificate, Region
from dpaudit.certify.betting import Counts, Menu, Null
from dpaudit.certify.estimate import Direction, Estimate
from dpaudit.certify.split import Split
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput
from dpaudit.scoring import Fitted, Sides

if TYPE_CHECKING:
    from dpaudit.auditing.api import Plan

BAND = 16  # ε at which a lower bound is kept, each direction
STARTS = 8  # ε of a curve at which bets may start
# ε at which a claimed curve is taken at its word
CURVE = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 120)])
VISIBLE = 1e-3  # of the largest claimed δ; bets start where there is as much
SLACK = 1e-12  # of an exact spectrum
# draws a side from which on nothing more is learned: the last score and bet stay, and no draw is
# kept
FULL = 1 << 20


Step = Callable[[str], AbstractContextManager[None]]


def _untimed(name: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an audit in waves found, as the parts of an `AuditResult`."""

    verdict: str
    reason: str
    detectable: dict[str, float] | None
    estimate: Estimate
    sizes: Split
    fitted: Fitted
    sequential: Sequential


def audit_in_waves(
    plan: Plan, theory: Spectrum | None, source: Source, step: Step = _untimed
) -> Outcome:
    """Draw, bet, stop. step : times what is done inside it.

    Raises `InvalidInput` where there is neither a claim nor an exact spectrum to bet against.
    """
    state = _State(plan, _menu(plan.claim, theory), step)
    total = plan.sizes.train + plan.sizes.choose + plan.sizes.test
    for wave, size in enumerate(sizes(total)):
        with step("sample_s"):
            fresh = source(wave, size)
        if wave > 0:
            state.bet(wave, fresh)
        state.learn(fresh)
        state.drawn += size
        plan.progress("drawing in waves", state.drawn, total)
        if state.rejected_at is not None:
            break
    return _outcome(plan, theory, state)


def _menu(claim: Claim | None, theory: Spectrum | None) -> Menu:
    return Menu(*null_of(None, theory)) if claim is None else _menu_of(claim)


@lru_cache(maxsize=16)
def _menu_of(claim: Claim) -> Menu:
    return Menu(*null_of(claim, None))


def null_of(claim: Claim | None, theory: Spectrum | None) -> tuple[Null, Array]:
    """What is bet against, and the ε at which bets may start."""
    if claim is not None and claim.epsilon is not None:
        return Null.of(np.array([claim.epsilon]), np.array([claim.delta])), np.array(
            [claim.epsilon]
        )
    if claim is not None:
        epsilon, delta = CURVE, claim.delta_at(CURVE)
    elif theory is not None:
        epsilon, delta = theory.epsilon, np.minimum(theory.delta + SLACK, 1.0)
    else:
        raise InvalidInput(
            'stop="verdict" needs a claim or a known exact spectrum: there is nothing to bet against'
        )
    last = float(epsilon[delta >= VISIBLE * delta.max()].max())
    return Null.of(epsilon, delta), np.unique(np.linspace(0.0, last, STARTS))


@dataclass
class _State:
    """The past, the wealth and the counts."""

    plan: Plan
    menu: Menu
    step: Step
    past: Past = field(default_factory=Past)
    odds: list[Sides] = field(default_factory=list)  # of each wave that was then learned from
    judge: Judge | None = None
    learned: int = 0  # draws a side in the past
    judged_by: int = 0  # of them, when the judge was made
    draws: list[int] = field(default_factory=list)
    log_e: list[float] = field(default_factory=list)
    largest: float = 0.0
    drawn: int = 0
    rejected_at: int | None = None
    fitted: Fitted | None = None

    def __post_init__(self) -> None:
        self.counts = Counts(self.plan.epsilon)

    def bet(self, wave: int, fresh: Raw) -> None:
        """Fit and pick on the past, if there is more of it than before, then bet on each fresh pair
        in turn.
        """
        if self.judge is None or self.judged_by < self.learned:
            with self.step("fit_s"):
                self.judge, self.judged_by = (
                    self._judge(wave, self.past.rows(), len(fresh[0])),
                    self.learned,
                )
        with self.step("certify_s"):
            self._settle(self.judge, self.judge.odds(self.past.like(fresh)))

    def learn(self, fresh: Raw) -> None:
        """Add a wave to the past until that is full."""
        if self.learned < FULL:
            self.past.add(fresh)
            self.learned += len(fresh[0])

    def _settle(self, judge: Judge, odds: Sides) -> None:
        path = (self.log_e[-1] if self.log_e else 0.0) + np.cumsum(judge.bet.payoff(odds.P, odds.Q))
        over = np.flatnonzero(path >= -np.log(1.0 - self.plan.level))
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

    def _judge(self, wave: int, past: Sides, upcoming: int) -> Judge:
        seed = below(self.plan.seed, Stream.WAVE, wave)
        ask = Ask(self.plan.classifier, self.plan.bits, self.plan.epsilon)
        if len(past.P) < FEW:
            return judge_by_few(ask, self.menu, past, seed)
        history = Sides(
            *(np.concatenate([getattr(one, side) for one in self.odds]) for side in "PQ")
        )
        return judge_by_many(ask, self.menu, past, history, seed, upcoming)


def _outcome(plan: Plan, theory: Spectrum | None, state: _State) -> Outcome:
    name, reference = reference_of(plan.claim, theory, plan.epsilon)
    found = _estimate(plan, state, reference)
    tested = found.draws
    record = Sequential(
        plan.level,
        tuple(state.draws),
        tuple(state.log_e),
        state.rejected_at,
        state.drawn,
        tested,
        float(np.exp(state.largest)),
    )
    detectable = _detectable(plan, reference, tested)
    verdict, reason = _verdict(plan, name, record, detectable)
    assert state.fitted is not None
    return Outcome(
        verdict, reason, detectable, found, Split(FIRST, 0, tested), state.fitted, record
    )


def _estimate(plan: Plan, state: _State, reference: Array) -> Estimate:
    """Point estimates from all draws that were bet on, and lower bounds that hold at any stopping
    time.

    A bound l at ε' is a region: p ≥ l + e^{ε'} q for a set. Where nothing was rejected the bounds
    are no higher than the reference, so that band and verdict do not disagree; that only lowers
    them.
    """
    kept = _kept(plan)
    share = (1.0 - plan.level) / (2 * len(kept))
    low = state.counts.low(share)[:, kept]
    if state.rejected_at is None:
        low = np.minimum(low, reference[kept])
    regions, forward = [], []
    for way, at in zip(*np.nonzero(low > 0.0), strict=True):
        bound, gamma = low[way, at], np.exp(plan.epsilon[kept[at]])
        regions.append(Region(np.array([0.0, (1.0 - bound) / gamma]), np.array([bound, 1.0])))
        forward.append(bool(way == 0))
    certified = Certificate.of(regions, forward, plan.level)
    most = 1.0 if state.rejected_at is not None else reference
    ways = [
        Direction(delta, np.clip(certified.direction(way).delta_at(plan.epsilon), 0.0, most))
        for delta, way in zip(state.counts.delta, (True, False), strict=True)
    ]
    tested = int(state.counts.pairs[0, 0].sum())
    return Estimate(
        plan.epsilon, ways[0], ways[1], tested, np.full(len(plan.epsilon), share), certified
    )


def _kept(plan: Plan) -> np.ndarray:
    """Positions on the ε grid where bounds are kept: a few, a claim's own ε among them."""
    even = np.linspace(0, len(plan.epsilon) - 1, min(BAND, len(plan.epsilon))).round().astype(int)
    own = None if plan.claim is None else plan.claim.epsilon
    near = [] if own is None else [int(np.argmin(np.abs(plan.epsilon - own)))]
    return np.unique(np.concatenate([even, near]).astype(int))


def _detectable(plan: Plan, reference: Array, tested: int) -> dict[str, float] | None:
    """At the claim's own ε, or where the least excess would show among the ε at which bounds are
    kept.
    """
    own = None if plan.claim is None else plan.claim.epsilon
    kept = [int(np.argmin(np.abs(plan.epsilon - own)))] if own is not None else _kept(plan)
    shown = [
        (power.excess_shown(plan.epsilon[i], reference[i], tested, plan.level), plan.epsilon[i])
        for i in kept
    ]
    excess, epsilon = min(shown)
    return (
        {"epsilon": float(epsilon), "excess": excess, "power": power.POWER}
        if np.isfinite(excess)
        else None
    )


def _verdict(
    plan: Plan, name: str, record: Sequential, detectable: dict[str, float] | None
) -> tuple[str, str]:
    if record.rejected_at is not None:
        return "violated", (
            f"Stopped after {record.rejected_at:,} draws a side: the e-value against {name} is {record.e_value:.4g}, "
            f"at least the {record.needed:.4g} that rejects it at {100 * plan.level:.6g}% confidence."
        )
    held = (
        f"In {record.drawn:,} draws a side the e-value against {name} rose to {record.largest:.3g} at most, below the "
        f"{record.needed:.4g} that rejects it at {100 * plan.level:.6g}% confidence."
    )
    if plan.detect is None or (detectable is not None and detectable["excess"] <= plan.detect):
        return "not violated", held
    shown = "no excess at all" if detectable is None else f"an excess of {detectable['excess']:.3g}"
    return (
        "inconclusive",
        f"{held} They could have shown {shown}, not the {plan.detect:.3g} asked for.",
    )
