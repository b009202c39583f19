"""What diff-priv-laplace-python releases, as mechanisms to audit: imported when one is made.

Data are (n, d). The package draws from numpy.random, which is seeded from the audit's generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _batch(release: Callable[[Any], Any]) -> Any:
    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        np.random.seed(rng.integers(2**32))  # noqa: NPY002 (its source of noise)
        return np.array([np.ravel(release(data)) for _ in range(size)])

    return draw


def _above_half(values: Any) -> Any:
    return values > 0.5


def count(epsilon: float) -> Any:
    """DiffPrivStatistics.count of the values above 0.5, with its default postprocessing."""
    from diffpriv_laplace import DiffPrivStatistics

    return _batch(lambda data: DiffPrivStatistics.count(data[:, 0], epsilon, condition=_above_half))


def proportion(epsilon: float) -> Any:
    """DiffPrivStatistics.proportion of the values above 0.5."""
    from diffpriv_laplace import DiffPrivStatistics

    return _batch(
        lambda data: DiffPrivStatistics.proportion(data[:, 0], epsilon, condition=_above_half)
    )


def sequential(epsilon: float, listed: bool) -> Any:
    """DiffPrivSequentialStatisticsQuery: count and proportion of ones, in a list or alone."""
    from diffpriv_laplace import DiffPrivSequentialStatisticsQuery, DiffPrivStatisticKind

    both = DiffPrivStatisticKind.count | DiffPrivStatisticKind.proportion
    kinds = [both] if listed else both

    def release(data: Any) -> Any:
        (found,) = DiffPrivSequentialStatisticsQuery.query(data[:, 0], kinds, epsilon)
        return [found[DiffPrivStatisticKind.count], found[DiffPrivStatisticKind.proportion]]

    return _batch(release)


def parallel(epsilon: float) -> Any:
    """DiffPrivParallelStatisticsQuery: the counts of ones in two slices of different people."""
    from diffpriv_laplace import DiffPrivParallelStatisticsQuery, DiffPrivStatisticKind

    kinds = [DiffPrivStatisticKind.count] * 2

    def release(data: Any) -> Any:
        slices = data[:, 0].reshape(2, -1)
        found = DiffPrivParallelStatisticsQuery.query(slices, kinds, epsilon, axis=1)
        return [one[DiffPrivStatisticKind.count] for one in found]

    return _batch(release)


def anonymize_sum(epsilon: float, lower: float, upper: float) -> Any:
    """DiffPrivLaplaceMechanism.anonymize_sum of a sum of values within bounds."""
    from diffpriv_laplace import DiffPrivLaplaceMechanism

    anonymizer = DiffPrivLaplaceMechanism(epsilon)
    return _batch(lambda data: anonymizer.anonymize_sum(data[:, 0].sum(), lower, upper))


def anonymize_mean(epsilon: float, lower: float, upper: float) -> Any:
    """DiffPrivLaplaceMechanism.anonymize_mean of a mean of values within bounds."""
    from diffpriv_laplace import DiffPrivLaplaceMechanism

    anonymizer = DiffPrivLaplaceMechanism(epsilon)
    return _batch(
        lambda data: anonymizer.anonymize_mean(data[:, 0].mean(), lower, upper, len(data))
    )


def anonymize_variance(epsilon: float, lower: float, upper: float) -> Any:
    """DiffPrivLaplaceMechanism.anonymize_variance of a variance of values within bounds."""
    from diffpriv_laplace import DiffPrivLaplaceMechanism

    anonymizer = DiffPrivLaplaceMechanism(epsilon)
    return _batch(
        lambda data: anonymizer.anonymize_variance(data[:, 0].var(), lower, upper, len(data))
    )
