"""Which of several scores is best, by their losses on draws that certify nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides, losses

CLEAR = 2.0  # standard errors of the difference that a score which may overfit must be better by


@dataclass
class Contest:
    """Scores by name with their loss on each of the choosing draws, P's first."""

    choose: Sides
    scores: dict[str, Score] = field(default_factory=dict)
    losses: dict[str, Array] = field(default_factory=dict)

    def enter(self, name: str, score: Score | None) -> None:
        """Take part; None is a score that does not apply."""
        if score is not None:
            self.scores[name], self.losses[name] = score, losses(score, self.choose)

    def challenge(self, name: str, score: Score | None) -> bool:
        """Take part only if clearly better than the best so far; whether it is."""
        if score is None:
            return False
        gain = self.losses[self.best] - (loss := losses(score, self.choose))
        if gain.mean() <= CLEAR * gain.std() / np.sqrt(len(gain)):
            return False
        self.scores[name], self.losses[name] = score, loss
        return True

    @property
    def best(self) -> str:
        return min(self.losses, key=lambda name: float(self.losses[name].mean()))

    @property
    def gain(self) -> float:
        """What the best so far gains on knowing nothing, nats a draw."""
        return float(np.log(2.0) - self.losses[self.best].mean())

    @property
    def table(self) -> dict[str, float]:
        """Mean loss by name."""
        return {name: float(loss.mean()) for name, loss in self.losses.items()}
