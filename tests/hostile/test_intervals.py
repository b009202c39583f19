"""The two-sided interval where one side has far more draws, and where hits are few.

Until these tests folds that preferred different directions were added, so that draws of one side
counted as those of the other, and the margins of a handful of hits shrank below those of a single
limit.
"""

import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

from dpaudit.certify import ScoreCells, cells_interval
from tests.sparse import one_in

EPSILON = np.linspace(0.0, 4.0, 41)
GAMMA = np.exp(EPSILON)[:, None]
ERROR, MOST, FALSE_ALARM = 0.05, 0.07, 1e-3  # MOST : the share of misses that is allowed
EDGES = np.linspace(-3.0, 3.0, 60)


def shown(p, q):
    """θ(ε), (41,), from the probabilities of {score > τ}."""
    return np.maximum(np.max(np.maximum(p - GAMMA * q, (1 - q) - GAMMA * (1 - p)), axis=1), 0.0)


def missed(truth, ends):
    return bool(np.any((truth < ends[0] - 1e-12) | (truth > ends[1] + 1e-12)))


@pytest.mark.parametrize(
    ("law", "sizes"),
    one_in(
        2,
        [
            (norm(0.5), (60, 500)),
            (norm(0.5), (500, 60)),
            (laplace(0.5), (450, 10_000)),
        ],
    ),
)
def test_sides_of_different_size_are_not_mixed(law, sizes):
    other, audits = norm(-law.mean()), 30
    cells = [np.diff(np.r_[0.0, one.cdf(EDGES), 1.0]) for one in (law, other)]
    truth = shown(law.sf(EDGES), other.sf(EDGES))
    rng = np.random.default_rng(sizes)
    wrong = 0
    for _ in range(audits):
        p, q = (rng.multinomial(size, one) for size, one in zip(sizes, cells, strict=True))
        wrong += missed(truth, cells_interval(ScoreCells(EDGES, p, q), EPSILON, ERROR))
    assert wrong <= binom.isf(FALSE_ALARM, audits, MOST)


@pytest.mark.parametrize(
    ("sizes", "hits"),
    [
        ((500, 500), [(2.0, 0.0), (3.3, 0.0), (4.0, 0.4), (5.0, 0.5), (8.0, 0.0)]),
        ((450, 10_000), [(2.0, 0.0), (4.5, 1.0)]),
    ],
    ids=str,
)
def test_rare_values_are_covered_at_the_level(sizes, hits):
    """Exact: each pair of counts has one interval, and its probability is known."""
    (n, m), most = sizes, (18, 5)
    counts = [(x, y) for x in range(most[0]) for y in range(most[1])]
    ends = [
        cells_interval(
            ScoreCells(np.zeros(1), np.array([n - x, x]), np.array([m - y, y])), EPSILON, ERROR
        )
        for x, y in counts
    ]
    x, y = np.transpose(counts)
    for p, q in np.divide(hits, sizes):
        chance = binom.pmf(x, n, p) * binom.pmf(y, m, q)
        truth = shown(np.array([p]), np.array([q]))
        covered = sum(chance[[not missed(truth, one) for one in ends]])
        assert covered >= 1.0 - MOST, (p * n, q * m)
