"""What binomialdpy releases, as mechanisms to audit: imported when one is made.

Data are (n, 1): zeros and ones, whose sum is binomial. Tulap noise comes from numpy.random, which
is seeded from the audit's generator. A test is given by its probabilities of rejection.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def noisy_count(epsilon: float) -> Any:
    """The count with Tulap noise that is not truncated, b = exp(-ε) as in ump.left: (ε, 0)."""
    from binomialdpy import tulap

    b = math.exp(-epsilon)

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        np.random.seed(rng.integers(2**32))  # noqa: NPY002 (its source of noise)
        count = int(data[:, 0].sum())
        return np.array([float(tulap.random(1, m=count, b=b)[0]) for _ in range(size)])

    return draw


def test(module: str, name: str, epsilon: float, delta: float) -> Any:
    """The decision of a test of p = 0.4 at α = 0.05, (ε, δ): ump.left, ump.right, umpu.*."""
    import importlib

    made = getattr(importlib.import_module(f"binomialdpy.{module}"), name)

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        rejects = made(p=0.4, n=len(data), alpha=0.05, epsilon=epsilon, delta=delta)
        return rng.random(size) < rejects[int(data[:, 0].sum())]

    return draw
