"""Which of many columns differ, each seen by itself, and what is fitted to these."""

import numpy as np
import pytest

from dpaudit.scoring import Sides, log_loss
from dpaudit.scoring.models.additive import fit_additive
from dpaudit.scoring.models.closed import fit_by_column
from dpaudit.scoring.models.screen import strongest, surplus
from dpaudit.scoring.shrink import shrink_normal

pytestmark = pytest.mark.quick

COLUMNS, MOVED, SHIFT = 100, np.array([3, 50, 99]), 0.5


def laplace(size, seed):
    rng = np.random.default_rng(seed)
    P, Q = rng.laplace(size=(2, size, COLUMNS))
    Q[:, MOVED] += SHIFT
    return Sides(P, Q)


def true_loss(x):
    return np.sum(np.abs(x[:, MOVED] - SHIFT) - np.abs(x[:, MOVED]), axis=1)


def test_columns_that_move_are_found():
    evidence = surplus(laplace(4000, 0))
    np.testing.assert_array_equal(strongest(evidence, 3), MOVED)
    assert (evidence > 0.0).sum() <= 3 + 5  # one more expected


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
    assert len(score.columns) <= 6
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
    assert [column for column, _, _ in score.columns] == [0]
    tied = score(np.array([[3.0, 9.0, 1.0], [3.0, -9.0, 0.0]]))
    assert tied[0] == tied[1]


def test_few_large_numbers_are_kept_and_zeros_shrunk():
    rng = np.random.default_rng(3)
    truth = np.where(np.arange(1000) < 5, 8.0, 0.0)
    found = shrink_normal(truth + rng.standard_normal(1000), 1.0)
    assert np.sum((found - truth) ** 2) < 30.0  # 1,000 without shrinking; the best five cost 5


def test_many_small_numbers_are_shrunk_by_one_factor():
    """Of variance 1 in noise of variance 1: the best linear rule costs ½ each, no rule less."""
    rng = np.random.default_rng(4)
    truth = rng.standard_normal(1000)
    found = shrink_normal(truth + rng.standard_normal(1000), 1.0)
    assert np.mean((found - truth) ** 2) < 0.56


def test_by_column_a_sparse_shift_is_learned_from_few_draws():
    """Excess log loss of 100 columns of which 3 move; of all columns' raw means it is .01 more."""
    rng = np.random.default_rng(5)
    P, Q = rng.standard_normal((2, 2000, COLUMNS)) * np.geomspace(1e-200, 1e100, COLUMNS)
    fresh_P, fresh_Q = rng.standard_normal((2, 20_000, COLUMNS)) * np.geomspace(
        1e-200, 1e100, COLUMNS
    )
    gap = np.zeros(COLUMNS)
    gap[MOVED] = SHIFT * np.geomspace(1e-200, 1e100, COLUMNS)[MOVED]
    score = fit_by_column(Sides(P, Q + gap))
    fresh = Sides(fresh_P, fresh_Q + gap)

    def loss(x):
        return (x[:, MOVED] / gap[MOVED]) @ np.full(3, -(SHIFT**2)) + 1.5 * SHIFT**2

    assert log_loss(score, fresh) - log_loss(loss, fresh) < 0.003
    assert len(score.gap) == COLUMNS
