"""The page on small δ is below the truth, and has a row for each δ."""

import numpy as np
import pytest

from reports.make.band import small_delta


@pytest.mark.slow
def test_small_deltas_are_certified_below_the_truth():
    found = small_delta.small_delta((100_000,), 1)
    assert np.all(found.share[100_000] < 1.0)
    assert np.all(found.reach[100_000] < found.epsilon)
    rows = small_delta.table(found).splitlines()[2:]
    assert len(rows) == len(small_delta.SMALL)
    assert rows[-1].startswith("| 1e-06 | 4.887 | ")
