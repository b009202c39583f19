"""Laplace noise: the closed form against a recursion over one coordinate's loss and densities."""

import numpy as np
import pytest
from scipy.integrate import quad

import dpaudit as dp
from dpaudit.exact import LaplaceShift, curve_of_laws
from dpaudit.laws import Laplace, Product, SharedLaplace

pytestmark = pytest.mark.quick


def noise(loc, scale=1.0):
    loc = np.atleast_1d(np.asarray(loc, dtype=float))
    return Laplace(loc, np.full(len(loc), float(scale)))


def test_many_coordinates_are_the_recursion_on_the_closed_form():
    """δ_k from δ_{k−1} by quadrature over the loss of one more coordinate."""
    shift, smaller, larger = 0.2, LaplaceShift(0.2, 9), LaplaceShift(0.2, 10)

    def signed(e):
        value = float(smaller.delta(abs(e))[0])
        return value if e >= 0.0 else -np.expm1(e) + np.exp(e) * value

    for epsilon in (0.0, 0.5, 1.1, 1.7):
        between = quad(
            lambda u, e=epsilon: 0.5 * np.exp(-u) * signed(e - shift + 2.0 * u),
            0.0,
            shift,
            epsrel=1e-11,
        )[0]
        expected = (
            0.5 * signed(epsilon - shift) + 0.5 * np.exp(-shift) * signed(epsilon + shift) + between
        )
        assert float(larger.delta(epsilon)[0]) == pytest.approx(expected, rel=1e-9)


def test_one_coordinate_is_the_textbook_formula():
    epsilon = np.array([0.0, 0.5, 0.999999, 1.0, 3.0])
    delta = curve_of_laws(noise(0.0, 2.0), noise(-2.0, 2.0))[0].delta(epsilon)[0]
    np.testing.assert_allclose(delta, np.maximum(-np.expm1((epsilon - 1.0) / 2.0), 0.0), rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_from_the_supremum_on_delta_is_zero_and_before_it_is_not(count):
    curve = LaplaceShift(0.25, count)
    end = curve.supremum[0]
    assert end == count * 0.25
    assert curve.delta(end)[0] <= 1e-30
    assert curve.delta(end * (1.0 - 1e-3))[0] > 0.0
    # next to the end only the atom at k·t counts: P = 2^{−k}
    near = end * (1.0 - 1e-9)
    assert float(curve.delta(near)[0]) == pytest.approx(2.0**-count * (end - near), rel=1e-5)


def test_unequal_scales_against_direct_integration():
    curve = curve_of_laws(noise(0.0, 1.0), noise(1.0, 3.0))[0]

    def gain(x, epsilon, turn):
        p, q = 0.5 * np.exp(-abs(x)), np.exp(-abs(x - 1.0) / 3.0) / 6.0
        return max(q - np.exp(epsilon) * p if turn else p - np.exp(epsilon) * q, 0.0)

    for epsilon in (0.0, 0.5, 1.2):
        found = curve.delta(np.array([epsilon]))
        for turn in (0, 1):
            expected = quad(
                gain, -60, 60, args=(epsilon, turn), points=[0, 1], limit=2000, epsabs=1e-13
            )[0]
            assert found[turn][0] == pytest.approx(expected, rel=1e-7)
    assert curve.supremum[0] == pytest.approx(np.log(3.0) + 1.0 / 3.0)  # at 0
    assert curve.supremum[1] == np.inf
    assert curve.renyi(2.0)[1] == np.inf


def test_equal_coordinates_and_equal_laws_tell_nothing():
    assert curve_of_laws(noise([1.0, 2.0]), noise([1.0, 2.0]))[0].delta(0.0)[0] == 0.0
    both = curve_of_laws(noise([1.0, 2.0, 5.0]), noise([1.0, 2.5, 5.0]))[0]
    assert both == LaplaceShift(0.5, 1)


def test_noise_of_several_releases_is_put_together():
    left, right = Product((noise(0.0), noise(0.0, 2.0))), Product((noise(1.0), noise(2.0, 2.0)))
    assert curve_of_laws(left, right)[0] == LaplaceShift(1.0, 2)


def test_unlike_shifts_have_no_closed_form():
    with pytest.raises(dp.NoExactSpectrum, match="the same number of scales"):
        curve_of_laws(noise([0.0, 0.0]), noise([1.0, 2.0]))


def test_shared_noise_tells_differences_for_certain():
    left, right = SharedLaplace(np.array([0.0, 1.0]), 2.0), SharedLaplace(np.array([0.0, 1.5]), 2.0)
    assert curve_of_laws(left, right)[0].delta(np.array([9.0]))[0] == 1.0
    moved = SharedLaplace(np.array([1.0, 2.0]), 2.0)
    assert curve_of_laws(left, moved)[0] == LaplaceShift(0.5, 1)
    x = left.sample(50, np.random.default_rng(0))
    np.testing.assert_allclose(
        left.log_density(x), noise(0.0, 2.0).log_density(x[:, :1]), rtol=1e-9
    )
    assert np.all(np.isneginf(right.log_density(x)))
