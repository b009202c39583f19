"""Trade-off curves are upper or lower bounds of the truth, as their names say."""

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.curves import grid_tradeoff
from dpaudit.report.figures import implied_corners, tradeoff_above
from tests.report.examples import gaussian_shift

pytestmark = pytest.mark.quick

ALPHA = np.linspace(0.0, 1.0, 201)
GRIDS = [
    np.array([1.0]),
    np.array([0.0, 0.5, 1.0, 2.0]),
    np.array([0.3, 3.0]),
    np.linspace(0.0, 8.0, 400),
]


def gaussian_tradeoff(mu: float) -> np.ndarray:
    """G_μ(α) = Φ(Φ⁻¹(1 − α) − μ)."""
    return norm.cdf(norm.ppf(1 - ALPHA) - mu)


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("grid", GRIDS, ids=len)
def test_the_truth_lies_between_tangents_and_corners(grid, mu):
    delta = gaussian_shift(mu, grid)
    assert np.all(grid_tradeoff(grid, delta, ALPHA) <= gaussian_tradeoff(mu) + 1e-12)
    assert np.all(tradeoff_above(grid, delta, ALPHA) >= gaussian_tradeoff(mu) - 1e-12)


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("grid", GRIDS, ids=len)
def test_what_the_grid_implies_is_below_delta_at_every_epsilon(grid, mu):
    at, low = implied_corners(grid, gaussian_shift(mu, grid))
    fine = np.linspace(0.0, grid[-1] + 1, 2001)
    assert np.all(np.diff(at) >= 0)
    assert np.all(np.interp(fine, at, low, right=0.0) <= gaussian_shift(mu, fine) + 1e-12)
    np.testing.assert_allclose(np.interp(grid, at, low), gaussian_shift(mu, grid), atol=1e-12)


def test_nothing_certified_rules_nothing_out():
    grid = GRIDS[1]
    np.testing.assert_allclose(tradeoff_above(grid, np.zeros(4), ALPHA), 1 - ALPHA)


def test_complete_disclosure_is_the_curve_zero_and_large_epsilon_does_not_overflow():
    assert np.all(tradeoff_above(np.array([0.0, 1000.0]), np.ones(2), ALPHA)[1:] < 1e-12)
    assert np.all(grid_tradeoff(np.array([1000.0]), np.zeros(1), ALPHA)[1:] < 1e-12)


def test_a_bound_that_rises_holds_at_every_smaller_epsilon():
    grid = np.array([0.0, 1.0])
    rising, level = (tradeoff_above(grid, np.array(low), ALPHA) for low in ([0.1, 0.2], [0.2, 0.2]))
    np.testing.assert_array_equal(rising, level)
