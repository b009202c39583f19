"""Claims as upper curves."""

import math

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import as_claim

EPSILON = np.array([0.0, 0.1, 0.5, 0.9, 1.0, 1.1, 3.0])


def randomised_response(epsilon, delta, at):
    """δ at `at` of the pair that dominates every (ε, δ)-DP pair: a leak with probability δ, else a biased coin."""
    coin = (1.0 - delta) * np.array([np.exp(epsilon), 1.0]) / (1.0 + np.exp(epsilon))
    P, Q = np.array([delta, *coin, 0.0]), np.array([0.0, *coin[::-1], delta])
    return np.maximum(P - np.exp(at) * Q, 0.0).sum()


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1, 0.7, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 4.0])
def test_a_claim_binds_at_every_epsilon_as_randomised_response_does(epsilon, delta):
    expected = [randomised_response(epsilon, delta, at) for at in EPSILON]
    np.testing.assert_allclose(dp.Claim(epsilon, delta).delta_at(EPSILON), expected, rtol=1e-12, atol=1e-15)


def test_at_and_beyond_its_own_epsilon_a_claim_is_its_delta():
    np.testing.assert_array_equal(dp.Claim(1.0, 1e-5).delta_at([1.0, 1.5, 700.0]), [1e-5] * 3)


def test_a_claim_without_delta_is_pure():
    assert dp.Claim(1.0) == dp.Claim(1.0, 0.0)
    assert dp.Claim(1.0).delta_at(1.0) == 0.0
    assert dp.Claim(0.0).delta_at(0.0) == 0.0


@pytest.mark.parametrize("mu", [0.0, 1e-3, 1.0, 7.0])
def test_gdp_is_a_gaussian_shift(mu):
    np.testing.assert_array_equal(dp.Claim.gdp(mu).delta_at(EPSILON), dp.exact.gaussian_shift(mu, EPSILON))


def test_a_function_may_take_one_number_or_many():
    scalar = dp.Claim.from_function(lambda epsilon: 0.5 * math.exp(-epsilon))
    array = dp.Claim.from_function(lambda epsilon: 0.5 * np.exp(-epsilon))
    np.testing.assert_allclose(scalar.delta_at(EPSILON), 0.5 * np.exp(-EPSILON))
    np.testing.assert_allclose(array.delta_at(EPSILON), 0.5 * np.exp(-EPSILON))


@pytest.mark.parametrize("value", [1.0 + 1e-9, -1e-9, 7.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("epsilon", [0.0, EPSILON], ids=["scalar", "array"])
def test_a_function_that_leaves_the_unit_interval_is_refused(value, epsilon):
    with pytest.raises(dp.InvalidInput, match=r"claim must be a curve with values in \[0, 1\]"):
        dp.Claim.from_function(lambda one: value).delta_at(epsilon)


@pytest.mark.parametrize("function", [None, 0.5, "half", [0.5]])
def test_a_function_is_called_for(function):
    with pytest.raises(dp.InvalidInput, match="delta_of_epsilon must be a function of epsilon"):
        dp.Claim.from_function(function)


@pytest.mark.parametrize("claim", [dp.Claim(1.0, 0.1), dp.Claim.gdp(1.0), dp.Claim.from_function(lambda epsilon: 0.5)])
@pytest.mark.parametrize("epsilon", [0.5, [0.5], [2.0, 0.0, 1.0]], ids=str)
def test_the_curve_has_the_shape_of_epsilon(claim, epsilon):
    assert np.shape(claim.delta_at(epsilon)) == np.shape(epsilon)


@pytest.mark.parametrize("claim", [dp.Claim(1.0, 0.1), dp.Claim.gdp(1.0), dp.Claim.from_function(lambda epsilon: 0.5)])
@pytest.mark.parametrize("epsilon", [-1.0, np.nan, [[1.0]], "one"])
def test_epsilon_is_checked(claim, epsilon):
    with pytest.raises(dp.InvalidInput, match="epsilon must be"):
        claim.delta_at(epsilon)


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "1", None, True])
def test_the_numbers_of_a_claim_are_checked(value):
    with pytest.raises(dp.InvalidInput, match="epsilon must be"):
        dp.Claim(value, 0.1)
    with pytest.raises(dp.InvalidInput, match="claim delta must be"):
        dp.Claim(1.0, value)
    with pytest.raises(dp.InvalidInput, match="mu must be"):
        dp.Claim.gdp(value)


def test_delta_is_at_most_one():
    with pytest.raises(dp.InvalidInput, match="claim delta must be"):
        dp.Claim(1.0, 1.5)


def test_claims_say_what_they_are():
    assert dp.Claim(1, 1e-5).text == "(1, 1e-05)-DP"
    assert dp.Claim.gdp(0.5).text == "0.5-GDP"
    assert dp.Claim.from_function(lambda epsilon: 0.5, "Lemma 7").text == "Lemma 7"


@pytest.mark.parametrize("pair", [(1.0, 0.1), [1.0, 0.1], dp.Claim(1.0, 0.1)], ids=type)
def test_pairs_are_claims(pair):
    assert as_claim(pair) == dp.Claim(1.0, 0.1)
    assert as_claim(None) is None


@pytest.mark.parametrize("claim", [1.0, "1,0.1", (1.0,), (1.0, 0.1, 0.2), {"epsilon": 1.0}, np.array([1.0, 0.1])])
def test_nothing_else_is_a_claim(claim):
    with pytest.raises(dp.InvalidInput, match=r"claim must be a dpaudit\.Claim, an \(epsilon, delta\) pair or None"):
        as_claim(claim)


@pytest.mark.parametrize("claim", [(-1.0, 0.1), (1.0, 2.0), ("a", 0.1)])
def test_a_pair_is_checked_as_a_claim(claim):
    with pytest.raises(dp.InvalidInput, match=r"claim (epsilon|delta) must be"):
        as_claim(claim)
