"""Logistic regression with an offset, the contest of scores, sums over columns that differ."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpaudit.scoring import Sides, log_loss
from dpaudit.scoring.models.additive import fit_additive
from dpaudit.scoring.models.logistic import fit_correction, fit_ridge
from dpaudit.scoring.models.screen import surplus
from dpaudit.scoring.portfolio import Contest
from tests.scoring.gaussian_task import draws, loss

pytestmark = pytest.mark.quick


def with_ones(x):
    return np.column_stack([np.ones(len(x)), x])


@pytest.mark.parametrize("penalty", [30.0, 0.1])
def test_newton_agrees_with_scikit_learn_without_an_offset(penalty):
    x, label = Sides(*draws(800)).stacked()
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found = fit_ridge(with_ones(x), label, 1 - label, np.zeros(len(x)), penalty, np.zeros(4))
    model = LogisticRegression(C=1.0 / penalty, tol=1e-12, max_iter=10_000).fit(x, label)
    np.testing.assert_allclose(found[1:], model.coef_[0], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found[0], model.intercept_[0], rtol=1e-3, atol=1e-4)


def test_separable_draws_do_no_harm():
    x = np.repeat([[-1.0], [1.0]], 50, axis=0)
    label = np.repeat([0, 1], 50)
    weight = fit_ridge(with_ones(x), label, 1 - label, np.zeros(100), 1e-3, np.zeros(2))
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
    score = fit_correction(base, lambda x: (base(x), features(x)), train, choose)
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


# Which of many columns differ, each seen by itself, and what is fitted to these.

COLUMNS, MOVED, SHIFT = 100, np.array([3, 50, 99]), 0.5


def laplace(size, seed):
    rng = np.random.default_rng(seed)
    P, Q = rng.laplace(size=(2, size, COLUMNS))
    Q[:, MOVED] += SHIFT
    return Sides(P, Q)


def true_loss(x):
    return np.sum(np.abs(x[:, MOVED] - SHIFT) - np.abs(x[:, MOVED]), axis=1)


def test_as_many_columns_without_a_difference_are_seen_as_documented():
    """One expected among the columns of a table, atoms included: 40 tables of 50 columns."""
    rng = np.random.default_rng(1)
    seen = 0
    for _ in range(40):
        x = rng.standard_normal((2, 1000, 50))
        x[:, :, :25] = np.rint(x[:, :, :25])
        seen += int((surplus(Sides(*x)) > 0.0).sum())
    assert 15 <= seen <= 75  # 40 expected, standard deviation 6.3


@pytest.mark.parametrize("share", [0.02, 0.98])
def test_a_rare_value_is_seen_on_either_end(share):
    rng = np.random.default_rng(2)
    P = rng.random((4000, 3)) < share
    Q = rng.random((4000, 3)) < np.array([share, abs(share - 0.02), share])
    evidence = surplus(Sides(P.astype(float), Q.astype(float)))
    assert evidence[1] > 10.0 > 5.0 > evidence[[0, 2]].max()


def test_few_of_many_columns_are_summed():
    """Excess log loss of the sum over 3 of 100 columns, nats a draw; of the score 0 it is .14."""
    train, choose, fresh = (laplace(size, seed) for seed, size in enumerate((8000, 4000, 20_000)))
    score = fit_additive(train, choose)
    one = fresh.P[:200]
    read = [
        j
        for j in range(COLUMNS)
        if np.any(score(np.where(np.arange(COLUMNS) == j, -one, one)) != score(one))
    ]
    assert set(MOVED) <= set(read)
    assert len(read) <= 6
    assert log_loss(score, fresh) - log_loss(true_loss, fresh) < 0.004


def follower(size, seed):
    """A noisy count, and a number that follows it and says nothing more."""
    counts = np.rint(np.random.default_rng(seed).laplace(scale=2.0, size=(2, size)))
    counts[1] += 1.0
    noise = np.random.default_rng([seed, 1]).normal(size=(2, size))
    return Sides(*np.stack([counts, counts + 2.0 * noise, -noise], axis=2))


def test_a_column_that_holds_all_of_the_difference_stands_alone():
    train, choose = (follower(size, seed) for seed, size in enumerate((8000, 8000)))
    score = fit_additive(train, choose)
    tied = score(np.array([[3.0, 9.0, 1.0], [3.0, -9.0, 0.0]]))
    assert tied[0] == tied[1]
