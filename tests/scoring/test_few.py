"""The score of few draws: free of scale and outliers, weighed by cross-validated loss."""

import numpy as np
import pytest

from dpaudit.scoring import Sides, few, log_loss
from dpaudit.scoring.models.logistic import calibrated


@pytest.mark.quick
def test_one_shifted_column_of_many_is_found():
    rng = np.random.default_rng(0)
    past = Sides(rng.normal(size=(100, 12)), rng.normal(size=(100, 12)) + np.eye(12)[3])
    score = few.fit_sparse(past)
    slope = np.abs(score(np.eye(12)) - score(-np.eye(12)))
    assert int(np.argmax(slope)) == 3
    assert slope.sum() < 1.5 * slope[3]
    assert few.fit_few(past).name.split(", ")[0] == few.SPARSE


def test_draws_that_never_differ_are_scored_zero():
    same = np.ones((10, 3))
    score = few.fit_sparse(Sides(same, same))
    assert np.all(score(same) == 0.0)


def test_one_part_of_many_is_found_in_few_draws():
    """Forty parts, of which one lies 3.7 standard deviations apart: log loss 0.25 to 0.32 on 12
    seeds, and 0.69 without a score of parts.
    """
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(2, 1175, 40, 3))
    for side in (P, Q):
        side[:, :, 1] += 0.5 * side[:, :, 0]
    apart = [2.5, -1.0, 1.5] + 0.5 * rng.normal(size=(1175, 3))
    P[np.arange(1175), rng.integers(40, size=1175)] = apart
    P, Q = P.reshape(1175, 120), Q.reshape(1175, 120)
    score = few.fit_few(Sides(P[:175], Q[:175])).score
    assert log_loss(score, Sides(P[175:], Q[175:])) < 0.5


def test_a_mixture_has_the_log_odds_of_the_mean_probability():
    odds = np.array([[0.0, 2.0, -1.0], [1.0, -3.0, -1.0]])
    mixed = few.mixture([lambda x: odds[0], lambda x: odds[1]], np.array([0.25, 0.75]))(
        np.zeros((3, 1))
    )
    mean = np.array([0.25, 0.75]) @ (1.0 / (1.0 + np.exp(-odds)))
    np.testing.assert_allclose(mixed, np.log(mean / (1.0 - mean)), rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_enormous_outputs_and_missing_ones_are_scored():
    rng = np.random.default_rng(4)
    P, Q = rng.normal(2.0, 1.0, (40, 2)), rng.normal(size=(40, 2))
    P[3, 0], P[5], Q[9, 1] = 1e300, np.nan, -np.inf
    fresh = np.array([[1e300, -1e300], [np.nan, 0.0], [np.inf, 1.0]])
    assert np.all(np.isfinite(few.fit_few(Sides(P, Q)).score(np.concatenate([P, Q, fresh]))))


@pytest.mark.slow  # 4 CPU seconds
def test_one_shifted_column_of_eleven_certifies_most_of_what_the_true_loss_does():
    """T2 with 300 draws a side: the largest |P(S) − Q(S)| of the score, 0.19 by the true loss."""
    rng = np.random.default_rng(3)
    shift, spread = np.r_[0.5, np.zeros(10)], np.sqrt(np.r_[0.97 / 0.85, np.full(10, 0.97)])
    fresh = Sides(rng.normal(size=(4000, 11)), shift + spread * rng.normal(size=(4000, 11)))

    def apart(score):
        p, q = score(fresh.P), score(fresh.Q)
        return abs(float(np.mean(p > np.median(q))) - 0.5)

    past = (
        Sides(rng.normal(size=(105, 11)), shift + spread * rng.normal(size=(105, 11)))
        for _ in range(40)
    )
    assert np.mean([apart(few.fit_few(one).score) for one in past]) > 0.15


# --- the regression on ranks ---


def sides(size, columns=1, shift=1.0, spread=1.0, seed=0):
    P, Q = np.random.default_rng(seed).standard_normal((2, size, columns))
    P[:, 0] = spread * P[:, 0] + shift
    return Sides(P, Q)


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_it_learns_shifts_and_scales_from_few_draws(spread):
    """With 100 draws a side the loss of the truth is 0.59 and 0.61.

    That of guessing is 0.693; 0.66 is ten standard errors off.
    """
    score = few.fit_few_draws(sides(100, shift=2.0 - spread, spread=spread))
    assert log_loss(score, sides(20_000, shift=2.0 - spread, spread=spread, seed=1)) < 0.66


def test_no_scale_matters_and_no_outlier():
    train, fresh = sides(40), sides(30, seed=1)
    plain = few.fit_few_draws(train)(fresh.P)
    scaled = few.fit_few_draws(Sides(1e12 * train.P - 5.0, 1e12 * train.Q - 5.0))(
        1e12 * fresh.P - 5.0
    )
    np.testing.assert_allclose(scaled, plain, rtol=1e-3, atol=1e-3)
    train.P[0] = 1e300
    assert np.abs(few.fit_few_draws(train)(fresh.P) - plain).max() < 0.7


def test_calibration_undoes_scale_and_offset():
    """Log-odds of N(1, 1) against N(0, 1) are x − ½; 20,000 draws fix the line to 0.03."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal(20_000) + 1.0, rng.standard_normal(20_000)
    offset, slope = calibrated(5.0 * x + 2.0, 5.0 * y + 2.0)
    np.testing.assert_allclose([slope * 5.0, offset + 2.0 * slope], [1.0, -0.5], atol=0.06)
