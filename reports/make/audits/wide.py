"""An audit of wide rows, 1,000 columns of which each shows a little: its CPU seconds."""

from __future__ import annotations

import numpy as np

import dpaudit as dp
from reports.make.structured import structured_tasks
from reports.make.timing import clock

EPSILON = np.array([0.0, 0.5, 1.0])


def report(size: int = 20_000, seeds: int = 2) -> None:
    """Task T12, so many draws a side."""
    task = next(task for task in structured_tasks() if task.name == "T12")
    for seed in range(seeds):
        sides = task.draw(np.random.default_rng(seed), size)
        with clock() as spent:
            found = dp.audit_samples(sides.P, sides.Q, epsilon=EPSILON, rng=seed)
        bounds = " ".join(f"{low:.4f}" for low in np.asarray(found.spectrum.low))
        print(f"{task.name}, {size:,} draws a side: {spent.cpu:.1f} CPU s; certified δ {bounds}")
