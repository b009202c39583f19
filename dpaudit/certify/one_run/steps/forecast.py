"""What earlier steps showed of a canary's projections; the next bets are chosen by it."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array

MEMORY = 0.98  # weight of a step by the next one: about 50 steps count, as a model moves
PRIOR = 0.1  # steps that the expected shift of one clip norm counts for


class Forecast:
    """Means with and without the canary and the variance, (m,) each, in units of the clip norm.

    No bet is valid because of them: they may be wrong, but use earlier steps only.
    """

    def __init__(self, canaries: int, sigma: float) -> None:
        self._out, self._out_weight = np.zeros(canaries), np.ones(canaries)
        self._shift, self._in_weight = np.full(canaries, PRIOR), np.full(canaries, PRIOR)
        self._square = np.full(canaries, sigma**2)
        self._square_weight = np.ones(canaries)

    @property
    def centre(self) -> Array:
        """The mean without the canary, (m,)."""
        return np.asarray(self._out / self._out_weight)

    @property
    def shift(self) -> Array:
        """By how much the canary moves the mean, (m,)."""
        return np.asarray(self._shift / self._in_weight)

    def value(self, included: Array) -> Array:
        """The mean given the coins, (m,)."""
        return np.asarray(self.centre + self.shift * included)

    def log_odds(self, projection: Array) -> Array:
        """Of "in", from projections (m,), if both laws are Gaussian with one variance."""
        shift, variance = self.shift, self._square / self._square_weight
        return np.asarray(shift * (projection - self.centre - 0.5 * shift) / variance)

    def learn(self, projection: Array, included: Array) -> None:
        """See the projections and coins of one step, (m,) each.

        The variance is that of steps without the canary, so that gradients that were not clipped
        do not hide what they reveal.
        """
        out, error = 1.0 - included, projection - self.centre
        self._square = _fade(self._square, out) + out * error**2
        self._square_weight = _fade(self._square_weight, out) + out
        self._shift = _fade(self._shift, included) + included * error
        self._in_weight = _fade(self._in_weight, included) + included
        self._out = _fade(self._out, out) + out * projection
        self._out_weight = _fade(self._out_weight, out) + out


def _fade(total: Array, seen: Array) -> Array:
    return np.where(seen > 0.0, MEMORY * total, total)
