"""The score of few draws, chosen by cross-validated loss."""

import numpy as np

from dpaudit.scoring import Sides
from dpaudit.scoring.few.cross_validated import RANKS, SPARSE, fit_few
from dpaudit.scoring.few.sparse import fit_sparse


def test_one_shifted_column_of_many_is_found():
    rng = np.random.default_rng(0)
    past = Sides(rng.normal(size=(100, 12)), rng.normal(size=(100, 12)) + np.eye(12)[3])
    score = fit_sparse(past)
    assert int(np.argmax(np.abs(score.gap))) == 3
    assert np.abs(score.gap).sum() < 1.5 * abs(score.gap[3])
    assert fit_few(past).name == SPARSE


def test_a_common_scale_of_many_columns_is_left_to_the_ranks():
    rng = np.random.default_rng(1)
    fitted = fit_few(Sides(rng.normal(size=(150, 30)), 0.8 * rng.normal(size=(150, 30))))
    assert fitted.name == RANKS
    assert fitted.portfolio[RANKS] < fitted.portfolio[SPARSE]


def test_draws_that_never_differ_are_scored_zero():
    same = np.ones((10, 3))
    score = fit_sparse(Sides(same, same))
    assert np.all(score(same) == 0.0)
