"""What a score is. Fitted on training draws, chosen on choosing draws, it never sees a draw that
certifies.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

import numpy as np
from threadpoolctl import ThreadpoolController

from dpaudit._core.check import Array
from dpaudit.errors import InvalidInput

CHUNK = 1 << 16  # rows scored at a time


class Score(Protocol):
    """A fitted score: rows (m, k) → log-odds of P against Q (m,), an estimate of the privacy loss
    log dP/dQ.
    """

    def __call__(self, x: Array) -> Array: ...


Fit = Callable[["Sides", "Sides", np.random.SeedSequence], Score]


@dataclass(frozen=True, eq=False)
class Sides:
    """Draws of M(D) and of M(D'), of equal size, shapes (n, k)."""

    P: Array
    Q: Array

    def head(self, size: int) -> Sides:
        return Sides(self.P[:size], self.Q[:size])

    def stacked(self) -> tuple[Array, np.ndarray]:
        """Features and labels (1 for P) as scikit-learn takes them."""
        label = np.repeat([1, 0], [len(self.P), len(self.Q)])
        return np.concatenate([self.P, self.Q]), label


@dataclass(frozen=True)
class Fitted:
    """A score with its name, its log loss on the choosing draws, and notes for the report."""

    name: str
    score: Score
    portfolio: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def one_thread() -> AbstractContextManager[object]:
    """Products with a few dozen columns: a second BLAS thread spins away twice the time that it
    saves.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    """Looking for the libraries takes milliseconds; NumPy's and SciPy's are there by now."""
    return ThreadpoolController()


def evaluate(score: Score, x: Array) -> Array:
    """score(x), a chunk of rows at a time: whitened copies stay small whatever the number of draws."""
    with one_thread():
        return _evaluate(score, x)


def _evaluate(score: Score, x: Array) -> Array:
    out = np.empty(len(x))
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        values = np.asarray(score(part))
        if values.shape != (len(part),):
            raise InvalidInput(
                f"the classifier's score must have shape ({len(part)},) for as many rows, got {values.shape}"
            )
        out[start : start + CHUNK] = values
    return out


def miss(p: Array, q: Array) -> Array:
    """Logistic loss of each draw from scores of P's and of Q's, in nats, P's first."""
    return np.concatenate([np.logaddexp(0.0, -p), np.logaddexp(0.0, q)])


def losses(score: Score, sides: Sides) -> Array:
    """Logistic loss of each draw in nats, P's first, (2n,)."""
    return miss(evaluate(score, sides.P), evaluate(score, sides.Q))


def log_loss(score: Score, sides: Sides) -> float:
    """Mean logistic loss on both sides, in nats; ln 2 says nothing was learned."""
    return float(losses(score, sides).mean())


def refuse_nan(score: Array, name: str, argument: str = "classifier") -> None:
    """Raise `InvalidInput` where a score of the classifier called `name` is NaN.

    argument : of the public function, by which the classifier was given.
    """
    if np.isnan(score).any():
        raise InvalidInput(
            f"{argument} must give numbers, got NaN scores from {name}", argument=argument
        )
