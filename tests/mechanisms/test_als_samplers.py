"""The two ALS samplers draw from one law; the comparison would notice another law."""

from functools import cache

import numpy as np
import pytest

from dpaudit.laws import Gaussian
from dpaudit.mechanisms import ALS
from tests.mechanisms.mechanism_cases import DATA
from tests.sparse import one_in
from tests.statistical.two_sample import largest_distance, threshold

ROWS, FEATURES = 7, DATA.shape[1] - 1  # 5 degrees of freedom: heavy tails
SIZE = 20_000
SEEDS = (1, 2, 3)
ERROR = 1e-6  # of all comparisons of equal laws together
LAW = ALS(ROWS).law(DATA)
TURN = np.linalg.qr(np.random.default_rng(5).standard_normal((FEATURES, FEATURES)))[0]


def views(draws):
    """Coordinates, rotated coordinates, radius and direction, (n, 2p + 2).

    They show marginals, tails and dependence.
    """
    white = (draws - LAW.mean) @ LAW.root.T
    radius = np.linalg.norm(white, axis=1)
    return np.column_stack([white, white @ TURN, radius, np.abs(white).max(axis=1) / radius])


LIMIT = threshold(SIZE, statistics=len(SEEDS) * (2 * FEATURES + 2), error=ERROR)


@cache
def drawn(sampler, seed):
    order = ("student", "literal").index(sampler)
    return views(ALS(ROWS, sampler)(DATA, SIZE, rng=[seed, order]))


@pytest.mark.parametrize("seed", one_in(len(SEEDS), SEEDS))
def test_samplers_agree_in_law(seed):
    """Fails for equal laws with probability at most 1e-6, all seeds together."""
    assert largest_distance(drawn("student", seed), drawn("literal", seed)) < LIMIT


def test_the_literal_sketch_may_be_made_in_blocks(monkeypatch):
    """Fails for equal laws with probability ≤ 3.4e-7: 8 of the 24 statistics that share 1e-6."""
    monkeypatch.setattr("dpaudit.mechanisms.least_squares.LITERAL_BLOCK", 5 * ROWS)
    assert (
        largest_distance(views(ALS(ROWS, "literal")(DATA, SIZE, rng=9)), drawn("student", 1))
        < LIMIT
    )


def independent_coordinates(rng):
    """Marginals as in the law, but a χ² of its own for every coordinate."""
    z = rng.standard_normal((SIZE, FEATURES)) / np.sqrt(rng.chisquare(LAW.dof, (SIZE, FEATURES)))
    return LAW.mean + np.linalg.solve(LAW.root, z.T).T


def matched_gaussian(rng):
    """The Gaussian of equal mean and covariance: right moments, light tails."""
    return Gaussian(LAW.mean, LAW.root * np.sqrt(LAW.dof - 2.0)).sample(SIZE, rng)


WRONG = {
    "one more sketch row": lambda rng: ALS(ROWS + 1, "literal")(DATA, SIZE, rng=rng),
    "coordinates made independent": independent_coordinates,
    "Gaussian of equal covariance": matched_gaussian,
    "label of one row forgotten": lambda rng: ALS(ROWS)(forgotten_label(), SIZE, rng=rng),
}


def forgotten_label():
    data = DATA.copy()
    data[2, -1] = 0.0
    return data


@pytest.mark.parametrize("wrong", WRONG)
def test_the_comparison_would_notice(wrong):
    """Power. A law at distance D* is missed with probability at most 4 exp(−n(D* − limit)²/2).

    The nearest of these are at D* = 0.063 (independent coordinates, from 1e6 draws) and 0.078 (one
    row more, from the beta-prime law of the radius). They are missed with probability below 1e-4
    and 1e-8, the others less often.
    """
    assert (
        largest_distance(views(WRONG[wrong](np.random.default_rng(11))), drawn("literal", 1))
        > LIMIT
    )
