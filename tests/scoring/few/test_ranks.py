"""The score for a handful of draws: free of scale and outliers, small odds for few draws."""

import numpy as np
import pytest

from dpaudit.scoring import Sides, log_loss
from dpaudit.scoring.few import fit_few_draws
from dpaudit.scoring.models.logistic import calibrated

pytestmark = pytest.mark.quick


def sides(size, columns=1, shift=1.0, spread=1.0, seed=0):
    P, Q = np.random.default_rng(seed).standard_normal((2, size, columns))
    P[:, 0] = spread * P[:, 0] + shift
    return Sides(P, Q)


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_it_learns_shifts_and_scales_from_few_draws(spread):
    """With 100 draws a side the loss of the truth is 0.59 and 0.61.

    That of guessing is 0.693; 0.66 is ten standard errors off.
    """
    score = fit_few_draws(sides(100, shift=2.0 - spread, spread=spread))
    assert log_loss(score, sides(20_000, shift=2.0 - spread, spread=spread, seed=1)) < 0.66


def test_few_draws_make_small_odds_and_more_make_larger_ones():
    grid = np.linspace(-2.0, 3.0, 50)[:, None]
    largest = [np.abs(fit_few_draws(sides(size))(grid)).max() for size in (2, 20, 200)]
    assert largest[0] < 1.0
    assert np.all(np.diff(largest) > 0.0)


def test_no_scale_matters_and_no_outlier():
    train, fresh = sides(40), sides(30, seed=1)
    plain = fit_few_draws(train)(fresh.P)
    scaled = fit_few_draws(Sides(1e12 * train.P - 5.0, 1e12 * train.Q - 5.0))(1e12 * fresh.P - 5.0)
    np.testing.assert_allclose(scaled, plain, rtol=1e-3, atol=1e-3)
    train.P[0] = 1e300
    assert np.abs(fit_few_draws(train)(fresh.P) - plain).max() < 0.7


def test_ties_and_constants_are_no_matter():
    rng = np.random.default_rng(2)
    P, Q = (
        np.column_stack([rng.random(60) < share, np.full(60, 3.0)]).astype(float)
        for share in (0.9, 0.1)
    )
    score = fit_few_draws(Sides(P, Q))
    one, zero = score(np.array([[1.0, 3.0], [0.0, 3.0]]))
    assert one > 1.0 > -1.0 > zero
    np.testing.assert_allclose(
        fit_few_draws(Sides(np.ones((8, 1)), np.ones((8, 1))))(np.ones((1, 1))), 0.0, atol=1e-9
    )


def test_outcomes_that_are_no_numbers_are_told():
    P, Q = np.random.default_rng(3).standard_normal((2, 60, 1))
    P[:30] = np.nan
    score = fit_few_draws(Sides(P, Q))
    assert score(np.array([[np.nan]]))[0] > 1.0
    assert np.isfinite(score(np.array([[np.inf], [-np.inf]]))).all()


def test_a_radius_is_seen_in_many_columns():
    """10 columns, variance 2 against 1: 150 draws a side bring the loss below 0.6.

    The truth's is 0.43.
    """
    rng = np.random.default_rng(4)
    train, fresh = (
        Sides(np.sqrt(2) * rng.standard_normal((n, 10)), rng.standard_normal((n, 10)))
        for n in (150, 4000)
    )
    assert log_loss(fit_few_draws(train), fresh) < 0.6


def test_of_very_many_columns_those_that_differ_are_kept():
    """The shifted column's mean rank is 10 standard errors from even.

    The largest of the 300 others is below 5.
    """
    train = sides(200, 301, shift=2.0)
    score = fit_few_draws(train)
    moved = np.zeros((2, 301))
    moved[1, 0] = 2.0
    assert np.diff(score(moved))[0] > 0.5


def test_calibration_undoes_scale_and_offset():
    """Log-odds of N(1, 1) against N(0, 1) are x − ½; 20,000 draws fix the line to 0.03."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal(20_000) + 1.0, rng.standard_normal(20_000)
    offset, slope = calibrated(5.0 * x + 2.0, 5.0 * y + 2.0)
    np.testing.assert_allclose([slope * 5.0, offset + 2.0 * slope], [1.0, -0.5], atol=0.06)


def test_a_score_that_separates_keeps_a_finite_slope():
    offset, slope = calibrated(np.full(10, 3.0), np.full(10, -3.0))
    assert 0.5 < slope < 10.0
    assert abs(offset) < 0.1


def test_of_very_many_columns_constant_ones_are_not_chosen():
    """149 constant columns before one that is 1 with probability 0.9 against 0.1.

    The score of 1 is above that of 0 unless fewer than half of 40 draws show their side, which has
    probability below 1e-9.
    """
    rng = np.random.default_rng(1)
    P, Q = np.ones((2, 40, 150))
    P[:, -1], Q[:, -1] = (rng.random(40) < share for share in (0.9, 0.1))
    rows = np.ones((2, 150))
    rows[1, -1] = 0.0
    one, zero = fit_few_draws(Sides(P, Q))(rows)
    assert one > zero
