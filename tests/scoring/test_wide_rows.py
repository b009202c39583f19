"""Rows of more than a hundred numbers: the same scores in less time, and from more draws."""

import numpy as np
import pytest

from dpaudit.scoring import Sides, constants, fit, portfolio, whiten
from dpaudit.scoring.models import closed

COLUMNS = 120


def shifted(seed, draws):
    """Normals with correlated columns of wild scales, all of them shifted, by 1 in all."""
    rng = np.random.default_rng(seed)
    P, Q = rng.normal(size=(2, draws, COLUMNS))
    Q += 1.0 / np.sqrt(COLUMNS)
    P[:, 1:] += P[:, :-1]
    Q[:, 1:] += Q[:, :-1]
    scale = 10.0 ** rng.integers(-5, 6, size=COLUMNS)
    return Sides(P * scale, Q * scale)


def test_moments_are_the_same_before_and_after_whitening(monkeypatch):
    train = shifted(1, 1000)
    whitener = whiten.Whitener.fit(train.P, train.Q)
    assert whitener.least > constants.WELL_CONDITIONED
    before = closed.MomentDifference.fit(train, whitener)
    monkeypatch.setattr(constants, "WIDE", COLUMNS)
    after = closed.MomentDifference.fit(train, whitener)
    np.testing.assert_allclose(before.gap, after.gap, atol=1e-9)
    np.testing.assert_allclose(before.excess, after.excess, atol=1e-9)


def test_axes_without_an_excess_are_scored_together():
    rng = np.random.default_rng(2)
    excess = np.where(np.arange(COLUMNS) < 5, 0.5, 0.0)
    gap, x = rng.normal(size=COLUMNS), rng.normal(size=(10, COLUMNS))
    coordinates = closed.Coordinates(np.zeros(COLUMNS), np.ones(COLUMNS), np.zeros(COLUMNS))
    p, q = 1.0 - 0.5 * excess, 1.0 + 0.5 * excess
    each = ((x + 0.5 * gap) ** 2 / q - (x - 0.5 * gap) ** 2 / p + np.log(q / p)) / 2.0
    score = closed.Quadratic(coordinates, gap, excess)
    assert len(score._short.gap) == 6
    np.testing.assert_allclose(score(x), each.sum(axis=1), rtol=1e-12)


def test_a_quadratic_discriminant_of_wide_rows_is_fitted_to_the_choosing_draws_too():
    rng = np.random.default_rng(3)
    P, Q = rng.normal(size=(2, 500, COLUMNS))
    train, choose = Sides(P[:400], Q[:400]), Sides(P[400:], Q[400:])
    x = rng.normal(size=(20, COLUMNS))
    for name, refit in (
        (portfolio.BY_COLUMN, closed.fit_by_column),
        ("qda (full)", closed.fit_quadratic),
    ):
        score = portfolio.of_all_draws(name, train, choose)
        np.testing.assert_array_equal(score(x), refit(Sides(P, Q))(x))
    assert portfolio.of_all_draws("additive", train, choose) is None
    narrow = (Sides(part.P[:, :99], part.Q[:, :99]) for part in (train, choose))
    assert portfolio.of_all_draws(portfolio.BY_COLUMN, *narrow) is None


@pytest.mark.parametrize("spend", [False, True])
def test_choosing_draws_that_trained_the_score_are_said_to_be_spent(spend):
    rng = np.random.default_rng(4)
    P, Q = rng.normal(size=(2, 300, COLUMNS))
    train, choose = Sides(P[:200], Q[:200] + 0.2), Sides(P[200:], Q[200:] + 0.2)
    fitted = fit("auto", train, choose, np.random.SeedSequence(0), spend=spend)
    assert fitted.name.startswith("qda")
    assert fitted.spent is spend
