"""What holds for any law: post-processing never leaks more, a change of units changes nothing."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import dpaudit as dp
from dpaudit.mechanisms import (
    ALS,
    Composition,
    GaussianLS,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    WishartDraw,
)
from tests.cases import database

GRID = np.array([0.0, 0.01, 0.1, 0.3, 1.0, 2.0, 5.0, 12.0])
reproducibly = settings(derandomize=True, deadline=None, max_examples=25)
databases = st.builds(
    database, n=st.integers(12, 40), features=st.integers(1, 4), seed=st.integers(0, 2**32 - 1)
)


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
