"""Replaced rows of sketched least squares at ε where e^ε overflows or nearly does."""

import warnings

import mpmath as mp
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import StudentPairCurve
from dpaudit.laws import StudentT


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


def test_epsilon_beyond_the_largest_float_of_its_exponential():
    """Two rows replaced by far ones: δ falls from near 1 to 1e-283, alone as on a grid."""
    data = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    epsilon = np.array([0.0, 1.0, 100.0, 709.0, 710.0, 800.0, 2_000.0, 5_000.0])
    for row, other, side in ((0, [30.0, 0.5], 0), (1, [0.1, 40.0], 1)):
        pair = dp.neighbours.replace_row(data, row, other)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            curve = dp.exact.spectrum(dp.mechanisms.ALS(2_000), pair, epsilon).curve
            found = curve.delta(epsilon)[side]
        assert np.all(np.diff(found) < 0.0)
        assert found[-1] > 0.0
        alone = [curve.delta(one)[side] for one in epsilon]
        np.testing.assert_allclose(found, alone, rtol=1e-9)


@pytest.mark.parametrize("share", [0.9, 0.9999])
def test_scales_that_lie_thousands_apart(share):
    """t₄ against 42.8 + t₄/2598.75, where 17 % were lost near the largest loss. By quadrature at 30
    digits between the two points at which the loss is ε.
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
