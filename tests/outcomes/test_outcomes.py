"""What a draw may be, and how it becomes a row: numbers, NaN, infinities, booleans, lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit import outcomes
from tests.cases import database

pytestmark = pytest.mark.quick

DATA = database()
SEED = np.random.SeedSequence(4)
SIZE = 2000  # eight blocks
NUMBER = st.floats(allow_nan=False)
DRAW = st.one_of(
    st.none(),
    NUMBER,
    st.booleans(),
    st.lists(NUMBER, max_size=4),
    st.lists(NUMBER, max_size=3).map(tuple),
)


def as_list(one):
    if one is None:
        return []
    return [float(one)] if np.isscalar(one) else [float(entry) for entry in one]


@given(st.lists(DRAW, min_size=1, max_size=20), st.lists(DRAW, min_size=1, max_size=20))
def test_lists_come_back_from_their_rows(first, second):
    """For any blocks and sides: length, entries, padding; no lengths when all are the same."""
    P = outcomes.joined([outcomes.rows(first), outcomes.rows(second)])
    Q = outcomes.joined([outcomes.rows(second)])
    together = outcomes.aligned(P, Q)
    if not outcomes.is_table(P) or not outcomes.is_table(Q):
        for rows, draws in zip(together, (first + second, second), strict=True):
            assert [list(row[1 : 1 + int(row[0])]) for row in rows] == [
                as_list(one) for one in draws
            ]
            assert all(np.isnan(row[1 + int(row[0]) :]).all() for row in rows)
        assert together[0].shape[1] == together[1].shape[1]
    else:
        for rows, draws in zip(together, (first + second, second), strict=True):
            assert [list(row) for row in rows] == [as_list(one) for one in draws]


@given(st.lists(st.floats(), min_size=1, max_size=30))
def test_numbers_are_kept_to_the_bit(values):
    rows = outcomes.rows(np.array(values))
    np.testing.assert_array_equal(rows.view(np.int64)[:, 0], np.array(values).view(np.int64))
    assert outcomes.is_table(rows)


def test_arrays_in_a_list_and_in_an_object_array_are_lists():
    draws = [np.array([1.0, 2.0]), np.array(3), np.array([], int), np.array([True])]
    cells = np.empty(4, object)
    cells[:] = draws
    expected = [[2.0, 1.0, 2.0], [1.0, 3.0, np.nan], [0.0, np.nan, np.nan], [1.0, 1.0, np.nan]]
    for one in (draws, cells):
        found, _ = outcomes.aligned(outcomes.joined([outcomes.rows(one)]), outcomes.rows([1.0]))
        np.testing.assert_array_equal(found, expected)


def test_tables_of_different_width_are_not_joined():
    with pytest.raises(outcomes.NotOutcomes, match="same number of columns each time, got 1 and 2"):
        outcomes.joined([np.zeros((3, 1)), np.zeros((3, 2))])


def test_nan_on_one_side_only_is_found_and_certified():
    """P is NaN 1 time in 20: δ ≥ 0.05 at every ε.

    Of 5,000 certifying draws 250 ± 15 are NaN, and 0.02 is 6 deviations off. None in 5,000 of Q
    bounds Q(NaN) by about 1e-3, and the certificate loses e^ε times that, so ε goes up to 2.
    """
    rng = np.random.default_rng(3)
    P, Q = rng.standard_normal((2, 10_000))
    P[rng.random(10_000) < 0.05] = np.nan
    low = dp.audit_samples(P, Q, epsilon=[0.0, 1.0, 2.0], rng=1).spectrum.low
    assert np.all((low > 0.02) & (low <= 0.06))


def test_a_length_that_gives_the_database_away():
    """The numbers that pass a threshold: one or two of them under D, one under D'.

    δ = ½ at every ε.
    """

    def above(data, size, *, rng):
        return [
            rng.standard_normal(1 + (data[3].any() and rng.random() < 0.5)) for _ in range(size)
        ]

    result = dp.audit(above, dp.neighbours.zero_row(DATA, 3), draws=4000, epsilon=[0.0, 3.0], rng=5)
    assert np.all((result.spectrum.low > 0.4) & (result.spectrum.low <= 0.5))


def test_nothing_but_nan_on_both_sides_tells_nothing():
    nothing = np.full((400, 2), np.nan)
    np.testing.assert_array_equal(
        dp.audit_samples(nothing, nothing.copy(), rng=1).spectrum.low, np.zeros(41)
    )


def test_the_pixels_of_images_become_columns():
    images = np.arange(24.0).reshape(3, 2, 4)
    assert np.array_equal(outcomes.rows(images, 3), images.reshape(3, 8))
    with pytest.raises(outcomes.NotOutcomes, match="shape"):
        outcomes.rows(images, 2)
