"""Guesses of coins: which canaries are in the data, by the scores of one run.

A score above the centre says "in", one below "out"; the farther away, the stronger the guess. All
that is chosen here depends on the scores and on the coins' probabilities. The coins themselves
enter in `right` alone. That is what every bound of this room rests on.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class

UNLIKELY = 1e-6  # the chance below which so few right guesses count as reversed


@value_class(show_numbers=True)
class Guesses:
    """g guesses of m coins, the strongest first; arrays are (g,) but for `inclusion`.

    right : bool, whether each guess is right. says_in : bool, whether the guess is "in". chance :
    the coin's probability of the guessed side. strength : > 0, the distance of the score from the
    centre. inclusion : (m,), the probability of "in" of every canary, guessed or not.
    """

    right: np.ndarray
    says_in: np.ndarray
    chance: Array
    strength: Array
    inclusion: Array

    @classmethod
    def of(
        cls,
        scores: Array,
        included: np.ndarray,
        inclusion: Array,
        middle: float | None = None,
    ) -> Guesses:
        """Guess by scores (m,), given the coins (m,) and their probabilities (m,).

        middle : the score that says nothing, by default the `centre` of the scores.

        If all scores are equal, there are no guesses. Equally strong ones are shuffled, with a
        fixed seed, since canaries may come sorted by their coins.
        """
        middle = centre(scores, float(inclusion.mean())) if middle is None else middle
        if middle is None or np.all(scores == scores[0]):
            none, nothing = np.empty(0, bool), np.empty(0)
            return cls(none, none, nothing, nothing, inclusion)
        strength = np.abs(scores - middle)
        # Equal strengths in an order of their own: that of the rows may be that of the coins.
        ties = np.random.default_rng(0).permutation(len(scores))
        order = np.lexsort((ties, -strength))
        says_in = (scores > middle)[order]
        chance = np.where(says_in, inclusion[order], 1.0 - inclusion[order])
        return cls(says_in == included[order], says_in, chance, strength[order], inclusion)

    @property
    def canaries(self) -> int:
        """The number m of coins that were flipped."""
        return len(self.inclusion)

    @cached_property
    def coins(self) -> tuple[Array, np.ndarray]:
        """The different probabilities of "in", ascending, and how many canaries have each."""
        q, count = np.unique(self.inclusion, return_counts=True)
        return q, count

    @property
    def fair(self) -> bool:
        """Whether each coin has probability 1/2."""
        return bool(np.all(self.coins[0] == 0.5))

    def perfect(self) -> Guesses:
        """The same guesses, as right as if the scores had revealed every coin.

        The centre divides the scores as the coins are expected to fall. They differ from this by
        about one standard deviation, and so many of the weakest guesses are wrong, unless the
        scores have only two values.
        """
        away = round(float(np.sqrt(np.sum(self.inclusion * (1.0 - self.inclusion)))))
        two = len(self.strength) == 0 or len(np.unique(self.strength)) <= 2
        right = np.arange(len(self.right)) < len(self.right) - (0 if two else away)
        return Guesses(right, self.says_in, self.chance, self.strength, self.inclusion)

    @property
    def reversed(self) -> bool:
        """Whether so few guesses are right that chance gives as few in at most 1 of 10⁶ runs."""
        short = float(self.chance.sum() - self.right.sum())
        return short > 0.0 and np.exp(-2.0 * short**2 / len(self.right)) < UNLIKELY  # Hoeffding


def centre(scores: Array, inclusion: float) -> float | None:
    """The middle of the gap between scores with a share closest to `inclusion` above it; None where
    all scores are equal.
    """
    values, counts = np.unique(scores, return_counts=True)
    if len(values) == 1:
        return None
    above = 1.0 - np.cumsum(counts)[:-1] / len(scores)
    at = int(np.argmin(np.abs(above - inclusion)))
    return float(values[at] + 0.5 * (values[at + 1] - values[at]))
