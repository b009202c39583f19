"""Interactions of two columns among others."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.scoring.base import Sides, log_loss, zero
from dpaudit.scoring.models import boosted, pairs
from reports.make.families import FAMILIES

SIZE = 2000
SEED = np.random.SeedSequence(1)


def rows(seed, size=SIZE):
    return np.random.default_rng(seed).normal(size=(size, 8))


def spread_by_another(seed):
    """Column 6 is wide where column 2 is positive in P, where it is negative in Q."""
    P, Q = rows(seed), rows(seed + 1)
    P[:, 6] *= np.where(P[:, 2] > 0.0, 2.0, 1.0)
    Q[:, 6] *= np.where(Q[:, 2] > 0.0, 1.0, 2.0)
    return Sides(P, Q)


def checkerboard(seed):
    """Columns 1 and 4 fall on squares of one colour more often in P, of the other in Q."""
    P, Q = rows(seed, 6 * SIZE), rows(seed + 1, 6 * SIZE)
    kept = [
        np.random.default_rng(seed).random(len(x))
        < np.where((np.floor(1.5 * x[:, 1]) + np.floor(1.5 * x[:, 4])) % 2 == side, 0.8, 0.2)
        for side, x in enumerate((P, Q))
    ]
    return Sides(P[kept[0]][:SIZE], Q[kept[1]][:SIZE])


def test_equal_sides_have_no_pairs():
    """The level is 0.001 over all pairs: of 60 runs one has a pair with probability 0.06."""
    with_pairs = sum(
        bool(pairs.missed(Sides(rows(2 * i, 500), rows(2 * i + 1, 500)), zero).pairs)
        for i in range(60)
    )
    assert with_pairs <= 1


@pytest.mark.parametrize(("draw", "pair"), [(spread_by_another, (2, 6)), (checkerboard, (1, 4))])
def test_the_pair_that_interacts_comes_first(draw, pair):
    assert pairs.missed(draw(3), zero).pairs[0] == pair


def test_products_learn_what_is_smooth_and_leave_nothing_for_trees():
    train, choose, fresh = spread_by_another(3), spread_by_another(5), spread_by_another(7)
    score = pairs.fit_products(train, choose, zero, pairs.missed(train, zero).pairs)
    assert np.log(2.0) - log_loss(score, fresh) > 0.05
    assert pairs.fit_trees(train, choose, SEED, score, pairs.missed(train, score).pairs) is None


@pytest.mark.parametrize("library", ["lightgbm", "scikit-learn"])
def test_trees_of_a_pair_learn_a_checkerboard(library, monkeypatch):
    if library == "scikit-learn":
        monkeypatch.setattr(boosted, "lightgbm", lambda: (None, "hidden"))
    train, choose, fresh = checkerboard(3), checkerboard(5), checkerboard(7)
    of_pairs = pairs.fit_trees(train, choose, SEED, zero, pairs.missed(train, zero).pairs)
    of_all = boosted.fit_boosted(train, choose, SEED, zero)
    gain, other = (np.log(2.0) - log_loss(score, fresh) for score in (of_pairs, of_all))
    assert gain > max(1.5 * other, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_trees_take_part_where_products_leave_less_than_a_test_finds(seed):
    (P, _), (Q, _) = FAMILIES["exclusive or of thresholds"](np.random.default_rng(seed), 4000)
    assert "from products of pairs" in dp.audit_samples(P, Q, epsilon=[0.0], rng=1).fitted.name
