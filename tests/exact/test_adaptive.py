"""A release whose setting is read off an earlier one: closed forms, another quadrature, draws."""

import numpy as np
import pytest

from dpaudit import InvalidInput
from dpaudit.exact import FirstRelease, PrivacyLoss, adaptive_curve, gaussian_shift


def adaptive(first, curves, epsilon, breaks=()):
    return adaptive_curve(first, curves, breaks).delta(epsilon)


EPSILON = np.linspace(0.0, 10.0, 21)
SAME = PrivacyLoss.gaussian_shift(0.0)


def leverage(x):
    """Of the sketch that is drawn after x: more for a larger x."""
    return 0.3 / (1.0 + np.exp(-0.3 * x))


def sketch(x):
    return PrivacyLoss.gaussian_sketch(leverage(x), rows=20)


def test_two_gaussian_shifts_are_one():
    """0.6 and 0.8 make 1 (relative, down to 1e-17)."""
    second = PrivacyLoss.gaussian_shift(0.8)
    exact = gaussian_shift(1.0, EPSILON)
    for found in adaptive(FirstRelease.gaussian(2.0, 3.2, sigma=2.0), lambda x: second, EPSILON):
        np.testing.assert_allclose(found[exact > 1e-17], exact[exact > 1e-17], rtol=1e-10)


@pytest.mark.parametrize(("left", "right"), [(0.0, 0.5), (3.0, 1.0)])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_nothing_after_laplace_noise_leaves_its_own_spectrum(left, right, share):
    """δ(ε) is 1 − e^{(ε − t)/2} for a shift of t scales. Where L = ±ε the integrand has a kink,
    since nothing blurs it.
    """
    shift = abs(left - right) / 2.0
    epsilon = share * shift
    kinks = 0.5 * (left + right) + np.array([-1.0, 1.0]) * epsilon  # |x − right| − |x − left| = ±2ε
    for found in adaptive(
        FirstRelease.laplace(left, right, scale=2.0), lambda x: SAME, epsilon, kinks
    ):
        assert float(found) == pytest.approx(-np.expm1(0.5 * (epsilon - shift)), rel=1e-9)


def test_against_draws_of_both_releases():
    """400,000 draws of x and of the χ² that decides the sketch's loss. Within five standard errors
    (chance 4e-6).
    """
    rng = np.random.default_rng(5)
    size, epsilon = 400_000, np.array([0.0, 0.5, 1.5])
    forward, backward = adaptive(FirstRelease.laplace(0.0, 0.5, 1.0), sketch, epsilon)
    for sign, exact in ((1.0, forward), (-1.0, backward)):
        x = rng.laplace(0.0 if sign > 0 else 0.5, 1.0, size)
        q, c = leverage(x), rng.chisquare(20, size)
        own = c * q / (2.0 * (1.0 - q)) if sign > 0 else -0.5 * c * q
        loss = sign * (np.abs(x - 0.5) - np.abs(x) + 10.0 * np.log1p(-q)) + own
        gain = -np.expm1(np.minimum(epsilon[:, None] - loss, 0.0))
        assert np.all(np.abs(gain.mean(axis=1) - exact) < 5.0 * gain.std(axis=1) / np.sqrt(size))


def test_a_clipped_setting_needs_its_break():
    """The sketch stops changing at x = 0.3, so the panels are cut there. Nodes beyond share one
    curve.
    """
    flat = sketch(0.3)
    first = FirstRelease.gaussian(0.0, 0.4, 1.0)
    curve = adaptive_curve(first, lambda x: flat if x > 0.3 else sketch(x), breaks=[0.3])
    assert len({id(one) for one in curve.curves}) < 0.7 * len(curve.curves)
    finer = FirstRelease(first.log_p, first.log_q, np.linspace(first.edges[0], first.edges[-1], 60))
    exact = adaptive(finer, lambda x: flat if x > 0.3 else sketch(x), [0.0, 1.0], breaks=[0.3])
    np.testing.assert_allclose(curve.delta(np.array([0.0, 1.0])), exact, rtol=1e-8)


def test_moments_of_the_pair():
    """Rényi divergences of independent releases add: order 2 of Gaussian shifts is μ²."""
    curve = adaptive_curve(
        FirstRelease.gaussian(0.0, 0.6, 1.0), lambda x: PrivacyLoss.gaussian_shift(0.8)
    )
    assert curve.renyi(2.0) == pytest.approx((1.0, 1.0), rel=1e-9)
    assert curve.supremum == (np.inf, np.inf)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: FirstRelease.laplace(0.0, 1.0, 0.0), "scale"),
        (lambda: FirstRelease.gaussian(0.0, np.nan, 1.0), "right"),
        (
            lambda: adaptive(FirstRelease(np.sin, np.cos, np.array([1.0, 0.0])), sketch, 0.5),
            "edges",
        ),
        (
            lambda: adaptive(FirstRelease.laplace(0.0, 1.0, 1.0), sketch, 0.5, breaks=[np.inf]),
            "breaks",
        ),
        (lambda: adaptive(FirstRelease.laplace(0.0, 1.0, 1.0), lambda x: SAME, -0.5), "epsilon"),
    ],
)
def test_bad_arguments_are_named(make, name):
    with pytest.raises(InvalidInput, match=name):
        make()
