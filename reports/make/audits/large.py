"""A large audit and what it costs, printed."""

from __future__ import annotations

import numpy as np

import dpaudit as dp
from dpaudit.mechanisms.textbook import Laplace
from reports.make.timing import memory, steps

EPSILON = np.array([0.0, 0.1, 0.2, 0.5])  # of the Laplace answers


def many_draws(sizes: tuple[int, ...] = (1_000_000, 10_000_000, 100_000_000)) -> None:
    """One number plus Laplace noise, ε = 0.1, by ascending draws a side.

    Peak memory is that of the process up to then.
    """
    mechanism = Laplace(epsilon=0.1)
    for draws in sizes:
        result = dp.audit(mechanism, mechanism.pair(), draws=draws, rng=1, epsilon=EPSILON)
        print(
            f"Laplace, ε = {mechanism.epsilon:g}, {draws:,} draws a side, score "
            f"{result.fitted.name}: {steps(result.timings)}"
        )
        print(f"  peak memory {memory(result.peak_memory_mb)}")
        exact = EPSILON * np.nan if result.exact is None else result.exact.delta
        for name, values in (("exact δ  ", exact), ("certified", np.asarray(result.spectrum.low))):
            at = ", ".join(f"{e:g}: {v:.6f}" for e, v in zip(EPSILON, values, strict=True))
            print(f"  {name} at ε = {at}")
