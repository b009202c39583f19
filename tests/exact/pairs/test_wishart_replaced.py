"""Additive Wishart noise with a row replaced: other parameters, limits, draws."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import ReplacedWishartCurve, additive_wishart
from dpaudit.mechanisms import AdditiveWishart


def test_the_mechanism_knows_replaced_rows():
    """α and β from two rows of norm 2 at 60°, noise of scale 2: ±√(1 − cos²60°) = ±√3/2."""
    data = np.array([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]])
    pair = dp.neighbours.replace_row(data, 0, [1.0, np.sqrt(3.0), 0.0])
    found = dp.exact.spectrum(AdditiveWishart(12, 2.0), pair, [0.0, 0.5])
    exact = ReplacedWishartCurve(np.sqrt(0.75), np.sqrt(0.75), 12, 3).delta([0.0, 0.5])
    np.testing.assert_allclose((found.forward, found.backward), exact, rtol=1e-7)
    assert found.law == "additive Wishart"
    assert found.pure_epsilon == np.inf
    assert float(found.renyi(2.0)) == np.inf
    with pytest.raises(dp.NoExactSpectrum, match="order < 1"):
        found.renyi(0.5)


def test_two_rows_on_one_axis_leave_one_number():
    data = np.array([[3.0, 0.0], [0.0, 1.0]])
    for row, up in ((1.0, 8.0), (5.0, -16.0)):
        found = dp.exact.spectrum(
            AdditiveWishart(9, 1.0), dp.neighbours.replace_row(data, 0, [row, 0.0]), [0.0, 1.0]
        )
        exact = additive_wishart(abs(up), 9, 2, [0.0, 1.0])
        np.testing.assert_allclose(
            (found.forward, found.backward), exact if up > 0 else exact[::-1], rtol=1e-9
        )


def test_two_rows_changed_have_no_closed_form():
    data = np.diag([1.0, 2.0, 3.0])
    pair = dp.NeighbourPair(data, np.diag([1.5, 2.5, 3.0]))
    with pytest.raises(dp.NoExactSpectrum, match="one row"):
        dp.exact.spectrum(AdditiveWishart(9, 1.0), pair, 0.5)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 1.0, 9, 3), "up"),
        ((1.0, -1.0, 9, 3), "down"),
        ((1.0, 1.0, 2, 3), "dof"),
        ((1.0, 1.0, 9, 1), "dim"),
    ],
)
def test_bad_arguments_are_named(arguments, name):
    with pytest.raises(dp.InvalidInput, match=name):
        ReplacedWishartCurve(*arguments)


TINY = [  # total variation, by integration of the definition over the angle and the size of (s, t)
    ((3.43e-8, 6.6e-9, 4, 2), 7.787099328056e-09),
    ((7.8e-7, 8.74e-8, 4, 2), 1.807944553356e-07),
    ((1.99e-4, 1.9e-4, 49, 2), 1.12615232374959e-05),
]


@pytest.mark.parametrize(("arguments", "truth"), TINY)
def test_a_loss_of_any_scale_is_resolved_on_any_grid(arguments, truth):
    """Was a constant 4e-40 on grids that are wide beside the loss. The reference's two directions
    agree to 1e-7, 1e-10 and 1e-14.
    """
    curve = ReplacedWishartCurve(*arguments)
    alone = curve.delta(0.0)
    for grid in ([0.0, 1.0, 2.0], [0.0, 1e-9, 1e9]):
        for one, many in zip(alone, ReplacedWishartCurve(*arguments).delta(grid), strict=True):
            assert one == pytest.approx(truth, rel=1e-7)
            assert many[0] == pytest.approx(float(one), rel=1e-12)


@pytest.mark.parametrize(("size", "spare"), [(4.51e-6, 10), (1e-3, 29), (1.0, 48)])
def test_deep_in_the_tail_it_is_still_a_zeroed_row(size, spare):
    """Was 1e-40 wherever it is less; a second row of 3e-5 of the norm changes little."""
    curve = ReplacedWishartCurve(size * 1e-9, size, spare + 2, 2)
    for epsilon in (0.0, 0.2, 30.0):
        forward = float(curve.delta(epsilon)[0])
        zeroed = float(additive_wishart(size, spare + 2, 2, epsilon)[1])
        assert forward == pytest.approx(zeroed, rel=1e-6)


@pytest.mark.parametrize(
    ("up", "down", "freedom"),
    [(1.0, 0.5, 3), (2.0, 0.3, 8), (30.0, 50.0, 2_000), (1e3, 2e3, 4_000_000)],
)
def test_against_draws_of_the_noise(up, down, freedom):
    """Was 5e-22 for the last, whose δ(0) is .31; within five standard errors (chance 4e-6)."""
    size, epsilon = 200_000, np.array([0.0, 0.5, 1.0])
    rng = np.random.default_rng(freedom)
    x, w = rng.chisquare(freedom, size), rng.chisquare(freedom - 1, size)
    n = rng.standard_normal(size)
    excess = up / x - down / w - up * down / (x * w) + up * n**2 / (x * w)
    loss = 0.5 * (up - down) - 0.5 * (freedom - 3) * np.log1p(np.maximum(excess, -0.999_999))
    loss[excess <= -1.0] = np.inf  # outputs that rule the other database out
    gain = -np.expm1(np.minimum(epsilon[:, None] - loss, 0.0))
    found = ReplacedWishartCurve(up, down, freedom, 2).delta(epsilon)[0]
    assert np.all(np.abs(gain.mean(axis=1) - found) < 5.0 * gain.std(axis=1) / np.sqrt(size))


def test_series_of_many_epsilon_have_the_values_of_each():
    curve = ReplacedWishartCurve(1.99e-4, 1.9e-4, 49, 2)
    epsilon = np.linspace(0.0, 3e-4, 151)
    alone = curve.delta(epsilon[::30])
    np.testing.assert_allclose([one[::30] for one in curve.delta(epsilon)], alone, rtol=1e-8)
