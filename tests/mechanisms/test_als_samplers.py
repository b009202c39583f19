"""The two ALS samplers draw from one law."""

from functools import cache

import numpy as np

from dpaudit.mechanisms import ALS
from tests.mechanisms.mechanism_cases import DATA
from tests.statistical.two_sample import largest_distance, threshold

ROWS, FEATURES = 7, DATA.shape[1] - 1  # 5 degrees of freedom: heavy tails
SIZE = 20_000
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


LIMIT = threshold(SIZE, statistics=2 * (2 * FEATURES + 2), error=ERROR)


@cache
def drawn(sampler):
    order = ("student", "literal").index(sampler)
    return views(ALS(ROWS, sampler)(DATA, SIZE, rng=order))


def test_samplers_agree_in_law():
    """Fails for equal laws with probability at most 1e-6, both tests together."""
    assert largest_distance(drawn("student"), drawn("literal")) < LIMIT


def test_the_literal_sketch_may_be_made_in_blocks(monkeypatch):
    monkeypatch.setattr("dpaudit.mechanisms.least_squares.LITERAL_BLOCK", 5 * ROWS)
    assert (
        largest_distance(views(ALS(ROWS, "literal")(DATA, SIZE, rng=9)), drawn("student")) < LIMIT
    )
