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


def test_the_data_are_not_changed():
    data = DATA.copy()
    zero_row(data, 5)
    replace_row(data, 5, np.ones(4))
    np.testing.assert_array_equal(data, DATA)


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


@pytest.mark.parametrize("index", [-1, 1.0, True, "3", None])
def test_an_index_is_a_natural_number(index):
    with pytest.raises(dp.InvalidInput, match="index must be an integer >= 0"):
        zero_row(DATA, index)


@pytest.mark.parametrize("index", [40, 10**12])
def test_an_index_is_below_the_number_of_rows(index):
    with pytest.raises(dp.InvalidInput, match="index must be a row number below 40"):
        zero_row(DATA, index)


@pytest.mark.parametrize("row", [np.ones(3), np.ones(5), np.ones((2, 2)), 1.0, []])
def test_a_row_has_one_number_a_column(row):
    with pytest.raises(dp.InvalidInput, match="row must be"):
        replace_row(DATA, 1, row)


@pytest.mark.parametrize(
    "row", [["a", "b", "c", "d"], None, {"a": 1}, [[1.0], [2.0, 3.0]]], ids=str
)
def test_a_row_is_made_of_numbers(row):
    with pytest.raises(dp.InvalidInput, match="row must be"):
        replace_row(DATA, 1, row)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_is_finite(value):
    with pytest.raises(
        dp.InvalidInput, match=r"row must be .*, got -?(nan|inf) at row 0, column 1"
    ):
        replace_row(DATA, 1, [1.0, value, 1.0, 1.0])


def spoilt(value):
    data = DATA.copy()
    data[7, 2] = value
    return data


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("data", lambda bad: zero_row(bad, 0)),
        ("data", lambda bad: replace_row(bad, 0, np.ones(4))),
        ("data", dp.neighbours.row_statistics),
        ("left", lambda bad: dp.NeighbourPair(bad, DATA)),
        ("right", lambda bad: dp.NeighbourPair(DATA, bad)),
        ("data", lambda bad: dp.exact.worst_case(dp.mechanisms.ALS(9), bad, 1.0)),
    ],
)
def test_numbers_that_are_not_finite_are_placed(name, use, value):
    with pytest.raises(
        dp.InvalidInput, match=rf"^{name} must be .* got -?(nan|inf) at row 7, column 2"
    ):
        use(spoilt(value))


@pytest.mark.parametrize(
    "data", [DATA[0], DATA[None], None, "data", [["a"]], [[1.0, 2.0], [3.0]], np.empty((0, 4))]
)
def test_a_database_is_a_table_of_numbers(data):
    with pytest.raises(dp.InvalidInput, match="data must be a 2-D array of finite numbers"):
        zero_row(data, 0)
    with pytest.raises(dp.InvalidInput, match="right must be a 2-D array of finite numbers"):
        dp.NeighbourPair(DATA, data)


def test_complex_numbers_are_refused():
    with pytest.raises(dp.InvalidInput, match="data must be"):
        zero_row(DATA + 1j, 0)


def test_both_databases_have_the_same_columns():
    with pytest.raises(
        dp.InvalidInput, match="right must be a database of 4 columns, as left, got 3 columns"
    ):
        dp.NeighbourPair(DATA, DATA[:, 1:])


def test_a_pair_is_frozen():
    with pytest.raises(AttributeError):
        zero_row(DATA, 5).index = 6


@pytest.mark.parametrize("index", [40, -1, 2.0, "3"])
def test_the_index_of_a_pair_is_one_of_its_rows(index):
    with pytest.raises(dp.InvalidInput, match="index must be"):
        dp.NeighbourPair(DATA, zero_row(DATA, 3).right, "zero-out", index)


def test_a_pair_that_calls_itself_zero_out_is_one():
    """Otherwise the exact spectrum would belong to another pair."""
    with pytest.raises(dp.InvalidInput, match=r"right must be|relation must be"):
        dp.NeighbourPair(DATA, DATA + 1.0, "zero-out", 3)


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
