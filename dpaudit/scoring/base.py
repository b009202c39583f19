"""What a score is: fitted on training draws, chosen on choosing draws, evaluated in chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.threads import one_thread
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput

CHUNK, NUMBERS = 1 << 16, 1 << 22  # rows scored at a time, and numbers in them, at most

LARGEST = 1e100  # beyond this a number counts as infinite: squares must not overflow


def usable(x: Array) -> np.ndarray:
    """Where x is a finite number of at most `LARGEST` in magnitude."""
    return np.asarray(np.abs(x) <= LARGEST)


def rows_at_once(x: Array) -> int:
    """Rows of (m, k) that are taken at a time: memory for few numbers is not returned each time."""
    return max(1, min(CHUNK, NUMBERS // max(int(np.prod(x.shape[1:])), 1)))


class Score(Protocol):
    """A fitted score: rows (m, k) → log-odds of P against Q, (m,), in nats.

    An estimate of the privacy loss log dP/dQ of each row.
    """

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        ...


def zero(x: Array) -> Array:
    """The score 0 of every row: the sides are equally likely."""
    return np.zeros(len(x))


# (training draws, choosing draws, seed) → score
Fit = Callable[["Sides", "Sides", np.random.SeedSequence], Score]


@dataclass(frozen=True, eq=False)
class Sides:
    """Draws of M(D) and of M(D'), of equal size.

    Parameters
    ----------
    P : array of shape (n, k)
        Draws of M(D).
    Q : array of shape (n, k)
        Draws of M(D').
    """

    P: Array
    Q: Array

    __repr__ = short_repr

    def head(self, size: int) -> Sides:
        """The first `size` draws of each side, or these where there are not more."""
        if max(len(self.P), len(self.Q)) <= size:
            return self
        return Sides(self.P[:size], self.Q[:size])

    def stacked(self) -> tuple[Array, np.ndarray]:
        """All draws (2n, k), P's first, and their labels: 1 for P, 0 for Q."""
        label = np.repeat([1, 0], [len(self.P), len(self.Q)])
        return np.concatenate([self.P, self.Q]), label


@dataclass(frozen=True)
class Fitted:
    """A score with its name and notes for the report.

    Attributes
    ----------
    name : str
        Of the score.
    score : callable
        Rows (m, k) → log-odds (m,), nats.
    portfolio : dict
        Log loss on the choosing draws by name, nats a draw, of all scores that took part.
    notes : tuple of str
        For the report.
    spent : bool
        Whether the choosing draws, having chosen the model, trained the score too.
    closed : bool
        Whether the score is the log-ratio of two fitted normal laws.
    unread : dict
        By the kind of their parts, the share of the outputs with a part that no score can read,
        since it hardly repeats; empty for a score of the caller's own.
    """

    name: str
    score: Score
    portfolio: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spent: bool = False
    closed: bool = False
    unread: Mapping[str, float] = field(default_factory=dict)

    __repr__ = short_repr


def evaluate(score: Score, x: Array) -> Array:
    """score(x), a chunk of rows at a time: a score's own copies of the rows stay small.

    Parameters
    ----------
    score : callable
        Rows (m, k) → (m,).
    x : array of shape (m, k)
        Rows.

    Returns
    -------
    array of shape (m,)

    Raises
    ------
    InvalidInput
        Where a score does not give one number a row.
    """
    with one_thread():
        return _evaluate(score, x)


def _evaluate(score: Score, x: Array) -> Array:
    out = np.empty(len(x))
    step = rows_at_once(x)
    for start in range(0, len(x), step):
        part = x[start : start + step]
        values = np.asarray(score(part))
        if values.shape == (len(part), 1):  # as of a ufunc, where an output is one number
            values = values[:, 0]
        if values.shape != (len(part),):
            raise InvalidInput(
                f"the classifier's score must have shape ({len(part)},) for as many rows, "
                f"got {values.shape}"
            )
        out[start : start + step] = values
    return out


def logistic_loss(p: Array, q: Array) -> Array:
    """Logistic loss of each draw in nats, P's first, from scores p (n,) and q (m,) of the sides."""
    return np.concatenate([np.logaddexp(0.0, -p), np.logaddexp(0.0, q)])


def losses(score: Score, sides: Sides) -> Array:
    """Logistic loss of a score on each draw in nats, P's first, (2n,)."""
    return logistic_loss(evaluate(score, sides.P), evaluate(score, sides.Q))


def log_loss(score: Score, sides: Sides) -> float:
    """Mean logistic loss of a score on both sides, nats a draw; ln 2 is that of the score 0."""
    return float(losses(score, sides).mean())


def refuse_nan(
    scores: tuple[Array, Array], name: str, first: int = 0, argument: str = "classifier"
) -> None:
    """Raise `InvalidInput` where a score of the classifier called `name` is NaN.

    scores : of the draws of M(D) and of M(D') from number `first` on. argument : of the public
    function, by which the classifier was given.
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
    """Scores with 0, by which neither side is likelier, in place of NaN.

    Any fixed value will do: the scores are still a function of the draws, fixed in advance.
    """
    return np.where(np.isnan(score), 0.0, score)


def nan_count(scores: tuple[Array, Array]) -> int:
    """How many scores of both sides are NaN."""
    return int(sum(np.isnan(score).sum() for score in scores))


def nan_note(name: str, undefined: int) -> tuple[str, ...]:
    """A sentence on certifying draws of both sides whose score was NaN, if there are any."""
    if undefined == 0:
        return ()
    draws = "1 certifying draw" if undefined == 1 else f"{undefined:,} certifying draws"
    return (f"The score {name} is NaN for {draws} and counts as 0 there, for neither side.",)
