"""Compositions with additive Wishart noise, very many sketch rows, and negative zeros."""

import itertools
import time

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import mechanisms
from dpaudit.exact import PrivacyLoss
from tests.exact.loss_reference import Shift, Sketch, Wishart, delta
from tests.sparse import one_in

RELATIVE, SMALLEST = 1e-9, 1e-12  # relative where δ is at least SMALLEST
GRID = np.concatenate([[0.0], np.geomspace(1e-3, 60.0, 30)])
OTHERS = [
    Shift(0.05),
    Shift(1.5),
    Sketch(0.3, 1),
    Sketch(0.01, 3, forward=False),
    Sketch(0.1, 50),
    Wishart(0.4, 3, 3),
    Wishart(0.05, 5, 2, forward=False),
    Wishart(5.0, 31, 1),
]


def loss_of(part):
    """The `PrivacyLoss` of a part of the reference."""
    if isinstance(part, Shift):
        return PrivacyLoss.gaussian_shift(part.mu)
    if isinstance(part, Sketch):
        one = PrivacyLoss.gaussian_sketch(part.q, part.rows)
    else:
        one = PrivacyLoss.additive_wishart(part.q, part.dof, part.dim)
    return one if part.forward else one.reversed()


def assert_exact(one, other, points, rng):
    """Both directions at a few ε where δ is neither negligible nor 1."""
    curves = (loss_of(one) + loss_of(other)).delta(GRID)
    sides = ((one, other), (one.reversed(), other.reversed()))
    for found, parts in zip(curves, sides, strict=True):
        seen = np.flatnonzero((found > SMALLEST) & (found < 1.0 - SMALLEST))
        for j in rng.permutation(seen)[:points]:
            assert found[j] == pytest.approx(delta(*parts, float(GRID[j])), rel=RELATIVE)


WRONG = [
    (
        Wishart(0.04057311887537617, 7, 1, False),
        Sketch(0.0010272963549678494, 3, False),
        13.15515306128802,
    ),
    (Wishart(0.033734265968869914, 4, 3), Wishart(0.010087671894971713, 3, 3), 19.224707539902482),
    (
        Wishart(0.010844957564054698, 4, 1, False),
        Sketch(0.16116985928332128, 1, False),
        6.159822999913058,
    ),
]


@pytest.mark.parametrize(("one", "other", "epsilon"), one_in(3, WRONG))
def test_few_degrees_of_freedom_against_quadrature(one, other, epsilon):
    """Were off by 2e-7 to 2e-4."""
    found = (loss_of(one) + loss_of(other)).delta(np.append(GRID, epsilon))[0]
    assert found[-1] == pytest.approx(delta(one, other, epsilon), rel=RELATIVE)


UNLIKE = [  # sizes far apart: the digits of the smaller loss were lost beside the larger
    (Wishart(1.8354402030381556, 6, 1), Wishart(2.0105023163194037e-07, 4, 1, False)),
    (Wishart(0.00016582532823431858, 4, 4, False), Sketch(0.0020166285072361545, 2)),
    (Wishart(31.41112235686146, 35, 5), Wishart(2.8766170981800325e-05, 34, 4, False)),
]


@pytest.mark.parametrize(("one", "other"), one_in(3, UNLIKE))
def test_losses_of_very_different_size_against_quadrature(one, other):
    """Were `NoExactSpectrum`. The values do not depend on the grid."""
    whole = loss_of(one) + loss_of(other)
    sides = ((one, other), (one.reversed(), other.reversed()))
    for epsilon in (1e-4, 0.3):
        for found, far, parts in zip(
            whole.delta(epsilon), whole.delta([0.0, epsilon, 1e9]), sides, strict=True
        ):
            assert found == far[1]
            assert found == pytest.approx(delta(*parts, epsilon), rel=RELATIVE)


def test_a_large_epsilon_does_not_change_the_rest_of_the_grid():
    whole = PrivacyLoss.additive_wishart(0.0006952060156420794, 2, 1)
    whole = whole + PrivacyLoss.gaussian_shift(6.440219890629529)
    near, far = whole.delta([0.5, 10.0]), whole.delta([0.5, 10.0, 1e3, 1e9])
    np.testing.assert_array_equal(near, [side[:2] for side in far])
    floor = -np.expm1(-0.5 * 0.0006952060156420794)  # m = 2: c is exponential
    np.testing.assert_allclose([side[2:] for side in far], [[0.0] * 2, [floor] * 2], rtol=1e-12)


def test_two_copies_deep_in_the_tail():
    """By mpmath at 80 digits, over the noise of one copy of incomplete Γ functions of the other."""
    backward = (2 * PrivacyLoss.additive_wishart(0.0095, 33, 3)).delta([0.1, 0.5, 6.0, 8.0])[1]
    truth = [2.51786828776928e-18, 5.97530947622124e-28, 2.3976461970915e-42, 9.33160802855434e-44]
    np.testing.assert_allclose(backward, truth, rtol=1e-8)


@pytest.mark.parametrize("spare", one_in(4, range(4)))
def test_compositions_with_each_kind_against_quadrature(spare, rng):
    for other in (Shift(0.3), Sketch(0.2, 2), Wishart(0.7, 4, 3)):
        assert_exact(Wishart(0.4, 2 + spare, 2), other, 3, rng)


@pytest.mark.slow
@pytest.mark.parametrize("spare", range(4))
@pytest.mark.parametrize("dim", [1, 5])  # the law depends on dof − dim alone
def test_compositions_against_quadrature(dim, spare, rng):
    for q, other in itertools.product((0.01, 0.1, 1.0, 5.0, 20.0), OTHERS):
        assert_exact(Wishart(q, dim + spare, dim), other, 4, rng)


@pytest.mark.parametrize("times", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_copies_in_any_order_agree(times):
    one, other = PrivacyLoss.additive_wishart(0.5, 3, 3), PrivacyLoss.additive_wishart(2.0, 5, 3)
    shift = PrivacyLoss.gaussian_shift(0.2)
    whole = (times * one + other + shift).delta(GRID)
    again = (shift + other + one + (times - 1) * one).delta(GRID)
    for first, second in zip(whole, again, strict=True):
        np.testing.assert_allclose(first, second, rtol=RELATIVE, atol=SMALLEST * RELATIVE)
    assert whole[0][0] == pytest.approx(whole[1][0], rel=RELATIVE)


def test_calibration_of_very_many_rows_is_quick():
    """Took 32 s: a mesh grew as the root of the rows."""
    X, y = dp.datasets.load("diabetes")
    data, start = np.column_stack([X, y]), time.perf_counter()
    found = dp.exact.calibrate(mechanisms.RPLS(100, padding=3000.0), data, 1.0, 1e-5)
    assert time.perf_counter() - start < 10.0
    assert found.value == 104654186
