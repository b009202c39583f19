"""Releases without a common method, composed: two bounds around values had in another way."""

import numpy as np
import pytest
from scipy.integrate import quad

import dpaudit as dp
from dpaudit.curves import ComposedCurves
from dpaudit.exact import (
    Atoms,
    BranchCurve,
    LaplaceShift,
    PrivacyLoss,
    curve_of_laws,
    exact_spectrum,
)
from dpaudit.laws import StudentT
from dpaudit.mechanisms import ALS, DPSGD, ZOO, Composition, GaussianLS

EPSILON = np.array([0.0, 0.03, 0.3, 1.0, 1.9, 3.0, 7.0])
SHIFT, LAPLACE = PrivacyLoss.gaussian_shift, LaplaceShift
MISSING = Atoms(np.log([0.5, 0.3, 0.2]), np.array([np.log(0.4), np.log(0.6), -np.inf]))


def around(parts, truth, near=1e-7):
    """The curve of the parts, whose bounds enclose the truth (forward, backward) closely."""
    curve = ComposedCurves(parts, "parts")
    for bound, value in zip(curve.delta(EPSILON), truth, strict=True):
        assert np.all((bound >= value) & (bound <= value + near))
    low = curve.low(EPSILON)
    assert np.all((low >= 0.0) & (low <= np.maximum(*truth)))
    later = EPSILON + curve.interval * sum(times for _, times in parts)
    upper = np.maximum(*curve.delta(later))
    assert np.all(low >= upper - 1e-8)  # no more is lost than the losses are moved
    return curve


@pytest.mark.parametrize("mus", [(1.0, 1.0), (0.3, 2.0), (5.0, 3.0), (0.2, 0.5)])
def test_two_shifts_are_one(mus):
    truth = dp.exact.gaussian_shift(np.hypot(*mus), EPSILON)
    around(tuple((SHIFT(mu), 1) for mu in mus), (truth, truth))


@pytest.mark.parametrize(("shift", "times"), [(1.0, 3), (0.05, 40), (4.0, 2)])
def test_repeated_laplace_noise_is_its_closed_form(shift, times):
    curve = around(((LAPLACE(shift, 1), times),), LAPLACE(shift, times).delta(EPSILON))
    assert curve.supremum == pytest.approx((shift * times,) * 2)
    assert curve.delta(shift * times)[0] == 0.0
    assert curve.renyi(3.0) == pytest.approx(LAPLACE(shift, times).renyi(3.0))


def test_outcomes_that_one_side_never_gives_stay_infinite_losses():
    """In one direction the loss is infinite with probability 0.2, so no δ is smaller."""
    truth = BranchCurve(MISSING, (LAPLACE(1.0, 1),) * 3).delta(EPSILON)
    assert truth[0][-1] == pytest.approx(0.2)
    around(((MISSING, 1), (LAPLACE(1.0, 1), 1)), truth)


def shifted(mu, epsilon):
    """δ(ε) of a Gaussian shift at any real ε."""
    own = dp.exact.gaussian_shift(mu, np.abs(epsilon))
    return np.where(epsilon < 0.0, -np.expm1(epsilon) + np.exp(epsilon) * own, own)


def test_laplace_and_gaussian_noise_by_quadrature():
    """E δ(ε − L) over the loss of Laplace noise, ±t on the tails and linear between them."""
    t, mu = 1.3, 0.8

    def average(epsilon):
        inner = quad(lambda y: np.exp(-y) * shifted(mu, epsilon - t + 2.0 * y), 0.0, t)[0]
        ends = shifted(mu, epsilon - t) + np.exp(-t) * shifted(mu, epsilon + t)
        return 0.5 * float(inner + ends)

    truth = np.array([average(epsilon) for epsilon in EPSILON])
    around(((LAPLACE(t, 1), 1), (SHIFT(mu), 1)), (truth, truth))


