"""Paper 1's estimator and its promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.papers.eureka import Votes
from dpaudit.scoring import Sides

pytestmark = pytest.mark.quick


# --- the promise ----------------------------------------------------------------------------------


def test_the_bound_at_the_paper_s_sizes():
    """n_train = 10^7 and n_test = 10^6 in two dimensions, computed by hand.

    c_2 = 22.65561, ln(80) = 4.38203.

    24·22.65561·√(4.38203/2e7) + 2·√(4.38203/2e6) = 0.254513 + 0.002960.
    """
    assert dp.eureka_bound(10_000_000, 1_000_000, 2, 0.0, 0.05) == pytest.approx(0.257473, abs=1e-6)


def test_the_bound_grows_with_epsilon_and_dimension_and_falls_with_draws():
    grid = np.array([0.0, 1.0, 2.5])
    radius = dp.eureka_bound(1000, 500, 3, grid)
    np.testing.assert_allclose(radius, radius[0] * np.exp(grid), rtol=1e-14)
    assert dp.eureka_bound(4000, 2000, 3, 1.0) == pytest.approx(0.5 * radius[1], rel=1e-14)
    assert dp.eureka_bound(1000, 500, 4, 1.0) > 4.0 * radius[1]
    assert isinstance(dp.eureka_bound(1000, 500, 3, 1.0), float)
    assert dp.eureka_bound(1000, 500, 3, 0.0, 0.01) > radius[0]
    assert dp.eureka_bound(1000, 500, 2000, 0.0) == np.inf


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


# --- votes ----------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(3, 500))
def test_votes_on_a_line_are_those_of_the_tree(seed, size):
    """Distances without ties: one set of k nearest."""
    rng = np.random.default_rng(seed)
    P, Q, x = rng.standard_normal((3, size, 1))
    line = Votes.fit(Sides(P, Q))
    rows = np.concatenate([x[:20], P[:3], [[-50.0], [50.0]]])
    nearest = np.argsort(np.abs(rows - line.points.T), axis=1, kind="stable")[:, : line.k]
    np.testing.assert_array_equal(line.won(rows), line.label[nearest].sum(axis=1))
    assert line.k == min(10 * int(np.ceil(np.sqrt(2 * size))), 2 * size)


# --- the estimator --------------------------------------------------------------------------------


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


def test_the_estimate_in_the_plane(rng):
    P, Q = rng.standard_normal((2, 2000, 2))
    found = dp.eureka(P, Q + np.array([1.0, 0.0]), 0.5, rng=1)
    assert found.delta.shape == ()
    assert float(found.delta) == pytest.approx(float(dp.exact.gaussian_shift(1.0, 0.5)), abs=0.15)
    assert float(found.radius) > 1.0


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
