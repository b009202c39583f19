"""The score of few draws, chosen by cross-validated loss."""

import numpy as np

from dpaudit.certify.few import Block, CombinedTest
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


def test_fifty_learned_draws_of_a_shift_by_three_certify_two_thirds():
    found = [certified(np.random.default_rng(seed)) for seed in range(5)]
    assert np.median(found) >= 0.65


def certified(rng, size=50, past=18):
    """δ(0) by one block, scored by what the draws before it teach."""
    p, q = rng.normal(0.0, 1.0, (size, 1)), rng.normal(3.0, 1.0, (size, 1))
    score = fit_few(Sides(p[:past], q[:past])).score
    hits = [int(np.sum(score(side[past:]) > 0.0)) for side in (p, q)]
    block = Block(hits[0], size - past, hits[1], size - past)
    return float(CombinedTest.of([block], 0.05).delta_at(np.ones(1))[0])
