"""Replaced rows of sketched least squares at ε where e^ε overflows or nearly does."""

import warnings

import mpmath as mp
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import StudentPairCurve
from dpaudit.laws import StudentT

ROWS = 2_000
DATA = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])  # one feature, and the label
FAR = np.array([0.0, 1.0, 100.0, 709.0, 710.0, 800.0, 2_000.0, 5_000.0])


def fitted(data):
    """(x_opt, M/‖w‖²): the output has the density ∝ (1 + (x − x_opt)²M/‖w‖²)^{−(r+1)/2}."""
    feature, label = ([mp.mpf(float(value)) for value in column] for column in data.T)
    gram = mp.fdot(feature, feature)
    coef = mp.fdot(feature, label) / gram
    rest = mp.fsum((y - coef * x) ** 2 for x, y in zip(feature, label, strict=True))
    return coef, gram / rest


def upper(law, x):
    """The probability above x."""
    coef, shape = law
    one_side = mp.betainc(
        mp.mpf(ROWS) / 2, mp.mpf(1) / 2, 0, 1 / (1 + shape * (x - coef) ** 2), regularized=True
    )
    return one_side / 2 if x > coef else 1 - one_side / 2


def between(law, low, high):
    """The probability of an interval, on the side where it does not cancel."""
    if low > law[0]:
        return upper(law, low) - upper(law, high)
    mirrored = -law[0], law[1]
    return upper(mirrored, -high) - upper(mirrored, -low)


def delta(P, Q, epsilon):
    """P(L > ε) − e^ε Q(L > ε); {L > ε} lies between or outside the roots of a quadratic."""
    (x, m), (y, k) = P, Q
    level = mp.exp(2 * (mp.mpf(epsilon) - mp.log(m / k) / 2) / (ROWS + 1))
    a, b = k - level * m, -2 * k * y + 2 * level * m * x
    root = mp.sqrt(b * b - 4 * a * (1 + k * y**2 - level * (1 + m * x**2)))
    low, high = sorted([(-b - root) / (2 * a), (-b + root) / (2 * a)])
    if a < 0:
        inside = [between(law, low, high) for law in (P, Q)]
    else:
        far = mp.mpf(10) ** 40
        inside = [between(law, -far, low) + between(law, high, far) for law in (P, Q)]
    return inside[0] - mp.exp(epsilon) * inside[1]


@pytest.mark.parametrize(("row", "other", "side"), [(0, (30, 0.5), 0), (1, (0.1, 40), 1)])
def test_delta_beyond_the_largest_float_of_e_to_the_epsilon(row, other, side):
    """One feature, by incomplete beta functions; δ falls from .9 to 5e-283."""
    replaced = DATA.copy()
    replaced[row] = other
    with mp.workdps(40):
        laws = fitted(DATA), fitted(replaced)
        P, Q = laws if side == 0 else laws[::-1]
        expected = [float(delta(P, Q, epsilon)) for epsilon in FAR]
    pair = dp.neighbours.replace_row(DATA, row, np.array(other, dtype=float))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spectrum = dp.exact.spectrum(dp.mechanisms.ALS(ROWS), pair, FAR)
        whole = spectrum.tradeoff(0.1)
    found = (spectrum.forward, spectrum.backward)[side]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert 0.0 < whole < 0.01
    for epsilon, value in zip(FAR, found, strict=True):
        alone = dp.exact.spectrum(dp.mechanisms.ALS(ROWS), pair, epsilon)
        assert (alone.forward, alone.backward)[side] == pytest.approx(value, rel=1e-9)


def test_the_worst_replacement_is_found_where_e_to_the_epsilon_overflows():
    """Among pairs whose likelihood ratios have variances that overflow too."""
    rng = np.random.default_rng(5)
    data = rng.standard_normal((9, 3))
    candidates = rng.standard_normal((5, 3)) * [[1.0], [3.0], [10.0], [30.0], [100.0]]
    epsilon = [1.0, 360.0, 500.0, 710.0, 900.0]
    mechanism = dp.mechanisms.ALS(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        worst = dp.exact.worst_case(
            mechanism, data, epsilon, relation="replace", candidates=candidates
        )
    single = [
        dp.exact.spectrum(mechanism, dp.neighbours.replace_row(data, row, other), epsilon).delta
        for row in range(9)
        for other in candidates
    ]
    np.testing.assert_allclose(worst.delta, np.max(single, axis=0), rtol=1e-8)
    assert worst.delta[3] > 1e-3


@pytest.mark.parametrize("share", [0.9, 0.9999])
def test_scales_that_lie_thousands_apart(share):
    """t₄ against 42.8 + t₄/2598.75, where 17 % were lost near the largest loss.

    By quadrature at 30 digits between the two points at which the loss is ε.
    """
    dof, centre, scale = 4, 42.8, 2598.75
    wide = StudentT(np.zeros(1), np.eye(1), dof)
    narrow = StudentT(np.array([centre]), np.array([[scale]]), dof)
    curve = StudentPairCurve(wide, narrow)
    epsilon = share * curve.supremum[0]
    with mp.workdps(30):
        power, square = mp.mpf(dof + 1) / 2, mp.mpf(scale) ** 2
        level = mp.exp((mp.mpf(epsilon) + mp.log(scale)) / power)
        # 1 + scale²(x − centre)² against level·(1 + x²)
        a, b, c = square - level, -2 * square * centre, 1 + square * centre**2 - level
        ends = sorted((-b + sign * mp.sqrt(b * b - 4 * a * c)) / (2 * a) for sign in (1, -1))
        norm = mp.gamma(power) / mp.gamma(mp.mpf(dof) / 2) / mp.sqrt(mp.pi)
        reference = norm * mp.quad(
            lambda x: (
                (1 + x**2) ** -power
                - mp.exp(epsilon) * scale * (1 + square * (x - centre) ** 2) ** -power
            ),
            mp.linspace(*ends, 9),
        )
    assert 1e-6 < reference < 1.0
    found = curve.delta(epsilon)[0]
    assert float(found) == pytest.approx(float(reference), rel=1e-9)
