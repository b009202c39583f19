"""The speed of drawing ALS outputs against as many raw normals from the same generator."""

from __future__ import annotations

import numpy as np

from reports.make.tasks import cancer_pair
from reports.make.timing import seconds

REPEATS = 3


def report(size: int = 10_000_000) -> None:
    """`size` × 12 numbers of each, into fresh memory; the median ratio."""
    mechanism, pair = cancer_pair(rows=200)
    law = mechanism.law(pair.left)
    ratio = sorted(
        seconds(lambda: np.random.default_rng(seed).standard_normal((size, 12)))  # noqa: B023
        / seconds(lambda: law.sample(size, np.random.default_rng(seed)))  # noqa: B023
        for seed in range(REPEATS)
    )
    print(
        f"drawing {size:,} x 12 ALS outputs: {ratio[REPEATS // 2]:.2f} x the speed of raw normals "
        f"(median of {REPEATS}: {ratio})"
    )
