"""Laws of the zoo one by one, each against a formula or an integral of its own."""

import numpy as np
import pytest
from scipy.integrate import quad

import dpaudit as dp
from dpaudit.laws import Discrete, DiscreteLaplace, Laplace, Product
from dpaudit.laws.density import (
    EXPONENTIAL,
    LAPLACE,
    gaussian_ratio,
    laplace_ratio,
    largest_index,
)
from dpaudit.mechanisms import broken, textbook

pytestmark = pytest.mark.quick


def rows(*numbers):
    return np.array(numbers, dtype=float)[:, None]


@pytest.mark.parametrize("noise", [LAPLACE, EXPONENTIAL], ids=["Laplace", "exponential"])
def test_the_larger_of_two(noise):
    """P(the second is larger) in closed form.

    1 − (2 + t)e^{−t}/4 with Laplace noise, 1 − e^{−t}/2 with exponential noise.
    """
    t = 1.7
    p = np.exp(largest_index(np.array([0.0, t]), noise, 1.0).log_probability)
    expected = 1.0 - 0.25 * (2.0 + t) * np.exp(-t) if noise is LAPLACE else 1.0 - 0.5 * np.exp(-t)
    np.testing.assert_allclose(p, [1.0 - expected, expected], rtol=1e-11)


COUNT, SCALE = 2.0, 7.0
RATIOS = {
    "Laplace ratio": (lambda s: laplace_ratio(s, COUNT, SCALE), True, "laplace"),
    "Laplace mixture": (lambda s: laplace_ratio(0.0, COUNT, SCALE, s / COUNT), False, "laplace"),
    "Gaussian ratio": (lambda s: gaussian_ratio(s, COUNT, SCALE), True, "gaussian"),
    "Gaussian mixture": (lambda s: gaussian_ratio(0.0, COUNT, SCALE, s / COUNT), False, "gaussian"),
}


@pytest.mark.parametrize("total", [0.0, 1.0])
@pytest.mark.parametrize("name", RATIOS)
def test_densities_of_a_mean_with_a_noisy_count(name, total):
    """The density given the count m, integrated over m by SciPy.

    The outlying component is below 1e-12 at these values.
    """
    make, private, family = RATIOS[name]

    def standard(z):
        return (
            0.5 * np.exp(-abs(z))
            if family == "laplace"
            else np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
        )

    def given(m, x):
        mean = total / m if private else total / COUNT
        return standard((m - COUNT) / SCALE) / SCALE * standard((x - mean) * m / SCALE) * m / SCALE

    for x in (-2.3, -0.1, 0.35, 0.9, 40.0):
        kinks = [k for k in (COUNT, total / x) if k > 0.0]
        expected = quad(given, 0.0, 400.0, args=(x,), points=kinks, limit=500, epsabs=1e-14)[0]
        assert float(np.exp(make(total).log_p(np.array([x]))[0])) == pytest.approx(
            expected, rel=1e-7, abs=1e-11
        )


@pytest.mark.parametrize("name", RATIOS)
def test_their_mass_is_one(name):
    from dpaudit.laws.density import gauss_legendre

    law = RATIOS[name][0](1.0)
    x, w = gauss_legendre(law.edges[:-1], law.edges[1:])
    assert np.sum(w * np.exp(law.log_p(x.ravel()).reshape(x.shape))) == pytest.approx(1.0, abs=1e-9)


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


def test_the_sensitivity_of_the_squared_noise_is_right():
    """With σ itself the pair would keep the claim."""
    mechanism = broken.SquaredNoiseLS()
    right = dp.mechanisms.GaussianLS(epsilon=1.0, delta=1e-3, sensitivity=mechanism.sensitivity)
    grid = np.linspace(0.0, 3.0, 31)
    assert right.noise < 1.0
    pair = mechanism.pair()
    assert np.all(dp.exact.spectrum(right, pair, grid).delta <= mechanism.claim.delta_at(grid))


def test_a_public_row_bound_would_keep_the_claim():
    mechanism = broken.RowBoundProjection()
    bound = float(np.linalg.norm(mechanism.pair().left, axis=1).max())
    log = np.log(4.0 / 1e-3)
    padding = 2.0 * bound * np.sqrt(np.sqrt(100.0 * log) + log)
    right = dp.mechanisms.RandomProjection(50, "gram", padding)
    grid = np.linspace(0.0, 3.0, 31)
    assert np.all(
        dp.exact.spectrum(right, mechanism.pair(), grid).delta <= mechanism.claim.delta_at(grid)
    )


def test_a_mixed_release_composes_its_thirds():
    mechanism = textbook.MixedRelease(epsilon=1.5)
    law = mechanism.law(mechanism.pair().left)
    assert isinstance(law, Product)
    assert [type(part) for part in law.parts] == [Discrete, DiscreteLaplace, Laplace]
    spectrum = dp.exact.spectrum(mechanism, mechanism.pair(), [0.0, 1.0])
    assert spectrum.pure_epsilon == pytest.approx(1.5)
    # δ(0) by the losses: flag ±s, count ±s, and the Laplace curve at what is left
    s = 0.5
    keep, up = 1.0 / (1.0 + np.exp(-s)), 1.0 / (1.0 + np.exp(-s))

    def laplace(e):
        value = max(-np.expm1((abs(e) - s) / 2.0), 0.0)
        return value if e >= 0.0 else -np.expm1(e) + np.exp(e) * value

    losses = [
        (a * s + b * s, (keep if a > 0 else 1 - keep) * (up if b > 0 else 1 - up))
        for a in (1, -1)
        for b in (1, -1)
    ]
    for at, found in zip((0.0, 1.0), spectrum.forward, strict=True):
        assert found == pytest.approx(sum(p * laplace(at - loss) for loss, p in losses), rel=1e-9)
