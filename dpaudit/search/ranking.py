"""Rank changes to audit first: by least squares, by influence, by a user's score, or at random.

The influence of a change is the distance of M(D') from M(D) with common random numbers, in units of
the noise of M(D), estimated from a few draws.

For ranking by least squares, let z be the row in coordinates in which the features' Gram matrix is
I, h = ‖z‖² its leverage, and w its residual. To first order in the rows, taking the row out moves
the solution by −zw/(1 − h), and putting a row in by zw/(1 + h) (Cook 1977). Which of the
measures becomes privacy loss depends on the mechanism, so changes are taken from all in turn.
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
from dpaudit.outcomes import aligned, is_table
from dpaudit.scoring import Sides
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.whiten import Whitener
from dpaudit.search.changes import Change, Pool
from dpaudit.search.runner import ChangeOutcome, Runner, draw_common
from dpaudit.search.selection import Trial

RANKS = ("auto", "linear", "influence", "random")
PARTNERS, SPREAD = 16, 1_000  # number of draws for an influence, and for the noise of M(D)
ORDER_KEY = (1 << 20) + 1  # a key below the search's seed that no rung has
MEASURES = ("cook", "displacement", "scatter", "fit", "size", "deviation", "group")
MOST_GROUPS = 1_000  # a column of more different values names no groups of rows
SMALLEST = 1e-10  # share of the largest singular value below which a direction is left out
ROOM = 1e-12  # lower limit of 1 − h, which is 0 where a row alone spans a direction
RankScore = Callable[[Array, Array, Array], ArrayLike]  # score(data, out, into) → (m,)
Rank = str | RankScore


def ranking(
    runner: Runner, changes: Pool, rank: Rank, screened: int, shortlist: int
) -> tuple[list[Trial], list[Trial], int]:
    """Return the first `shortlist` changes by the scores of `rank`, the changes on which the
    mechanism failed, and the number of draws spent.

    screened : number of changes whose influence is drawn, the first by scores that need no draws.

    Raises `MechanismError` where the mechanism fails on all of them.
    """
    rows_out, rows_in = changes.rows_out(), changes.rows_in()
    chance = generator(runner.seed, ORDER_KEY).random(len(changes))
    if callable(rank):
        expected = f"a function score(data, out, into) that gives {len(changes)} numbers"
        answer = rank(changes.data, rows_out, rows_in)
        scores = check.array_of_numbers("rank", answer, expected).astype(np.float64)
        if scores.shape != (len(changes),):
            fail("rank", Words(f"shape {scores.shape}"), expected)
        if np.isnan(scores).any():
            fail("rank", Words("NaN"), expected)
    elif rank == "random":
        scores = chance
    else:
        scores = in_turn(measures(changes.data, rows_out, rows_in))
    if runner.level.metric is not None:
        # the claim allows large changes the most, so small and random ones alternate with them
        scores = in_turn(np.stack([scores, -np.linalg.norm(rows_out - rows_in, axis=1), chance]))
    order = np.argsort(-scores, kind="stable")
    if screened == 0:
        return _trials(changes, scores, order[:shortlist]), [], 0
    first = _trials(changes, scores, order[:screened])
    rest = _trials(changes, scores, order[screened : screened + shortlist])
    influence, outcomes = influences(runner, [trial.change for trial in first])
    if outcomes:
        values = np.nan_to_num(influence, nan=0.0)
        if rank != "influence":  # in turn with the scores by which the changes are sorted
            values = in_turn(np.stack([values, np.arange(len(values), 0.0, -1.0)]))
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
    return [*sound, *rest][:shortlist], failed, draws


def _trials(changes: Pool, scores: Array, entries: np.ndarray) -> list[Trial]:
    return [Trial(changes[int(entry)], float(scores[entry])) for entry in entries]


def heaviest(data: Array) -> np.ndarray:
    return np.argsort(-in_turn(measures(data, data, np.zeros_like(data))), kind="stable")


@value_class
class NoiseUnits:
    """Coordinates in which the draws of M(D) have unit variance.

    columns : numbers in a draw. fixed : the columns in which the draws do not vary. value : the
    numbers in these columns.
    """

    columns: int
    encoder: Encoder
    whiten: Whitener
    fixed: np.ndarray
    value: Array

    @classmethod
    def of(cls, draws: Array) -> NoiseUnits:
        encoder = Encoder.fit(Sides(draws, draws))
        encoded = encoder(draws)
        fixed = np.flatnonzero(np.ptp(encoded, axis=0) == 0.0)
        whiten = Whitener.fit(encoded, encoded)
        return cls(draws.shape[1], encoder, whiten, fixed, encoded[0, fixed])

    def distance(self, P: Array, Q: Array) -> float:
        """Root mean square of M(D') − M(D) over partners, in units of the noise; P, Q : (m, k).

        Infinite if a column that never varies under D has another value under D', or if the
        outputs under D' have another number of columns.
        """
        if P.shape[1] != self.columns:
            return float("inf")
        P, Q = self.encoder(P), self.encoder(Q)
        if np.any(Q[:, self.fixed] != self.value):
            return float("inf")
        step = self.whiten(Q) - self.whiten(P)
        return float(np.sqrt(np.mean(np.sum(step**2, axis=1))))


def influences(runner: Runner, changes: Sequence[Change]) -> tuple[Array, list[ChangeOutcome]]:
    """The influence of each change, (m,), NaN if the mechanism failed; and the outcomes.

    Outputs that are no tables of numbers, such as lists and texts, are compared by `apart`.
    """
    spread, partners = runner.shared_draws(SPREAD, 0, 0), runner.shared_draws(PARTNERS, 0, 1)
    tables = is_table(spread) and is_table(partners)
    units = NoiseUnits.of(spread) if tables else None
    mechanism, seed = runner.mechanism, below(runner.seed, 0, 1)

    def work(right: Array, change: Change) -> ChangeOutcome:  # without the runner: it is pickled
        drawn = draw_common(mechanism, right, PARTNERS, seed, f"M(D'), {change.text}")
        P, Q = aligned(partners, drawn)
        return ChangeOutcome(PARTNERS, apart(P, Q) if units is None else units.distance(P, Q))

    step, stage = "ranking neighbours", f"rank {PARTNERS}"
    outcomes = list(runner.run(step, stage, work, changes, PARTNERS))
    values = [outcome.value if isinstance(outcome.value, float) else np.nan for outcome in outcomes]
    return np.array(values), outcomes


def apart(P: Array, Q: Array) -> float:
    """Root mean square of Q − P over partners, each column in standard deviations; P, Q : (m, k).

    Infinite if a column has one value in P and another one in Q, as the length of an output has
    where a group of rows appears or vanishes.
    """
    sides = Encoder.fit(Sides(P, Q)).sides(Sides(P, Q))
    spread = sides.stacked()[0].std(axis=0)
    within = np.maximum(sides.P.std(axis=0), sides.Q.std(axis=0))
    if np.any((within == 0.0) & (spread > 0.0)):
        return float("inf")
    steps = (sides.Q - sides.P)[:, spread > 0.0] / within[spread > 0.0]
    return float(np.sqrt(np.mean(np.sum(steps**2, axis=1)))) if steps.size else 0.0


def _whitening(matrix: Array) -> Array:
    """A matrix W, (d, k), with (matrix·W)ᵀ(matrix·W) = I, for the k directions that rows span."""
    if matrix.shape[1] == 0:
        return np.zeros((0, 0))
    norms = np.linalg.norm(matrix, axis=0)
    scale = np.where(norms > 0.0, norms, 1.0)
    _, size, axes = np.linalg.svd(matrix / scale, full_matrices=False)
    spanned = size > SMALLEST * max(size[0], 1e-300)
    return np.asarray((axes[spanned] / size[spanned, None]).T / scale[:, None])


def measures(data: Array, out: Array, into: Array) -> Array:
    """Seven measures of each change, (7, m), in the order of `MEASURES`.

    data : (n, d), label last. out, into : (m, d) rows that leave and come in, zeros if none
    does.

    cook : ‖change of the solution‖² in the metric of the features, divided by the residual sum of
        squares; leverage × residual.
    displacement : Euclidean norm of the change of the solution.
    scatter : ‖change of DᵀD‖ in coordinates in which DᵀD is I; the leverage, label included.
    fit : relative change of the residual sum of squares.
    size : ‖into − out‖. deviation : the same with each column divided by its root mean square.
    group : for the first change of each group, 1/(1 + rows of the group); 0 for other changes.
    """
    x, label = data[:, :-1], data[:, -1]
    features, scatter = _whitening(x), _whitening(data)
    solution = features @ (features.T @ (x.T @ label))
    total = max(float(np.sum((label - x @ solution) ** 2)), 1e-300)
    scale = np.sqrt(np.mean(data**2, axis=0))
    step, residuals = np.zeros((len(out), features.shape[1])), np.zeros(len(out))
    for rows, sign in ((out, -1.0), (into, 1.0)):
        z, residual = rows[:, :-1] @ features, rows[:, -1] - rows[:, :-1] @ solution
        room = np.maximum(1.0 + sign * np.sum(z * z, axis=1), ROOM)
        step += sign * z * (residual / room)[:, None]
        residuals += sign * residual**2 / room
    left, new = out @ scatter, into @ scatter
    cross = np.sum(left * new, axis=1)
    norm = np.sum(left**2, axis=1) ** 2 + np.sum(new**2, axis=1) ** 2 - 2.0 * cross**2
    return np.stack(
        [
            np.sum(step**2, axis=1) / total,
            np.linalg.norm(step @ features.T, axis=1),
            np.sqrt(np.maximum(norm, 0.0)),
            np.abs(residuals) / total,
            np.linalg.norm(into - out, axis=1),
            np.linalg.norm((into - out) / np.where(scale > 0.0, scale, 1.0), axis=1),
            _first_of_groups(data, out, into),
        ]
    )


def _first_of_groups(data: Array, out: Array, into: Array) -> Array:
    """The measure "group", (m,): small groups may vanish with a row, and new ones appear.

    Rows with the same value in a column are a group if the column has few different values.
    """
    scores = np.zeros(len(out))
    for column, values in enumerate(data.T):
        levels, sizes = np.unique(values, return_counts=True)
        if not 1 < len(levels) <= min(MOST_GROUPS, len(data) // 2):
            continue
        for rows in (out, into):
            met, first = np.unique(rows[:, column], return_index=True)
            place = np.minimum(np.searchsorted(levels, met), len(levels) - 1)
            known = np.where(levels[place] == met, sizes[place], 0)
            scores[first] = np.maximum(scores[first], 1.0 / (1.0 + known))
    return scores


def in_turn(scores: Array) -> Array:
    """Combine c scores of m changes, (c, m), into one, (m,): 1 over the best rank of a change.

    Sorting by it takes the largest of each score in turn. Constant scores are left out.
    """
    varying = scores[np.ptp(scores, axis=1) > 0.0]
    if len(varying) == 0:
        return np.ones(scores.shape[1])
    ranks = np.empty(varying.shape)
    for rank, score in zip(ranks, varying, strict=True):
        rank[np.argsort(-score, kind="stable")] = np.arange(1.0, len(score) + 1.0)
    return np.asarray(1.0 / ranks.min(axis=0))
