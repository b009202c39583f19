"""Two curves of one spectrum, by two routes."""

from collections.abc import Sequence

import numpy as np


def assert_close(
    one: Sequence[np.ndarray], other: Sequence[np.ndarray], relative: float, smallest: float = 1e-25
) -> None:
    """Each direction agrees to `relative` wherever either is at least `smallest`."""
    for mine, theirs in zip(one, other, strict=True):
        seen = np.maximum(mine, theirs) >= smallest
        np.testing.assert_allclose(mine[seen], theirs[seen], rtol=relative, atol=0.0)
