"""Laws known by their densities: against Gaussian pairs, by hand with atoms, and in the tail."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact import curve_of_laws, gaussian_shift
from dpaudit.laws import Density

pytestmark = pytest.mark.quick

EPSILON = np.array([0.0, 0.3, 1.0, 2.5])


def normal(mean, deviation=1.0):
    def log_p(x):
        return -0.5 * ((x - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2.0 * np.pi))

    return Density(log_p, np.linspace(mean - 38.0 * deviation, mean + 38.0 * deviation, 153))


def test_a_gaussian_shift_far_into_the_tail():
    epsilon = np.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0])
    found = curve_of_laws(normal(0.0), normal(1.0))[0].delta(epsilon)
    np.testing.assert_allclose(found[0], gaussian_shift(1.0, epsilon), rtol=1e-11)  # to 1e-140
    np.testing.assert_allclose(found[1], found[0], rtol=1e-11)


@pytest.mark.parametrize("panels", [2, 4, 6])
def test_panels_that_are_too_wide_for_the_densities_are_refused(panels):
    """They cost 1e-3, 1e-5 and 1e-7 of δ(0), in one direction."""
    edges = np.linspace(-38.0, 38.0, panels + 1)
    wide = [Density(normal(mean).log_p, edges) for mean in (0.0, 1.0)]
    with pytest.raises(NoExactSpectrum, match="the two directions disagree"):
        curve_of_laws(*wide)[0].delta(EPSILON)


@pytest.mark.parametrize("order", [1e-6, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.0 + 1e-13, 2.0])
@pytest.mark.parametrize("apart", [1e-5, 0.3])
def censored(mean, low, high):
    """Laplace noise about `mean`, clipped."""
    assert low == 0.0
    clipping = dp.mechanisms.broken.LateClipping(epsilon=1.0, bound=high)
    return clipping.law(np.array([[mean]]))


def test_atoms_at_both_ends_by_hand():
    """Clipped Laplace noise of scale 2, moved by half of the scale. The atoms at the ends have the
    extreme losses.
    """
    left, right = censored(0.5, 0.0, 2.0), censored(1.5, 0.0, 2.0)
    curve = curve_of_laws(left, right)[0]
    t = 0.5
    expected = np.maximum(-np.expm1((EPSILON - t) / 2.0), 0.0)  # the loss is ±t in the atoms too
    np.testing.assert_allclose(curve.delta(EPSILON)[0], expected, rtol=1e-12, atol=1e-16)
    assert curve.supremum == pytest.approx((t, t))
    outside = censored(-3.0, 0.0, 2.0)
    p = np.array([1.0 - 0.5 * np.exp(-1.5), 0.5 * np.exp(-2.5)])
    np.testing.assert_allclose(np.exp(outside.log_mass), p, rtol=1e-12)


def test_the_sampler_follows_density_and_atoms():
    """Draws are near the density's distribution, and atoms near their weights. P(distance > d) ≤
    2e^{−2nd²} = 1e-7 (Massart); frequencies of atoms to 5.6 standard errors, below 1e-7 too.
    """
    from scipy.special import ndtr

    n, law = 100_000, normal(0.3, 2.0)
    x = np.sort(law.sample(n, np.random.default_rng(2))[:, 0])
    gap = np.abs(ndtr((x - 0.3) / 2.0) - (np.arange(n) + 0.5) / n).max() + 0.5 / n
    assert gap < np.sqrt(np.log(2.0 / 1e-7) / (2.0 * n))
    clipped = censored(0.5, 0.0, 2.0)
    x = clipped.sample(n, np.random.default_rng(3))[:, 0]
    for atom, mass in zip(clipped.atoms, np.exp(clipped.log_mass), strict=True):
        assert abs(np.mean(x == atom) - mass) < 5.6 * np.sqrt(mass * (1.0 - mass) / n)
    assert x.min() == 0.0
    assert x.max() == 2.0
    np.testing.assert_array_equal(clipped.log_density(np.array([[0.0], [2.0]])), clipped.log_mass)


def test_a_support_that_only_one_law_has():
    """Exponential noise moved by 1: below 1 the loss is infinite, above it is 1."""
    released = dp.mechanisms.broken.ReportNoisyMax4(epsilon=2.0)
    left, right = (released.law(np.array([[at]])) for at in (0.0, 1.0))
    curve = curve_of_laws(left, right)[0]
    np.testing.assert_allclose(curve.delta(np.array([0.0, 50.0]))[0], -np.expm1(-1.0), rtol=1e-12)
    np.testing.assert_allclose(
        curve.delta(EPSILON)[1], np.maximum(-np.expm1(EPSILON - 1.0), 0.0), rtol=1e-9, atol=1e-15
    )
    assert curve.supremum == (np.inf, pytest.approx(1.0))
