"""Evidence against a claim that several audits pool, from counts of fresh draws in chosen sets.

An audit chooses a set S before its certifying draws are made. A pair of them pays U^{1[x in S]}
V^{1[y in S]}/C, with U, V and C of a `Bet` on a set; under the claim its mean is at most 1. So the
product over all pairs of all audits is a supermartingale, whatever sets were chosen, if the bet's
width stays the same. Its mean over a few widths is one too. By Ville's inequality that mean ever
reaches 1/α with probability at most α, at whichever audit one stops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.types import Array
from dpaudit.certify.betting.bets import Bet, Side
from dpaudit.certify.betting.choice import WIDTHS
from dpaudit.certify.betting.null import Null


@dataclass(frozen=True)
class Hits:
    """How many of `draws` a side fell into a set that was chosen before they were made.

    forward : whether M(D) is likelier in it, else M(D'). epsilon : nats, where the bet starts.
    ahead, behind : hits of the likelier side, and of the other one.
    """

    forward: bool
    epsilon: float
    ahead: int
    behind: int
    draws: int

    def log_e(self, null: Null) -> Array:
        """The logarithm of its payoff for each width, (k,), at the fair price under the null."""
        return np.array([self._log_e(null, float(width)) for width in WIDTHS])

    def _log_e(self, null: Null, width: float) -> float:
        bet = Bet.against(null, Side(self.epsilon, self.epsilon + width, 0.0, step=True), None)
        inside = np.ones(1)
        paid = self.ahead * bet.up(inside)[0] + self.behind * bet.down(inside)[0]
        return float(paid - self.draws * bet.cost)


def log_mean(log_e: Array) -> Array:
    """The logarithm of the mean over widths, (…), of sums over audits (…, k)."""
    return np.asarray(logsumexp(log_e, axis=-1) - np.log(log_e.shape[-1]))
