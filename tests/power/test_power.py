"""Predicted draws: arguments, order, and agreement with what certifies."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import dpaudit as dp
from dpaudit import power
from dpaudit.certify import (
    RefutingCounts,
    SortedScores,
    certify_few,
    few_split,
    refuting,
    region,
    samples_for,
)
from reports.make.audits.power import shift_of

pytestmark = pytest.mark.quick


def test_the_fixed_number_is_that_of_a_test_of_two_binomials():
    """At ε = 0 and P(S) − Q(S) = 0.1 about one half, n draws certify.

    z₀.₈ + z₀.₉₇₅ standard errors of n draws are 0.1, with ¼·z₀.₉₇₅² added to hits and to misses.
    """
    z = ndtri(0.975)

    def short(n):
        hits, misses = (n * p + z**2 / 4 for p in (0.55, 0.45))
        return (ndtri(0.8) + z) * np.sqrt(2 * hits * misses / n**3) - 0.1

    certify = brentq(short, 100, 1000)
    draws = power.draws_to_detect(0.0, 0.0, 0.1, statements=2)
    assert draws == pytest.approx(samples_for(int(np.ceil(certify))), abs=2)
    assert power.smallest_excess(0.0, 0.0, certify, 0.025) == pytest.approx(0.1, rel=1e-3)


def test_small_excesses_cost_the_inverse_square():
    near, far = (
        power.draws_to_detect(0.5, 0.05, excess, stop="verdict") for excess in (2e-3, 1e-3)
    )
    assert far / near == pytest.approx(4.0, rel=0.1)
    many, few = (power.smallest_excess(0.5, 0.05, draws, 0.025) for draws in (4_000_000, 1_000_000))
    assert few / many == pytest.approx(2.0, rel=0.02)
    assert power.smallest_excess(0.0, 1.0, 100, 0.05) == np.inf
    assert power.excess_shown(0.0, 1.0, 100, 0.05) == np.inf


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_the_smallest_excess_inverts_the_number_of_draws(epsilon):
    excess = power.smallest_excess(epsilon, 0.02, 5000, 0.025)
    assert power.draws_to_detect(epsilon, 0.02, excess, statements=2) == pytest.approx(
        samples_for(5000), rel=0.01
    )
    excess = power.excess_shown(epsilon, 0.02, 5000, 0.05)
    assert power.draws_to_detect(epsilon, 0.02, excess, stop="verdict") == pytest.approx(
        5000, rel=0.01
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"excess": 0.0}, "excess must be a finite number in \\(0, 0.9\\)"),
        ({"delta": -0.1}, "delta must be"),
        ({"stop": "early"}, "stop must be 'verdict'"),
        ({"statements": 0}, "statements must be"),
    ],
)
def test_bad_input_is_named(changes, message):
    arguments = {"epsilon": 1.0, "delta": 0.1, "excess": 0.05} | changes
    with pytest.raises(dp.InvalidInput, match=message):
        power.draws_to_detect(**arguments)


def test_the_power_of_few_draws_is_that_of_all_their_outcomes():
    """Over every pair of counts of 8 and 6 draws, of which each is tried."""
    counts = RefutingCounts((8, 6), 0.3, 0.05, 0.1)
    p, q, gamma = 0.9, 0.15, np.exp(0.3)
    pairs = [
        (x, y)
        for x, y in product(range(9), range(7))
        if region(x, 8, y, 6, (gamma,), 0.1).low(gamma) > 0.05
    ]
    summed = sum(binom.pmf(x, 8, p) * binom.pmf(y, 6, q) for x, y in pairs)
    assert counts.power(p, q) == pytest.approx(summed, abs=refuting.OUTSIDE)
    assert 0.2 < summed < 0.9


def test_whether_a_power_is_reached_needs_few_of_the_counts():
    whole, quick = (RefutingCounts((50, 40), 0.5, 0.02, 0.05) for _ in range(2))
    for p, q in ((0.7, 0.25), (0.55, 0.2), (0.65, 0.3)):
        for wanted in (0.5, 0.8):
            assert quick.reaches(wanted, p, q) == (whole.power(p, q) >= wanted)
    assert all(quick.least[y] == whole.least[y] for y in quick.least)
    assert len(quick.least) < 0.8 * len(whole.least)


def test_counts_refute_a_claim_where_the_region_of_the_audit_does_or_one_hit_later():
    gamma, counts = np.exp(0.5), RefutingCounts((50, 40), 0.5, 0.02, 0.05)
    fewer = 0
    for y in range(0, 41, 2):
        x = counts.needed(y)
        refuted = [
            region(one, 50, y, 40, (gamma,), 0.05).low(gamma) > 0.02
            for one in (x - 2, x - 1, x)
            if one <= 50
        ]
        assert not refuted[0]
        assert all(refuted[2:])
        fewer += refuted[1]
    assert fewer <= 3


def test_few_draws_and_the_excess_that_they_show_are_inverses():
    excess = power.excess_of(1.0, 0.05, 60)
    assert 0.2 < excess < 0.6
    assert power.draws_to_detect(1.0, 0.05, excess) == pytest.approx(60, abs=3)


@pytest.mark.slow  # five seconds
@pytest.mark.parametrize(
    ("epsilon", "delta", "excess", "more"), [(0.0, 0.05, 0.3, 0.1), (1.0, 1e-5, 0.25, 0.2)]
)
def test_audits_of_few_draws_refute_as_often_as_predicted(epsilon, delta, excess, more):
    """The prediction is for the best set at the claim's ε. A fifth of the draws chooses a worse
    one; where the claimed δ is tiny, the set of largest P(S)/Q(S) refutes it, too.
    """
    mu = shift_of(epsilon, delta + excess)
    sizes = few_split(150, None, trained=False)
    counts = RefutingCounts((sizes.certify, sizes.certify), epsilon, delta, 0.025)
    best = ndtr(0.5 * mu - epsilon / mu), ndtr(-0.5 * mu - epsilon / mu)
    predicted = counts.power(*map(float, best))
    rng, audits, refuted = np.random.default_rng(5), 200, 0
    for _ in range(audits):
        choose, certifying = (
            SortedScores.of(rng.normal(mu, 1.0, size), rng.normal(0.0, 1.0, size))
            for size in (sizes.choose, sizes.certify)
        )
        claim = (epsilon, delta)
        found = certify_few(choose, certifying, np.array([epsilon, 4.0]), 0.05, claim)
        refuted += bool(found.certified.delta_at(epsilon) > delta)
    assert predicted - 0.15 < refuted / audits < predicted + more


def test_hits_that_refute_nothing_are_not_taken_for_hits_that_do():
    counts = RefutingCounts((8, 6), 0.3, 0.05, 0.1)
    assert counts.needed(6) == 9


def test_a_set_that_p_nearly_always_hits_has_a_probability_of_at_most_1():
    for epsilon in (20.0, 50.0, 300.0):
        for delta in (0.0, 0.3, 0.74):
            p, q = power.hardest_sets(epsilon, delta)
            assert p.max() <= 1.0
            assert q.min() >= 0.0
    assert power.excess_of(50.0, 0.0, 200) > 0.1
