"""What is read off a spectrum: ε at a δ, the trade-off curve, the equivalent μ, Rényi divergences.

Also from its values alone, by chords.
"""

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri

import dpaudit as dp
from dpaudit.exact import Atoms, BranchCurve, PrivacyLoss, spectrum_of

ALPHA = np.concatenate(
    [[0.0], np.geomspace(1e-12, 0.3, 30), np.linspace(0.31, 0.99, 20), [1.0 - 1e-9, 1.0]]
)
DELTAS = np.array([1e-300, 1e-100, 1e-30, 1e-10, 1e-5, 1e-3, 0.05, 0.3])
LEAK = 1e-3


def exact(curve):
    return spectrum_of(curve, "", np.linspace(0.0, 1.0, 3))


def estimate(spectrum, grid):
    return spectrum.replace(epsilon=grid, delta=spectrum.delta_at(grid), curve=None)


def shift(mu):
    """N(0, 1) against N(μ, 1)."""
    return exact(PrivacyLoss.gaussian_shift(mu))


def coin(pure):
    """Randomised response: a coin that tells the truth with odds e^{pure}."""
    masses = np.log([expit(pure), expit(-pure)])
    return exact(Atoms(masses, masses[::-1]))


def leaky_shift():
    """N(0, 1) against N(1, 1), but with probability `LEAK` the output gives the database away."""
    masses = np.array([np.log1p(-LEAK), np.log(LEAK), -np.inf])
    parts = (PrivacyLoss.gaussian_shift(1.0), *[PrivacyLoss.gaussian_shift(0.0)] * 2)
    return exact(BranchCurve(Atoms(masses, masses[[0, 2, 1]]), parts))


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.1, 1.0, 10.0, 1e4])
def test_epsilon_of_a_gaussian_shift(mu):
    """δ at the ε found is the δ asked for; at a slightly smaller ε it is larger."""
    found = shift(mu)
    asked = DELTAS[found.total_variation > DELTAS]
    epsilon = found.epsilon_at(asked)
    np.testing.assert_allclose(dp.exact.gaussian_shift(mu, epsilon), asked, rtol=1e-9)
    assert np.all(found.delta_at(epsilon) <= asked)
    assert np.all(found.delta_at(epsilon * (1.0 - 1e-11)) > asked)


def test_epsilon_of_a_coin():
    delta = np.array([0.0, 1e-15, 1e-5, 0.01, 0.05, 0.09, 0.6, 1.0])
    expected = np.log(np.maximum(np.exp(3.0) - delta * (1.0 + np.exp(3.0)), 1.0))
    np.testing.assert_allclose(coin(3.0).epsilon_at(delta), expected, rtol=1e-12, atol=1e-13)


def test_a_floor_is_never_passed():
    leaky = leaky_shift()
    np.testing.assert_array_equal(leaky.epsilon_at([0.0, 1e-9, 0.999 * LEAK]), np.inf)
    assert leaky.epsilon_at(1.001 * LEAK) == pytest.approx(
        float(shift(1.0).epsilon_at(1e-3 * LEAK / (1.0 - LEAK))), rel=1e-8
    )


@pytest.mark.parametrize("mu", [0.01, 1.0, 7.0])
def test_the_tradeoff_curve_of_a_gaussian_shift(mu):
    np.testing.assert_allclose(
        shift(mu).tradeoff(ALPHA), ndtr(-ndtri(ALPHA) - mu), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("pure", [0.3, 3.0])
def test_the_tradeoff_curve_of_a_coin(pure):
    lines = 1.0 - np.exp(pure) * ALPHA, np.exp(-pure) * (1.0 - ALPHA), 0.0 * ALPHA
    found = coin(pure).tradeoff(ALPHA)
    np.testing.assert_allclose(found, np.max(lines, axis=0), rtol=1e-9, atol=1e-12)


def test_mu_is_that_of_a_shift_where_there_is_something_to_see():
    epsilon = np.array([0.0, 0.1, 1.0, 10.0])
    np.testing.assert_allclose(shift(1.0).gdp_mu(epsilon), 1.0, rtol=1e-9)
    np.testing.assert_array_equal(coin(1.0).gdp_mu([1.0, 2.0]), 0.0)
    certain = coin(1.0).replace(curve=None, epsilon=np.array(0.5), delta=np.array(1.0))
    assert certain.gdp_mu(0.5) == np.inf


def test_chords_bound_the_curve_from_above_and_meet_it_on_the_grid():
    grid, between = np.linspace(0.0, 4.0, 9), np.linspace(0.0, 4.0, 97)
    curve = shift(1.0)
    spectrum = estimate(curve, grid)
    np.testing.assert_allclose(spectrum.delta_at(grid), curve.delta_at(grid), rtol=1e-13)
    assert np.all(spectrum.delta_at(between) >= curve.delta_at(between) * (1 - 1e-13))
    assert np.all(spectrum.tradeoff(ALPHA) <= curve.tradeoff(ALPHA) + 1e-13)


@pytest.mark.parametrize("argument", [0.3, [0.3], [0.1, 0.3, 0.2]], ids=str)
@pytest.mark.parametrize(
    "spectrum", [coin(1.0), estimate(coin(1.0), np.linspace(0, 1, 9))], ids=["curve", "grid"]
)
def test_shapes(spectrum, argument):
    for method in (spectrum.delta_at, spectrum.epsilon_at, spectrum.tradeoff, spectrum.gdp_mu):
        assert np.shape(method(argument)) == np.shape(argument)
        np.testing.assert_array_equal(
            method(argument),
            [method(one) for one in np.ravel(argument)] if argument != 0.3 else method(0.3),
        )
    assert np.shape(coin(1.0).renyi(argument)) == np.shape(argument)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, "half", [[0.1]], []], ids=str)
@pytest.mark.parametrize(
    "spectrum", [coin(1.0), estimate(coin(1.0), np.linspace(0, 1, 9))], ids=["curve", "grid"]
)
def test_probabilities_are_checked(spectrum, value):
    with pytest.raises(dp.InvalidInput, match=r"delta must be a number in \[0, 1\]"):
        spectrum.epsilon_at(value)
    with pytest.raises(dp.InvalidInput, match=r"alpha must be a number in \[0, 1\]"):
        spectrum.tradeoff(value)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "two", [[2.0]], []], ids=str)
def test_orders_are_checked(value):
    with pytest.raises(dp.InvalidInput, match="order must be a finite number > 0"):
        shift(1.0).renyi(value)


def test_an_estimate_says_nothing_beyond_its_grid():
    spectrum = estimate(shift(1.0), np.array([0.1, 1.0, 2.0]))
    for call in (spectrum.delta_at, spectrum.gdp_mu):
        with pytest.raises(dp.InvalidInput, match=r"the grid, which goes from 0\.1 to 2, got 2\.1"):
            call([0.5, 2.1])
    with pytest.raises(dp.InvalidInput, match="got 0"):
        _ = spectrum.total_variation
    with pytest.raises(
        dp.InvalidInput, match=r"delta must be at least 0\.02.*goes from 0\.1 to 2, got 0\.001"
    ):
        spectrum.epsilon_at([0.1, 0.001])


def test_an_estimate_has_no_renyi_divergence_and_no_pure_epsilon():
    spectrum = estimate(shift(1.0), np.linspace(0, 1, 3))
    with pytest.raises(dp.NoExactSpectrum, match="Rényi"):
        spectrum.renyi(2.0)
    with pytest.raises(dp.NoExactSpectrum, match="pure epsilon"):
        _ = spectrum.pure_epsilon
