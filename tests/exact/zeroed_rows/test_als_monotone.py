"""Monotonicities by which `worst_case` looks at few rows, over random settings; no statistics."""

import numpy as np
import pytest

import dpaudit as dp
from tests.sparse import one_in

EPSILON = np.array([0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 40.0])
SLACK = 1e-10  # relative, and 1e-13 absolute: the accuracy of one curve


def settings(seed, count):
    """(leverage, share, features, rows): even, near 0, near 1; rows from the fewest to many."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        leverage, share = (
            rng.choice([rng.uniform(), 10 ** rng.uniform(-6, 0), 1 - 10 ** rng.uniform(-3, 0)])
            for _ in "ht"
        )
        features = int(rng.integers(1, 14))
        yield (
            rng,
            float(leverage),
            float(share),
            features,
            features + 1 + int(rng.choice([0, rng.integers(12), 10 ** rng.integers(1, 4)])),
        )


def larger(delta):
    return np.maximum(*delta)


def assert_not_below(high, low):
    np.testing.assert_array_less(low, high * (1.0 + SLACK) + 1e-13)


@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_the_finite_curve_grows_with_leverage_and_residual_share(seed):
    for rng, leverage, share, features, rows in settings(seed, 25):
        base = larger(dp.exact.als(leverage, share, features, rows, EPSILON))
        step = 10 ** rng.uniform(-3, 0) * 0.9
        assert_not_below(
            larger(dp.exact.als(leverage + (1 - leverage) * step, share, features, rows, EPSILON)),
            base,
        )
        assert_not_below(
            larger(dp.exact.als(leverage, share + (1 - share) * step, features, rows, EPSILON)),
            base,
        )


@pytest.mark.parametrize("seed", range(2))
def test_the_sketch_curve_grows_with_leverage(seed):
    for rng, leverage, _, _, rows in settings(seed, 60):
        base = larger(dp.exact.gaussian_sketch(leverage, rows, EPSILON))
        ahead = leverage + (1 - leverage) * 10 ** rng.uniform(-3, 0) * 0.9
        assert_not_below(larger(dp.exact.gaussian_sketch(ahead, rows, EPSILON)), base)


def test_one_feature_has_no_other_axes():
    """For p = 1, asymptotic, there are no p − 1 other axes.

    So their variance must not limit the contour's strip.
    """
    leverage, share, rows = 0.44811405528351783, 0.9183552297831977, 3
    epsilon = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0])
    forward, backward = dp.exact.als(leverage, share, 1, rows, epsilon, law="asymptotic")
    mean = np.sqrt(rows * leverage * share / (1 - leverage))
    variance = (1 - share) / (1 - leverage)
    one, other = dp.exact.gaussian_pair([0.0], [[1.0]], [mean], [[variance]], epsilon)
    np.testing.assert_allclose(forward, one, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(backward, other, rtol=1e-9, atol=1e-300)
