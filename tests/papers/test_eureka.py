"""Paper 1's estimator and its promise."""

import numpy as np
import pytest

import dpaudit as dp

pytestmark = pytest.mark.quick


def test_the_bound_at_the_paper_s_sizes():
    """n_train = 10^7 and n_test = 10^6 in two dimensions, computed by hand.

    c_2 = 22.65561, ln(80) = 4.38203.

    24·22.65561·√(4.38203/2e7) + 2·√(4.38203/2e6) = 0.254513 + 0.002960.
    """
    assert dp.eureka_bound(10_000_000, 1_000_000, 2, 0.0, 0.05) == pytest.approx(0.257473, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_train": 0}, "n_train must be an integer >= 1"),
        ({"n_test": 1.5}, "n_test must be an integer >= 1"),
        ({"dim": 0}, "dim must be an integer >= 1"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"gamma": 1.0}, "gamma must be a finite number in"),
    ],
)
def test_the_bound_checks_its_arguments(change, message):
    with pytest.raises(dp.InvalidInput, match=message):
        dp.eureka_bound(
            **({"n_train": 100, "n_test": 100, "dim": 1, "epsilon": 0.0, "gamma": 0.1} | change)
        )


def test_the_estimate_at_every_epsilon(rng):
    """N(0, 1) | N(1, 1), 20,000 draws a side: standard errors 0.005 to 0.03, biased downwards."""
    P, Q = rng.standard_normal((2, 20_000))
    grid = np.array([0.0, 0.5, 1.0])
    found = dp.eureka(P, Q + 1.0, grid, rng=3)
    truth = dp.exact.gaussian_shift(1.0, grid)
    assert np.all(np.abs(found.delta - truth) < 6.0 * np.array([0.005, 0.01, 0.02]))
    np.testing.assert_array_equal(found.radius, dp.eureka_bound(20_000, 20_000, 1, grid))
    again = dp.eureka(P, Q + 1.0, grid, rng=3)
    np.testing.assert_array_equal(again.delta, found.delta)


def test_apart_is_one_and_equal_is_nothing(rng):
    """Of equal laws 1,000 test draws give 0 ± 0.03."""
    P, Q = rng.random((2, 1000, 1))
    assert dp.eureka(P, P + 5.0, 1.0, rng=1).delta == 1.0
    assert dp.eureka(P, Q, 0.0, rng=1).delta < 0.2


@pytest.mark.parametrize(
    ("P", "Q", "message"),
    [
        (np.ones(10), np.full(10, np.nan), "Q must be a 2-D array of finite numbers"),
        (np.ones((10, 2)), np.ones(10), "Q must be as many columns as P, 2"),
        (np.ones(1), np.ones(1), "P must be enough draws"),
        (["a"], np.ones(1), "P must be"),
    ],
)
def test_the_estimate_checks_its_draws(P, Q, message):
    with pytest.raises(dp.InvalidInput, match=message):
        dp.eureka(P, Q, 0.0)
