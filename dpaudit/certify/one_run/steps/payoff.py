"""What payoffs become: of several canaries one, and of several bets one wealth."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array


def joined(log_payoff: Array, orthogonal: bool) -> Array:
    """Log payoff of a step, (k,), from those of its canaries, (k, m).

    The product where their directions are orthogonal, the mean where they are not.
    """
    if orthogonal or log_payoff.shape[1] == 1:
        return np.asarray(log_payoff.sum(axis=1))
    return _log_mean(log_payoff)


def mixed(log_wealth: Array) -> float:
    """Log of the mean of wealths, (k,) logs, of which one at least is finite."""
    return float(_log_mean(log_wealth))


def _log_mean(logs: Array) -> Array:
    """Log of the mean of exponentials over the last axis."""
    most = logs.max(axis=-1, keepdims=True)
    return np.asarray(most[..., 0] + np.log(np.exp(logs - most).mean(axis=-1)))
