"""Bounds of one run: the recursion solves its linear program, δ is charged as derived, p-values
are valid."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom

from dpaudit.certify.one_run import bound, likelihood, recursion
from dpaudit.certify.one_run.guesses import Guesses, centre
from dpaudit.curves import Claim

pytestmark = pytest.mark.quick
HALF = 0.5


def guesses(scores, included, inclusion=HALF):
    scores, included = np.asarray(scores, float), np.asarray(included, bool)
    return Guesses.of(scores, included, np.full(len(scores), inclusion))


def gaussian(count, mu, seed):
    rng = np.random.default_rng([seed, count])
    coins = rng.random(count) < HALF
    return guesses(rng.normal(size=count) + mu * (coins - HALF), coins)


def test_the_centre_is_in_the_gap_that_divides_as_the_coins_do():
    assert centre(np.array([0.0, 0.0, 1.0, 1.0, 5.0]), 0.4) == 0.5
    assert centre(np.array([0.0, 0.0, 1.0, 1.0, 5.0]), 0.2) == 3.0
    assert centre(np.zeros(4), HALF) is None


def test_strong_guesses_come_first_and_are_right_where_the_coin_says_so():
    found = guesses([3.0, -9.0, 1.0, -1.0], [True, True, False, False])
    assert found.right.tolist() == [False, True, False, True]
    assert found.says_in.tolist() == [False, True, True, False]
    assert found.strength.tolist() == [9.0, 3.0, 1.0, 1.0]


def test_a_coin_that_is_rare_is_guessed_with_its_own_probability():
    found = guesses([9.0, 0.0, 0.1, 0.2, 0.3], [True, False, False, False, False], 0.2)
    assert found.says_in.tolist().index(True) == found.chance.tolist().index(0.2)
    assert sorted(found.chance) == [0.2, 0.8, 0.8, 0.8, 0.8]


@pytest.mark.parametrize("inclusion", [0.5, 0.1])
def test_failures_are_what_the_mechanism_that_tells_with_delta_has(inclusion):
    """Randomised response that tells with probability δ attains the bound at each guess."""
    epsilon, delta = 0.7, 0.01
    spread = expit(epsilon)
    laws = {  # P(output | in), P(output | out)
        "told in": (delta, 0.0),
        "told out": (0.0, delta),
        "yes": ((1 - delta) * spread, (1 - delta) * (1 - spread)),
        "no": ((1 - delta) * (1 - spread), (1 - delta) * spread),
    }
    best_in = expit(epsilon + np.log(inclusion / (1 - inclusion)))
    best_out = expit(epsilon - np.log(inclusion / (1 - inclusion)))
    excess = 0.0
    for one, other in laws.values():
        here = inclusion * one + (1 - inclusion) * other
        excess += max(0.0, inclusion * one - best_in * here)
        excess += max(0.0, (1 - inclusion) * other - best_out * here)
    found = likelihood.failures((np.array([inclusion]), np.ones(1)), epsilon, delta)
    assert found == pytest.approx(excess, rel=1e-12)


def test_the_wealth_has_mean_one_under_the_worst_law_and_grows_with_each_right_guess():
    found = guesses([4.0, -3.0, 2.0, -1.0, 0.5], [True, False, True, False, True])
    cells = likelihood.Cells.of(found)
    wealth = likelihood.Wealth.against(cells, 0.8)
    assert np.all(wealth.grown >= 0.0)
    outcomes = np.array(np.meshgrid(*[[0, 1]] * len(cells.size), indexing="ij"))
    outcomes = outcomes.reshape(len(cells.size), -1)
    best = wealth.best[:, None]
    chance = np.prod(np.where(outcomes, best, 1.0 - best), axis=0)
    assert np.sum(chance * np.exp(wealth.of(outcomes))) == pytest.approx(1.0, rel=1e-12)


def rejects(found, epsilon):
    cells = likelihood.Cells.of(found)
    return likelihood.rejects(found, cells, epsilon, 0.0, 0.05)


def test_wealth_that_is_not_rare_is_not_called_so_because_of_the_fixed_draws():
    """Of constant scores the draws are the same in every run, so their error is no chance. The
    wealth's chance is 0.056 by 10,000 other draws, standard error 0.0023. With 400 draws and no
    margin it was called rare at 0.049, in every run.
    """
    scores = np.exp(2.0 * np.random.default_rng(2).normal(size=50))
    cells = likelihood.Cells.of(guesses(scores, np.zeros(50)))
    wealth = likelihood.Wealth.against(cells, 0.0)
    other = np.random.default_rng([7, 2]).binomial(cells.size, HALF, (10_000, len(cells.size))).T
    logs = np.sort(wealth.of(other))[::-1]
    assert not wealth.rare(logs[560], 0.049)
    assert wealth.rare(logs[50], 0.049)


def test_draws_call_a_wealth_rare_at_most_as_often_as_the_level_allows():
    """Its chance is uniform at worst; by binomial laws of draws at each stage, over the seed."""
    chance = (np.arange(20_000) + 0.5) / 20_000
    for alpha in (0.049, 0.0098, 1e-3):
        total = np.array(likelihood.stages(alpha))[:, None]
        least = total * alpha - likelihood.SURE * np.sqrt(total * alpha)
        rejected = binom.cdf(np.ceil(least) - 1, total, chance).sum(axis=0)
        assert 0.5 * alpha < np.minimum(rejected, 1.0).mean() <= alpha


@pytest.mark.parametrize("sizes", [(1e300, 1e-9), (1e5, 1e-310), (1e308, 1e308)])
def test_scores_of_any_size_that_know_nothing_certify_nothing(sizes):
    """Wealth that was not a number was above all draws, and ε of 40 was certified."""
    rng = np.random.default_rng(0)
    coins = rng.random(40) < HALF
    scores = np.where(np.arange(40) < 10, *sizes) * rng.uniform(-1.0, 1.0, 40)
    found = guesses(scores, coins)
    assert np.isfinite(likelihood.Cells.of(found).strength).all()
    assert not rejects(found, 1.0)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.0, 0.01), (2.0, 0.1)])
@pytest.mark.parametrize(("canaries", "made", "right"), [(8, 8, 6), (12, 5, 5), (10, 6, 3)])
def test_the_recursion_is_the_optimum_of_its_linear_program(epsilon, delta, canaries, made, right):
    largest = _largest_tail(epsilon, delta, canaries, made, right)
    turn = partial(recursion.turns, delta, np.array([epsilon]))

    def refuted(alpha):
        return bool(recursion.refuted(canaries, made, right, alpha, turn)[0])

    if largest < 1.0 - 1e-6:
        assert refuted(largest * 1.001)
    assert not refuted(min(largest, 1.0) * 0.999)


def _largest_tail(epsilon, delta, canaries, made, right):
    """max P(W ≥ right) over laws of W on 0..made that keep (∗) for every j, by linear programming.
    b(x) = min(δ + e^ε x, 1 − e^−ε (1 − δ − x)): two lines, each a linear constraint.
    """
    value = np.arange(made + 1)
    lines = [
        (np.exp(epsilon), delta),
        (np.exp(-epsilon), 1.0 - np.exp(-epsilon) * (1.0 - delta)),
    ]
    rows, limits = [], []
    for at in range(1, made + 1):
        hits = np.where(value >= at, value, 0) / canaries
        missed = np.where(value >= at - 1, made - value, 0) / canaries
        for slope, height in lines:
            rows.append(hits - slope * missed)
            limits.append(height)
    found = linprog(
        -(value >= right).astype(float),
        A_ub=rows,
        b_ub=limits,
        A_eq=[np.ones(made + 1)],
        b_eq=[1.0],
        bounds=(0, 1),
    )
    assert found.success
    return -found.fun


@pytest.mark.parametrize("method", bound.METHODS)
def test_every_method_certifies_something_of_a_run_that_tells_all(method):
    coins = np.arange(400) % 3 == 0
    coins[:100] ^= True
    found = guesses(2.0 * coins, coins)
    assert 1.0 < bound.epsilon_bound(found, 1e-5, 0.05, method).value < 7.0
    nothing = guesses(np.zeros(400), coins)
    assert bound.epsilon_bound(nothing, 1e-5, 0.05, method).value == 0.0


def test_a_large_delta_is_left_to_the_recursion_and_a_small_one_to_the_likelihood():
    found = gaussian(1_000, 1.0, 0)
    assert bound.shares(found, 0.0, 0.05) == {"likelihood": 1.0}
    assert bound.shares(found, 1e-5, 0.05) == {"likelihood": 1.0}
    assert set(bound.shares(found, 3e-4, 0.05)) == {"likelihood", "f-dp"}
    assert bound.shares(found, 1e-2, 0.05) == {"f-dp": 1.0}


def test_a_larger_claim_is_refuted_by_less():
    found = gaussian(100, 3.0, 1)
    least = bound.epsilon_bound(found, 1e-5, 0.05)
    assert bound.refutes(found, Claim(least.value * 0.9, 1e-5), 0.05)
    assert not bound.refutes(found, Claim(least.value * 1.1, 1e-5), 0.05)
    mu = bound.gdp_bound(found, 0.05)
    assert bound.refutes(found, Claim.gdp(0.9 * mu), 0.05)
    assert not bound.refutes(found, Claim.gdp(1.1 * mu), 0.05)
    assert bound.refutes(found, Claim.zcdp(1e-3), 0.05)
