"""An audit that may stop early: it draws growing batches, and bets on each batch with a score and
a bet that were chosen from the earlier batches (`auditing.bettor`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import numpy as np

from dpaudit import outcomes, power, scoring
from dpaudit._core.note import Note
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array, Mechanism
from dpaudit.auditing.bettor import Batch, Bettor, batch_sizes, menu_of
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.independence import call_sizes, refuse_dependence
from dpaudit.auditing.settings import Drawing, Settings
from dpaudit.auditing.subject import Findings, Setup
from dpaudit.certify.band import Certificate, Region
from dpaudit.certify.estimate import Direction, Estimate
from dpaudit.certify.sets import evenly_spaced
from dpaudit.certify.split import Split
from dpaudit.curves.spectrum import Spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import BlockStore, GivenDraws, MechanismDraws, call_size, degenerate
from dpaudit.scoring.base import nan_note
from dpaudit.verdict.evidence import of_process
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.judgement import judge_e_value

BAND = 16  # number of ε at which a lower bound is kept, in each direction
BLOCK = 32  # least number of draws in a block: workers share a batch, block by block
FIRST_LOOK = 256  # draws a side at which independence is tested for the first time
# If every output reveals its database, such an audit rejects after 0.3 to 2 times the draws that
# `power` gives for outputs that hardly overlap (measured). So `too_few_to_bet` simulates audits
# of up to AMPLE times that number of draws, and none if the number is above TRIED.
AMPLE, TRIED = 4.0, 1 << 17


def audit_sequentially(setup: Setup, batches: Iterator[Batch]) -> Findings:
    """Draw, bet, and stop once the claim (without one: the exact spectrum) is rejected.

    Whenever the draws have doubled, and at the end, tests refuse draws that depend on each other
    and scores that depend on other rows. They spend half of the error probability of
    `refuse_dependence`, the test after batch b a share 1/(b + 1) − 1/(b + 2) of that half. Raises
    `InvalidInput` if there is nothing to bet against.
    """
    settings, clock = setup.settings, setup.clock
    bettor = Bettor(settings, menu_of(settings.claim, setup.theory), clock)
    past, looked_at = bettor.past, 0
    drift: tuple[Note, ...] = ()
    for number in count():
        with clock.step("sample_s"):
            fresh = next(batches)
        bettor.take(number, fresh)
        setup.progress("drawing in batches", bettor.drawn, settings.draws)
        ended = bettor.rejected_at is not None or bettor.drawn == settings.draws
        if past.size >= max(FIRST_LOOK, 2 * looked_at) or (ended and looked_at < past.size):
            rows, share = past.rows(), 0.5 / ((number + 1) * (number + 2))
            drift, looked_at = refuse_dependence(rows, past.call_sizes(), share), past.size
            if bettor.fitted is not None and not isinstance(settings.classifier, str):
                scoring.refuse_batch_scores(bettor.fitted, rows)
        if ended:
            break
    assert bettor.fitted is not None
    assert past.draws is not None
    assert setup.reference is not None
    fitted = bettor.fitted
    if scoring.is_trained(settings.classifier):
        fitted = replace(fitted, unread=outcomes.described(*past.draws).unread)
    record, grid = bettor.record(), _bounded_at(settings)
    estimate = _estimate(settings, bettor, setup.reference.delta, grid)
    judged = judge_e_value(
        record,
        estimate,
        grid,
        setup.reference,
        settings.detect,
        who=setup.who,
        too_few=partial(too_few_to_bet, settings, setup.reference, setup.theory),
        unread=fitted.unread,
    )
    same = degenerate.notes(*past.draws, settings.allowed)
    return Findings(
        estimate=estimate,
        fitted=fitted,
        sizes=Split(power.FIRST, 0, record.tested),
        judged=judged,
        notes=(*drift, *same, *nan_note(fitted.name, bettor.undefined)),
        sequential=record,
        evidence=of_process(settings.claim, record),
    )


# --- batches --------------------------------------------------------------------------------------


def batches_of(
    mechanism: Mechanism, pair: NeighbourPair, settings: Settings, drawing: Drawing
) -> Iterator[Batch]:
    """Yield batches of a mechanism's draws. Batch b has the seed at key (BATCH, b).

    Calls grow with the audit: their size is that of an audit with as many draws as have been made
    so far (`call_size`). The number and kind of workers change no byte.
    """
    total = blocks = 0
    for number, size in enumerate(batch_sizes(settings.draws)):
        total += size
        source = MechanismDraws(
            mechanism,
            (pair.left, pair.right),
            size,
            below(settings.seed, Purpose.BATCH, number),
            n_jobs=drawing.n_jobs,
            store=None if drawing.store is None else _LaterBlocks(drawing.store, blocks),
            call=settings.call or call_size(mechanism, total),
            smallest=BLOCK,
        )
        yield Batch(source.take(size), call_sizes(size, source.calls))
        blocks += -(-size // source.block)


def batches_in(P: np.ndarray, Q: np.ndarray, settings: Settings) -> Iterator[Batch]:
    """Yield draws made elsewhere in batches, in their order."""
    source = GivenDraws(P, Q)
    for size in batch_sizes(settings.draws):
        yield Batch(source.take(size), None)


@dataclass(repr=False)
class _LaterBlocks:
    """A view of a store in which the blocks of one batch are numbered from 0.

    store : numbers blocks through all batches. first : number of the batch's first block there.
    """

    store: BlockStore
    first: int

    def get(self, side: int, block: int) -> np.ndarray | None:
        return self.store.get(side, self.first + block)

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        self.store.put(side, self.first + block, values)


# --- estimate and band ----------------------------------------------------------------------------


def _bounded_at(settings: Settings) -> list[int]:
    """Positions on the grid of ε where lower bounds are kept, including the claim's own ε."""
    even = evenly_spaced(len(settings.epsilon), BAND)
    own = settings.claimed_epsilon
    near = [] if own is None else [int(np.argmin(np.abs(settings.epsilon - own)))]
    positions: list[int] = np.unique(np.concatenate([even, near]).astype(int)).tolist()
    return positions


