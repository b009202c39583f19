"""How often the two-sided interval holds, at all ε at once, what the sets of the score show."""

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.certify import CandidateSets, ScoreCells, SortedScores, cells_interval
from reports.make.band.score_laws import SCORE_LAWS, SimulatedCounts

EPSILON = np.linspace(0.0, 4.0, 41)
AUDITS, ERROR, MOST = 200, 0.05, 0.07  # MOST : the error that is allowed
FALSE_ALARM = 1e-3


def shown(law, threshold):
    """θ(ε): the largest over the thresholds, of either direction, by the exact law."""
    p, q = law.tail(threshold, True), law.tail(threshold, False)
    gamma = np.exp(EPSILON)[:, None]
    forward, backward = p - gamma * q, (1.0 - q) - gamma * (1.0 - p)
    return np.maximum(np.max(np.concatenate([forward, backward], axis=1), axis=1), 0.0)


def misses(law, size, number):
    key = (SCORE_LAWS.index(law), size, number)
    rng = np.random.default_rng(np.random.SeedSequence(17, spawn_key=key))
    choose = SortedScores.of(*law.sides(rng, min(size // 5, 20_000)))
    threshold = CandidateSets.of(choose, EPSILON[:1], size, ERROR).threshold
    cells = ScoreCells.of(SimulatedCounts(law, size, rng), threshold)
    low, high = cells_interval(cells, EPSILON, ERROR)
    truth = shown(law, threshold)
    return bool(np.any((truth < low - 1e-12) | (truth > high + 1e-12)))


@pytest.mark.slow  # 3 s each
@pytest.mark.parametrize("size", [1_000, 100_000])
@pytest.mark.parametrize("law", SCORE_LAWS, ids=lambda law: law.name)
def test_the_interval_misses_what_the_score_shows_as_often_as_it_says(law, size):
    wrong = sum(misses(law, size, number) for number in range(AUDITS))
    assert wrong <= binom.isf(FALSE_ALARM, AUDITS, MOST)
