"""Pairs of databases: how each relation is made, what a pair says of itself, what is refused."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.neighbours import (
    add_row,
    remove_group,
    remove_row,
    replace_group,
    replace_row,
    zero_row,
)
from tests.cases import database

pytestmark = pytest.mark.quick

DATA = database()  # 40 rows of 4
NEW = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
PAIRS = {
    "zero-out": zero_row(DATA, 5),
    "replace": replace_row(DATA, 5, NEW[0]),
    "remove": remove_row(DATA, 5),
    "add": add_row(DATA, NEW[0]),
    "remove-group": remove_group(DATA, [9, 5]),
    "replace-group": replace_group(DATA, [9, 5], NEW),
}


def with_rows(rows, values):
    changed = DATA.copy()
    changed[rows] = values
    return changed


@pytest.mark.parametrize(
    ("relation", "index", "group", "right"),
    [
        ("zero-out", 5, None, with_rows(5, 0.0)),
        ("replace", 5, None, with_rows(5, NEW[0])),
        ("remove", 5, None, np.delete(DATA, 5, axis=0)),
        ("add", 40, None, np.vstack([DATA, NEW[0]])),
        ("remove-group", None, (5, 9), np.delete(DATA, [5, 9], axis=0)),
        ("replace-group", None, (5, 9), with_rows([9, 5], NEW)),
    ],
)
def test_a_relation_changes_its_rows_alone(relation, index, group, right):
    pair = PAIRS[relation]
    assert (pair.relation, pair.index, pair.group) == (relation, index, group)
    np.testing.assert_array_equal(pair.left, DATA)
    np.testing.assert_array_equal(pair.right, right)


@pytest.mark.parametrize("relation", PAIRS)
def test_both_sides_are_closed_and_the_data_are_not_changed(relation):
    pair = PAIRS[relation]
    assert not pair.left.flags.writeable
    assert not pair.right.flags.writeable
    assert not np.shares_memory(pair.left, DATA)
    np.testing.assert_array_equal(DATA, database())


@pytest.mark.parametrize(
    "mechanism",
    [
        dp.mechanisms.ALS(9),
        dp.mechanisms.RandomProjection(6),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
@pytest.mark.parametrize("relation", ["remove", "add", "remove-group", "replace-group"])
def test_the_exact_spectrum_is_that_of_the_two_databases(mechanism, relation):
    """As for any two databases; nothing takes the pair for one with a row zeroed."""
    epsilon, pair = [0.0, 0.3, 1.0], PAIRS[relation]

    def values(one):
        try:
            found = dp.exact.spectrum(mechanism, one, epsilon)
        except dp.NoExactSpectrum as error:
            return str(error)
        return np.array([found.forward, found.backward]).tolist(), found.law

    assert values(pair) == values(dp.NeighbourPair(pair.left, pair.right))


def test_removing_a_row_is_adding_it_from_the_other_side():
    """The last row removed, and put back: forward and backward change places."""
    removed, noisy = remove_row(DATA, 39), dp.mechanisms.GaussianLS(sigma=1.0)
    added = add_row(removed.right, DATA[39])
    one, other = (dp.exact.spectrum(noisy, pair, [0.1, 1.0]) for pair in (removed, added))
    np.testing.assert_array_equal(one.forward, other.backward)
    np.testing.assert_array_equal(one.backward, other.forward)


@pytest.mark.parametrize(
    ("right", "relation", "place", "message"),
    [
        (DATA[1:], "remove", {"index": 5}, "left but for row 5"),
        (DATA, "remove", {"index": 5}, "must differ"),
        (DATA[1:], "remove", {"index": 40}, "a row number below 40"),
        (np.vstack([DATA, NEW]), "add", {"index": 40}, "left but for row 40"),
        (DATA[2:], "remove-group", {"group": (0, 2)}, "left but for rows 0 and 2"),
        (DATA[2:], "remove-group", {"group": (1, 0)}, "group must be a tuple of row numbers"),
        (DATA[2:], "remove-group", {"group": ("a", "b")}, "group must be an integer"),
        (DATA[1:], "remove", {"index": 0, "group": (0,)}, "group must be None"),
        (DATA + 1.0, "replace-group", {"group": (0, 1, 2)}, "left but for rows 0, 1 and 2"),
    ],
)
def test_a_pair_is_in_its_relation(right, relation, place, message):
    with pytest.raises(dp.InvalidInput, match=message):
        dp.NeighbourPair(DATA, right, relation, **place)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dp.NeighbourPair(DATA, DATA.copy()), "left and right must differ: the databases"),
        (lambda: dp.NeighbourPair(DATA, DATA[:, 1:]), "a database of 4 columns, as left, got 3"),
        (lambda: zero_row(DATA, -1), "index must be an integer >= 0"),
        (lambda: zero_row(DATA, True), "index must be an integer >= 0"),
        (lambda: replace_row(DATA, 1, np.ones(3)), "row must be 4 numbers, one a column, got 3 n"),
        (lambda: replace_row(DATA, 1, ["a"] * 4), "row must be 4 numbers"),
        (lambda: replace_row(DATA, 2, DATA[2]), "row 2 is unchanged, which makes no neighbour"),
        (lambda: remove_row(DATA, 40), "index must be a row number below 40, got 40"),
        (lambda: remove_row(DATA[:1], 0), "data must be .* at least 2 x 1"),
        (lambda: add_row(DATA, NEW), "row must be 4 numbers, one a column, got"),
        (lambda: add_row(DATA, [1.0, np.nan, 2.0, 3.0]), "row must be a 2-D array of finite"),
        (lambda: remove_group(DATA, []), "indices must be a list of row numbers below 40"),
        (lambda: remove_group(DATA, 3), "indices must be a list of row numbers below 40"),
        (lambda: remove_group(DATA, [3, 3]), "each once, got row 3 twice"),
        (lambda: remove_group(DATA, range(40)), "indices must be some of the rows, not all"),
        (lambda: replace_group(DATA, [1, 2, 3], NEW), "rows must be 3 rows of 4 numbers"),
        (
            lambda: replace_group(DATA, [1, 2], DATA[1:3]),
            "the group are unchanged, which makes no neighbour",
        ),
    ],
)
def test_refusals_name_the_argument(make, message):
    with pytest.raises(dp.InvalidInput, match=message):
        make()


# --- what a pair says of itself

WORDS = {
    "zero-out": ("zero-out, row 5; 40 × 4", "row 5 zeroed"),
    "replace": ("replace, row 5; 40 × 4", "row 5 replaced"),
    "remove": ("remove, row 5; 40 × 4 against 39 × 4", "row 5 removed"),
    "add": ("add, row 40; 40 × 4 against 41 × 4", "a row added"),
    "remove-group": ("remove-group, rows 5 and 9; 40 × 4 against 38 × 4", "rows 5 and 9 removed"),
    "replace-group": ("replace-group, rows 5 and 9; 40 × 4", "rows 5 and 9 replaced"),
}


@pytest.mark.parametrize("relation", PAIRS)
def test_a_pair_says_what_differs_and_no_value(relation):
    pair, (shown, change) = PAIRS[relation], WORDS[relation]
    assert repr(pair) == f"NeighbourPair({shown})"
    assert pair._repr_html_() == f"<pre>NeighbourPair({shown})</pre>"
    assert pair.change == change


def test_groups_of_other_sizes_and_any_two_databases_in_words():
    assert remove_group(DATA, [7]).change == "row 7 removed"
    assert remove_group(DATA, [3, 1, 2]).change == "rows 1, 2 and 3 removed"
    assert remove_group(DATA, range(12)).change == "12 rows removed"
    either = dp.NeighbourPair(DATA, DATA[2:])
    assert (repr(either), either.change) == ("NeighbourPair(pair; 40 × 4 against 38 × 4)", "")


def test_no_refusal_of_a_pair_shows_a_value_of_the_data():
    planted = DATA.copy()
    planted[3] = 7719.25
    for right, relation in ((planted, "zero-out"), (planted[1:], "remove"), (DATA, "replace")):
        with pytest.raises(dp.InvalidInput) as refused:
            dp.NeighbourPair(planted, right + 0.5, relation, 3)
        assert "7719" not in str(refused.value)
    assert "7719" not in repr(dp.neighbours.row_statistics(planted))


# --- pairs that are refused, and what is copied


def test_any_two_databases_are_a_pair():
    pair = dp.NeighbourPair(DATA.tolist(), DATA[:-1])
    assert (pair.relation, pair.index) == ("pair", None)
    assert pair.left.dtype == pair.right.dtype == np.float64
    assert pair.left.shape == (40, 4)
    assert pair.right.shape == (39, 4)


def test_a_row_that_is_zero_already_gives_no_neighbour():
    data = DATA.copy()
    data[2] = 0.0
    with pytest.raises(dp.InvalidInput, match="row 2 is already zero, which makes no neighbour"):
        zero_row(data, 2)
    data[3] = -0.0
    with pytest.raises(dp.InvalidInput, match="row 3 is already zero"):
        zero_row(data, 3)


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
