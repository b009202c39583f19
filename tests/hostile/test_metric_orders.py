"""Claims by distance about several records: the tightest order of the changes, not that of rows."""

from itertools import permutations

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.curves import chained, tightest_chain


def moved(*distances):
    """Two databases whose rows are these distances apart."""
    data = np.zeros((len(distances), 2))
    return dp.NeighbourPair(data, np.column_stack([distances, data[:, 1]]))


@pytest.mark.parametrize("distances", [(1.0, 3.0), (3.0, 1.0)])
def test_the_order_of_rows_does_not_matter(distances):
    claim = dp.Claim.metric(1.0, "manhattan", 1e-3).on(moved(*distances))
    assert claim.epsilon == 4.0
    assert claim.delta == pytest.approx(1e-3 * (1.0 + np.e), rel=1e-12)


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


def test_the_bound_holds_for_randomised_answers():
    """A mechanism that attains (ε·d, δ) at each change: what two changes leak is within the claim.

    Each record is published with probability δ, and a bit of it is flipped with odds e^{−ε·d}.
    """
    epsilon, delta, distances = 0.7, 0.01, np.array([1.0, 3.0])
    claim = dp.Claim.metric(epsilon, "manhattan", delta).on(moved(*distances))
    odds = epsilon * distances
    right = 1.0 / (1.0 + np.exp(-odds))
    bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    mass = np.prod(np.where(bits, right, 1.0 - right), axis=1)
    leak = 1.0 - (1.0 - delta) ** 2
    for e in np.linspace(0.0, 4.0, 9):
        truth = leak + (1.0 - leak) * np.maximum(mass - np.exp(e) * mass[::-1], 0.0).sum()
        assert truth <= float(claim.delta_at(e)) + 1e-12


def test_records_that_do_not_move_and_that_move_far():
    assert tightest_chain([], 0.1) == (0.0, 0.0)
    assert tightest_chain([0.0, 0.0], 0.1) == (0.0, pytest.approx(0.2))
    assert tightest_chain([400.0, 900.0, 1e5], 0.1)[1] == 1.0
    assert tightest_chain([900.0], 0.1) == (900.0, 0.1)
