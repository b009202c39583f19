"""Sketches by the lines of paper 3, of which the algorithms draw sufficient statistics alone."""

import numpy as np


def sketches_by_steps(data, rows, noise, rng):
    """SD + wξ with S and ξ standard normal, one for each w in `noise`, (m, rows, d)."""
    mixed = [rng.standard_normal((rows, len(data))) @ data for _ in noise]
    return np.array(mixed) + noise[:, None, None] * rng.standard_normal(
        (len(noise), rows, data.shape[1])
    )
