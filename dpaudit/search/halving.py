"""Successive halving (Jamieson & Talwalkar 2016) of a shortlist of changes.

The first rung (round) audits all of them with few draws; each later rung audits the worst changes
of the rung before with more draws. All rungs cost about the same. A rung draws M(D) once for all
its changes, draws each M(D') from the same random numbers, and uses no draw of an earlier rung.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput, MechanismError
from dpaudit.outcomes import aligned
from dpaudit.search.changes import Change
from dpaudit.search.quick_audit import QuickEstimate, quick_audit
from dpaudit.search.ranking import PARTNERS, SPREAD
from dpaudit.search.runner import BLOCK, ChangeOutcome, Runner, Work, draw_common
from dpaudit.search.selection import Trial

FACTOR = 4  # one in FACTOR changes remains after a rung
FEWEST = 200  # least draws for a change: a quick audit with fewer is of no use
MOST = 100_000  # most draws for a change: more do not make the order clearer, and cost memory
SURE = 0.99  # share of the largest gain, log 2, above which no other change can be much worse
# share of the draws of a search spent on influences, and most changes with one, for each `rank`
SCREEN_SHARE = 0.15
SCREENED = {"auto": 512, "influence": 4096}


Rungs = tuple[tuple[int, int], ...]  # (changes, draws each); the last rung leaves one change


def schedule(budget: float, draws: int, pool: int, shortlist: int, rank: str) -> tuple[int, Rungs]:
    """The number of changes whose influence is drawn, and rungs of equal cost for the shortlist.

    budget : draws of search and final audit together, in units of the 2·draws of the final audit.
    pool : number of changes.

    A change gets at least `FEWEST` draws, at most `draws` and `MOST`. If the draws are too few, the
    list is shorter than `shortlist`. Raises `InvalidInput` if they are too few for two changes.
    """
    total, most = int((budget - 1.0) * 2 * draws), min(draws, MOST)
    screened = min(pool, SCREENED.get(rank, 0), int((SCREEN_SHARE * total - SPREAD) / PARTNERS))
    screened = screened if screened > 1 else 0
    left = total - (SPREAD + PARTNERS * (screened + 1) if screened else 0)
    size = min(shortlist, pool)
    while size > 1:
        sizes = [size]
        while sizes[-1] > FACTOR:
            sizes.append(-(-sizes[-1] // FACTOR))
        each = [min(most, left // (len(sizes) * (changes + 1))) for changes in sizes]
        if each[0] >= FEWEST:
            return screened, tuple(zip(sizes, each, strict=True))
        size = size * 3 // 4
    if min(shortlist, pool) == 1:
        return 0, ((1, min(most, total // 2)),)
    if budget == 1.0:
        raise InvalidInput(
            "budget must be above 1, got 1: nothing is left to search with", argument="budget"
        )
    least = max(FEWEST, ceil(1.5 * FEWEST / (budget - 1.0)))  # one rung of two changes, and M(D)
    raise InvalidInput(
        f"draws must be at least {least:,} a side to compare two neighbours in a search with "
        f"budget {budget:g}, got {draws:,}",
        argument="budget",
    )


def calls(pool: int, budget: float, draws: int, shortlist: int, rank: Any) -> int:
    """How often a search with this `schedule` calls the mechanism, at most; 0 if it is refused."""
    name = rank if isinstance(rank, str) else ""
    try:
        screened, rungs = schedule(budget, draws, pool, shortlist, name)
    except InvalidInput:
        return 0
    each = sum((changes + 1) * -(-size // BLOCK) for changes, size in rungs)
    return each + (screened + 2 if screened else 0)


def halve(runner: Runner, shortlist: list[Trial], rungs: Rungs) -> tuple[list[Trial], int]:
    """Go through the rungs: return the trials of the shortlist, worst first, and the draws spent.

    It ends early if a change gives its database away, since more draws find no worse one.
    Raises `MechanismError` if the mechanism fails on all changes of a rung.
    """
    level = runner.level

    def badness(trial: Trial) -> tuple[float, float]:
        """The estimated δ, then the gain; δ is 0 if the error of counting it is above 1.

        So large an error occurs under a claim by distance, whose ε may be so large that few draws
        say nothing about δ(ε).
        """
        blind = level.metric is not None and (trial.error or 0.0) > 1.0
        gain = level.beyond(trial.gain or 0.0, trial.change)
        return 0.0 if blind else trial.delta or 0.0, gain

    left, done, spent = shortlist, list[Trial](), 0
    for rung, (size, draws) in enumerate(rungs, start=1):
        left, dropped = left[:size], left[size:]
        done = dropped + done
        changes = [trial.change for trial in left]
        step = f"searching, round {rung} of {len(rungs)}"
        outcomes = runner.run(step, f"{rung} {draws}", _audits(runner, rung, draws), changes, draws)
        audited, spent = [], spent + draws
        for trial, outcome in zip(left, outcomes, strict=True):
            if outcome.failure:
                done.append(replace(trial, note=outcome.failure))
                continue
            assert isinstance(outcome.value, dict)
            total = trial.draws + outcome.draws
            audited.append(replace(trial, rung=rung, draws=total, **outcome.value))
            spent += outcome.draws
        if not audited:
            raise MechanismError(
                f"the mechanism failed on every neighbour that was tried: {done[-1].note}"
            )
        left = sorted(audited, key=badness, reverse=True)
        if (left[0].gain or 0.0) > SURE * np.log(2.0):
            break
    return left + done, spent


def _audits(runner: Runner, rung: int, draws: int) -> Work:
    """A function that audits one change quickly, without the runner, which cannot always be
    pickled.

    Changes often have the same effect, as two rows that are clipped to the same value; then M(D')
    has the same draws, and they are audited once.
    """
    P, seed = runner.shared_draws(draws, rung), below(runner.seed, rung)
    mechanism, level, classifier = runner.mechanism, runner.level, runner.classifier
    score_seed = below(runner.seed, rung, int(Purpose.SCORE))
    known: dict[tuple[float, bytes], QuickEstimate] = {}

    def work(right: Array, change: Change) -> ChangeOutcome:
        Q = draw_common(mechanism, right, draws, seed, f"M(D'), {change.text}")
        sides, epsilon, digest = aligned(P, Q), level.of(right), hashlib.sha256()
        for side in sides:
            digest.update(np.ascontiguousarray(side).data)
        key = epsilon, digest.digest()
        if key not in known:
            known[key] = quick_audit(*sides, epsilon, classifier, score_seed)
        return ChangeOutcome(draws, vars(known[key]))

    return work
