"""Which of several scores is best: the one with the least loss on the choosing draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, losses

CLEAR = 2.0  # standard errors of the gain: what a score that may overfit must gain to be taken


@dataclass(repr=False)
class Contest:
    """Scores by name, with their loss on each of the choosing draws, P's first, (2n,), nats.

    memorising : names of scores that know their training draws too well to be corrected on them.
    """

    choose: Sides
    scores: dict[str, Score] = field(default_factory=dict)
    losses: dict[str, Array] = field(default_factory=dict)
    memorising: set[str] = field(default_factory=set)

    def enter(self, name: str, score: Score | None) -> None:
        """Take a score in; None is a model that does not apply to these draws."""
        if score is not None:
            self.scores[name], self.losses[name] = score, losses(score, self.choose)

    def challenge(self, name: str, score: Score | None, memorises: bool = False) -> bool:
        """Take a score in if it is clearly better than the best so far; returns whether it is."""
        if score is None:
            return False
        gain = self.losses[self.best] - (loss := losses(score, self.choose))
        if gain.mean() <= CLEAR * gain.std() / np.sqrt(len(gain)):
            return False
        self.scores[name], self.losses[name] = score, loss
        if memorises:
            self.memorising.add(name)
        return True

    @property
    def best(self) -> str:
        """The name of the score with the least mean loss."""
        return self._best(self.losses)

    @property
    def best_base(self) -> str:
        """The same among the scores that another can be trained to correct."""
        return self._best(name for name in self.losses if name not in self.memorising)

    def _best(self, names: Iterable[str]) -> str:
        return min(names, key=lambda name: float(self.losses[name].mean()))

    @property
    def gain(self) -> float:
        """How much less the best score's mean loss is than ln 2, that of the score 0, nats."""
        return float(np.log(2.0) - self.losses[self.best].mean())

    def lead(self, name: str, over: str) -> float:
        """How much less the mean loss of one score is than that of another, nats."""
        return float((self.losses[over] - self.losses[name]).mean())

    @property
    def table(self) -> dict[str, float]:
        """Mean loss by name, nats a draw."""
        return {name: float(loss.mean()) for name, loss in self.losses.items()}