@pytest.mark.slow
def test_a_student_law_and_gaussian_noise_by_quadrature():
    left, right = (
        StudentT(np.array([at]), np.array([[root]]), 5) for at, root in ((0.0, 1.0), (0.7, 1.2))
    )
    angle = np.linspace(-0.5, 0.5, 4_001)[1:-1] * np.pi  # x = tan(angle)
    x = np.tan(angle)[:, None]
    weight = np.exp(left.log_density(x)) / np.cos(angle) ** 2
    scale = 1.0 / weight.sum()  # densities lack a constant

    def average(one, other, epsilon):
        own = one.log_density(x)
        terms = (
            np.exp(own) / np.cos(angle) ** 2 * shifted(0.8, epsilon - own + other.log_density(x))
        )
        return scale * float(terms.sum())

    truth = [[average(*sides, e) for e in EPSILON] for sides in ((left, right), (right, left))]
    around(((curve_of_laws(left, right)[0], 1), (SHIFT(0.8), 1)), np.array(truth))


ONE = dp.NeighbourPair(np.array([[0.0]]), np.array([[1.0]]))
NOISES = Composition((ZOO["Laplace"], ZOO["Gaussian"]), (2, 1))


def test_a_composition_of_unlike_mechanisms_has_bounds():
    spectrum = dp.exact.spectrum(NOISES, ONE, EPSILON)
    assert spectrum.law.startswith("upper bound by dp-accounting: 2 × Laplace")
    assert "multiples of 0.001" in spectrum.law
    assert np.all(spectrum.low <= spectrum.delta)
    assert spectrum.level is None
    at = float(spectrum.epsilon_at(1e-5))
    assert float(spectrum.delta_at(at)) <= 1e-5
    assert spectrum.pure_epsilon == np.inf


def test_finite_als_composes_with_noise_and_with_itself():
    data = np.random.default_rng(1).normal(size=(30, 3))
    pair, als = dp.neighbours.zero_row(data, 3), ALS(rows=20)
    noisy = GaussianLS(sigma=0.05)
    for parts, times in (((als,), (2,)), ((als, noisy), (1, 1))):
        both = dp.exact.spectrum(Composition(parts, times), pair, 0.0)
        alone = [dp.exact.spectrum(part, pair, 0.0).delta for part in parts]
        assert max(alone) < both.low <= both.delta < np.dot(times, alone)


@pytest.mark.parametrize("mechanism", [NOISES, DPSGD(steps=2)], ids=["composition", "dp-sgd"])
def test_bounds_are_not_exact(mechanism):
    """An audit is judged by this spectrum."""
    with pytest.raises(dp.NoExactSpectrum):
        exact_spectrum(mechanism, ONE, EPSILON)


@pytest.mark.parametrize(
    "parts",
    [
        ((SHIFT(30.0), 1), (SHIFT(40.0), 1)),
        ((LAPLACE(50.0, 1), 2),),
        ((LAPLACE(0.01, 1), 1000),),
        ((LAPLACE(900.0, 1), 3),),
        ((PrivacyLoss.disjoint("disjoint"), 1), (SHIFT(1.0), 1)),
        ((SHIFT(0.0), 1), (LAPLACE(1.0, 1), 1)),
    ],
    ids=["wide", "steep", "many", "far", "disjoint", "nothing"],
)
def test_bounds_are_curves_at_extremes(parts):
    """They are in [0, 1], ordered and non-increasing, also where δ is below the rounding."""
    curve = ComposedCurves(parts, "parts")
    epsilon = np.append(np.linspace(0.0, 3.0, 301), [10.0, 50.0, 1e3, 1e6, 1e300])
    forward, backward = curve.delta(epsilon)
    low = curve.low(epsilon)
    for side in (forward, backward, low):
        assert np.all((side >= 0.0) & (side <= 1.0))
        assert np.all(np.diff(side) <= 0.0)
    assert np.all(low <= np.maximum(forward, backward))
