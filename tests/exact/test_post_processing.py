"""What holds for any law: post-processing never leaks more, a change of units changes nothing."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import dpaudit as dp
from dpaudit.mechanisms import (
    ALS,
    AnalyzeGauss,
    Composition,
    GaussianInverse,
    GaussianLS,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
)
from tests.cases import database

GRID = np.array([0.0, 0.01, 0.1, 0.3, 1.0, 2.0, 5.0, 12.0])
reproducibly = settings(derandomize=True, deadline=None, max_examples=25)
databases = st.builds(
    database, n=st.integers(12, 40), features=st.integers(1, 4), seed=st.integers(0, 2**32 - 1)
)


def assert_below(less, more, data):
    """Over all rows zeroed, at every ε and in both directions."""
    for row in range(0, len(data), 5):
        pair = dp.neighbours.zero_row(data, row)
        one, other = (dp.exact.spectrum(mechanism, pair, GRID) for mechanism in (less, more))
        for low, high in ((one.forward, other.forward), (one.backward, other.backward)):
            assert np.all(low <= high * (1.0 + 1e-9) + 1e-15)


@reproducibly
@given(data=databases, rows=st.integers(1, 40), fewer=st.integers(1, 40))
def test_fewer_sketch_rows_leak_less(data, rows, fewer):
    assert_below(RandomProjection(min(rows, fewer)), RandomProjection(max(rows, fewer)), data)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RandomProjection(1), RandomLinearCombination()),
        (RandomProjection(9), WishartDraw(9)),
        (RandomProjection(4), Composition((RandomProjection(1), RandomProjection(3)))),
        (RandomProjection(6), Composition((RandomProjection(2),), times=(3,))),
        (GaussianLS(sigma=0.2), Composition((GaussianLS(sigma=0.4),), times=(4,))),
    ],
)
def test_two_names_of_one_law(one, other):
    data = database()
    a, b = (dp.exact.worst_case(mechanism, data, GRID).delta for mechanism in (one, other))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-300)


def test_inverse_wishart_swaps_the_directions_of_wishart():
    pair = dp.neighbours.zero_row(database(), 3)
    one, other = (
        dp.exact.spectrum(draw(9), pair, GRID) for draw in (WishartDraw, InverseWishartDraw)
    )
    np.testing.assert_allclose(one.forward, other.backward, rtol=1e-12)
    np.testing.assert_allclose(one.backward, other.forward, rtol=1e-12)


@reproducibly
@given(data=databases, seed=st.integers(0, 2**32 - 1))
def test_sketches_and_als_do_not_depend_on_the_units_of_the_columns(data, seed):
    """An invertible linear map of the columns maps the output one to one. For ALS it is a map of
    the features.
    """
    rng = np.random.default_rng(seed)
    d = data.shape[1]
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0] * 10.0 ** rng.uniform(-2, 2, d)
    apart = np.zeros((d, d))
    apart[:-1, :-1] = np.linalg.qr(rng.standard_normal((d - 1, d - 1)))[0] * 10.0 ** rng.uniform(
        -2, 2, d - 1
    )
    apart[-1, -1] = 7.0
    for mechanism, change in ((RandomProjection(8), turn), (ALS(d + 5), apart)):
        before, after = (
            dp.exact.worst_case(mechanism, rows, GRID).delta for rows in (data, data @ change)
        )
        np.testing.assert_allclose(before, after, rtol=1e-6, atol=1e-13)


@reproducibly
@given(data=databases, factor=st.floats(1e-3, 1e3))
def test_noise_scales_with_the_units_of_what_it_hides(data, factor):
    """Data in other units, noise in the units of the statistic: the same spectrum."""
    scaled = {
        AnalyzeGauss(sigma=30.0): AnalyzeGauss(sigma=30.0 * factor**2),
        GaussianInverse(sigma=0.02): GaussianInverse(sigma=0.02 / factor**2),
        SufficientStatistics(30.0, 20.0): SufficientStatistics(30.0 * factor**2, 20.0 * factor**2),
        RandomProjection(8, padding=2.0): RandomProjection(8, padding=2.0 * factor),
    }
    for mechanism, other in scaled.items():
        before = dp.exact.worst_case(mechanism, data, GRID).delta
        after = dp.exact.worst_case(other, factor * data, GRID).delta
        np.testing.assert_allclose(before, after, rtol=1e-7, atol=1e-250)
