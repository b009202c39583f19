"""The bound of Steinke, Nasr & Jagielski 2023 (theorem 5.2), beside those of the package.

For an (ε, δ)-DP mechanism, m fair coins and r guesses of which W are right, P(W ≥ v) ≤ P(B ≥ v) +
m δ max_{1 ≤ i ≤ m} (2/i) P(v > B ≥ v − i), where B is binomial with r trials of probability
e^ε/(1 + e^ε). The numbers of guesses are known before the run, and share the level as in the
recursion.
"""

from __future__ import annotations

from itertools import takewhile

import numpy as np
from scipy.special import bdtrc, expit

from dpaudit.certify.one_run import likelihood, recursion
from dpaudit.certify.one_run.guesses import Guesses


def epsilon_bound(guesses: Guesses, delta: float, alpha: float) -> float:
    """The certified ε, nats, at δ and confidence 1 − alpha."""
    tested = takewhile(lambda at: rejects(guesses, at, delta, alpha), likelihood.grid())
    return max(tested, default=0.0)


def rejects(guesses: Guesses, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether (ε, δ)-DP is rejected for some number of guesses, at its share of alpha."""
    sums = np.cumsum(guesses.right)
    return len(sums) > 0 and any(
        p_value(guesses.canaries, size, int(sums[size - 1]), epsilon, delta) <= share * alpha
        for size, share in recursion.cuts(guesses.canaries)
    )


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """A bound of the chance of `right` or more right guesses; ε in nats."""
    steps = np.arange(min(canaries, max(right, 1)) + 1)
    least = right - steps
    tail = bdtrc(np.maximum(least - 1, 0), guesses, expit(epsilon))  # P(B ≥ least)
    tail = np.where(least <= 0, 1.0, tail)
    short = np.max(2.0 * (tail[1:] - tail[0]) / steps[1:])
    return float(np.minimum(1.0, tail[0] + canaries * delta * short))
