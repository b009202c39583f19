"""Bets on the next coins given earlier ones: are they independent with the claimed rate?"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.one_run.steps.payoff import mixed

DOUBT = 0.1  # weight of the claimed rate in every forecast, so that no coin ruins it


class SamplingBets:
    """Wealth of forecasts of coins that are claimed to be independent with probability q.

    A forecast p of the next coin, made from earlier coins, pays p/q if the coin is 1 and
    (1 − p)/(1 − q) if it is 0, which has mean 1. Its wealth is the likelihood ratio of the forecast
    law and the claimed one. Wealths of three forecasts are averaged.

    Two are of shuffled epochs of ⌊1/q⌋ and ⌈1/q⌉ steps, in each of which a canary comes exactly
    once: p = 1/(steps left) until it has come and 0 after that. They gain about one nat an epoch
    and canary. One is of a rate above the claimed one, as large as that of earlier coins. A lower
    rate is not bet on, because it weakens no claim of privacy.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        lengths = int(1.0 / rate + 1e-9), int(np.ceil(1.0 / rate - 1e-9))
        self._epochs = [_Epoch(length) for length in lengths]
        self._log = np.zeros(3)
        self._seen, self._in = 0, 0.0

    @property
    def log_wealth(self) -> float:
        """Log of the mean of the wealths."""
        return mixed(self._log)

    def bet(self, included: Array) -> None:
        """Pay for the coins of one step, (m,), 0 or 1."""
        forecasts = [epoch.forecast(included) for epoch in self._epochs]
        forecasts.append(np.full(len(included), self._observed()))
        q = self._rate
        for i, forecast in enumerate(forecasts):
            p = DOUBT * q + (1.0 - DOUBT) * forecast
            ratio = np.where(included > 0.0, p / q, (1.0 - p) / (1.0 - q))
            self._log[i] += np.log(ratio).sum()
        self._seen += len(included)
        self._in += float(included.sum())

    def _observed(self) -> float:
        """The rate of earlier coins and one coin in 1/q, not less than q."""
        return max((self._in + 1.0) / (self._seen + 1.0 / self._rate), self._rate)


class _Epoch:
    """Which canaries have come in an epoch of so many steps."""

    def __init__(self, length: int) -> None:
        self._length, self._position = length, 0
        self._come: Array | None = None

    def forecast(self, included: Array) -> Array:
        """Probabilities of the coins (m,) of one step from those of earlier steps, then see them.

        A probability is at most 1 by the count of steps left.
        """
        if self._come is None or self._position == self._length:
            self._come, self._position = np.zeros(len(included)), 0
        forecast = np.where(self._come > 0.0, 0.0, 1.0 / (self._length - self._position))
        self._come = np.maximum(self._come, included)
        self._position += 1
        return forecast
