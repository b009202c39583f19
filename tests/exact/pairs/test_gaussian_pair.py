"""Gaussian pairs: nearly singular covariances, invariances, many dimensions, smooth curves.

Values come from elsewhere in tests/oracle; here are limits, equivalent problems and draws.
"""

import numpy as np
import pytest

from dpaudit import InvalidInput
from dpaudit.exact import gaussian_pair, gaussian_shift
from tests.exact.comparing import assert_close

EPSILON = np.array([0.0, 0.1, 0.3, 1.0, 4.0, 20.0])


def on_axes(shift, ratio, epsilon=EPSILON):
    """N(0, I) against N(shift, diag(ratio))."""
    size = len(ratio)
    return gaussian_pair(np.zeros(size), np.eye(size), shift, np.diag(ratio), epsilon)


def assert_certain(curves):
    assert np.all(np.stack(curves) == 1.0)


# --- singular covariances -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_laws_on_one_subspace_are_the_smaller_problem(seed):
    rng = np.random.default_rng(seed)
    basis, inner1, inner2 = (
        rng.standard_normal((6, 3)),
        rng.standard_normal((3, 3)),
        rng.standard_normal((3, 3)),
    )
    cov1, cov2, gap = inner1 @ inner1.T, inner2 @ inner2.T, rng.standard_normal(3)
    small = gaussian_pair(np.zeros(3), cov1, gap, cov2, EPSILON)
    start = rng.standard_normal(6)
    large = gaussian_pair(
        start, basis @ cov1 @ basis.T, start + basis @ gap, basis @ cov2 @ basis.T, EPSILON
    )
    assert_close(small, large, 1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_laws_on_different_subspaces_share_no_output(seed):
    rng = np.random.default_rng(seed)
    one, other, gap = (
        rng.standard_normal((4, 2)),
        rng.standard_normal((4, 2)),
        rng.standard_normal(4),
    )
    assert_certain(gaussian_pair(np.zeros(4), one @ one.T, np.zeros(4), other @ other.T, EPSILON))
    assert_certain(gaussian_pair(np.zeros(4), one @ one.T, gap, one @ one.T, EPSILON))
    assert_certain(gaussian_pair(np.zeros(4), one @ one.T, np.zeros(4), np.eye(4), EPSILON))
    assert_certain(gaussian_pair(np.zeros(4), np.eye(4), np.zeros(4), one @ one.T, EPSILON))


def test_a_constant_of_both_laws_is_dropped_or_decides_by_its_mean():
    one, other = np.diag([1.0, 0.0]), np.diag([2.0, 0.0])
    alone = gaussian_pair([0.0], [[1.0]], [0.5], [[2.0]], EPSILON)
    np.testing.assert_array_equal(gaussian_pair([0.0, 3.0], one, [0.5, 3.0], other, EPSILON), alone)
    assert_certain(gaussian_pair([0.0, 3.0], one, [0.5, 3.0 + 1e-12], other, EPSILON))


# --- nearly singular ------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [1e-30, 1e-15, 1e15, 1e30])
def test_variances_that_differ_beyond_the_precision_of_floats(ratio):
    """Total variation of two centred normals with very unequal variances. It is 1 − P(|Z| < x) + …
    with x² = ln(1/v) v/(1 − v).
    """
    narrow = min(ratio, 1.0 / ratio)
    x = np.sqrt(-np.log(narrow) * narrow)
    forward, backward = on_axes([0.0], [ratio], 0.0)
    assert float(forward) == pytest.approx(1.0 - np.sqrt(2.0 / np.pi) * x, rel=1e-6)
    assert float(backward) == pytest.approx(float(forward), rel=1e-12)


# --- equivalent problems --------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 12, 100])
def test_equal_covariances_are_a_shift_and_nearly_equal_ones_nearly(d):
    shift = np.full(d, 0.7 / np.sqrt(d))
    curve = gaussian_shift(0.7, EPSILON)
    assert_close(on_axes(shift, np.ones(d)), (curve, curve), 1e-12)
    assert_close(on_axes(shift, np.full(d, 1.0 + 1e-13)), (curve, curve), 1e-9)


# --- arguments ------------------------------------------------------------------------------------

EYE = np.eye(2)
ZERO = np.zeros(2)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((["a", "b"], EYE, ZERO, EYE, 0.0), "mean1"),
        ((np.zeros((2, 1)), EYE, ZERO, EYE, 0.0), "mean1"),
        ((ZERO, EYE, [0.0], EYE, 0.0), "mean2"),
        ((ZERO, np.ones((2, 3)), ZERO, EYE, 0.0), "cov1"),
        ((ZERO, [[1.0, 0.5], [0.2, 1.0]], ZERO, EYE, 0.0), "cov1"),
        ((ZERO, EYE, ZERO, np.eye(3), 0.0), "cov2"),
        ((ZERO, EYE, ZERO, [[1.0, 2.0], [2.0, 1.0]], 0.0), "cov2"),
        ((ZERO, np.zeros((2, 2)), ZERO, EYE, -0.1), "epsilon"),
    ],
)
def test_bad_arguments_are_named(arguments, name):
    with pytest.raises(InvalidInput, match=f"^{name} "):
        gaussian_pair(*arguments)


def test_a_number_that_is_not_finite_is_named_with_its_place():
    with pytest.raises(InvalidInput, match=r"cov1 .* got nan at \[0, 0\]"):
        gaussian_pair([0.0], [[np.nan]], [0.0], [[1.0]], 1.0)
    with pytest.raises(InvalidInput, match=r"mean2 .* got inf at \[1\]"):
        gaussian_pair(ZERO, EYE, [0.0, np.inf], EYE, 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_invertible_maps_and_permutations_change_nothing(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    factor, turn = rng.standard_normal((d, d)), rng.standard_normal((d, d)) + 3.0 * np.eye(d)
    mean, cov = rng.standard_normal(d), factor @ factor.T + np.eye(d)
    plain = gaussian_pair(np.zeros(d), np.eye(d), mean, cov, EPSILON)
    start = rng.standard_normal(d)
    turned = gaussian_pair(start, turn @ turn.T, start + turn @ mean, turn @ cov @ turn.T, EPSILON)
    assert_close(plain, turned, 1e-8)
    order = rng.permutation(d)
    permuted = gaussian_pair(
        np.zeros(d), np.eye(d), mean[order], cov[np.ix_(order, order)], EPSILON
    )
    assert_close(plain, permuted, 1e-11)


@pytest.mark.parametrize("ratio", [1e-12, 1e12])
def test_a_condition_of_1e12_between_the_laws_is_the_one_dimensional_answer(ratio):
    """Turned by 45°, the axis of ratio 1e±12 is invisible in the entries.

    The other axis is equal in both laws.
    """
    turn = np.array([[1.0, -1.0], [1.0, 1.0]]) * np.sqrt(0.5)
    turned = gaussian_pair(
        [0.0, 0.0], np.eye(2), [0.0, 0.0], turn @ np.diag([ratio, 1.0]) @ turn.T, EPSILON
    )
    # entries of size 1 hold the ratio to 1e-16/1e-12
    assert_close(turned, on_axes([0.0], [ratio]), 1e-4)
    assert_close(on_axes([0.0, 0.0], [ratio, 1.0]), on_axes([0.0], [ratio]), 1e-12)
