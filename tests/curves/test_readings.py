"""What is read off a spectrum: ε at a δ, the trade-off curve, the equivalent μ, Rényi divergences.

Also from its values alone, by chords.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import dpaudit as dp

ALPHA = np.concatenate(
    [[0.0], np.geomspace(1e-12, 0.3, 30), np.linspace(0.31, 0.99, 20), [1.0 - 1e-9, 1.0]]
)
DELTAS = np.array([1e-300, 1e-100, 1e-30, 1e-10, 1e-5, 1e-3, 0.05, 0.3])


@dataclass(frozen=True)
class Shift:
    """N(0, 1) against N(μ, 1)."""

    mu: float
    supremum = (np.inf, np.inf)

    def delta(self, epsilon):
        return (dp.exact.gaussian_shift(self.mu, epsilon),) * 2

    def renyi(self, order):
        return 0.5 * order * self.mu**2, 0.5 * order * self.mu**2

    def tradeoff(self, alpha):
        return ndtr(-ndtri(alpha) - self.mu)


@dataclass(frozen=True)
class Coin:
    """Randomised response: a coin that tells the truth with odds e^{pure}."""

    pure: float

    @property
    def supremum(self):
        return self.pure, self.pure

    def delta(self, epsilon):
        gap = np.maximum(self.pure - np.asarray(epsilon), 0.0)
        return (-np.expm1(-gap) / (1.0 + np.exp(-self.pure)),) * 2

    def renyi(self, order):
        right = 1.0 / (1.0 + np.exp(-self.pure))
        wrong = 1.0 - right
        if order == 1.0:
            return (right - wrong) * self.pure, (right - wrong) * self.pure
        return (
            np.log(right**order * wrong ** (1 - order) + wrong**order * right ** (1 - order))
            / (order - 1.0),
        ) * 2

    def tradeoff(self, alpha):
        return np.maximum(
            np.maximum(1.0 - np.exp(self.pure) * alpha, np.exp(-self.pure) * (1.0 - alpha)), 0.0
        )

    def epsilon(self, delta):
        return np.log(np.maximum(np.exp(self.pure) - delta * (1.0 + np.exp(self.pure)), 1.0))


@dataclass(frozen=True)
class Leak:
    """A Gaussian shift, but with probability `leak` the output gives the database away."""

    mu: float
    leak: float
    supremum = (np.inf, np.inf)

    def delta(self, epsilon):
        return (self.leak + (1.0 - self.leak) * dp.exact.gaussian_shift(self.mu, epsilon),) * 2

    def tradeoff(self, alpha):
        return (1.0 - self.leak) * ndtr(
            -ndtri(np.minimum(alpha / (1.0 - self.leak), 1.0)) - self.mu
        )


def exact(curve):
    grid = np.linspace(0.0, 1.0, 3)
    return dp.Spectrum.of_directions(grid, *curve.delta(grid)).replace(curve=curve)


def estimate(curve, grid):
    return exact(curve).replace(epsilon=grid, delta=np.maximum(*curve.delta(grid)), curve=None)


KNOWN = [
    Shift(0.01),
    Shift(1.0),
    Shift(7.0),
    Coin(0.3),
    Coin(3.0),
    Leak(1.0, 1e-3),
]


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.1, 1.0, 10.0, 1e4])
def test_epsilon_of_a_gaussian_shift(mu):
    """δ at the ε found is the δ asked for; at a slightly smaller ε it is larger."""
    curve = Shift(mu)
    asked = DELTAS[curve.delta(np.array(0.0))[0] > DELTAS]
    epsilon = exact(curve).epsilon_at(asked)
    np.testing.assert_allclose(dp.exact.gaussian_shift(mu, epsilon), asked, rtol=1e-9)
    assert np.all(dp.exact.gaussian_shift(mu, epsilon) <= asked)
    assert np.all(dp.exact.gaussian_shift(mu, epsilon * (1.0 - 1e-12)) > asked)


def test_no_delta_is_negative_zero():
    delta = dp.exact.PrivacyLoss.gaussian_shift(1.0).delta(np.array([1e3, 1e6, 1e8]))[0]
    assert not np.signbit(delta).any()


def test_a_floor_is_never_passed():
    leaky = exact(Leak(1.0, 1e-3))
    np.testing.assert_array_equal(leaky.epsilon_at([0.0, 1e-9, 0.999e-3]), np.inf)
    assert leaky.epsilon_at(1.001e-3) == pytest.approx(
        float(exact(Shift(1.0)).epsilon_at(1e-6 / 0.999)), rel=1e-8
    )


@pytest.mark.parametrize("curve", KNOWN, ids=str)
def test_the_tradeoff_curve(curve):
    np.testing.assert_allclose(
        exact(curve).tradeoff(ALPHA), curve.tradeoff(ALPHA), rtol=1e-9, atol=1e-12
    )


def test_mu_where_there_is_nothing_or_everything_to_see():
    np.testing.assert_array_equal(exact(Coin(1.0)).gdp_mu([1.0, 2.0]), 0.0)
    assert (
        exact(Coin(1.0)).replace(curve=None, epsilon=np.array(0.5), delta=np.array(1.0)).gdp_mu(0.5)
        == np.inf
    )


@pytest.mark.parametrize("argument", [0.3, [0.3], [0.1, 0.3, 0.2]], ids=str)
@pytest.mark.parametrize(
    "spectrum", [exact(Coin(1.0)), estimate(Coin(1.0), np.linspace(0, 1, 9))], ids=["curve", "grid"]
)
def test_shapes(spectrum, argument):
    for method in (spectrum.delta_at, spectrum.epsilon_at, spectrum.tradeoff, spectrum.gdp_mu):
        assert np.shape(method(argument)) == np.shape(argument)
        np.testing.assert_array_equal(
            method(argument),
            [method(one) for one in np.ravel(argument)] if argument != 0.3 else method(0.3),
        )
    assert np.shape(exact(Coin(1.0)).renyi(argument)) == np.shape(argument)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, "half", [[0.1]], []], ids=str)
@pytest.mark.parametrize(
    "spectrum", [exact(Coin(1.0)), estimate(Coin(1.0), np.linspace(0, 1, 9))], ids=["curve", "grid"]
)
def test_probabilities_are_checked(spectrum, value):
    with pytest.raises(dp.InvalidInput, match=r"delta must be a number in \[0, 1\]"):
        spectrum.epsilon_at(value)
    with pytest.raises(dp.InvalidInput, match=r"alpha must be a number in \[0, 1\]"):
        spectrum.tradeoff(value)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "two", [[2.0]], []], ids=str)
def test_orders_are_checked(value):
    with pytest.raises(dp.InvalidInput, match="order must be a finite number > 0"):
        exact(Shift(1.0)).renyi(value)


def test_an_estimate_says_nothing_beyond_its_grid():
    spectrum = estimate(Shift(1.0), np.array([0.1, 1.0, 2.0]))
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
    spectrum = estimate(Shift(1.0), np.linspace(0, 1, 3))
    with pytest.raises(dp.NoExactSpectrum, match="Rényi"):
        spectrum.renyi(2.0)
    with pytest.raises(dp.NoExactSpectrum, match="pure epsilon"):
        _ = spectrum.pure_epsilon
