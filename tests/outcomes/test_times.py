"""Times, complex numbers and other values with parts as draws."""

from dataclasses import make_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum

import numpy as np
import pytest

from dpaudit import outcomes

pd = pytest.importorskip("pandas")

Point = make_dataclass("Point", ["x"])
Size = Enum("Size", ["SMALL", "LARGE"])
TIMES = {
    "datetime": lambda k: datetime(2020, 1, 1) + timedelta(hours=k),
    "datetime of a zone": lambda k: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(hours=k),
    "zone": lambda k: datetime(2020, 1, 1 + k // 24, k % 24, tzinfo=timezone(timedelta(hours=k))),
    "date": lambda k: date(2020, 1, 1 + k),
    "time": lambda k: time(12, k),
    "timedelta": lambda k: timedelta(minutes=k),
    "datetime64": lambda k: np.datetime64(k, "s"),
    "unit": lambda k: np.datetime64(1, "s" if k else "m"),
    "timedelta64": lambda k: np.timedelta64(k, "s"),
    "Timestamp": lambda k: pd.Timestamp(2020, 1, 1) + pd.Timedelta(k, "ns"),
    "Timedelta": lambda k: pd.Timedelta(k, "ns"),
    "Period": lambda k: pd.Period("2020-01", "M") + k,
    "Interval": lambda k: pd.Interval(k, 3.0 + k),
    "dates of pandas": lambda k: pd.date_range("2020", periods=2 + k),
    "Categorical": lambda k: pd.Categorical(["ab"[k], "c"]),
    "Series": lambda k: pd.Series(pd.date_range("2020", periods=2)) + pd.Timedelta(k, "h"),
    "frame": lambda k: pd.DataFrame({"x": [pd.Timestamp(2020, 1, 1 + k), pd.NaT]}),
    "Decimal": lambda k: Decimal(k) / 8,
    "complex": lambda k: 1.0 + 1j * k,
    "complex array": lambda k: np.array([1.0, 1j * k]),
    "Enum": lambda k: list(Size)[k],
    "dataclass": lambda k: Point(k),
    "range": lambda k: range(k, 3 + k),
}


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("form", [lambda value: value, lambda value: {"at": [value, "x"]}])
def test_times_and_other_values_with_parts_are_told_apart(name, form):
    """Equal values are equal draws, and columns tell others apart."""
    draws = [form(TIMES[name](k)) for k in (0, 1, 0, 1)]
    P = outcomes.rows(draws)
    assert P[0] == P[2] if P.ndim == 1 else np.all(P[0] == P[2])
    first, second = outcomes.aligned(outcomes.rows(draws[:1] * 9), outcomes.rows(draws[1:2] * 9))
    assert not np.array_equal(first, second, equal_nan=True)


def test_times_that_are_missing_are_missing_values():
    missing = [np.datetime64("NaT"), np.timedelta64("NaT"), pd.NaT, None]
    assert len({bytes(text) for text in outcomes.rows([{"at": value} for value in missing])}) == 1


def test_complex_arrays_are_tables_of_real_and_imaginary_parts():
    draws = np.array([[1.0 + 2.0j, 3.0], [4.0, 5.0j]])
    expected = [[1.0, 2.0, 3.0, 0.0], [4.0, 0.0, 0.0, 5.0]]
    np.testing.assert_array_equal(outcomes.rows(draws), expected)
    np.testing.assert_array_equal(outcomes.rows(draws[:, 0]), [[1.0, 2.0], [4.0, 0.0]])
    np.testing.assert_array_equal(outcomes.rows(draws.tolist()), expected)
