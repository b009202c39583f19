"""The bound of Steinke, Nasr & Jagielski 2023, for numbers of guesses known before the run.

Theorem 5.2: of an (ε, δ)-DP mechanism, m fair coins and r guesses of which W are right, P(W ≥ v) ≤
P(B ≥ v) + m δ max_{1 ≤ i ≤ m} (2/i) P(v > B ≥ v − i), B binomial of r and e^ε/(1 + e^ε). It is used
as it is stated there; the other bounds of this room have their proofs beside them.
"""

from __future__ import annotations

from itertools import takewhile

import numpy as np
from scipy.special import bdtrc, expit

from dpaudit._core.types import Array
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.certify.one_run.likelihood import grid
from dpaudit.certify.one_run.recursion import cuts


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """Theorem 5.2: a bound of the chance of `right` or more right guesses; ε in nats."""
    tail = _at_least(np.array(right), guesses, epsilon)
    steps = np.arange(1, min(canaries, max(right, 1)) + 1)
    short = _at_least(right - steps, guesses, epsilon) - tail
    return float(np.minimum(1.0, tail + canaries * delta * np.max(2.0 * short / steps)))


def _at_least(right: np.ndarray, guesses: int, epsilon: float) -> Array:
    """P(B ≥ right) of B binomial of `guesses` and e^ε/(1 + e^ε)."""
    tail = bdtrc(np.maximum(right - 1, 0), guesses, expit(epsilon))
    return np.where(right <= 0, 1.0, tail)


def rejected(guesses: Guesses, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether (ε, δ)-DP is rejected by any number of guesses, each at its share of alpha."""
    sums = np.cumsum(guesses.right)
    return len(sums) > 0 and any(
        p_value(guesses.canaries, size, int(sums[size - 1]), epsilon, delta) <= share * alpha
        for size, share in cuts(guesses.canaries)
    )


def epsilon_bound(
    guesses: Guesses, delta: float, alpha: float, at: float | None = None
) -> float | None:
    """The largest ε up to which every hypothesis of a fixed grid is rejected; None where none is.

    at : an ε that the grid is to have, nats. Fair coins only.
    """
    tested = takewhile(lambda one: rejected(guesses, one, delta, alpha), grid(at))
    return max(tested, default=None)
