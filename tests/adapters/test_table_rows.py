"""Tables without an order: what their rows hold, and what they do not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.adapters.table_rows import RecordFeatures, TableForm, differing
from dpaudit.outcomes import NotOutcomes

LEFT = np.array([[0.0, 1.5], [1.0, 2.5], [1.0, 4.5], [2.0, 0.5]])
RIGHT = np.vstack([LEFT, [2.0, 9.0]])
FEATURES = RecordFeatures.of(LEFT, RIGHT)
PLAIN = TableForm(2, None, {})
VALUES = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=12), st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_records_changes_no_bit_of_the_row(records, random):
    other = list(records)
    random.shuffle(other)
    with np.errstate(all="ignore"):
        found = [FEATURES(PLAIN(one)) for one in (records, other)]
    assert found[0].shape == found[1].shape == FEATURES(np.empty((0, 2))).shape
    assert np.array_equal(*found, equal_nan=True)


@pytest.mark.parametrize(
    ("categories", "numbers"),
    [(1, 0), (7, 0), (3, 2)],
)
@pytest.mark.parametrize("replaced", [False, True])
def test_no_feature_is_a_copy_of_another(categories, numbers, replaced):
    rng = np.random.default_rng(1)

    def table():
        coded = [rng.integers(0, rng.integers(2, 9), 40) for _ in range(categories)]
        plain = [rng.normal(size=40) for _ in range(numbers)]
        return np.column_stack([*coded, *plain])

    def near(one, other):
        return np.where(rng.random(one.shape) < rng.random(), one, other)[: rng.integers(9, 40)]

    data = table()
    new = np.append(np.ones(categories), np.zeros(numbers))
    features = RecordFeatures.of(data[replaced:], np.vstack([data[1:], new]))
    either = [np.where(rng.random((40, 1)) < 0.5, data[0], new) for _ in range(200)]
    rows = [features(near(targets, table())) for targets in either]
    assert len(np.unique(rows, axis=1).T) == len(rows[0])


def test_columns_are_of_categories_where_the_caller_says_so():
    whole = LEFT.round()
    guessed, said = (RecordFeatures.of(whole, whole[1:], one) for one in (None, (1,)))
    assert guessed.spread.tolist() == [0.0, 0.0]
    assert said.spread[0] > said.spread[1] == 0.0


def test_all_records_that_differ_are_found_as_multisets():
    found, common = differing(np.array([[1.0], [1.0], [2.0]]), np.array([[2.0], [3.0], [1.0]]))
    assert found.tolist() == [[1.0], [3.0]]
    assert common.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "table",
    [
        [("b", 1.0), ("a", 2.0)],
        [{"y": 1.0, "x": "b"}, {"y": 2.0, "x": "a"}],
        {"y": [1.0, 2.0], "x": ["b", "a"]},
        np.array([("b", 1.0), ("a", 2.0)], dtype=[("x", "U1"), ("y", "f8")]),
        np.array([["b", 1.0], ["a", 2.0]], dtype=object),
        [[1, 1.0], [0, 2.0]],
        np.array([[1.0, 1.0], [0.0, 2.0]]),
    ],
)
def test_all_forms_of_one_table_are_read_alike(table):
    form = TableForm(2, ("x", "y"), {0: ("a", "b")})
    assert form(table).tolist() == [[1.0, 1.0], [0.0, 2.0]]


def test_a_data_frame_is_read_by_its_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": [1.0, 2.0], "x": ["b", "a"]})
    frame["x"] = frame["x"].astype("category")
    form = TableForm(2, ("x", "y"), {0: ("a", "b")})
    assert form(frame).tolist() == [[1.0, 1.0], [0.0, 2.0]]


def test_texts_without_label_differ_and_no_value_is_nan():
    first, second, none = TableForm(1, None, {})([("a",), ("b",), (None,)])[:, 0]
    assert first != second
    assert np.isnan(none)


@pytest.mark.parametrize("table", [[], {}, np.empty((0, 2)), {"x": [], "y": []}])
def test_a_table_may_be_empty(table):
    assert PLAIN(table).shape == (0, 2)


@pytest.mark.parametrize(
    "table",
    [np.ones((3, 3)), [(1.0,)], [(1.0, object())], {"x": [1.0]}, {"x": [1], "y": [1, 2]}, 3.0],
)
def test_what_is_no_table_of_the_database_is_refused(table):
    with pytest.raises(NotOutcomes):
        PLAIN(table)


def test_a_table_without_a_named_column_is_refused():
    with pytest.raises(NotOutcomes, match="'y'"):
        TableForm(2, ("x", "y"), {})({"x": [1.0], "z": [2.0]})
