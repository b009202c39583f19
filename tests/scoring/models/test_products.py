"""Parities of columns are found among all pairs and triples, and nothing where there are none."""

import numpy as np
import pytest

from dpaudit import scoring
from dpaudit.scoring import Sides, log_loss
from dpaudit.scoring.models.products import find_products, fit_products

pytestmark = pytest.mark.quick

COLUMNS = (1, 3, 4)


def zero(x):
    return np.zeros(len(x))


def parity(rng, size, columns=6):
    """Normals; the sign of the product of `COLUMNS` is + with probability 0.73 in P, 0.27 in Q."""
    P, Q = rng.standard_normal((2, size, columns))
    for side, share in ((P, 0.73), (Q, 0.27)):
        want = np.where(rng.random(size) < share, 1.0, -1.0)
        side[:, COLUMNS[0]] *= np.sign(side[:, COLUMNS]).prod(axis=1) * want
    return Sides(P, Q)


def test_auto_finds_the_parity_of_three_columns(rng):
    """The true loss is ±ln(0.73/0.27), and its mean 0.583 nats a draw."""
    train, choose = parity(rng, 4_000), parity(rng, 2_000)
    fitted = scoring.fit("auto", train, choose, np.random.SeedSequence(1))
    assert "sign products" in fitted.name
    assert log_loss(fitted.score, choose) == pytest.approx(0.583, abs=0.03)


def test_the_products_are_those_that_differ(rng):
    products = find_products(parity(rng, 4_000), zero)
    assert products is not None
    assert products.sets == (COLUMNS,)
    x = np.array([[0.0, 2.0, 0.0, -2.0, 2.0, 0.0], [0.0, 2.0, 0.0, -2.0, -2.0, 0.0]])
    np.testing.assert_array_equal(products(x), [[-1.0], [1.0]])


def test_equal_laws_have_no_products_at_the_stated_level():
    """Chance 0.001 each: two of 100 or more have a probability of 0.005."""
    found = [
        find_products(Sides(*np.random.default_rng(seed).standard_normal((2, 500, 5))), zero)
        for seed in range(100)
    ]
    assert sum(one is not None for one in found) < 2


@pytest.mark.parametrize("columns", [1, 25])
def test_one_column_or_very_many_have_none(columns, rng):
    sides = Sides(*rng.standard_normal((2, 50, columns)))
    assert fit_products(sides, sides, zero) is None
