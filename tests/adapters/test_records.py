"""Functions of records and data frames: what goes in, what comes out, with or without order."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters

pd = pytest.importorskip("pandas")

DATA = np.array([[31.0, 1.0, 2.5], [28.0, 0.0, 1.5], [40.0, 1.0, -3.0]])
COLUMNS = {"age": "int", "smokes": ["no", "yes"], "score": "float"}


def released(function, **options):
    return adapters.records(function, **options)(DATA, 1, rng=1)[0]


def handed(**options):
    """The very object that the function gets."""
    seen = []
    adapters.records(lambda given: seen.append(given) or 0.0, **options)(DATA, 1, rng=1)
    return seen if options.get("each") else seen[0]


def test_records_come_in_the_form_that_is_asked_for():
    frame = handed(columns=COLUMNS)
    assert list(frame.columns) == list(COLUMNS)
    assert frame["age"].dtype == np.int64
    assert frame["smokes"].tolist() == ["yes", "no", "yes"]
    first = {"age": 31, "smokes": "yes", "score": 2.5}
    assert handed(columns=COLUMNS, form="dicts")[0] == first
    assert handed(columns=COLUMNS, form="dicts", each=True)[0] == first
    assert handed(columns=list("abc"), form="tuples")[2] == (40.0, 1.0, -3.0)
    assert handed(form="array", each=True)[1].tolist() == DATA[1].tolist()
    assert list(handed(each=True)[0].columns) == ["x0", "x1", "x2"]


def test_a_data_frame_is_released_with_an_index_that_tells_something():
    assert released(lambda frame: frame[["x0"]]) == {"x0": [31.0, 28.0, 40.0]}
    assert released(lambda frame: frame[frame.x1 == 1][["x0"]]) == {
        "index": [0, 2],
        "x0": [31.0, 40.0],
    }
    assert released(lambda frame: frame.x0) == [31.0, 28.0, 40.0]
    assert released(lambda frame: frame, record=1) == {"x0": 28.0, "x1": 0.0, "x2": 1.5}
    assert released(lambda frame: frame.to_numpy(), record=1).tolist() == DATA[1].tolist()


def test_without_order_equal_tables_are_equal_outcomes():
    tables = [
        lambda frame: frame.iloc[::-1].reset_index(drop=True),
        lambda frame: frame,
    ]
    one, other = (released(table, columns=COLUMNS, order=False) for table in tables)
    assert one == other == [(28, "no", 1.5), (31, "yes", 2.5), (40, "yes", -3.0)]
    mixed = [None, "b", 2, np.nan, 1, "a", (1, "x"), {"b": 1, "a": 2}]
    shuffled = [mixed[place] for place in np.random.default_rng(1).permutation(len(mixed))]
    both = [
        released(lambda _, given=given: list(given), order=False) for given in (mixed, shuffled)
    ]
    assert repr(both[0]) == repr(both[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"function": 3},
        {"columns": "abc"},
        {"columns": []},
        {"columns": ["a", "a"]},
        {"columns": {"a": "complex"}},
        {"form": "parquet"},
        {"order": None},
    ],
)
def test_arguments_are_checked(wrong):
    with pytest.raises(dp.InvalidInput, match=next(iter(wrong))):
        adapters.records(**({"function": len} | wrong))


def test_columns_of_another_number_are_an_error():
    with pytest.raises(dp.MechanismError, match="2 columns are named, and the database has 3"):
        released(len, columns=["a", "b"])
