"""Neighbouring databases, and pairs that are refused."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.neighbours import replace_row, zero_row
from tests.cases import database

pytestmark = pytest.mark.quick

DATA = database()


def test_zero_row_zeroes_one_row():
    pair = zero_row(DATA, 5)
    assert (pair.relation, pair.index) == ("zero-out", 5)
    np.testing.assert_array_equal(pair.left, DATA)
    np.testing.assert_array_equal(pair.right[5], np.zeros(4))
    np.testing.assert_array_equal(np.delete(pair.right, 5, axis=0), np.delete(DATA, 5, axis=0))


def test_replace_row_replaces_one_row():
    pair = replace_row(DATA, np.int64(0), [1, 2, 3, 4])
    assert (pair.relation, pair.index) == ("replace", 0)
    np.testing.assert_array_equal(pair.right[0], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(pair.right[1:], DATA[1:])


def test_any_two_databases_are_a_pair():
    pair = dp.NeighbourPair(DATA.tolist(), DATA[:-1])
    assert (pair.relation, pair.index) == ("pair", None)
    assert pair.left.dtype == pair.right.dtype == np.float64
    assert pair.left.shape == (40, 4)
    assert pair.right.shape == (39, 4)


def test_identical_databases_are_no_pair():
    with pytest.raises(
        dp.InvalidInput,
        match="left and right must differ: the databases are identical, not a neighbour",
    ):
        dp.NeighbourPair(DATA, DATA.copy())


def test_a_row_that_is_zero_already_gives_no_neighbour():
    data = DATA.copy()
    data[2] = 0.0
    with pytest.raises(dp.InvalidInput, match="row 2 is already zero: no neighbour"):
        zero_row(data, 2)
    data[3] = -0.0
    with pytest.raises(dp.InvalidInput, match="row 3 is already zero"):
        zero_row(data, 3)


def test_a_row_replaced_by_itself_gives_no_neighbour():
    with pytest.raises(dp.InvalidInput, match="row 2 is unchanged: no neighbour"):
        replace_row(DATA, 2, DATA[2])


@pytest.mark.parametrize("index", [-1, 1.0, True])
def test_an_index_is_a_natural_number(index):
    with pytest.raises(dp.InvalidInput, match="index must be an integer >= 0"):
        zero_row(DATA, index)


@pytest.mark.parametrize("row", [np.ones(3), np.ones((2, 2)), 1.0, ["a"] * 4, [[1.0], [2.0, 3.0]]])
def test_a_row_has_one_number_a_column(row):
    with pytest.raises(dp.InvalidInput, match="row must be"):
        replace_row(DATA, 1, row)


def spoilt(value):
    data = DATA.copy()
    data[7, 2] = value
    return data


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("data", lambda bad: zero_row(bad, 0)),
        ("left", lambda bad: dp.NeighbourPair(bad, DATA)),
        ("right", lambda bad: dp.NeighbourPair(DATA, bad)),
    ],
)
def test_numbers_that_are_not_finite_are_placed(name, use):
    with pytest.raises(dp.InvalidInput, match=rf"^{name} must be .* got inf at row 7, column 2"):
        use(spoilt(np.inf))


@pytest.mark.parametrize(
    "data", [DATA[0], None, [["a"]], DATA + 1j, [[1.0, 2.0], [3.0]], np.empty((0, 4))]
)
def test_a_database_is_a_table_of_numbers(data):
    with pytest.raises(dp.InvalidInput, match="data must be a 2-D array of finite numbers"):
        zero_row(data, 0)
    with pytest.raises(dp.InvalidInput, match="right must be a 2-D array of finite numbers"):
        dp.NeighbourPair(DATA, data)


def test_both_databases_have_the_same_columns():
    with pytest.raises(
        dp.InvalidInput, match="right must be a database of 4 columns, as left, got 3 columns"
    ):
        dp.NeighbourPair(DATA, DATA[:, 1:])


def test_only_a_database_that_somebody_can_write_to_is_copied():
    """A read-only view of an array that can be written to is copied too."""
    open_, closed = np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2).copy()
    closed.setflags(write=False)
    view = open_[:]
    view.setflags(write=False)
    assert dp.neighbours.zero_row(closed, 1).left is closed
    for data in (open_, view, np.asfortranarray(closed)):
        pair = dp.neighbours.zero_row(data, 1)
        assert not np.shares_memory(pair.left, data)
        assert not pair.left.flags.writeable
        assert not pair.right.flags.writeable
