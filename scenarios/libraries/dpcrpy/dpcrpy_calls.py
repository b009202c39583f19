"""What dpcrpy releases, as mechanisms to audit: imported when one is made.

Data are (T, 1): a stream of numbers, whose prefix sums are released after each one. The package
draws from numpy.random, which is seeded from the audit's generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def prefix_sums(method: str, epsilon: float, delta: float = 0.0, **settings: Any) -> Any:
    """Prefix sums by a method of dpcrpy: Laplace noise for δ = 0, else Gaussian. (ε, δ)."""
    import dpcrpy

    noise = dpcrpy.noiMech.GaussNoiMech if delta else dpcrpy.noiMech.LapNoiMech
    made = getattr(dpcrpy, method)(**settings)
    made.setNoiMech(noise(epsilon, delta))

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        np.random.seed(rng.integers(2**32))  # noqa: NPY002 (its source of noise)
        return np.array([_released(made, data[:, 0]) for _ in range(size)])

    return draw


def _released(made: Any, values: Any) -> list[float]:
    made.init()
    return [made.dpRelease(value)[0] for value in values]
