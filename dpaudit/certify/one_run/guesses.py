"""Guesses of coins: which canaries are in the data, by the scores of one run.

A score above the centre says "in", one below "out"; the farther away, the stronger the guess. All
that is chosen here depends on the scores and on the coins' probabilities. The coins themselves
enter in `right` alone. That is what every bound of this room rests on.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class

UNLIKELY = 1e-6  # chance of so few right guesses


@value_class(show_numbers=True)
class Guesses:
    """Guesses, the strongest first, (g,) each.

    right : bool. says_in : bool, the guess itself. chance : the coin's probability of what was
    guessed. strength : > 0, the distance of the score from the centre. inclusion : (m,), of all
    canaries, guessed or not.
    """

    right: np.ndarray
    says_in: np.ndarray
    chance: Array
    strength: Array
    inclusion: Array

    @classmethod
    def of(cls, scores: Array, included: np.ndarray, inclusion: Array) -> Guesses:
        """Guess by scores (m,), given the coins (m,) and their probabilities (m,).

        Equal scores leave nothing to guess by: no guesses.
        """
        middle = centre(scores, float(inclusion.mean()))
        if middle is None:
            none, nothing = np.empty(0, bool), np.empty(0)
            return cls(none, none, nothing, nothing, inclusion)
        strength = np.abs(scores - middle)
        order = np.argsort(-strength, kind="stable")
        says_in = (scores > middle)[order]
        chance = np.where(says_in, inclusion[order], 1.0 - inclusion[order])
        return cls(says_in == included[order], says_in, chance, strength[order], inclusion)

    @property
    def canaries(self) -> int:
        """m, how many coins were flipped."""
        return len(self.inclusion)

    @property
    def fair(self) -> bool:
        """Whether each coin has probability 1/2."""
        return bool(np.all(self.inclusion == 0.5))

    def perfect(self) -> Guesses:
        """The same guesses, as right as if the scores had told every coin.

        The centre divides the scores as the coins are expected to fall. They fall otherwise by
        about a standard deviation, and so many weakest guesses are wrong, unless the scores have
        two values alone.
        """
        away = round(float(np.sqrt(np.sum(self.inclusion * (1.0 - self.inclusion)))))
        two = len(self.strength) == 0 or len(np.unique(self.strength)) <= 2
        right = np.arange(len(self.right)) < len(self.right) - (0 if two else away)
        return Guesses(right, self.says_in, self.chance, self.strength, self.inclusion)

    @property
    def reversed(self) -> bool:
        """Whether far fewer are right than by chance: 1 in 10⁶ runs at most (Hoeffding)."""
        short = float(self.chance.sum() - self.right.sum())
        return short > 0.0 and np.exp(-2.0 * short**2 / len(self.right)) < UNLIKELY


def centre(scores: Array, inclusion: float) -> float | None:
    """The middle of the gap between scores that leaves a share closest to `inclusion` above it.

    None where all scores are equal.
    """
    values, counts = np.unique(scores, return_counts=True)
    if len(values) == 1:
        return None
    above = 1.0 - np.cumsum(counts)[:-1] / len(scores)
    at = int(np.argmin(np.abs(above - inclusion)))
    return float(values[at] + 0.5 * (values[at + 1] - values[at]))
