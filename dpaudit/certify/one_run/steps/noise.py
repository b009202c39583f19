"""Bets that a projection is nearer to a predicted value than the noise allows."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.one_run.steps.payoff import joined, mixed

# τ = σ·2^−x of the bets: a few for noise that is a little too small, then down to no noise at all
HALVINGS = np.array([0.125, 0.25, 0.5, 1, 2, 3, 5, 8, 11, 14, 18, 22, 26, 30, 34, 38])
KEPT = 0.1  # share of the wealth that a bet does not risk


class NoiseBets:
    """Wealth of bets on less noise than claimed, which may begin at any step.

    The projection is r = c + σz with z ~ N(0, 1) independent of c. For a value b that is chosen
    before z is drawn and a width τ < σ, the density ratio of N(b, τ²) and N(b, σ²),

        e(r) = (σ/τ) exp(−(r − b)²/2 · (1/τ² − 1/σ²)),

    has mean 1 if c = b, and less for any other c: it is symmetric and unimodal about b, and so is
    the density of the noise (Anderson 1955). So E e ≤ 1 whatever c is, known or not. This is why a
    bet on noise needs no knowledge of the rest of the batch; knowledge only makes it gain.

    A bet that begins at step k has wealth Π (0.1 + 0.9 e) from there on. The mean over widths and
    over k, with weight π_k = 1/log₂(k + 1) − 1/log₂(k + 2) (their sum is 1), is a supermartingale
    as each bet is. What is put aside for later steps lets it see a single step without noise late
    in the run, when all earlier bets have lost.
    """

    def __init__(self, sigma: float, orthogonal: bool) -> None:
        self._log_ratio = HALVINGS[:, None] * np.log(2.0)
        self._slope = 0.5 * (4.0 ** HALVINGS[:, None] - 1.0) / sigma**2
        self._orthogonal = orthogonal
        self._begun = np.full(len(HALVINGS), -np.inf)
        self._steps = 0

    @property
    def log_wealth(self) -> float:
        """Log of the mean of the wealths, with what is put aside."""
        return mixed(np.logaddexp(self._begun, np.log(_aside(self._steps))))

    def bet(self, distance: Array) -> None:
        """Pay for one step. distance : r − b, (m,), by values b that were chosen before."""
        self._steps += 1
        new = np.log(_aside(self._steps - 1) - _aside(self._steps))
        payoff = joined(self.payoff(distance), self._orthogonal)
        self._begun = np.logaddexp(self._begun, new) + payoff

    def payoff(self, distance: Array) -> Array:
        """Log payoffs of each width and canary, (k, m)."""
        ratio = self._log_ratio - self._slope * distance**2
        return np.asarray(np.logaddexp(np.log(KEPT), np.log1p(-KEPT) + ratio))


def _aside(steps: int) -> float:
    """The share of the wealth for bets that begin after so many steps."""
    return float(1.0 / np.log2(steps + 2.0))
