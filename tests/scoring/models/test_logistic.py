"""Logistic regression with an offset, against scikit-learn, and the contest of scores."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpaudit.scoring import Sides, log_loss
from dpaudit.scoring.models.logistic import fit_correction, fit_ridge
from dpaudit.scoring.portfolio import Contest
from tests.scoring.gaussian_task import draws, loss

pytestmark = pytest.mark.quick


def with_ones(x):
    return np.column_stack([np.ones(len(x)), x])


@pytest.mark.parametrize("penalty", [30.0, 0.1])
def test_newton_agrees_with_scikit_learn_without_an_offset(penalty):
    x, label = Sides(*draws(800)).stacked()
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found = fit_ridge(with_ones(x), label, np.zeros(len(x)), penalty, np.zeros(4))
    model = LogisticRegression(C=1.0 / penalty, tol=1e-12, max_iter=10_000).fit(x, label)
    np.testing.assert_allclose(found[1:], model.coef_[0], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found[0], model.intercept_[0], rtol=1e-3, atol=1e-4)


def test_separable_draws_do_no_harm():
    x = np.repeat([[-1.0], [1.0]], 50, axis=0)
    weight = fit_ridge(with_ones(x), np.repeat([0, 1], 50), np.zeros(100), 1e-3, np.zeros(2))
    assert np.isfinite(weight).all()
    assert weight[1] > 3.0


def test_a_correction_mends_a_poor_base():
    P, Q = draws(6000)
    train, choose, fresh = (
        Sides(P[:4000], Q[:4000]),
        Sides(P[4000:], Q[4000:]),
        Sides(*draws(20_000, seed=7)),
    )

    def features(x):
        z = x / x.std(axis=0)
        return np.column_stack([z, z**2, z[:, :1] * z[:, 1:], z[:, 1:2] * z[:, 2:]])

    base = lambda x: 0.3 * loss(x)  # noqa: E731
    score = fit_correction(base, features, train, choose)
    assert log_loss(score, fresh) - log_loss(loss, fresh) < 0.2 * (
        log_loss(base, fresh) - log_loss(loss, fresh)
    )


def test_a_challenger_must_be_clearly_better():
    sides = Sides(*draws(2000))
    contest = Contest(sides)
    contest.enter("half", lambda x: 0.5 * loss(x))
    assert not contest.challenge(
        "nearly half", lambda x: 0.5 * loss(x) + 0.1 * np.sin(1e3 * x[:, 0])
    )
    assert contest.challenge("true", loss)
    assert contest.best() == "true"
    assert set(contest.table) == {"half", "true"}