def _estimate(settings: Settings, bettor: Bettor, reference: Array, grid: list[int]) -> Estimate:
    """Plug-in estimates from all draws that were bet on, and lower bounds that hold at any stopping
    time.

    A bound l at ε' says that p ≥ l + e^{ε'} q for a set of outputs with probability p under one
    database and q under the other. If the reference was not rejected, the bounds are capped at it,
    which only lowers them, so that band and verdict agree.
    """
    share = settings.alpha / (2 * len(grid))
    low = bettor.counts.low(share)[:, grid]
    if bettor.rejected_at is None:
        low = np.minimum(low, reference[grid])
    regions, forward = [], []
    for way, at in zip(*np.nonzero(low > 0.0), strict=True):
        bound, gamma = low[way, at], np.exp(settings.epsilon[grid[at]])
        regions.append(Region(np.array([0.0, (1.0 - bound) / gamma]), np.array([bound, 1.0])))
        forward.append(bool(way == 0))
    certified = Certificate.of(regions, forward, settings.level)
    most = 1.0 if bettor.rejected_at is not None else reference
    ways = [
        Direction(delta, np.clip(certified.direction(way).delta_at(settings.epsilon), 0.0, most))
        for delta, way in zip(bettor.counts.delta, (True, False), strict=True)
    ]
    draws, shares = int(bettor.counts.pairs[0, 0].sum()), np.full(len(settings.epsilon), share)
    return Estimate(settings.epsilon, ways[0], ways[1], draws, shares, certified)


# --- what such an audit could have shown ----------------------------------------------------------


def too_few_to_bet(settings: Settings, reference: Reference, theory: Spectrum | None) -> bool:
    """Whether the draws are too few to reject `reference`, whatever the outputs are."""
    allowed = reference.delta
    best = int(np.argmin(power.separating_draws(settings.epsilon, allowed, settings.alpha)))
    point = float(settings.epsilon[best]), float(allowed[best])
    # draws a side that `power` gives for outputs that hardly overlap, at the ε that needs fewest
    about = power.separating_bets(*point, settings.alpha)
    if settings.draws >= AMPLE * about:
        return False
    if about > TRIED:
        return settings.draws < about
    return rejected_at(settings, theory, settings.draws) is None


def rejected_at(settings: Settings, theory: Spectrum | None, draws: int) -> int | None:
    """Simulate an audit of `draws` draws a side whose outputs reveal their database, and return the
    number of draws a side at which it rejects; None if it does not.
    """
    bettor = Bettor(settings, menu_of(settings.claim, theory), Clock())
    for number, size in enumerate(batch_sizes(draws)):
        bettor.take(number, Batch((np.ones((size, 1)), np.zeros((size, 1))), None))
        if bettor.rejected_at is not None:
            break
    return bettor.rejected_at
