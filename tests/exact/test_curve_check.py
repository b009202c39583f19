"""The check that every exact curve passes before it leaves the engine."""

import numpy as np
import pytest

from dpaudit.errors import NoExactSpectrum
from dpaudit.exact import PrivacyLoss, gaussian_shift
from dpaudit.exact.numerics import contour
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, by_sorted_epsilon
from tests.exact import random_curves

pytestmark = pytest.mark.quick

GRID = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0])


def right(epsilon):
    both = gaussian_shift(1.0, epsilon)
    return both, both


def changed(place, factor, side=0):
    """The right curve with one value of one direction changed."""

    def method(epsilon):
        curves = [part.copy() for part in right(epsilon)]
        curves[side][place] *= factor
        return tuple(curves)

    return method


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("place", "factor", "words"),
    [
        (0, 1.0 + 1e-7, "disagree at ε = 0"),
        (3, 1.6, "not convex in e\\^ε at ε = 1"),
        (2, 0.5, "rises at ε = 1"),
        (2, 1.2, "not convex in e\\^ε at ε = 0.5"),
        (6, 1e11, "rises at ε = 8"),
        (5, np.nan, "outside"),
        (5, -1.0, "outside"),
    ],
)
def test_a_wrong_value_is_refused(place, factor, words, side):
    with pytest.raises(NoExactSpectrum, match=words):
        by_sorted_epsilon(GRID, changed(place, factor, side))


@pytest.mark.parametrize("side", [0, 1])
def test_a_direction_that_contradicts_the_other_is_refused_without_zero_in_the_grid(side):
    """Each is convex alone; together they are one convex function, which bends at 0 here."""

    def method(epsilon):
        curves = [part.copy() for part in right(epsilon)]
        curves[side] *= 0.5
        return tuple(curves)

    assert by_sorted_epsilon(GRID[1:2], right)
    with pytest.raises(NoExactSpectrum, match="directions disagree"):
        by_sorted_epsilon([1e-4, 1e-3, 2e-3], method)


def test_what_is_allowed_is_the_stated_accuracy_and_no_more():
    for accuracy, factor in ((Accuracy(1e-3), 1.0009), (Accuracy(absolute=1e-3), 1.004)):
        by_sorted_epsilon(GRID, changed(0, factor), accuracy=accuracy)
        with pytest.raises(NoExactSpectrum):
            by_sorted_epsilon(GRID, changed(0, 1.0 + 2.5 * (factor - 1.0)), accuracy=accuracy)


def test_many_degrees_of_freedom_are_allowed_the_rounding_of_their_root():
    assert Accuracy.of_squares(1e9) == Accuracy()
    assert 1e-7 < Accuracy.of_squares(1e16).relative < 1e-6


def test_sums_along_a_contour_that_do_not_agree_are_an_error():
    def rough(u):
        return 1j * np.random.default_rng(len(u)).random((1, len(u)))

    with pytest.raises(NoExactSpectrum, match="two sums along a contour disagree"):
        contour.trapezoid(rough, 3.0)
    assert contour.trapezoid(rough, 3.0, least=10.0) > 0.0


@pytest.mark.parametrize("key", [1041, 1245])
def test_a_tail_beside_a_large_value_is_that_alone(key):
    """One hyperbola for both lost the digits of the tail: 2.2e-33 at ε = 1947 was 0."""
    curve = random_curves.curve("composed", key).curve
    near, far = {
        1041: ([1.226, 1.687, 1.869, 2.047, 2.308, 2.665, 3.79, 67.29], [111.7, 185.4, 196.8258]),
        1245: ([0.862, 1.0, 1.413, 1.495, 1.952, 2.247, 2.462, 7.026], [16.64, 706.7, 1947.19]),
    }[key]
    small = [0.0, 1e-8, 2e-6, 1e-4, 6e-4, 0.002, 0.003, 0.006, 0.0144, 0.5]
    grid = small + near + far
    for side, alone in zip(curve.delta(grid), curve.delta(grid[-1:]), strict=True):
        assert side[-1] == pytest.approx(alone[0], rel=1e-9, abs=0.0)


@pytest.mark.parametrize("mu", [1e-20, 4.8e-73, 1e-95])
def test_a_tiny_shift_composed_with_nothing_keeps_its_digits(mu):
    """At 4.8e-73 the saddle point was out of reach, and δ was 5e-40."""
    whole = PrivacyLoss.gaussian_shift(mu) + PrivacyLoss.gaussian_shift(0.0)
    assert whole.delta(0.0)[0] == pytest.approx(gaussian_shift(mu, 0.0), rel=1e-9, abs=0.0)
