"""The wealth of all bets on the steps of one run."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.one_run.steps.forecast import Forecast
from dpaudit.certify.one_run.steps.noise import NoiseBets
from dpaudit.certify.one_run.steps.payoff import mixed
from dpaudit.certify.one_run.steps.privacy import CoinBets
from dpaudit.certify.one_run.steps.sampling import SamplingBets

BETTORS = "privacy", "noise", "fresh noise", "sampling"


class StepWealth:
    """Four bettors on m canaries, each with a quarter of the wealth, which begins at 1.

    "privacy": `CoinBets`. "noise": `NoiseBets` about the canary's own share s and about the mean of
    earlier steps, half each. "fresh noise": `NoiseBets` about the projection of the step before,
    moved by the canary's share; noise that is used twice is predicted exactly. "sampling":
    `SamplingBets`.

    Parameters
    ----------
    rate : in (0, 1). sigma : > 0, in clip norms. orthogonal : whether the directions of the
    canaries are. canaries : m ≥ 1.
    """

    def __init__(self, rate: float, sigma: float, orthogonal: bool, canaries: int) -> None:
        self._forecast = Forecast(canaries, sigma)
        self._coins, self._ideal = (CoinBets(rate, sigma, orthogonal) for _ in range(2))
        self._expected, self._learned, self._again = (
            NoiseBets(sigma, orthogonal) for _ in range(3)
        )
        self._sampling = SamplingBets(rate)
        self._noise_before: Array | None = None

    def bet(self, residual: Array, included: Array) -> None:
        """Pay for one step. residual : (m,), in clip norms. included : (m,) coins, 0.0 or 1.0."""
        self._coins.bet(self._forecast.log_odds(residual), included)
        self._ideal.bet(np.where(included > 0.0, np.inf, -np.inf), included)
        self._expected.bet(residual - included)
        self._learned.bet(residual - self._forecast.value(included))
        if self._noise_before is not None:
            self._again.bet(residual - included - self._noise_before)
        self._sampling.bet(included)
        self._noise_before = residual - included
        self._forecast.learn(residual, included)

    @property
    def logs(self) -> dict[str, float]:
        """Log wealth of each bettor, before its quarter is taken."""
        noise = mixed(np.array([self._expected.log_wealth, self._learned.log_wealth]))
        wealths = (
            self._coins.log_wealth,
            noise,
            self._again.log_wealth,
            self._sampling.log_wealth,
        )
        return dict(zip(BETTORS, wealths, strict=True))

    @property
    def log_total(self) -> float:
        """Log of the mean of the four wealths: the e-process."""
        return mixed(np.array(list(self.logs.values())))

    @property
    def log_largest(self) -> float:
        """Log of a quarter of what "privacy" would have if projections had told every coin."""
        return self._ideal.log_wealth - float(np.log(len(BETTORS)))
