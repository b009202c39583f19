"""Claims by distance about several records: the tightest order of the changes, not that of rows."""

from itertools import permutations

import numpy as np
import pytest

from dpaudit.curves import chained, tightest_chain


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.02, 0.1, 0.3, 0.6])
def test_no_order_of_the_changes_gives_less(delta):
    """Up to six changes against all their orders; some have δ near 1, where sorting is not best."""
    rng, unsorted = np.random.default_rng(int(1e6 * delta)), 0
    for _ in range(60):
        steps = 10.0 ** rng.uniform(-2.0, 0.7, rng.integers(1, 7))
        least = min(chained((one, delta) for one in order)[1] for order in permutations(steps))
        epsilon, found = tightest_chain(steps, delta)
        assert epsilon == pytest.approx(steps.sum(), rel=1e-12)
        assert found == pytest.approx(least, rel=1e-9, abs=1e-12)
        falling = chained((one, delta) for one in sorted(steps, reverse=True))[1]
        unsorted += falling > least + 1e-9
        assert falling == pytest.approx(least, rel=1e-12) or least > 0.5
    assert (unsorted > 0) == (delta in (0.02, 0.1, 0.3))


def test_records_that_do_not_move_and_that_move_far():
    assert tightest_chain([], 0.1) == (0.0, 0.0)
    assert tightest_chain([0.0, 0.0], 0.1) == (0.0, pytest.approx(0.2))
    assert tightest_chain([400.0, 900.0, 1e5], 0.1)[1] == 1.0
    assert tightest_chain([900.0], 0.1) == (900.0, 0.1)
