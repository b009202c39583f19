"""What a score is, and how draws are scored.

A score is fitted on training draws and chosen on choosing draws. It is evaluated a chunk at a time,
and must give a row the same value alone and among other rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

import numpy as np

from dpaudit._core.linalg import one_thread
from dpaudit._core.note import Note
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import InvalidInput
from dpaudit.scoring import constants


def rows_at_once(x: Array) -> int:
    """How many rows of x, (m, k), are scored in one chunk."""
    numbers = max(int(np.prod(x.shape[1:])), 1)
    return max(1, min(constants.CHUNK_ROWS, constants.CHUNK_NUMBERS // numbers))


class Score(Protocol):
    """A fitted score: rows (m, k) → log-odds of P against Q, (m,), in nats.

    The value estimates the privacy loss log dP/dQ of each row.
    """

    def __call__(self, x: Array) -> Array:
        """The log-odds, (m,), in nats, of rows (m, k)."""
        ...


def zero(x: Array) -> Array:
    """The score that is 0 for every row: both sides are equally likely."""
    return np.zeros(len(x))


Scores = tuple[Array, Array]  # of P's and of Q's draws


@value_class
class Sides:
    """Draws P of M(D) and Q of M(D'), (n, k) each, of equal size."""

    P: Array
    Q: Array

    def head(self, size: int) -> Sides:
        """The first `size` draws of each side; all draws if there are no more."""
        if max(len(self.P), len(self.Q)) <= size:
            return self
        return Sides(self.P[:size], self.Q[:size])

    def stacked(self) -> tuple[Array, np.ndarray]:
        """All draws (2n, k), P's first, and their labels: 1 for P, 0 for Q."""
        label = np.repeat([1, 0], [len(self.P), len(self.Q)])
        return np.concatenate([self.P, self.Q]), label


@value_class(show_numbers=True)
class Fitted:
    """A score with its name and notes for the report.

    score : rows (m, k) → log-odds (m,), nats. portfolio : log loss on the choosing draws by name,
    nats a draw, of all scores that took part. spent : whether the choosing draws, having chosen the
    model, trained the score too. closed : whether the score is the log-ratio of two fitted normal
    laws. memorises : whether it fits its training draws too closely to be judged by them. unread :
    for each kind of part, the share of outputs with a part that no score can read because it hardly
    repeats; empty for a score of the caller's own.
    """

    name: str
    score: Score
    portfolio: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spent: bool = False
    closed: bool = False
    memorises: bool = False
    unread: Mapping[str, float] = field(default_factory=dict)


def evaluate(score: Score, x: Array) -> Array:
    """The scores, (m,), of rows x, (m, k), a chunk at a time: a score's own copies stay small.

    Raises `InvalidInput` where a score does not give one number a row.
    """
    out, step = np.empty(len(x)), rows_at_once(x)
    with one_thread():
        for start in range(0, len(x), step):
            part = x[start : start + step]
            values = np.asarray(score(part))
            if values.shape == (len(part), 1):  # a ufunc keeps the shape of outputs of one number
                values = values[:, 0]
            if values.shape != (len(part),):
                raise InvalidInput(
                    f"the classifier's score must have shape ({len(part)},) for as many rows, "
                    f"got {values.shape}"
                )
            out[start : start + step] = values
    return out


def scores(score: Score, sides: Sides) -> Scores:
    """The scores of P's and of Q's draws, (n,) each.

    The score sees batches of draws of both sides, each in a random order that depends on their
    numbers alone. So neither the other rows of a batch nor a row's place reveal the side.
    """
    rng = np.random.default_rng(len(sides.P) + len(sides.Q))
    batches = -(-(len(sides.P) + len(sides.Q)) // rows_at_once(sides.P)) or 1
    parts = []
    for p, q in zip(*(np.array_split(side, batches) for side in (sides.P, sides.Q)), strict=True):
        rows = np.concatenate([p, q])
        order = rng.permutation(len(rows))
        values = np.empty(len(rows))
        values[order] = evaluate(score, rows[order])
        parts.append((values[: len(p)], values[len(p) :]))
    P, Q = map(np.concatenate, zip(*parts, strict=True))
    return P, Q


def softplus(x: Array) -> Array:
    """log(1 + e^x), an eighth of the time of `np.logaddexp(0, x)`."""
    return np.asarray(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


def logistic_loss(p: Array, q: Array) -> Array:
    """The logistic loss of each draw, nats, P's first, from scores p (n,) and q (m,)."""
    return np.concatenate([softplus(-p), softplus(q)])


def losses(score: Score, sides: Sides) -> Array:
    """The logistic loss of a score on each draw, nats, P's first, (2n,)."""
    return logistic_loss(evaluate(score, sides.P), evaluate(score, sides.Q))


def log_loss(score: Score, sides: Sides) -> float:
    """The mean logistic loss of a score on both sides, nats a draw; the score 0 has ln 2."""
    return float(losses(score, sides).mean())


def pooled(score: Score, train: Sides, chosen: Scores) -> Scores:
    """The scores `chosen` of the choosing draws, joined with the scores of `train` unless the score
    overfits.

    Thresholds are set where p − e^ε q is largest, which few draws estimate badly, so the training
    draws help; but for a score that overfits they would set the threshold too high. A score is
    taken to overfit where its loss is smaller on the training draws by more than one standard
    error. Neither set of draws certifies.
    """
    if len(chosen[0]) >= constants.ENOUGH_TO_CHOOSE or len(train.P) == 0:
        return chosen
    trained = scores(score, train)
    if nan_count(chosen) or nan_count(trained):
        return chosen
    later, earlier = logistic_loss(*chosen), logistic_loss(*trained)
    error = np.sqrt(later.var() / len(later) + earlier.var() / len(earlier))
    if not later.mean() - earlier.mean() <= error:
        return chosen
    return np.concatenate([chosen[0], trained[0]]), np.concatenate([chosen[1], trained[1]])


def refuse_batch_scores(fitted: Fitted, sides: Sides) -> None:
    """Raise `InvalidInput` for a score that depends on other rows of a batch, or on their order.

    Draws certify independently of each other only if each is scored by itself. A few rows are
    scored alone, at the end of a batch of draws of both sides, and alone again.
    """
    half, others = constants.ROWS_ALONE // 2, constants.ROWS_BESIDE
    columns, later = sides.P.shape[1], slice(2 * half, 2 * half + others)
    rows = np.stack([sides.P[:half], sides.Q[:half]], axis=1).reshape(-1, columns)
    beside = np.stack([sides.P[later], sides.Q[later]], axis=1).reshape(-1, columns)
    batch = np.concatenate([beside, rows])
    alone, again = (
        np.array([evaluate(fitted.score, row[None])[0] for row in rows]) for _ in range(2)
    )
    among = evaluate(fitted.score, batch)[-len(rows) :]
    for scored, where in ((among, f"in a batch of {len(batch)} rows"), (again, "the second time")):
        same = np.isclose(
            alone, scored, rtol=constants.SAME_SCORE, atol=constants.SAME_SCORE, equal_nan=True
        )
        if not same.all():
            at = int(np.argmin(same))
            raise InvalidInput(
                f"classifier must score each row by itself, got {alone[at]:.6g} for a row alone "
                f"and {scored[at]:.6g} {where} from {fitted.name}: does it use statistics of the "
                "batch, or a counter?",
                argument="classifier",
            )


def refuse_nan(
    scores: tuple[Array, Array], name: str, first: int = 0, argument: str = "classifier"
) -> None:
    """Raise `InvalidInput` where a score of the classifier called `name` is NaN.

    scores : scores of the draws of M(D) and of M(D') from number `first` on. argument : the name of
    the public function's argument that gave the classifier.
    """
    for score, side in zip(scores, ("M(D)", "M(D')"), strict=True):
        if (wrong := np.flatnonzero(np.isnan(score))).size:
            raise InvalidInput(
                f"{argument} must give numbers, got NaN scores from {name} for {wrong.size:,} of "
                f"{len(score):,} draws of {side}, the first of them number {first + wrong[0]:,}; "
                "give a number there, such as 0, by which neither side is likelier",
                argument=argument,
            )


def without_nan(score: Array) -> Array:
    """The scores with 0, at which both sides are equally likely, in place of NaN.

    Any fixed value will do: the scores are still a function of the draws, fixed in advance.
    """
    return np.where(np.isnan(score), 0.0, score)


def nan_count(scores: tuple[Array, Array]) -> int:
    """The number of NaN among the scores of both sides."""
    return int(np.isnan(scores[0]).sum() + np.isnan(scores[1]).sum())


def nan_note(name: str, undefined: int) -> tuple[Note, ...]:
    """A note on certifying draws whose score was NaN; empty if there are none."""
    if undefined == 0:
        return ()
    draws = "1 certifying draw" if undefined == 1 else f"{undefined:,} certifying draws"
    return (Note(f"The score {name} is NaN for {draws} and counts as 0 there, for neither side."),)
