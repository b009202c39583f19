"""Counts of draws, and tables of pandas."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit._core import check

pytestmark = pytest.mark.quick


def test_a_whole_float_is_a_count_and_other_values_are_none():
    for value in (1e5, np.float32(1e5), np.int32(10**5)):
        draws = dp.testing.Budget(draws=value).draws
        assert draws == 100_000
        assert type(draws) is int
    for value in (1.5, 0.0, np.nan, True, "1e5", [1e5]):
        with pytest.raises(dp.InvalidInput, match="draws must be an integer >= "):
            dp.testing.Budget(draws=value)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((), "a finite number, got"),
        ((1.0,), "a finite number >= 1, got"),
        ((-np.inf, 2.0), r"a finite number in \[-inf, 2\], got"),
    ],
)
def test_the_limits_of_a_number_are_said_where_it_has_some(limits, expected):
    with pytest.raises(dp.InvalidInput, match=f"x must be {expected} nan"):
        check.real("x", np.nan, *limits)


@pytest.mark.parametrize(
    ("row", "message"),
    [("Ada", "a str"), (None, "None"), (b"Ada", "a bytes"), (73.1j, "a complex")],
)
def test_of_one_value_in_place_of_numbers_the_type_is_said(row, message):
    with pytest.raises(dp.InvalidInput, match=f"^row must be 2 numbers, got {message}$"):
        dp.neighbours.replace_row(np.eye(2), 0, row)


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    whole = pandas.array([1, 2, 3], dtype="Int64")
    return pandas.DataFrame({"age": [20.5, 30.0, 73.1], "ok": [True, False, True], "n": whole})


@pytest.mark.slow  # where pandas is
def test_a_table_of_pandas_is_data(frame):
    pair = dp.neighbours.zero_row(frame, 1)
    assert pair.left.tolist() == [[20.5, 1.0, 1.0], [30.0, 0.0, 2.0], [73.1, 1.0, 3.0]]
    assert pair.right[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.slow  # where pandas is
def test_a_column_may_be_called_as_an_attribute_of_a_table(frame):
    assert dp.neighbours.zero_row(frame.assign(database=1.0), 1).left.shape == (3, 4)
    with pytest.raises(dp.InvalidInput, match=r"give its \.database"):
        dp.neighbours.zero_row(dp.datasets.read_table(frame), 1)


@pytest.mark.slow  # where pandas is
def test_a_row_of_a_table_is_a_row(frame):
    assert dp.neighbours.replace_row(frame, 0, frame.iloc[2]).right[0].tolist() == [73.1, 1.0, 3.0]


@pytest.mark.slow  # where pandas is
def test_columns_of_text_are_named_without_their_values(frame):
    frame = frame.assign(name=["Ada", "Bob", "Eve"], town=["x", "y", "z"])
    message = "columns that are not numbers: 'name', 'town'; drop them, code them as numbers, or"
    for make in (
        lambda: dp.neighbours.zero_row(frame, 1),
        lambda: dp.neighbours.replace_row(frame[["age", "ok", "n"]], 0, frame.iloc[1]),
    ):
        with pytest.raises(dp.InvalidInput, match=message) as caught:
            make()
        assert "Ada" not in str(caught.value)
        assert "73.1" not in str(caught.value)


@pytest.mark.slow  # where pandas is
def test_a_missing_value_is_named_by_its_column(frame):
    frame.loc[1, "n"] = None
    with pytest.raises(dp.InvalidInput, match="got nan at row 1, column 'n'"):
        dp.neighbours.zero_row(frame, 0)
