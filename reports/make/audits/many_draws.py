"""An audit of very many cheap draws: its seconds, and its memory, which hardly grows with them."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.auditing import api
from dpaudit.mechanisms.textbook.additive import Laplace
from reports.make.timing import memory, steps

EPSILON = np.array([0.0, 0.1, 0.2, 0.5])


def report(sizes: tuple[int, ...] = (1_000_000, 10_000_000, 100_000_000)) -> None:
    """One number plus Laplace noise, ε = 0.1, by ascending draws a side.

    Peak memory is that of the process up to then.
    """
    mechanism = Laplace(epsilon=0.1)
    for samples in sizes:
        result = api.audit(mechanism, mechanism.pair(), samples=samples, rng=1, epsilon=EPSILON)
        print(
            f"Laplace, ε = {mechanism.epsilon:g}, {samples:,} draws a side, score "
            f"{result.fitted.name}: {steps(result.timings)}"
        )
        print(f"  peak memory {memory(result.peak_memory_mb)}")
        _curve("exact δ  ", result.exact.delta if result.exact is not None else EPSILON * np.nan)
        _curve("certified", np.asarray(result.spectrum.low))


def _curve(name: str, values: Array) -> None:
    at = zip(EPSILON, values, strict=True)
    print(f"  {name} at ε = {', '.join(f'{epsilon:g}: {value:.6f}' for epsilon, value in at)}")
