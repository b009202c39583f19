"""Laws of the zoo one by one, each against a formula or an integral of its own."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.laws import Discrete, DiscreteLaplace, Laplace, Product

pytestmark = pytest.mark.quick
broken, textbook = dp.mechanisms.broken, dp.mechanisms.textbook


def rows(*numbers):
    return np.array(numbers, dtype=float)[:, None]


def test_geometric_noise_in_whole_numbers():
    """p(z) ∝ 2^{−k|z − c|} by the formulas of the source, with the tails put to the ends."""
    mechanism = textbook.TruncatedGeometric(epsilon=1.0, limit=4)
    assert mechanism.exponent == 1
    law = mechanism.law(rows(1.0))
    ratio = 2.0**mechanism.exponent / (2.0**mechanism.exponent + 1.0)
    middle = (1.0 - ratio) / (1.0 + ratio)
    inside = middle * ratio ** np.abs(np.arange(1, 4) - 1.0)
    ends = [ratio / (1.0 + ratio), ratio**3 / (1.0 + ratio)]
    np.testing.assert_allclose(np.exp(law.log_probability), [ends[0], *inside, ends[1]], rtol=1e-12)


def test_a_wrong_logarithm():
    assert broken.NaturalLogGeometric().exponent == 3
    assert textbook.TruncatedGeometric().exponent == 5
    spectrum = dp.exact.spectrum(
        broken.NaturalLogGeometric(), broken.NaturalLogGeometric().pair(), 0.0
    )
    assert spectrum.pure_epsilon == pytest.approx(np.log(1.0 + 2.0**-3))


def test_low_bits_of_floats():
    """Noise alone is finer than 2⁻⁵³ with probability (1 − e^{−ε/2})·(2/3 + O(ε)), noise + 1 never.

    The frequency among 10⁶ draws misses by more than 5.6 standard errors with probability below
    1e-7, and by 2 % of itself where O(ε) is left out.
    """
    mechanism, n = broken.FloatLaplace(), 1_000_000

    def share(answer, seed):
        scaled = mechanism(rows(answer), n, rng=seed) * 2.0**53
        return np.mean(scaled != np.round(scaled))

    fine = -np.expm1(-0.05) * 2.0 / 3.0
    assert abs(share(0.0, 1) - fine) < 0.02 * fine + 5.6 * np.sqrt(fine * (1.0 - fine) / n)
    assert share(1.0, 2) == share(-3.0, 3) == 0.0


def test_missing_values_by_hand():
    mechanism = broken.MissingPassed(rate=0.25)
    pair = mechanism.pair()
    law = mechanism.law(pair.right)
    np.testing.assert_allclose(np.exp(law.log_probability), [0.75, 0.25])
    both = broken.MissingPassed(rate=0.25).law(np.array([[1.0, 2.0], [3.0, 4.0]])).parts[0]
    x = np.array([0.1])
    sums = {0.0: 0.5625, 0.5: 0.1875, 0.75: 0.1875, 1.25: 0.0625}
    expected = sum(p * 0.5 * np.exp(-abs(x[0] - at)) for at, p in sums.items())
    assert float(np.exp(both.log_p(x)[0])) == pytest.approx(expected, rel=1e-12)
    assert dp.exact.spectrum(mechanism, pair, 50.0).delta == pytest.approx(0.25)


def test_the_calibrated_gaussian_is_tight():
    mechanism = textbook.Gaussian(epsilon=0.7, delta=1e-4, sensitivity=3.0)
    spectrum = dp.exact.spectrum(mechanism, mechanism.pair(), 0.7)
    assert spectrum.delta == pytest.approx(1e-4, rel=1e-9)


def test_a_mixed_release_composes_its_thirds():
    mechanism = textbook.MixedRelease(epsilon=1.5)
    law = mechanism.law(mechanism.pair().left)
    assert isinstance(law, Product)
    assert [type(part) for part in law.parts] == [Discrete, DiscreteLaplace, Laplace]
    spectrum = dp.exact.spectrum(mechanism, mechanism.pair(), [0.0, 1.0])
    assert spectrum.pure_epsilon == pytest.approx(1.5)
