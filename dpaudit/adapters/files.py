"""Draws in files: .npy, CSV, Parquet. Nothing is unpickled."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.check import fail
from dpaudit.adapters.separated import draws_in
from dpaudit.errors import DataNotFound, InvalidInput
from dpaudit.outcomes import NotOutcomes, joined, rows

ARRAY = "a non-empty (n,) or (n, k) array of numbers or text"


def read_draws(path: str | Path) -> np.ndarray:
    """The draws in a file, in one of the forms of `dpaudit.outcomes`.

    path : one of
        .npy, an array (n,) or (n, k) of numbers or text, or a structured (n,) array;
        .csv, a draw a line (`adapters.separated`);
        .parquet, a draw a row, for which pyarrow is needed: missing numbers are NaN, and where not
        all columns are numbers a draw is the dict of its row.

    Raises `DataNotFound`, `InvalidInput`.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        fail(str(path), path.suffix or "a file without a suffix", f"a file of {', '.join(READERS)}")
    try:
        return joined([rows(reader(path))])
    except OSError as error:
        raise DataNotFound(f"cannot read {path}: {error.strerror or error}") from None
    except NotOutcomes as error:
        fail(str(path), error.got, ARRAY)


def _npy(path: Path) -> np.ndarray:
    with path.open("rb") as file:
        try:
            array = np.lib.format.read_array(file, allow_pickle=False)
        except (ValueError, EOFError) as error:
            fail(str(path), str(error), "a .npy file of numbers or text, without pickle")
    if array.ndim not in (1, 2) or array.size == 0:
        fail(str(path), f"{array.dtype} of shape {array.shape}", ARRAY)
    return array


def _csv(path: Path) -> np.ndarray | list[Any]:
    try:
        found = draws_in(partial(path.open, encoding="utf-8-sig", newline="\n"))
    except ValueError as error:  # UnicodeDecodeError is one
        fail(str(path), str(error), "a CSV file, UTF-8")
    if len(found) == 0:
        fail(str(path), "no lines", "a CSV file with a draw a line")
    return found


def _parquet(path: Path) -> np.ndarray | list[Any]:
    try:
        from pyarrow import ArrowException, parquet, types
    except ImportError:
        raise InvalidInput(
            f"{path} needs pyarrow: pip install 'dpaudit[parquet]', or save .npy or .csv"
        ) from None
    try:
        table = parquet.ParquetFile(path).read()
    except ArrowException as error:
        fail(str(path), str(error), "a Parquet file")
    numeric = [
        types.is_integer(one) or types.is_floating(one) or types.is_boolean(one)
        for one in table.schema.types
    ]
    if not numeric or not all(numeric):
        return table.to_pylist()
    columns = [column.to_numpy(zero_copy_only=False) for column in table.itercolumns()]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


READERS = {".npy": _npy, ".csv": _csv, ".parquet": _parquet}
