"""Which changes to audit first: by least squares, by influence, by a user's score, or at random.

The influence of a change is how far M(D') lies from M(D) with common random numbers, in units of
the noise of M(D), from a few draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.seeds import below, generator
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.errors import MechanismError
from dpaudit.outcomes import aligned
from dpaudit.scoring.base import Sides
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.whiten import Whitener
from dpaudit.search.changes import Change, Pool
from dpaudit.search.linear import in_turn, measures
from dpaudit.search.runner import ChangeOutcome, Runner, Work, draw_common
from dpaudit.search.selection import Trial

RANKS = ("auto", "linear", "influence", "random")
PARTNERS, SPREAD = 16, 1_000  # draws for the influence of a change, and for the noise of M(D)
ORDER_KEY = (1 << 20) + 1  # a key below the search's seed that no rung has
RankScore = Callable[[Array, Array, Array], ArrayLike]  # score(data, out, into) → (m,)
Rank = str | RankScore


@value_class(show_numbers=True)
class Ranking:
    """The order in which changes are audited.

    shortlist : changes to audit, likeliest first. failed : changes on which the mechanism failed.
    draws : how many of M(D) and of M(D') the ranking took.
    """

    shortlist: list[Trial]
    failed: list[Trial]
    draws: int


def ranking(runner: Runner, changes: Pool, rank: Rank, screened: int, shortlist: int) -> Ranking:
    """The first `shortlist` changes by the scores of `rank`.

    screened : number of changes whose influence is drawn, the first by scores that need no draws.

    Raises `MechanismError` where the mechanism fails on all of them.
    """
    scores = _scores(runner, changes, rank)
    if runner.level.metric is not None:
        scores = _near_and_far(runner, changes, scores)
    order = np.argsort(-scores, kind="stable")
    if screened == 0:
        return Ranking(_trials(changes, scores, order[:shortlist]), [], 0)
    first = _trials(changes, scores, order[:screened])
    rest = _trials(changes, scores, order[screened : screened + shortlist])
    influence, outcomes = influences(runner, [trial.change for trial in first])
    if outcomes:
        values = _by_influence(influence, rank)
        first = [
            Trial(trial.change, float(value), draws=outcome.draws, note=outcome.failure)
            for trial, value, outcome in zip(first, values, outcomes, strict=True)
        ]
    failed = [trial for trial in first if trial.note]
    sound = [trial for trial in first if not trial.note]
    if not sound and not rest:
        raise MechanismError(
            f"the mechanism failed on every neighbour that was tried: {failed[0].note}"
        )
    sound.sort(key=lambda trial: trial.score, reverse=True)
    draws = SPREAD + PARTNERS + sum(outcome.draws for outcome in outcomes)
    return Ranking([*sound, *rest][:shortlist], failed, draws)


def _trials(changes: Pool, scores: Array, entries: np.ndarray) -> list[Trial]:
    return [Trial(changes[int(entry)], float(scores[entry])) for entry in entries]


def heaviest(data: Array) -> np.ndarray:
    """Row numbers by the effect of zeroing the row on least squares, largest first, (n,)."""
    return np.argsort(-in_turn(measures(data, data, np.zeros_like(data))), kind="stable")


def _scores(runner: Runner, changes: Pool, rank: Rank) -> Array:
    """Scores that need no draws, (m,); the largest is audited first."""
    if callable(rank):
        return _user_scores(rank, changes)
    if rank == "random":
        return generator(runner.seed, ORDER_KEY).random(len(changes))
    return in_turn(measures(changes.data, changes.rows_out(), changes.rows_in()))


def _near_and_far(runner: Runner, changes: Pool, scores: Array) -> Array:
    """Scores for a claim by distance: the largest, small changes and random ones in turn, since
    large changes are allowed the most.
    """
    moved = np.linalg.norm(changes.rows_out() - changes.rows_in(), axis=1)
    chance = generator(runner.seed, ORDER_KEY).random(len(changes))
    return in_turn(np.stack([scores, -moved, chance]))


def _user_scores(rank: RankScore, changes: Pool) -> Array:
    size = len(changes)
    expected = f"a function score(data, out, into) that gives {size} numbers"
    answer = rank(changes.data, changes.rows_out(), changes.rows_in())
    scores = check.array_of_numbers("rank", answer, expected).astype(np.float64)
    if scores.shape != (size,):
        fail("rank", Words(f"shape {scores.shape}"), expected)
    if np.isnan(scores).any():
        fail("rank", Words("NaN"), expected)
    return scores


@value_class(show_numbers=True)
class NoiseUnits:
    """Coordinates in which the draws of M(D) have unit variance.

    fixed : the columns in which they do not vary at all; value : what they are there.
    """

    encoder: Encoder
    whiten: Whitener
    fixed: np.ndarray
    value: Array

    @classmethod
    def of(cls, draws: Array) -> NoiseUnits:
        """Fit them to draws of M(D), (n, k)."""
        encoder = Encoder.fit(Sides(draws, draws))
        encoded = encoder(draws)
        fixed = np.ptp(encoded, axis=0) == 0.0
        return cls(
            encoder, Whitener.fit(encoded, encoded), np.flatnonzero(fixed), encoded[0, fixed]
        )

    def distance(self, P: Array, Q: Array) -> float:
        """Root mean square of M(D') − M(D) over partners, in units of the noise; P, Q : (m, k).

        Infinite where a column that never varies under D has another value under D'.
        """
        P, Q = self.encoder(P), self.encoder(Q)
        if np.any(Q[:, self.fixed] != self.value):
            return float("inf")
        step = self.whiten(Q) - self.whiten(P)
        return float(np.sqrt(np.mean(np.sum(step**2, axis=1))))


def influences(runner: Runner, changes: Sequence[Change]) -> tuple[Array, list[ChangeOutcome]]:
    """The influence of each change, (m,), NaN where the mechanism failed; and the outcomes.

    All NaN, without outcomes, where the outputs are no tables of numbers and have no distance.
    """
    spread, partners = runner.shared_draws(SPREAD, 0, 0), runner.shared_draws(PARTNERS, 0, 1)
    if not all(side.ndim == 2 and side.dtype.kind == "f" for side in (spread, partners)):
        return np.full(len(changes), np.nan), []
    work = _distances(runner, NoiseUnits.of(spread), partners)
    outcomes = list(runner.run("ranking neighbours", f"rank {PARTNERS}", work, changes))
    values = [one.value if isinstance(one.value, float) else np.nan for one in outcomes]
    return np.array(values), outcomes


def _distances(runner: Runner, units: NoiseUnits, partners: Array) -> Work:
    """The influence of one change; it does not refer to the runner, which may not be pickled."""
    mechanism, seed = runner.mechanism, below(runner.seed, 0, 1)

    def work(right: Array, change: Change) -> ChangeOutcome:
        drawn = draw_common(mechanism, right, PARTNERS, seed, f"M(D'), {change.text}")
        return ChangeOutcome(PARTNERS, units.distance(*aligned(partners, drawn)))

    return work


def _by_influence(influence: Array, rank: Rank) -> Array:
    """Scores of changes that other scores have sorted: by influence, or by both in turn."""
    known = np.nan_to_num(influence, nan=0.0)
    if rank == "influence":
        return known
    return in_turn(np.stack([known, np.arange(len(known), 0.0, -1.0)]))
