"""The score of few draws, weighed by cross-validated loss."""

import numpy as np
import pytest

from dpaudit.scoring import Sides, few
from dpaudit.scoring.few import RANKS, SPARSE, fit_few


def test_one_shifted_column_of_many_is_found():
    rng = np.random.default_rng(0)
    past = Sides(rng.normal(size=(100, 12)), rng.normal(size=(100, 12)) + np.eye(12)[3])
    score = few.fit_sparse(past)
    assert int(np.argmax(np.abs(score.gap))) == 3
    assert np.abs(score.gap).sum() < 1.5 * abs(score.gap[3])
    assert fit_few(past).name.split(", ")[0] == SPARSE


def test_a_common_scale_of_many_columns_is_left_to_the_ranks():
    rng = np.random.default_rng(1)
    fitted = fit_few(Sides(rng.normal(size=(150, 30)), 0.8 * rng.normal(size=(150, 30))))
    assert fitted.name.split(", ")[0] == RANKS
    assert fitted.portfolio[RANKS] < fitted.portfolio[SPARSE]


def test_draws_that_never_differ_are_scored_zero():
    same = np.ones((10, 3))
    score = few.fit_sparse(Sides(same, same))
    assert np.all(score(same) == 0.0)


def test_a_mixture_has_the_log_odds_of_the_mean_probability():
    odds = np.array([[0.0, 2.0, -1.0], [1.0, -3.0, -1.0]])
    mixed = few.Mixture([lambda x: odds[0], lambda x: odds[1]], np.array([0.25, 0.75]))(
        np.zeros((3, 1))
    )
    mean = np.array([0.25, 0.75]) @ (1.0 / (1.0 + np.exp(-odds)))
    np.testing.assert_allclose(mixed, np.log(mean / (1.0 - mean)), rtol=1e-12)


def test_a_mixture_keeps_scores_apart_that_are_far_from_even():
    mixed = few.Mixture([lambda x: x[:, 0], lambda x: 0.5 * x[:, 0]], np.array([0.5, 0.5]))
    far = mixed(np.array([[-np.inf], [-900.0], [-800.0], [800.0], [900.0], [np.inf]]))
    assert np.all(np.diff(far) > 40.0)


def test_a_kind_that_cannot_score_one_draw_has_no_weight():
    rng = np.random.default_rng(2)
    past = Sides(rng.normal(1.0, 1.0, (60, 1)), rng.normal(size=(60, 1)))
    losses = {
        SPARSE: few.held_out_losses(
            past, lambda _: lambda x: np.where(x == past.P[7], np.nan, x)[:, 0]
        ),
        RANKS: few.held_out_losses(past, lambda _: lambda x: -x[:, 0]),
    }
    assert few.weights_of(losses) == {RANKS: 1.0}


@pytest.mark.filterwarnings("error")
def test_enormous_outputs_and_missing_ones_are_scored():
    rng = np.random.default_rng(4)
    P, Q = rng.normal(2.0, 1.0, (40, 2)), rng.normal(size=(40, 2))
    P[3, 0], P[5], Q[9, 1] = 1e300, np.nan, -np.inf
    fresh = np.array([[1e300, -1e300], [np.nan, 0.0], [np.inf, 1.0]])
    assert np.all(np.isfinite(fit_few(Sides(P, Q)).score(np.concatenate([P, Q, fresh]))))


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
    assert np.mean([apart(fit_few(one).score) for one in past]) > 0.15
