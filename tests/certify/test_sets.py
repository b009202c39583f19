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


def test_a_set_is_not_taken_for_as_good_as_larger_ones_far_from_smaller_ones():
    """Of three clusters of scores, with few values in the outer ones, the whole outer cluster is
    the best set; three quarters of it have only better sets of nearly equal size.
    """
    share = np.array([0.43, 0.54, 0.03])
    values = [np.array([-2.82, -2.80, -2.79, -2.77]), None, np.array([2.66, 2.67, 2.68])]
    parts = [np.array([0.04, 0.3, 0.44, 0.22]), None, np.array([0.4, 0.3, 0.3])]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        sides = []
        for odds in (share[::-1], share):
            cluster = rng.choice(3, size=40_000, p=odds)
            score = 0.06 * rng.standard_normal(len(cluster))
            for which in (0, 2):
                own = cluster == which
                score[own] = rng.choice(values[which], size=own.sum(), p=parts[which])
            sides.append(score)
        one = CandidateSets.of(SortedScores.of(*sides), np.array([0.0, 0.5, 1.0]), 60_000, 0.05)
        for chosen in choose_sets(one):
            if not chosen.forward and chosen.epsilon in ((0.5,), (1.0,)):
                assert -2.77 < chosen.threshold < -0.1
