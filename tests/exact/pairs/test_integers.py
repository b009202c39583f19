"""Discrete Laplace and discrete Gaussian noise against sums at 40 digits and an accountant."""

import mpmath as mp
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import curve_of_laws
from dpaudit.laws import DiscreteGaussian, DiscreteLaplace
from dpaudit.mechanisms import Composition

EPSILON = np.array([0.0, 0.07, 0.3, 1.0, 2.5, 6.0])


def log_weight(kind, z, size):
    z, size = mp.mpf(z), mp.mpf(size)
    return -abs(z) / size if kind is DiscreteLaplace else -(z**2) / (2 * size**2)


def summed(kind, size, shift, epsilon, reach=60):
    """δ of one coordinate by its definition, Σ (p(z) − e^ε p(z − shift))₊."""
    with mp.workdps(40):
        window = range(-reach, reach + 1)
        total = mp.fsum(mp.exp(log_weight(kind, z, size)) for z in window)
        gamma = mp.exp(mp.mpf(float(epsilon)))
        terms = (
            mp.exp(log_weight(kind, z, size)) - gamma * mp.exp(log_weight(kind, z - shift, size))
            for z in window
        )
        return float(mp.fsum(term for term in terms if term > 0) / total)


def pair(kind, sizes, shifts, start=0.0):
    centre, sizes = start + np.zeros(len(shifts)), np.array(sizes, dtype=float)
    return curve_of_laws(kind(centre, sizes), kind(centre + shifts, sizes))[0]


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize(("size", "shift"), [(2.0, 1), (0.3, 1), (1.5, -3), (1.0, 4)])
def test_one_coordinate_is_its_sum(kind, size, shift):
    truth = [summed(kind, size, shift, epsilon) for epsilon in EPSILON]
    for start in (0.0, 1e9):
        for side in pair(kind, [size], [shift], start).delta(EPSILON):
            np.testing.assert_allclose(side, truth, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("order", [0.3, 1.0, 1.7, 40.0])
def test_renyi_divergences_are_sums(order):
    sigma, shift = 0.7, 3
    with mp.workdps(40):
        window = range(-400, 401)
        total = mp.fsum(mp.exp(log_weight(DiscreteGaussian, z, sigma)) for z in window)
        logs = [
            (log_weight(DiscreteGaussian, z, sigma), log_weight(DiscreteGaussian, z - shift, sigma))
            for z in window
        ]
        if order == 1.0:
            truth = mp.fsum(mp.exp(p) * (p - q) for p, q in logs) / total
        else:
            a = mp.mpf(order)
            moment = mp.fsum(mp.exp(a * p + (1 - a) * q) for p, q in logs) / total
            truth = mp.log(moment) / (a - 1)
    for side in pair(DiscreteGaussian, [sigma], [shift]).renyi(order):
        assert side == pytest.approx(float(truth), rel=1e-12)
    assert side <= order * shift**2 / (2.0 * sigma**2) * (1.0 + 1e-12) or order < 1.0


def test_pure_epsilon_is_that_of_the_noise():
    assert pair(DiscreteLaplace, [2.0, 4.0], [1, -2]).supremum == pytest.approx((1.0, 1.0))
    assert pair(DiscreteGaussian, [2.0], [1]).supremum == (np.inf, np.inf)
    assert pair(DiscreteGaussian, [2.0], [0]).supremum == (0.0, 0.0)


@pytest.mark.parametrize(
    ("kind", "size", "shift"),
    [
        (DiscreteGaussian, 0.05, 1),
        (DiscreteGaussian, 1e4, 1),
        (DiscreteGaussian, 3.0, 5000),
        (DiscreteLaplace, 1e6, 1),
        (DiscreteLaplace, 0.01, 100_000),
    ],
)
def test_curves_at_extremes(kind, size, shift):
    epsilon = np.append(np.linspace(0.0, 3.0, 31), [10.0, 1e3, 1e9])
    for side in pair(kind, [size], [shift]).delta(epsilon):
        assert np.all((side >= 0.0) & (side <= 1.0))
        assert np.all(np.diff(side) <= 1e-15)
    if kind is DiscreteGaussian and size == 1e4:
        np.testing.assert_allclose(
            pair(kind, [size], [10_000]).delta(EPSILON)[0],
            dp.exact.gaussian_shift(1.0, EPSILON),
            atol=1e-4,
        )


def test_sums_that_are_too_long_and_noise_that_differs_are_refused():
    for kind, sizes, shifts in (
        (DiscreteGaussian, [1e7], [1]),
        (DiscreteGaussian, [300.0] * 300, [1] * 300),
        (DiscreteLaplace, [1.0], [1e7]),
    ):
        with pytest.raises(dp.NoExactSpectrum, match=r"take sums of .* use smaller noise"):
            pair(kind, sizes, shifts).delta(0.0)
    for kind in (DiscreteGaussian, DiscreteLaplace):
        one, other = (kind(np.zeros(1), np.array([size])) for size in (1.0, 2.0))
        with pytest.raises(dp.NoExactSpectrum, match=r"use dpaudit\.audit"):
            curve_of_laws(one, other)


COUNTS = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
REMOVED = dp.neighbours.remove_row(COUNTS, 1)


def test_mechanisms_compose_exactly():
    noisy, wide = dp.mechanisms.DiscreteGaussian(2.0), dp.mechanisms.DiscreteLaplace(3.0)
    twice = dp.exact.spectrum(Composition((noisy,), (2,)), REMOVED, EPSILON)
    truth = pair(DiscreteGaussian, [2.0, 2.0], [2.0, 2.0]).delta(EPSILON)[0]
    np.testing.assert_allclose(twice.delta, truth, rtol=1e-12, atol=1e-300)
    both = dp.exact.spectrum(Composition((noisy, wide)), REMOVED, EPSILON)
    assert both.low is None
    assert np.all(both.delta >= dp.exact.spectrum(noisy, REMOVED, EPSILON).delta)
    with pytest.raises(dp.InvalidInput, match=r"^data must be whole numbers"):
        noisy(COUNTS + 0.5, 3)


@pytest.mark.parametrize("kind", [dp.mechanisms.DiscreteGaussian, dp.mechanisms.DiscreteLaplace])
@pytest.mark.parametrize("size", [0.6, 3.5])
def test_draws_have_the_law(kind, size):
    """The counts of 11 values, within 5 standard deviations; no value is far from its centre."""
    mechanism, runs = kind(size), 20_000
    draws = mechanism(COUNTS, runs, rng=2) - COUNTS.sum(axis=0)
    z = np.arange(-60.0, 61.0)
    log_p = mechanism.law(np.zeros((1, 1))).log_density(z[:, None])
    p = np.exp(log_p) / np.exp(log_p).sum()
    for column in draws.T:
        counts = np.array([np.count_nonzero(column == value) for value in z])
        assert counts.sum() == runs
        error = np.abs(counts - runs * p)[55:66]
        assert np.all(error <= 5.0 * np.sqrt(runs * p[55:66]) + 5.0)
