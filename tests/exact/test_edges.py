"""Edge cases of the exact curves: limits, bounds, degenerate rows, shapes, refused arguments."""

import numpy as np
import pytest

from dpaudit import InvalidInput
from dpaudit.exact import (
    StudentCurve,
    StudentPairCurve,
    als,
    gaussian_pair,
    gaussian_shift,
    gaussian_sketch,
)
from dpaudit.laws import StudentT

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
    """Their variance must not limit the strip of the contour."""
    leverage, share, rows = 0.44811405528351783, 0.9183552297831977, 3
    epsilon = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0])
    forward, backward = als(leverage, share, 1, rows, epsilon, law="asymptotic")
    mean = np.sqrt(rows * leverage * share / (1 - leverage))
    variance = (1 - share) / (1 - leverage)
    one, other = gaussian_pair([0.0], [[1.0]], [mean], [[variance]], epsilon)
    np.testing.assert_allclose(forward, one, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(backward, other, rtol=1e-9, atol=1e-300)


GRID = np.array([0.0, 0.1, 0.3, 1.0, 4.0, 20.0])


def student_laws(h: float, t: float, p: int, rows: int) -> tuple[StudentT, StudentT]:
    """The two laws in the coordinates of theory: a shift and two scales along one axis."""
    mean, root = np.zeros(p), np.eye(p) / np.sqrt(1.0 - t)
    mean[0] = np.sqrt(h * t / (1.0 - h))
    root[0, 0] *= np.sqrt(1.0 - h)
    return StudentT(np.zeros(p), np.eye(p), rows - p + 1), StudentT(mean, root, rows - p + 1)


@pytest.mark.parametrize("seed", range(20))
def test_als_by_direction_angle_and_by_contour(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.choice([1, 2, 3, 5, 12, 30]))
    rows = p + int(rng.choice([1, 2, 5, 20, 200, 3000]))
    h, t = (
        float(rng.choice([0.0, rng.random() ** 4, rng.random()])),
        float(1e-4 + 0.9 * rng.random() ** 3),
    )
    ours, other = (
        als(h, t, p, rows, GRID),
        StudentPairCurve(*student_laws(h, t, p, rows)).delta(GRID),
    )
    np.testing.assert_allclose(ours[0], other[0], atol=1e-11)
    np.testing.assert_allclose(ours[1], other[1], atol=1e-11)
