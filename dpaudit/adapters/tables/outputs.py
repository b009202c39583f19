"""What functions return for many records, as outcomes; or for one of them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(output: Any) -> Any:
    """The output without pandas: a data frame as a dict of lists, a column as a list.

    An index that is not 0, 1, … is released too, as "index": it may tell which rows were kept.
    Arrays of other packages become NumPy's.
    """
    if hasattr(output, "iloc"):
        index = output.index.tolist()
        told = {} if index == list(range(len(index))) else {"index": index}
        if hasattr(output, "columns"):
            named = zip(output.columns, output.to_numpy(dtype=object).T.tolist(), strict=True)
            return {**told, **{str(name): values for name, values in named}}
        return {**told, "values": output.tolist()} if told else output.tolist()
    foreign = hasattr(output, "__array__") and not isinstance(output, (np.ndarray, np.generic))
    return np.asarray(output) if foreign else output


def of_record(output: Any, number: int) -> Any:
    """What a function gave for one record: the entry, the row, or of a dict of columns, of each."""
    if isinstance(output, Mapping):
        return {name: of_record(values, number) for name, values in output.items()}
    return output[number]


def unordered(output: Any) -> list[Any]:
    """The records of a table in an order that depends on their values alone.

    output : a list or array of records or of values, or a dict of columns.
    """
    if isinstance(output, Mapping):
        output = zip(*output.values(), strict=True)
    records = [one.tolist() if isinstance(one, np.ndarray) else one for one in output]
    return sorted(records, key=_order)


def _order(record: Any) -> tuple[Any, ...]:
    """A key that sorts records of any types: numbers, then NaN, texts, all else."""
    if isinstance(record, Mapping):
        record = [part for name in sorted(record, key=str) for part in (str(name), record[name])]
    if isinstance(record, (list, tuple)):
        return tuple(part for value in record for part in _order(value))
    if isinstance(record, (numbers.Real, np.bool_)):
        value = float(record)
        return ((1, 0.0, "") if math.isnan(value) else (0, value, ""),)
    return ((2, 0.0, record) if isinstance(record, str) else (3, 0.0, repr(record)),)
