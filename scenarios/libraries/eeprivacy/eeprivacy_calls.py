"""What eeprivacy releases, as mechanisms to audit: imported when one is made.

Data are (n, d). Each draw is a call of the package, whose noise comes from numpy.random; it is
seeded from the audit's generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Release = Callable[[Any], Any]  # one output of the database


def _batch(release: Release) -> Any:
    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        np.random.seed(rng.integers(2**32))  # noqa: NPY002 (its source of noise)
        return np.array([release(data) for _ in range(size)]).reshape(size, -1)

    return draw


def laplace(epsilon: float) -> Any:
    """LaplaceMechanism on the sum of values in [0, 1], whose sensitivity is 1: (ε, 0)."""
    from eeprivacy.mechanisms import LaplaceMechanism

    return _batch(
        lambda data: LaplaceMechanism.execute(
            value=data[:, 0].sum(), epsilon=epsilon, sensitivity=1.0
        )
    )


def gaussian(epsilon: float, delta: float) -> Any:
    """GaussianMechanism on the sum of values in [0, 1], whose sensitivity is 1: (ε, δ)."""
    from eeprivacy.mechanisms import GaussianMechanism

    return _batch(
        lambda data: GaussianMechanism.execute(
            value=data[:, 0].sum(), epsilon=epsilon, delta=delta, sensitivity=1.0
        )
    )


def clamped_sum(epsilon: float, lower: float, upper: float) -> Any:
    """PrivateClampedSum with bounds: (ε, 0)."""
    from eeprivacy.operations import PrivateClampedSum

    total = PrivateClampedSum(lower_bound=lower, upper_bound=upper)
    return _batch(lambda data: total.execute(values=data[:, 0], epsilon=epsilon))


def clamped_mean(epsilon: float, lower: float, upper: float) -> Any:
    """PrivateClampedMean with bounds: (ε, 0)."""
    from eeprivacy.operations import PrivateClampedMean

    mean = PrivateClampedMean(lower_bound=lower, upper_bound=upper)
    return _batch(lambda data: mean.execute(values=data[:, 0], epsilon=epsilon))


def vector_mean_gaussian(epsilon: float, delta: float, rows: int, columns: int) -> Any:
    """PrivateVectorClampedMeanGaussian of vectors in [0, 1]^columns, `rows` public: (ε, δ)."""
    from eeprivacy.operations import PrivateVectorClampedMeanGaussian

    mean = PrivateVectorClampedMeanGaussian(lower_bound=0.0, upper_bound=1.0, k=columns, N=rows)
    return _batch(lambda data: mean.execute(vectors=data, epsilon=epsilon, delta=delta))


def histogram(epsilon: float) -> Any:
    """PrivateHistogram with three bins of [0, 3]: (ε, 0)."""
    from eeprivacy.operations import PrivateHistogram

    bins = PrivateHistogram(bins=[0.0, 1.0, 2.0, 3.0])
    return _batch(lambda data: bins.execute(values=data[:, 0], epsilon=epsilon))
