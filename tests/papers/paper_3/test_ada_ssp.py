"""AdaSSP: its releases exactly, the eigenvalue of every zeroed row, the solution by hand."""

import math

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.papers import AdaSSP

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(6)
X = RNG.uniform(-0.5, 0.5, (20, 3))
DATA = np.column_stack([X, np.clip(2.0 * X[:, 0], -1.0, 1.0)])


@pytest.mark.parametrize(
    ("epsilon", "row_bound", "label_bound"), [(0.1, 1.0, 1.0), (1.0, 0.1, 5.0), (10.0, 30.0, 2.0)]
)
def test_on_its_pair_all_three_move_by_their_sensitivity(epsilon, row_bound, label_bound):
    """Three shifts of one deviation s make a shift of √3/s, whatever the bounds."""
    mechanism = AdaSSP(epsilon, 1e-5, row_bound, label_bound)
    exact = dp.exact.spectrum(mechanism, mechanism.pair(), [0.0, epsilon])
    shift = math.sqrt(3.0) * (epsilon / 3.0) / math.sqrt(math.log(6e5))
    np.testing.assert_allclose(
        exact.delta, dp.exact.gaussian_shift(shift, [0.0, epsilon]), rtol=1e-9
    )
    assert exact.delta[1] <= 1e-5


@pytest.mark.parametrize(("epsilon", "delta"), [(20.0, 0.01), (50.0, 1e-6), (100.0, 1e-10)])
def test_at_large_epsilon_the_printed_noise_is_too_little(epsilon, delta):
    printed, corrected = (
        AdaSSP(epsilon, delta, variant=variant) for variant in ("printed", "corrected")
    )
    assert dp.exact.spectrum(printed, printed.pair(), epsilon).delta > 1.1 * delta
    assert dp.exact.spectrum(corrected, corrected.pair(), epsilon).delta == pytest.approx(
        delta, rel=1e-6
    )
    assert AdaSSP(1.0, delta, variant="corrected").deviation == AdaSSP(1.0, delta).deviation


def test_every_zeroed_row_by_its_two_laws():
    """zeroed_rows against the statistics of both databases.

    It changes λ_min, XᵀX and Xᵀy by formula.
    """
    mechanism = AdaSSP(1.0, 1e-5, label_bound=1.0)
    family = mechanism.zeroed_rows(DATA)
    for index in range(len(DATA)):
        pair = dp.neighbours.zero_row(DATA, index)
        left, right = mechanism.law(pair.left), mechanism.law(pair.right)
        shift = np.linalg.norm((left.mean - right.mean) / left.deviation)
        assert family.mu[index] == pytest.approx(shift, rel=1e-9)
        solution = AdaSSP(1.0, 1e-5, release="solution")
        expected = dp.exact.gaussian_shift(shift, [0.0, 0.3])
        np.testing.assert_allclose(
            solution.joint_spectrum(pair, [0.0, 0.3]).delta, expected, rtol=1e-8
        )


def test_lines_3_4_and_7_by_hand():
    mechanism = AdaSSP(2.0, 0.01, 0.9, 1.0, failure=0.1, release="solution")
    statistics = np.array(
        [[40.0, 30.0, 1.0, 2.0, 31.0, -1.0, 32.0, 3.0, 4.0, 5.0], [0.0] + [9.0] * 9]
    )
    log, share, square = math.log(600.0), 2.0 / 3.0, 0.81
    gram = np.array([[30.0, 1.0, 2.0], [1.0, 31.0, -1.0], [2.0, -1.0, 32.0]])
    lower = max(40.0 - log / share * square, 0.0)
    ridge = max(0.0, math.sqrt(3 * log * math.log(2 * 9 / 0.1)) * square / share - lower)
    expected = np.linalg.solve(gram + ridge * np.eye(3), [3.0, 4.0, 5.0])
    np.testing.assert_allclose(mechanism.solve(statistics, 3)[0], expected)


def test_the_solution_has_no_exact_spectrum_and_bad_input_is_named():
    with pytest.raises(dp.NoExactSpectrum, match="joint_spectrum"):
        dp.exact.worst_case(AdaSSP(1.0, 0.1, release="solution"), DATA, 1.0)
    with pytest.raises(dp.InvalidInput, match="label_bound"):
        AdaSSP(1.0, 0.1, label_bound=0.1)(DATA, 2, rng=1)
