"""Claims as upper curves."""

import pickle

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.curves import as_claim
from tests.sparse import one_in

pytestmark = pytest.mark.quick

EPSILON = np.array([0.0, 0.1, 0.5, 0.9, 1.0, 1.1, 3.0])


def randomised_response(epsilon, delta, at):
    """δ at `at` of the pair that dominates every (ε, δ)-DP pair. It is a leak with probability δ,
    else a biased coin.
    """
    coin = (1.0 - delta) * np.array([np.exp(epsilon), 1.0]) / (1.0 + np.exp(epsilon))
    P, Q = np.array([delta, *coin, 0.0]), np.array([0.0, *coin[::-1], delta])
    return np.maximum(P - np.exp(at) * Q, 0.0).sum()


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1, 0.7, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 4.0])
def test_a_claim_binds_at_every_epsilon_as_randomised_response_does(epsilon, delta):
    expected = [randomised_response(epsilon, delta, at) for at in EPSILON]
    np.testing.assert_allclose(
        dp.Claim(epsilon, delta).delta_at(EPSILON), expected, rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("mu", [0.0, 1e-3, 1.0, 7.0])
def test_gdp_is_a_gaussian_shift(mu):
    found = dp.Claim.gdp(mu).delta_at(EPSILON)
    np.testing.assert_array_equal(found, dp.exact.gaussian_shift(mu, EPSILON))


@pytest.mark.parametrize("value", [1.0 + 1e-9, -1e-9, 7.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("epsilon", [0.0, EPSILON], ids=["scalar", "array"])
def test_a_function_that_leaves_the_unit_interval_is_refused(value, epsilon):
    with pytest.raises(dp.InvalidInput, match=r"claim must be a curve with values in \[0, 1\]"):
        dp.Claim.from_function(lambda one: value).delta_at(epsilon)


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "1", None, True])
def test_the_numbers_of_a_claim_are_checked(value):
    with pytest.raises(dp.InvalidInput, match="epsilon must be"):
        dp.Claim(value, 0.1)
    with pytest.raises(dp.InvalidInput, match="claim delta must be"):
        dp.Claim(1.0, value)
    with pytest.raises(dp.InvalidInput, match="mu must be"):
        dp.Claim.gdp(value)


@pytest.mark.parametrize("pair", [(1.0, 0.1), [1.0, 0.1], dp.Claim(1.0, 0.1)], ids=type)
def test_pairs_are_claims(pair):
    assert as_claim(pair) == dp.Claim(1.0, 0.1)
    assert as_claim(None) is None


@pytest.mark.parametrize(
    "claim", [1.0, "1,0.1", (1.0,), (1.0, 0.1, 0.2), {"epsilon": 1.0}, np.array([1.0, 0.1])]
)
def test_nothing_else_is_a_claim(claim):
    with pytest.raises(
        dp.InvalidInput, match=r"claim must be a dpaudit\.Claim, an \(epsilon, delta\) pair or None"
    ):
        as_claim(claim)


# Rényi, zero-concentrated and truncated concentrated claims


def least_over_orders(divergence, epsilon, end):
    """Paper 3, proposition 1, over a fine grid of orders: δ for one ε."""
    order = 1.0 + (end - 1.0) * np.geomspace(1e-6, 1.0 - 1e-9, 400_000)
    log_delta = (order - 1.0) * (divergence(order) - epsilon + np.log1p(-1.0 / order)) - np.log(
        order
    )
    return min(1.0, float(np.exp(log_delta.min())))


@pytest.mark.parametrize("rho", one_in(2, [1e-4, 0.02, 0.5, 8.0]))
def test_what_papers_print_of_zcdp_is_the_minimum_over_all_orders(rho):
    epsilon = rho + np.sqrt(rho) * np.array([0.0, 0.5, 2.0, 6.0, 12.0])
    end = 20.0 + 8.0 * float(epsilon[-1]) / rho
    expected = np.array([least_over_orders(lambda order: rho * order, one, end) for one in epsilon])
    printed = dp.Claim.zcdp(rho).renyi.by_moments(epsilon)
    np.testing.assert_allclose(printed, expected, rtol=1e-6)
    assert np.all(printed <= expected * (1.0 + 1e-12))
    assert np.all(dp.Claim.zcdp(rho).delta_at(epsilon) <= printed * (1.0 + 1e-12))


@pytest.mark.parametrize(
    ("rho", "omega"),
    [(0.1, 8.0), (0.1, 1.01), pytest.param(*(1e-3, 300.0), marks=pytest.mark.slow), (2.0, 1.5)],
)
def test_tcdp_stops_at_omega(rho, omega):
    epsilon = np.array([0.0, 0.05, 0.5, 3.0, 20.0])
    expected = [least_over_orders(lambda order: rho * order, one, omega) for one in epsilon]
    claim = dp.Claim.tcdp(rho, omega)
    np.testing.assert_allclose(claim.renyi.by_moments(epsilon), expected, rtol=1e-5)
    whole = dp.Claim.zcdp(rho).delta_at(epsilon)
    assert np.all(whole <= claim.delta_at(epsilon) * (1.0 + 1e-9))
    assert np.all(claim.delta_at(epsilon) <= np.array(expected) * (1.0 + 1e-12))


def test_a_pure_curve_has_its_limit():
    """Randomised response at ε₀ = 1 by its Rényi curve: its own δ, and nothing beyond ε₀."""
    right = 1.0 / (1.0 + np.exp(-1.0))

    def divergence(order):
        high = np.log(right) + (order - 1.0)
        low = np.log1p(-right) - (order - 1.0)
        return np.logaddexp(high, low) / (order - 1.0)

    claim = dp.Claim.rdp(divergence, text="a coin")
    epsilon = np.array([0.0, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(claim.delta_at(epsilon), dp.Claim(1.0).delta_at(epsilon), rtol=1e-9)
    assert claim.delta_at(1.01) < 1e-12
    assert claim.epsilon_at(1e-10) == pytest.approx(1.0, abs=1e-6)


SMOOTH = [
    dp.Claim.gdp(1.0),
    dp.Claim.zcdp(0.5),
    dp.Claim.tcdp(0.1, 8.0),
    dp.Claim.gaussmix(20, 10.0),
]


@pytest.mark.parametrize(
    "claim", [*SMOOTH, dp.Claim.rdp([2.0, 8.0], [1.0, 4.0])], ids=lambda claim: claim.text
)
def test_epsilon_at_is_the_least_that_keeps_delta(claim):
    delta = np.array([0.1, 1e-3, 1e-10, 1e-40])
    epsilon = claim.epsilon_at(delta)
    assert np.all(claim.delta_at(epsilon) <= delta)
    assert np.all(claim.delta_at(epsilon * (1.0 - 1e-10)) > delta)
    assert claim.epsilon_at(0.0) == np.inf
    assert claim.epsilon_at(1.0) == 0.0
    assert np.shape(claim.epsilon_at(1e-3)) == ()


def test_epsilon_at_of_plain_claims():
    claim = dp.Claim(1.0, 1e-5)
    assert claim.epsilon_at(1e-5) == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_array_equal(claim.epsilon_at([0.0, 0.99e-5]), np.inf)
    assert claim.epsilon_at(0.2) == pytest.approx(
        np.log(np.e - (0.2 - 1e-5) / (1 - 1e-5) * (1 + np.e)), rel=1e-12
    )
    np.testing.assert_array_equal(dp.Claim(2.0).epsilon_at([0.0, 0.9]), [2.0, 0.0])
    assert dp.Claim(0.0, 0.1).epsilon_at(0.1) == 0.0


def test_epsilon_at_of_a_users_function():
    half = dp.Claim.from_function(lambda epsilon: max(0.0, 0.5 - 0.25 * epsilon))
    np.testing.assert_allclose(half.epsilon_at([0.0, 0.1, 0.5]), [2.0, 1.6, 0.0], rtol=1e-12)
    assert dp.Claim.from_function(lambda epsilon: 0.1).epsilon_at(0.05) == np.inf


def test_the_texts_of_claims():
    assert dp.Claim(1, 1e-5).text == "(1, 1e-05)-DP"
    assert dp.Claim.gdp(0.5).text == "0.5-GDP"
    assert dp.Claim.from_function(lambda epsilon: 0.5, "Lemma 7").text == "Lemma 7"
    assert dp.Claim.zcdp(0.5).text == "0.5-zCDP"
    assert dp.Claim.tcdp(0.1, 8).text == "(0.1, 8)-tCDP"
    assert dp.Claim.rdp([2, 3], [0.1, 0.2]).text == "RDP at 2 orders"
    assert dp.Claim.rdp(lambda order: order, end=9).text == "RDP on orders (1, 9)"
    assert dp.Claim.rdp(lambda order: order, text="mine").text == "mine"
    assert dp.Claim.gaussmix(20, 10).text == "GaussMix RDP (k = 20, γ = 10)"


@pytest.mark.parametrize(
    "claim", [dp.Claim(1.0, 1e-5), *SMOOTH, dp.Claim.rdp([2, 3], [1, 2])], ids=lambda one: one.text
)
def test_claims_are_values(claim):
    copy = pickle.loads(pickle.dumps(claim))
    assert copy == claim
    assert hash(copy) == hash(claim)
    np.testing.assert_array_equal(copy.delta_at(EPSILON), claim.delta_at(EPSILON))
    assert claim != dp.Claim(1.0, 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dp.Claim.zcdp(-0.1), "rho must be"),
        (lambda: dp.Claim.tcdp(0.1, 1.0), "omega must be a finite number > 1"),
        (lambda: dp.Claim.gaussmix(0, 2.0), "rows must be"),
        (lambda: dp.Claim.rdp(0.5), "curve must be a function of the order"),
        (lambda: dp.Claim.rdp(lambda order: order, end=1.0), "end must be"),
        (
            lambda: dp.Claim.rdp([1.0, 2.0], [0.1, 0.2]),
            "orders must be a sequence of finite numbers > 1",
        ),
        (lambda: dp.Claim.rdp([2.0, 3.0], [0.1]), "values must be 2 divergences >= 0"),
        (
            lambda: dp.Claim.rdp(lambda order: 0.5).delta_at(1.0),
            r"curve must be a vectorised function of the order",
        ),
        (lambda: dp.Claim.rdp(lambda order: order * np.nan).delta_at(1.0), "nan at order"),
        (lambda: dp.Claim.rdp(lambda order: order.nothing).delta_at(1.0), "AttributeError"),
        (lambda: dp.Claim.gdp(1.0).epsilon_at(1.5), r"delta must be a number in \[0, 1\]"),
    ],
)
def test_renyi_claims_are_checked(make, message):
    with pytest.raises(dp.InvalidInput, match=message):
        make()


def test_nothing_leaks_at_zero():
    for claim in (dp.Claim.zcdp(0.0), dp.Claim.tcdp(0.0, 2.0), dp.Claim.gdp(0.0)):
        np.testing.assert_array_equal(claim.delta_at([0.0, 1.0]), 0.0)
        assert claim.epsilon_at(0.0) == 0.0
