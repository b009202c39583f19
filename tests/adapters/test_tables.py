"""Functions of values, records and data frames: what goes in, seeds, what comes out."""

import sys
from functools import partial

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters
from tests.drawing import draw

DATA = np.column_stack([np.arange(6.0), np.arange(6.0) % 2])


def handed(form, **options):
    """The very object that the function gets."""
    seen = []
    adapters.values(lambda *given: seen.extend(given) or 0.0, form=form, **options)(DATA, 1, rng=1)
    return seen


def test_the_column_comes_in_the_form_and_type_that_is_asked_for():
    (array,) = handed("array")
    assert type(array) is np.ndarray
    assert (array.dtype, array.tolist()) == (np.float64, DATA[:, 0].tolist())
    (integers,) = handed("array", dtype="int")
    assert integers.dtype == np.int64
    (listed,) = handed("list", dtype=int)
    assert [type(one) for one in listed] == [int] * 6
    (answers,) = handed("list", column=-1, dtype=["no", "yes"])
    assert answers == ["no", "yes"] * 3
    assert [one.tolist() for one in handed("array", column=[1, 0])] == DATA.T[::-1].tolist()


def test_a_column_comes_as_a_series_of_pandas():
    pytest.importorskip("pandas")
    (series,) = handed("series", column=1, dtype="bool")
    assert (type(series).__name__, series.tolist()) == ("Series", [False, True] * 3)


def test_forms_of_pandas_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dp.InvalidInput, match=r'form "series" needs pandas: pip install "dpaudit'):
        handed("series")
    with pytest.raises(dp.InvalidInput, match='form "frame" needs pandas'):
        adapters.records(len)
    adapters.records(len, form="dicts")


def test_each_calls_for_every_record_by_itself():
    calls = handed("list", each=True, column=[0, 1], dtype="int")
    assert calls == DATA.astype(int).ravel().tolist()


def test_the_record_alone_is_released():
    whole = adapters.values(lambda values: [10 * one for one in values], record=2)
    alone = adapters.values(lambda value: 10 * value, each=True, record=2)
    assert whole(DATA, 1, rng=1) == alone(DATA, 1, rng=1) == [20.0]
    assert "record 2" in whole.summary
    with pytest.raises(dp.MechanismError, match="record 7 of a database with 6"):
        adapters.values(sum, record=7)(DATA, 1, rng=1)


@pytest.mark.parametrize("keyword", ["rng", "random_state", "seed"])
def test_a_seed_is_given_by_the_keyword_that_the_function_has(keyword):
    body = (
        "def mean(values, epsilon, {0}=None):\n '''A mean.'''\n return noise(values, epsilon, {0})"
    )
    names = {"noise": lambda values, epsilon, seed: np.random.default_rng(seed).laplace(epsilon)}
    exec(body.format(keyword), names)
    mechanism = adapters.values(partial(names["mean"], epsilon=1.5))
    first, again = (
        draw(mechanism, DATA, 300, np.random.SeedSequence(4), 0, n_jobs=jobs) for jobs in (1, 2)
    )
    assert first.tobytes() == again.tobytes()
    assert len(np.unique(first)) == 300
    description = mechanism.name, mechanism.summary, mechanism.parameters()
    assert description == ("mean", "takes an array of float: A mean.", {"epsilon": 1.5})


@pytest.mark.parametrize(
    ("dtype", "column", "message"),
    [
        ("int", [0.5], "not whole"),
        ("int", [np.nan], "not whole"),
        ("bool", [2.0], "from 2 on"),
        (["a", "b"], [2.0], "from 2 on"),
        (["a", "b"], [-1.0], "negative"),
    ],
)
def test_a_number_that_the_type_cannot_hold_is_an_error(dtype, column, message):
    with pytest.raises(dp.MechanismError, match=message):
        adapters.values(sum, dtype=dtype)([column], 1, rng=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"function": 3},
        {"column": "a"},
        {"dtype": "complex"},
        {"dtype": ["a", "a"]},
        {"form": "tensor"},
        {"each": 1},
        {"record": -1},
    ],
)
def test_arguments_of_values_are_checked(wrong):
    with pytest.raises(dp.InvalidInput, match=next(iter(wrong))):
        adapters.values(**({"function": sum} | wrong))


# --- records

PEOPLE = np.array([[31.0, 1.0, 2.5], [28.0, 0.0, 1.5], [40.0, 1.0, -3.0]])
COLUMNS = {"age": "int", "smokes": ["no", "yes"], "score": "float"}


def released(function, **options):
    pytest.importorskip("pandas")
    return adapters.records(function, **options)(PEOPLE, 1, rng=1)[0]


def table_handed(**options):
    """The very object that the function gets."""
    pytest.importorskip("pandas")
    seen = []
    adapters.records(lambda given: seen.append(given) or 0.0, **options)(PEOPLE, 1, rng=1)
    return seen if options.get("each") else seen[0]


def test_records_come_in_the_form_that_is_asked_for():
    frame = table_handed(columns=COLUMNS)
    assert list(frame.columns) == list(COLUMNS)
    assert frame["age"].dtype == np.int64
    assert frame["smokes"].tolist() == ["yes", "no", "yes"]
    first = {"age": 31, "smokes": "yes", "score": 2.5}
    assert table_handed(columns=COLUMNS, form="dicts")[0] == first
    assert table_handed(columns=COLUMNS, form="dicts", each=True)[0] == first
    assert table_handed(columns=list("abc"), form="tuples")[2] == (40.0, 1.0, -3.0)
    assert table_handed(form="array", each=True)[1].tolist() == PEOPLE[1].tolist()
    assert list(table_handed(each=True)[0].columns) == ["x0", "x1", "x2"]


def test_a_data_frame_is_released_with_an_index_that_tells_something():
    assert released(lambda frame: frame[["x0"]]) == {"x0": [31.0, 28.0, 40.0]}
    assert released(lambda frame: frame[frame.x1 == 1][["x0"]]) == {
        "index": [0, 2],
        "x0": [31.0, 40.0],
    }
    assert released(lambda frame: frame.x0) == [31.0, 28.0, 40.0]
    assert released(lambda frame: frame, record=1) == {"x0": 28.0, "x1": 0.0, "x2": 1.5}
    assert released(lambda frame: frame.to_numpy(), record=1).tolist() == PEOPLE[1].tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": "abc"},
        {"columns": ["a", "a"]},
        {"columns": {"a": "complex"}},
        {"form": "parquet"},
    ],
)
def test_arguments_of_records_are_checked(wrong):
    with pytest.raises(dp.InvalidInput, match=next(iter(wrong))):
        adapters.records(**({"function": len} | wrong))


def test_columns_of_another_number_are_an_error():
    with pytest.raises(dp.MechanismError, match="2 columns are named, and the database has 3"):
        released(len, columns=["a", "b"])
