"""Edge cases of the exact curves: limits, bounds, degenerate rows, shapes, refused arguments."""

import numpy as np
import pytest

from dpaudit import InvalidInput
from dpaudit.exact import StudentCurve, als, gaussian_pair, gaussian_shift, gaussian_sketch

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("h", "t", "p", "rows"),
    [(0.5, 0.01, 12, 50), (0.01, 0.2, 2, 40), (0.3, 0.0, 3, 9), (0, 0.5, 1, 4)],
)
def test_delta_is_zero_exactly_past_the_pure_limit_and_positive_before(h, t, p, rows):
    for direction, limit in enumerate(StudentCurve(h, t, p, rows).supremum):
        curve = als(h, t, p, rows, np.array([0.999, 1.0, 1.001, 5.0]) * limit)[direction]
        assert curve[0] > 0.0
        assert np.all(curve[2:] == 0.0)


def test_rows_that_lose_rank_or_fit_exactly_leak_with_certainty():
    for law in ("finite", "asymptotic"):
        assert np.all(np.stack(als(1.0, 0.0, 3, 10, [0.0, 5.0], law)) == 1.0)
        assert np.all(np.stack(als(0.2, 1.0, 3, 10, [0.0, 5.0], law)) == 1.0)
    assert np.all(np.stack(gaussian_sketch(1.0, 3, [0.0, 9.0])) == 1.0)


def test_rows_without_weight_leak_nothing():
    assert np.all(np.stack(als(0.0, 0.0, 3, 10, [0.0, 1.0])) == 0.0)
    assert np.all(np.stack(gaussian_sketch(0.0, 3, [0.0, 1.0])) == 0.0)
    assert np.all(gaussian_shift(0.0, [0.0, 1.0]) == 0.0)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: als(1.2, 0.1, 2, 9, 0.0), "leverage"),
        (lambda: als(0.2, -0.1, 2, 9, 0.0), "residual_share"),
        (lambda: als(0.2, 0.1, 2.5, 9, 0.0), "features"),
        (lambda: als(0.2, 0.1, 4, 4, 0.0), "rows"),
        (lambda: als(0.2, 0.1, 2, 9, 0.0, law="exact"), "law"),
        (lambda: gaussian_sketch(0.2, 0, 0.0), "rows"),
        (lambda: gaussian_sketch(float("nan"), 1, 0.0), "leverage"),
        (lambda: gaussian_shift(-1.0, 0.0), "mu"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(InvalidInput, match=name):
        call()


def test_vanishing_arguments_give_nothing_without_a_warning():
    """Far below rounding, as a row of tiny numbers gives."""
    for law in ("finite", "asymptotic"):
        assert np.all(np.stack(als(0.0, 2e-313, 1, 2, [0.0, 1.0], law)) <= 1e-300)
    assert np.all(np.stack(gaussian_sketch(1e-308, 1, [0.0, 1.0])) <= 1e-300)
    assert np.all(gaussian_shift(1e-200, [0.0, 1.0]) <= 1e-200)


def test_one_feature_has_no_other_axes():
    """For p = 1, asymptotic, there are no p − 1 other axes. So their variance must not limit the
    contour's strip.
    """
    leverage, share, rows = 0.44811405528351783, 0.9183552297831977, 3
    epsilon = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0])
    forward, backward = als(leverage, share, 1, rows, epsilon, law="asymptotic")
    mean = np.sqrt(rows * leverage * share / (1 - leverage))
    variance = (1 - share) / (1 - leverage)
    one, other = gaussian_pair([0.0], [[1.0]], [mean], [[variance]], epsilon)
    np.testing.assert_allclose(forward, one, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(backward, other, rtol=1e-9, atol=1e-300)
