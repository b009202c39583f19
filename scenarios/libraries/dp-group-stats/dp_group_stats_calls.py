"""What dp-group-stats releases, as mechanisms to audit: imported when one is made.

Data are (n, 2): planned and actual hours. The package draws from a generator that it is given,
here the standard library's, which is seeded from the audit's generator.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np


def _batch(release: Callable[[Any, random.Random], list[float]]) -> Any:
    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        uniform = random.Random(int(rng.integers(2**63)))
        rows = data.tolist()
        return np.array([release(rows, uniform) for _ in range(size)])

    return draw


def mean_of_hours(planned: float, actual: float) -> Any:
    """The mean of actual hours as in the README's quick start: ε is that of actual hours."""
    from dp_group_stats import DPGroupStatsConfig, EpsilonSplit, laplace_noise

    config = DPGroupStatsConfig(epsilon_split=EpsilonSplit(planned, actual))
    epsilon, sensitivity = config.epsilon_split.actual_sum, config.bounds.actual_sensitivity

    def release(rows: Any, uniform: random.Random) -> list[float]:
        clipped = [config.bounds.clip_actual(one) for _, one in rows]
        total = sum(clipped) + laplace_noise(epsilon, sensitivity, uniform)
        return [total / len(clipped)]

    return _batch(release)


def sums_of_hours(planned: float, actual: float) -> Any:
    """The noisy sums of planned and actual hours of one group: ε is that of both together."""
    from dp_group_stats import DPGroupStatsConfig, EpsilonSplit, laplace_noise

    config = DPGroupStatsConfig(epsilon_split=EpsilonSplit(planned, actual))
    split, bounds = config.epsilon_split, config.bounds

    def release(rows: Any, uniform: random.Random) -> list[float]:
        planned = sum(bounds.clip_planned(one) for one, _ in rows)
        actual = sum(bounds.clip_actual(one) for _, one in rows)
        return [
            planned + laplace_noise(split.planned_sum, bounds.planned_sensitivity, uniform),
            actual + laplace_noise(split.actual_sum, bounds.actual_sensitivity, uniform),
        ]

    return _batch(release)
