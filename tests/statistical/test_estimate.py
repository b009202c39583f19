"""The band itself: shape, monotonicity, agreement with the truth."""

import numpy as np
import pytest

from dpaudit.estimate import estimate
from dpaudit.exact import gaussian_shift

GRID = np.linspace(0.0, 3.0, 61)


def scores(size: int, seed: int, mu: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(size) + mu / 2, rng.standard_normal(size) - mu / 2


def test_low_is_below_the_truth_and_near_it():
    """One audit at level 1 − 1e-6, so it exceeds the truth by chance once in a million.

    Its 66 statements share 1e-6, hence 5.6 standard errors of at most 0.00183 where δ > 0.1; 3 more for the draws'
    own chance, 0.002 for the tangents.
    """
    found = estimate(scores(50_000, 1), scores(200_000, 2), GRID, 1.0 - 1e-6)
    truth = gaussian_shift(1.0, GRID)
    assert np.all(found.low <= truth)
    large = truth > 0.1
    assert np.all(truth[large] - found.low[large] < 8.6 * 0.00183 + 0.002)


def test_shape_of_the_curves():
    found = estimate(scores(2_000, 3), scores(10_000, 4), GRID, 0.95)
    for curve in (found.low, found.delta):
        assert curve.shape == GRID.shape
        assert np.all((curve >= 0.0) & (curve <= 1.0))
    assert np.all(np.diff(found.low) <= 0.0)


def test_point_estimate_is_close():
    """Standard error at 1e6 draws is below 8e-4 everywhere here; the bound is five of them."""
    found = estimate(scores(100_000, 5), scores(1_000_000, 6), GRID, 0.95)
    assert found.delta == pytest.approx(gaussian_shift(1.0, GRID), abs=4e-3)


def test_one_epsilon_certifies_more_than_many():
    few = estimate(scores(5_000, 7), scores(20_000, 8), np.array([1.0]), 0.95)
    many = estimate(scores(5_000, 7), scores(20_000, 8), GRID, 0.95)
    assert few.low[0] > many.low[20]


def test_directions_swap_with_the_sides():
    choose, test = scores(2_000, 9), scores(10_000, 10)
    there = estimate(choose, test, GRID, 0.95)
    back = estimate((-choose[1], -choose[0]), (-test[1], -test[0]), GRID, 0.95)
    for one, other in ((there.forward, back.backward), (there.backward, back.forward), (there, back)):
        np.testing.assert_allclose(one.low, other.low, rtol=1e-9, atol=1e-12)  # shares are sums in another order


def test_atoms_with_infinite_loss_are_certified_at_every_epsilon():
    """A value that P takes with probability 0.3 and Q never: δ(ε) ≥ 0.3 for all ε; level 1 − 1e-6."""
    rng = np.random.default_rng(12)

    def side(size: int, share: float) -> np.ndarray:
        return np.where(rng.random(size) < share, 1.0, 0.0)

    found = estimate((side(2_000, 0.3), side(2_000, 0.0)), (side(20_000, 0.3), side(20_000, 0.0)), GRID, 1 - 1e-6)
    assert np.all(found.low <= 0.3)
    assert found.low[0] > 0.27
    assert found.low[-1] > 0.25
