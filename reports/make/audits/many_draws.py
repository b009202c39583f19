"""An audit of very many cheap draws: seconds, and the most memory that it took, which hardly grows
with the draws.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.check import Array
from dpaudit.auditing import api
from dpaudit.mechanisms.textbook.additive import Laplace

EPSILON = np.array([0.0, 0.1, 0.2, 0.5])


def report(sizes: tuple[int, ...] = (1_000_000, 10_000_000, 100_000_000)) -> None:
    """One number plus Laplace noise, ε = 0.1, ascending draws a side: peak memory is the process's
    up to then.
    """
    mechanism = Laplace(epsilon=0.1)
    for samples in sizes:
        result = api.audit(mechanism, mechanism.pair(), samples=samples, rng=1, epsilon=EPSILON)
        steps = ", ".join(
            f"{name.removesuffix('_s')} {value:.1f} s" for name, value in result.timings.items()
        )
        print(
            f"Laplace, ε = {mechanism.epsilon:g}, {samples:,} draws a side, score {result.fitted.name}: {steps}"
        )
        print(f"  peak memory {result.peak_memory_mb:,.0f} MiB")
        _curve("exact δ  ", result.exact.delta if result.exact is not None else EPSILON * np.nan)
        _curve("certified", np.asarray(result.spectrum.low))


def _curve(name: str, values: Array) -> None:
    at = ", ".join(
        f"{epsilon:g}: {value:.6f}" for epsilon, value in zip(EPSILON, values, strict=True)
    )
    print(f"  {name} at ε = {at}")
