"""Successive halving (Jamieson & Talwalkar 2016): cheap audits of many neighbours, dearer ones of
the few worst.

Each rung costs about the same. Its draws of M(D) are made once and shared by all its neighbours,
whose own come from the same random numbers; a rung uses no draw of an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from dpaudit._core.check import Array
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.user_code import Carried
from dpaudit.errors import DpauditError, MechanismError
from dpaudit.sampling import Progress
from dpaudit.scoring.base import one_thread
from dpaudit.search.changes import Change, Pool
from dpaudit.search.draws import aligned, draw_common
from dpaudit.search.influence import Yardstick
from dpaudit.search.memory import Memory, Outcome, key_of, recalled, remember
from dpaudit.search.quick import Measure, measure
from dpaudit.search.tried import Tried

FACTOR = 4  # of a rung's neighbours, one stays
FEWEST = 200  # draws a neighbour below which a cheap audit is of no use
PARTNERS, SPREAD = 16, 1_000  # draws for a neighbour's influence, and for M(D)'s own spread
MOST = 100_000  # draws a neighbour above which the order is no clearer, and memory is spent
# of the search's draws for influences, and for how many neighbours at most, by rank
SCREEN_SHARE = 0.15
SCREENED = {"auto": 512, "influence": 4096}


@dataclass(frozen=True, eq=False)
class Bench:
    """What every cheap audit needs. seed : the search's own, below the audit's at `Purpose.SEARCH`.
    memory : where what is found is kept, and what an interrupted search has found."""

    mechanism: Any
    data: Array
    epsilon: float
    classifier: Any
    seed: np.random.SeedSequence
    n_jobs: int | None
    progress: Progress
    memory: Memory | None = None

    def of_all(
        self, name: str, stage: str, work: Any, changes: Sequence[Change]
    ) -> Iterator[Outcome]:
        """work(change) of each, in parallel, in order; progress by neighbour. stage : the work, for
        the memory.
        """
        keys = [key_of(stage, change) for change in changes]
        known = [recalled(self.memory, key) for key in keys]
        missing = [change for change, old in zip(changes, known, strict=True) if old is None]
        carried = Carried(work)
        with one_thread():  # of BLAS, for all workers: what one of them sets, another would unset
            fresh = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
                delayed(_attempt)(carried, self.data, change) for change in missing
            )
            for done, (key, old) in enumerate(zip(keys, known, strict=True), start=1):
                one = next(fresh) if old is None else old
                if old is None:
                    remember(self.memory, key, one)
                self.progress(name, done, len(keys))
                yield one
            next(fresh, None)  # lets joblib end the call

    def draw(self, size: int, *key: int) -> np.ndarray:
        """Shared draws of M(D), which must not fail."""
        name = "-".join(map(str, (*key, size)))
        kept = None if self.memory is None else self.memory.drawn(name)
        if kept is not None:
            return kept
        values = draw_common(self.mechanism, self.data, size, below(self.seed, *key), "M(D)")
        if self.memory is not None:
            self.memory.put_drawn(name, values)
        return values


def _attempt(work: Any, data: Array, change: Change) -> Outcome:
    """A neighbour on which the mechanism fails is no reason to stop, but one to be told."""
    try:
        return work(change.pair(data).right, change)
    except DpauditError as error:
        return 0, str(error)


@dataclass(frozen=True)
class Schedule:
    """screened : neighbours whose influence is drawn. rungs : (neighbours, draws each), the last
    leaves one.
    """

    screened: int
    rungs: tuple[tuple[int, int], ...]


def schedule(draws: int, pool: int, shortlist: int, samples: int, rank: str) -> Schedule:
    """Rungs of equal cost out of `draws` in all; a neighbour gets `FEWEST` draws or more, at most
    `samples` and `MOST`.

    A shorter list where there are too few draws for `shortlist`. Raises `ValueError` where they do
    not do for two.
    """
    most = min(samples, MOST)
    screened = min(pool, SCREENED.get(rank, 0), int((SCREEN_SHARE * draws - SPREAD) / PARTNERS))
    screened = screened if screened > 1 else 0
    left = draws - (SPREAD + PARTNERS * (screened + 1) if screened else 0)
    kept = min(shortlist, pool)
    while kept > 1:
        sizes = _halved(kept)
        each = [min(most, left // (len(sizes) * (size + 1))) for size in sizes]
        if each[0] >= FEWEST:
            return Schedule(screened, tuple(zip(sizes, each, strict=True)))
        kept = kept * 3 // 4
    if min(shortlist, pool) == 1:
        return Schedule(0, ((1, min(most, draws // 2)),))
    raise ValueError(f"{draws} draws do not do for a search among two")


def _halved(size: int) -> list[int]:
    sizes = [size]
    while sizes[-1] > FACTOR:
        sizes.append(-(-sizes[-1] // FACTOR))
    return sizes


def screen(bench: Bench, pool: Pool, order: np.ndarray) -> tuple[Array, list[Outcome]]:
    """Influence on the mechanism's own output of the pool's entries `order`: (len(order),), NaN
    where it failed.

    All NaN where outputs are no tables of numbers, which have no distance.
    """
    spread, partners = bench.draw(SPREAD, 0, 0), bench.draw(PARTNERS, 0, 1)
    if not all(side.ndim == 2 and side.dtype.kind == "f" for side in (spread, partners)):
        return np.full(len(order), np.nan), []
    mechanism, seed, yardstick = bench.mechanism, below(bench.seed, 0, 1), Yardstick.of(spread)

    def work(right: Array, change: Change) -> Outcome:
        P, Q = aligned(
            partners, draw_common(mechanism, right, PARTNERS, seed, f"M(D'), {change.text}")
        )
        return PARTNERS, yardstick.moved(P, Q)

    changes = [pool[int(entry)] for entry in order]
    found = list(bench.of_all("ranking neighbours", f"rank {PARTNERS}", work, changes))
    return np.array([value if isinstance(value, float) else np.nan for _, value in found]), found


def halve(
    bench: Bench, first: list[Tried], rungs: tuple[tuple[int, int], ...]
) -> tuple[list[Tried], int]:
    """The neighbours of `first`, worst first, after all rungs; and the draws of M(D) and M(D') that
    this took.

    Raises `MechanismError` where the mechanism fails on all of them.
    """
    standing, done, spent = first, list[Tried](), 0
    for rung, (size, draws) in enumerate(rungs, start=1):
        standing, given_up = standing[:size], standing[size:]
        done = given_up + done
        standing, made = _rung(bench, standing, rung, draws, len(rungs))
        spent += made
        done += [one for one in standing if one.note]
        standing = [one for one in standing if not one.note]
        if not standing:
            raise MechanismError(
                f"the mechanism failed on every neighbour that was tried: {done[-1].note}"
            )
    return standing + done, spent


def _rung(
    bench: Bench, standing: list[Tried], rung: int, draws: int, rungs: int
) -> tuple[list[Tried], int]:
    """The same neighbours with this rung's estimates, worst first."""
    P, seed = bench.draw(draws, rung), below(bench.seed, rung)
    mechanism, epsilon, classifier = bench.mechanism, bench.epsilon, bench.classifier
    score_seed = below(bench.seed, rung, int(Purpose.SCORE))

    def work(
        right: Array, change: Change
    ) -> Outcome:  # not of `bench`, whose progress may be no parcel for a process
        Q = draw_common(mechanism, right, draws, seed, f"M(D'), {change.text}")
        return draws, measure(*aligned(P, Q), epsilon, classifier, score_seed)

    name = f"searching, round {rung} of {rungs}"
    outcomes = bench.of_all(name, f"{rung} {draws}", work, [one.change for one in standing])
    found = [_after(one, rung, *outcome) for one, outcome in zip(standing, outcomes, strict=True)]
    return _sorted(found), draws + sum(
        new.draws - old.draws for new, old in zip(found, standing, strict=True)
    )


def _after(one: Tried, rung: int, draws: int, value: Measure | str) -> Tried:
    if isinstance(value, str):
        return replace(one, note=value)
    return replace(one, rung=rung, draws=one.draws + draws, **vars(value))


def _sorted(found: list[Tried]) -> list[Tried]:
    """Largest δ first, the larger gain where none can be told; failures last."""
    return sorted(
        found, key=lambda one: (not one.note, one.delta or 0.0, one.gain or 0.0), reverse=True
    )
