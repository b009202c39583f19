"""Which sets are certified: a claim's ε when its excess is faint, and when it is clear."""

import numpy as np
import pytest

from dpaudit.certify import CandidateSets, ChosenSet, SortedScores, choose_sets

pytestmark = pytest.mark.quick

MU, EPSILON = 0.4, 1.0  # N(μ/2, 1) | N(−μ/2, 1): log odds μx, δ(1) = 0.00125
GRID = np.array([0.0, EPSILON])


def candidates(size, seed, mu=MU, bend=lambda score: score):
    rng = np.random.default_rng([seed, size])
    P, Q = rng.standard_normal((2, size)) + np.array([[mu / 2], [-mu / 2]])
    return CandidateSets.of(SortedScores.of(bend(mu * P), bend(mu * Q)), GRID, 9 * size, 0.05)


def test_a_faint_excess_gets_a_second_set_and_a_clear_one_does_not():
    for size, shares in (
        (2_000, (0.2, 0.1)),
        (1_000_000, (0.2,)),
    ):
        one = candidates(size, 1)
        kept = [each for each in choose_sets(one, (EPSILON,)) if each.epsilon == (EPSILON,)][
            -len(shares) :
        ]
        assert [each.share for each in kept] == pytest.approx([0.05 * share for share in shares])
        assert sum(each.share for each in choose_sets(one, (EPSILON,))) == pytest.approx(0.05)


def test_scores_that_are_no_odds_leave_the_set_of_the_counts():
    """Whatever increasing function of the log odds the score is, the set by counts is the same."""
    plain, bent = (
        choose_sets(candidates(50_000, 3, bend=bend), (EPSILON,))
        for bend in (lambda s: s, lambda s: 7.0 + s**3)
    )
    ours, others = (
        [each for each in found if each.epsilon == (EPSILON,)] for found in (plain, bent)
    )
    assert 7.0 + ours[-2].threshold ** 3 == pytest.approx(others[-2].threshold, rel=0.05)


def test_two_epsilons_with_one_exponential_are_one():
    """0.1 + 0.2 differs from 0.3 in its last bit, and e^ε of both is the same float."""
    region = ChosenSet(True, 0.0, (0.3, 0.1 + 0.2), 0.02).region(80, 400, 30, 400)
    alone = ChosenSet(True, 0.0, (0.3,), 0.02).region(80, 400, 30, 400)
    for corners, same in zip(vars(region).values(), vars(alone).values(), strict=True):
        np.testing.assert_array_equal(corners, same)
