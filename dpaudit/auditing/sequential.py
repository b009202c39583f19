"""An audit that may stop early: it draws growing batches, and bets on each with a score and a bet
that were chosen from the earlier batches (`auditing.bettor`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from dpaudit import power, scoring
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array, Mechanism
from dpaudit.auditing.bettor import FIRST, Batch, Bettor, batch_sizes, menu_of
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.independence import call_sizes, refuse_dependence
from dpaudit.auditing.settings import MOST_DRAWS, Drawing, Settings
from dpaudit.auditing.subject import Findings, Setup
from dpaudit.auditing.vacuous import with_unread
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
from dpaudit.verdict.judgement import judge_e_value, too_few_draws, with_notes

BAND = 16  # ε at which a lower bound is kept, in each direction
BLOCK = 32  # draws of a block, at least: workers share a batch
FIRST_LOOK = 256  # draws a side at which independence is tested first
# Where every output gives its database away, such an audit rejects after 0.3 to 2 times the draws
# that `power` gives for outputs that hardly overlap (measured): what lies beyond is not tried, nor
# are more draws than TRIED.
AMPLE, TRIED = 4.0, 1 << 17
FINER = 1.02  # a batch that ends earlier may choose another bet


def audit_sequentially(setup: Setup, batches: Iterator[Batch]) -> Findings:
    """Draw, bet, and stop once the claim (without one: the exact spectrum) is rejected.

    Draws that depend on each other, and scores that depend on other rows, are refused whenever the
    draws have doubled and at the end. Half of what `refuse_dependence` may spend goes to these
    looks, 1/(b + 1) − 1/(b + 2) of it to one after batch b. Raises `InvalidInput` where there is
    nothing to bet against.
    """
    settings, clock = setup.settings, setup.clock
    bettor = Bettor(settings, menu_of(settings.claim, setup.theory), clock)
    past, looked_at = bettor.past, 0
    drift: tuple[str, ...] = ()
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
    fitted = with_unread(bettor.fitted, settings, *past.draws)
    record, grid = bettor.record(), _bounded_at(settings)
    estimate = _estimate(settings, bettor, setup.reference.delta, grid)
    judged = judge_e_value(
        record,
        estimate,
        grid,
        setup.reference,
        settings.detect,
        who=setup.who,
        few=partial(too_few, settings, setup.reference, setup.theory),
        unread=fitted.unread,
    )
    notes = (*drift, *degenerate.notes(*past.draws), *nan_note(fitted.name, bettor.undefined))
    return Findings(
        estimate=estimate,
        fitted=fitted,
        sizes=Split(FIRST, 0, record.tested),
        judged=with_notes(judged, notes),
        sequential=record,
        evidence=of_process(settings.claim, record),
    )


# --- batches --------------------------------------------------------------------------------------


def batches_of(
    mechanism: Mechanism, pair: NeighbourPair, settings: Settings, drawing: Drawing
) -> Iterator[Batch]:
    """Batches of a mechanism's draws. Batch b is drawn at key (BATCH, b), block by block.

    Calls grow with the audit, as those of one that makes so many draws at once (`call_size`). The
    number and kind of workers change no byte.
    """
    made = blocks = 0
    for number, size in enumerate(batch_sizes(settings.draws)):
        made += size
        source = MechanismDraws(
            mechanism,
            (pair.left, pair.right),
            size,
            below(settings.seed, Purpose.BATCH, number),
            n_jobs=drawing.n_jobs,
            store=None if drawing.store is None else _LaterBlocks(drawing.store, blocks),
            call=settings.call or call_size(mechanism, made),
            smallest=BLOCK,
        )
        yield Batch(source.take(size), call_sizes(size, source.calls))
        blocks += -(-size // source.block)


def batches_in(P: np.ndarray, Q: np.ndarray, settings: Settings) -> Iterator[Batch]:
    """Batches of draws made elsewhere, in their order."""
    source = GivenDraws(P, Q)
    for size in batch_sizes(settings.draws):
        yield Batch(source.take(size), None)


@dataclass(repr=False)
class _LaterBlocks:
    """A store whose blocks are numbered through all batches: those from `first` on."""

    store: BlockStore
    first: int

    def get(self, side: int, block: int) -> np.ndarray | None:
        return self.store.get(side, self.first + block)

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        self.store.put(side, self.first + block, values)


# --- estimate and band ----------------------------------------------------------------------------


def _bounded_at(settings: Settings) -> list[int]:
    """Positions on the grid of ε at which there are bounds, that of a claim's own ε among them."""
    even = evenly_spaced(len(settings.epsilon), BAND)
    own = settings.claimed_epsilon
    near = [] if own is None else [int(np.argmin(np.abs(settings.epsilon - own)))]
    positions: list[int] = np.unique(np.concatenate([even, near]).astype(int)).tolist()
    return positions


def _estimate(settings: Settings, bettor: Bettor, reference: Array, grid: list[int]) -> Estimate:
    """Plug-in estimates from all draws that were bet on, and lower bounds that hold at any stopping
    time.

    A bound l at ε' is a region: p ≥ l + e^{ε'} q for a set. Where nothing was rejected the bounds
    are cut at the reference, which only lowers them, so that band and verdict agree.
    """
    share = settings.alpha / (2 * len(grid))
    low = bettor.counts.low(share)[:, grid]
    if bettor.rejected_at is None:
        low = np.minimum(low, reference[grid])
    certified = _certificate(low, settings.epsilon[grid], settings.level)
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


# --- what such an audit could have shown ----------------------------------------------------------


def too_few(settings: Settings, reference: Reference, theory: Spectrum | None) -> str:
    """A sentence where no outputs could have rejected `reference`; "" where some could."""
    allowed = reference.delta
    best = int(np.argmin(power.separating_draws(settings.epsilon, allowed, settings.alpha)))
    point = float(settings.epsilon[best]), float(allowed[best])
    # draws a side by `power` for outputs that hardly overlap, at the ε that needs fewest
    about = power.separating_bets(*point, settings.alpha)
    if settings.draws >= AMPLE * about:
        return ""
    if about > TRIED:
        if settings.draws >= about:
            return ""
        needed = int(np.ceil(about)) if about < MOST_DRAWS else None
        return too_few_draws(reference, needed)
    if rejected_at(settings, theory, settings.draws) is not None:
        return ""
    return too_few_draws(reference, fewest(settings, theory, int(AMPLE * about)))


def fewest(settings: Settings, theory: Spectrum | None, most: int) -> int | None:
    """Draws a side that reject, training included, where every output gives its database away."""
    needed = rejected_at(settings, theory, most)
    while needed is not None and needed < most and rejected_at(settings, theory, needed) is None:
        needed = int(np.ceil(FINER * needed))
    return needed


def rejected_at(settings: Settings, theory: Spectrum | None, draws: int) -> int | None:
    """The draws a side after which so many draws of two values reject; None if they do not."""
    bettor = Bettor(settings, menu_of(settings.claim, theory), Clock())
    for number, size in enumerate(batch_sizes(draws)):
        bettor.take(number, Batch((np.ones((size, 1)), np.zeros((size, 1))), None))
        if bettor.rejected_at is not None:
            break
    return bettor.rejected_at
