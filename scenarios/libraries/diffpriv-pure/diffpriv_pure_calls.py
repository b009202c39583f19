"""What diffpriv-pure releases, as mechanisms to audit: imported when one is made.

Data are (n, 1). The package draws from the standard library's random, which is seeded from the
audit's generator.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np


def _batch(release: Callable[[list[float]], float]) -> Any:
    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        random.seed(int(rng.integers(2**63)))
        values = data[:, 0].tolist()
        return np.array([[release(values)] for _ in range(size)])

    return draw


def private_sum(epsilon: float, lower: float, upper: float, delta: float = 0.0) -> Any:
    """private_sum within bounds: Laplace noise for δ = 0, else Gaussian. (ε, δ)."""
    from diffpriv_pure import private_sum as total

    return _batch(lambda values: total(values, (lower, upper), epsilon, delta))


def private_mean(epsilon: float, lower: float, upper: float, delta: float = 0.0) -> Any:
    """private_mean within bounds: Laplace noise for δ = 0, else Gaussian. (ε, δ)."""
    from diffpriv_pure import private_mean as mean

    return _batch(lambda values: mean(values, (lower, upper), epsilon, delta))
