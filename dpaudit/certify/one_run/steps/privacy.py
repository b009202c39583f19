"""Bets on a canary's coin once the projection is seen, against 1/σ-Gaussian DP of a step."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.one_run.steps.payoff import joined, mixed
from dpaudit.curves.gaussian_shift import gaussian_shift

EPSILONS, REACH = 8, 3.0  # thresholds, from ε = 0 to `REACH` deviations above the mean loss
LARGEST = 50.0  # nats; e^ε stays finite
STAKES = 0.9, 0.3, 0.06  # largest possible loss of one side, as a share of the wealth
SIDES = (1.0, 0.0), (0.0, 1.0), (0.6, 0.6)  # bets on "in", on "out", on both


class CoinBets:
    """Wealth of bets on coins, a mean over bets with a fixed ε, stake and side each.

    The bet that would gain most if projections told every coin has half of the wealth at the start,
    the others share the rest.

    Laws P₁, P₀ of the projection with and without the canary that are μ-GDP apart, μ = 1/σ, have
    P₁(A) ≤ e^ε P₀(A) + δ(ε) for every set A and ε, with δ(ε) of N(0, 1) and N(μ, 1), and the same
    with 1 and 0 exchanged (Dong, Roth & Su 2022, corollary 1). With a coin s of probability q,

        g = 1[r in A]·(s/q − e^ε (1 − s)/(1 − q)) − δ(ε)

    has mean P₁(A) − e^ε P₀(A) − δ(ε) ≤ 0, whatever set A was chosen from earlier steps, and so has
    h, with the coin's sides exchanged, for a set B. So 1 + λg + κh has mean ≤ 1. A is {score > ε}
    and B is {score < −ε}. They are disjoint, so only one of g and h can be at its least, −e^ε/(1 −
    q) − δ or −e^ε/q − δ, where the other is −δ, which is at most half as far from 0. So with the
    shares of `STAKES` and `SIDES` a payoff is at least 1 − 0.9 or 1 − 0.9·0.6·3/2, above 0. The
    rest of the batch does not matter: for each fixed c the pair is 1/σ-GDP apart, and P₁(A) − e^ε
    P₀(A) ≤ δ(ε) stays true averaged over c, which does not depend on s.

    epsilon : (k, 1), ε of each bet, nats.
    """

    def __init__(self, rate: float, sigma: float, orthogonal: bool) -> None:
        mu = 1.0 / sigma
        most = min(mu * (0.5 * mu + REACH), LARGEST)
        epsilon = np.linspace(0.0, most, EPSILONS)
        delta = gaussian_shift(mu, epsilon)
        stakes = np.multiply.outer(STAKES, SIDES).reshape(-1, 1, 2)
        loss = np.exp(epsilon)[:, None] / [1.0 - rate, rate] + delta[:, None]
        self._stake = (stakes / loss).reshape(-1, 2, 1)  # (k, 2, 1)
        self.epsilon, self._delta = (
            np.tile(one, len(STAKES) * len(SIDES))[:, None] for one in (epsilon, delta)
        )
        self._gamma = np.exp(self.epsilon)
        self._rate, self._orthogonal = rate, orthogonal
        self._log = self._shares()

    @property
    def log_wealth(self) -> float:
        """Log of the mean of the wealths."""
        return mixed(self._log)

    def _shares(self) -> Array:
        """Log wealths at the start, (k,), of mean 1."""
        told = self.payoff(np.array([-np.inf, np.inf]), np.array([0.0, 1.0]))
        best = np.argmax(told @ [1.0 - self._rate, self._rate])
        count = len(told)
        shares = np.full(count, 0.5 * count / (count - 1))
        shares[best] = 0.5 * count
        return np.asarray(np.log(shares))

    def bet(self, score: Array, included: Array) -> None:
        """Pay for one step.

        score : (m,) log-odds of "in" from the projections, by what earlier steps showed.
        included : (m,) coins, 0 or 1.
        """
        self._log += joined(self.payoff(score, included), self._orthogonal)

    def payoff(self, score: Array, included: Array) -> Array:
        """Log payoffs of each bet and canary, (k, m)."""
        one, zero = included / self._rate, (1.0 - included) / (1.0 - self._rate)
        forward = (score > self.epsilon) * (one - self._gamma * zero) - self._delta
        backward = (-score > self.epsilon) * (zero - self._gamma * one) - self._delta
        gain = self._stake[:, 0] * forward + self._stake[:, 1] * backward
        return np.asarray(np.log1p(gain))
