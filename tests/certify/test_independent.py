"""Bounds for canaries that are assumed to be independent: their law, and what they reach."""

from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom, norm

from dpaudit.certify.one_run import independent, recursion
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.certify.one_run.independent import GAUSSIAN, Family, Misses
from dpaudit.curves import SampledGaussian, epsilon_at
from reports.make.one_run.false import touching
from reports.make.one_run.independent import CASES, ceiling, median, run
from tests.sparse import one_in

pytestmark = pytest.mark.quick
DELTA = 1e-5


@pytest.mark.parametrize("inclusion", [0.05, 0.2, 0.8])
def test_misses_of_coins_that_are_not_fair_take_each_direction_s_own_curve(inclusion):
    """A sampled step, whose two directions differ, by sums over a fine grid of outputs."""
    x = np.linspace(-9.0, 14.0, 200_001)
    with_it = inclusion * (0.8 * norm.pdf(x) + 0.2 * norm.pdf(x - 3.0)) * (x[1] - x[0])
    without = (1.0 - inclusion) * norm.pdf(x) * (x[1] - x[0])
    wrong, either = np.minimum(with_it, without), with_it + without
    order = np.argsort(wrong / either)
    share = np.array([0.1, 0.6, 0.9, 0.999])
    exact = np.interp(share, np.cumsum(either[order]), np.cumsum(wrong[order]))
    found = Misses.of(Family(0.2, 1).curves(3.0), inclusion)(share)
    assert np.all(found <= exact + 1e-6)
    np.testing.assert_allclose(found, exact, atol=2e-4)


@pytest.mark.parametrize(
    ("family", "mu", "count", "published"),
    one_in(12, CASES),
)
def test_the_median_run_certifies_more_than_the_published_bound(family, mu, count, published):
    """Xiang et al. 2025, at level .95 and δ = 1e-5. No bound reaches `ceiling`, but by chance."""
    bound = median(family, mu, count, 201)
    most = ceiling(mu, count) if family == GAUSSIAN else mu
    assert published <= family.epsilon_at(bound, DELTA) < family.epsilon_at(most, DELTA) + 0.01


@pytest.mark.parametrize(
    ("count", "mu", "inclusion", "family"),
    one_in(
        6,
        [
            (100, 1.0, 0.5, GAUSSIAN),
            (300, 0.3, 0.5, GAUSSIAN),
            (300, 3.0, 0.2, GAUSSIAN),
            (300, 2.0, 0.5, Family(0.2, 1)),
            (300, 3.0, 0.2, Family(0.2, 1)),
            (300, 1.0, 0.5, Family(0.2, 10)),
        ],
    ),
)
def test_the_true_mu_is_seldom_refuted_where_canaries_are_independent(count, mu, inclusion, family):
    """200 runs at 5 %: more than 22 hits have chance 3e-4."""
    rng, curves = np.random.default_rng(count), family.curves(mu)
    hits = sum(
        independent.refutes(run(rng, count, mu, family, inclusion), curves, 0.05, family)
        for _ in range(200)
    )
    assert binom.sf(22, 200, 0.05) < 1e-3
    assert hits <= 22


def test_a_public_switch_breaks_the_bound_of_independent_canaries_and_not_that_of_any():
    """In three runs of ten all coins are answered by randomised response, else none is. The
    mechanism is 1-Gaussian DP, as its two points of trade-off lie on that curve; its canaries share
    the switch. The bound of independent canaries refutes 1-GDP in about 31 % of runs.
    """
    count, runs, switch = 1_000, 80, 0.3
    right = touching(switch, 1.0)
    assert ndtr(ndtri(switch * (1.0 - right)) + 1.0) == pytest.approx(switch * right)
    rng, false, ours = np.random.default_rng(11), 0, 0
    for _ in range(runs):
        coins = rng.random(count) < 0.5
        scores = 1e-3 * rng.normal(size=count)
        if rng.random() < switch:
            scores += np.where((rng.random(count) < right) == coins, 1.0, -1.0)
        guesses = Guesses.of(scores, coins, np.full(count, 0.5))
        false += independent.refutes(guesses, GAUSSIAN.curves(1.0), 0.05)
        ours += bool(
            recursion.rejected(guesses, 0.05, partial(recursion.shifts, np.array([1.0])))[0]
        )
    assert binom.cdf(10, runs, switch) < 2e-3
    assert false > 10
    assert ours == 0


def test_scores_without_information_certify_nothing_where_canaries_are_sorted_by_their_coins():
    """Many scores are equal, and canaries that are in come first; hits of 5 % in 20 runs."""
    rng, ours, recursions = np.random.default_rng(0), 0, 0
    for _ in range(20):
        coins = np.sort(rng.random(2_000) < 0.5)[::-1]
        guesses = Guesses.of(
            rng.choice([0.0, 1.0, 3.0], 2_000, p=[0.5, 0.3, 0.2]), coins, np.full(2_000, 0.5)
        )
        ours += independent.refutes(guesses, GAUSSIAN.curves(0.1), 0.05)
        recursions += recursion.gdp_bound(guesses, 0.05) > 0.1
    assert binom.sf(5, 20, 0.05) < 1e-3
    assert max(ours, recursions) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("family", [Family(0.1, 100), Family(1.0, 50)])
def test_a_training_of_many_steps_is_bounded_where_scores_tell_every_coin(family):
    """The coarse grid of losses that the search uses is near the accountant's finest."""
    coins = np.random.default_rng(0).random(1_000) < 0.5
    guesses = Guesses.of(coins.astype(float), coins, np.full(1_000, 0.5))
    mu = independent.bound(guesses, family, 0.05)
    low, (ahead, _) = family.epsilon_at(mu, DELTA), family.curves(mu)
    high = epsilon_at(SampledGaussian(family.sample_rate, 1.0 / mu, family.steps).low, DELTA)
    assert 20.0 < low <= epsilon_at(ahead, DELTA)
    assert low == pytest.approx(float(high), rel=0.01)


def test_guesses_without_strength_refute_nothing():
    nothing = Guesses.of(np.zeros(10), np.arange(10) < 5, np.full(10, 0.5))
    assert not independent.refutes(nothing, GAUSSIAN.curves(0.1), 0.05)
