"""What dpsprt releases, as mechanisms to audit: imported when one is made.

Data are (n, 1): a stream of zeros and ones (of numbers, for the interval). What is released is the
time at which the test stops and its decision, which are the end and 0 where it does not. One
instance is seeded from the audit's generator and runs afresh for each draw, as the package says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

HYPOTHESES = {"mu0": 0.2, "mu1": 0.8, "alpha": 0.4, "beta": 0.4}


def test(name: str, epsilon: float, **settings: float) -> Any:
    """One of DPSPRT, DPSPRTGaussian, DPSPRTTuned and DPSPRTSubsampled: (ε, δ)."""
    import dpsprt

    made = getattr(dpsprt, name)

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        seed = int(rng.integers(2**31))
        run = made(**HYPOTHESES, epsilon=epsilon, **settings, random_seed=seed)
        bits = data[:, 0].astype(int)
        return np.array([dpsprt.run_sprt_on_batch(run, bits)[:2] for _ in range(size)])

    return draw


def interval(epsilon: float) -> Any:
    """OutsideInterval on running sums of values in [-0.5, 0.5], the README's noise: (ε, 0)."""
    from dpsprt import OutsideInterval

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        monitor = OutsideInterval(
            lower_threshold=lambda t: -1.0,
            upper_threshold=lambda t: 1.0,
            query_noise_scale=4.0 / epsilon,
            threshold_noise_scale=2.0 / epsilon,
            epsilon=epsilon,
            random_seed=int(rng.integers(2**31)),
        )
        sums = np.cumsum(data[:, 0])
        return np.array([_outcome(monitor, sums) for _ in range(size)])

    return draw


def _outcome(monitor: Any, values: Any) -> tuple[int, int]:
    monitor.reset()
    for time, value in enumerate(values):
        stopped, side = monitor.add_query(value)
        if stopped:
            return time, side
    return len(values), 0
