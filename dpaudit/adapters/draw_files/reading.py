"""Draws in files: .npy, CSV, Parquet. Nothing is unpickled, and no header is believed unchecked."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit.adapters.draw_files.memory import available, check_room
from dpaudit.adapters.draw_files.separated import TooManyCells, draws_in
from dpaudit.errors import DataNotFound, InvalidInput
from dpaudit.outcomes import LISTS, NotOutcomes, joined, rows

ARRAY = "a non-empty (n,) or (n, k) array of numbers or text"
NPY = "a .npy file of numbers or text, without pickle"
FIELDS = "a .npy file of numbers or text, or (n,) records whose fields are numbers or text"
KINDS = "fiubUS"  # of numbers and text
COPIES = 2  # times the draws as float64: they themselves, and what an audit makes of them
OBJECT = 100  # bytes of a cell that is an object of Python
CHUNK = 1 << 20  # bytes read at a time


def read_draws(path: str | Path) -> np.ndarray:
    """The draws in a file, in one of the forms of `dpaudit.outcomes`.

    Parameters
    ----------
    path : path
        .npy, an array (n,) or (n, k) of numbers or text, or (n,) records of them;
        .csv, a draw a line (`adapters.draw_files.separated`);
        .parquet, a draw a row, for which pyarrow is needed: missing numbers are NaN, and where not
        all columns are numbers a draw is the dict of its row.

    Returns
    -------
    array

    Raises
    ------
    DataNotFound
        When there is no such file.
    InvalidInput
        When the file is not as described, or takes more memory than there is, 16 bytes a number or
        100 bytes a cell of text. Such a file is refused before it is read.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        fail(str(path), path.suffix or "a file without a suffix", f"a file of {', '.join(READERS)}")
    if path.exists() and not (path.is_file() or path.is_dir()):
        fail(str(path), Words("a pipe or a device"), "a regular file")
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of numbers wider than float64
            return joined([rows(reader(path))])
    except OSError as error:
        raise DataNotFound(f"cannot read {path}: {error.strerror or error}") from None
    except NotOutcomes as error:
        fail(str(path), error.got, ARRAY)


def _npy(path: Path) -> np.ndarray:
    array = _mapped(path)
    if array.dtype.hasobject or not _readable(array.dtype):
        fail(str(path), Words(f"dtype {array.dtype}"), FIELDS)
    if array.ndim not in (1, 2) or array.size == 0 or (array.dtype.names and array.ndim == 2):
        fail(str(path), Words(f"{array.dtype} of shape {array.shape}"), ARRAY)
    if array.dtype.names == (LISTS,):
        return _lists(path, array)
    _check_room(path, array)
    if not all(_is_text(array[name] if name else array) for name in array.dtype.names or ("",)):
        fail(str(path), Words("numbers that stand for no character"), "a .npy file of text")
    return array


def _mapped(path: Path) -> np.ndarray:
    """The array of a .npy file, not yet read; one that the file is too short for is refused.

    Any error but OSError is one of the header, which is Python source and may break its parser in
    any way.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except OSError:
        raise
    except Exception as error:
        objects = "Python objects" in str(error)
        fail(str(path), Words("Python objects" if objects else str(error)), NPY)


def _readable(dtype: np.dtype[Any]) -> bool:
    """Whether draws are numbers, text, records of them, or lists as `dpaudit.outcomes` has them."""
    if dtype.names is None:
        return dtype.kind in KINDS and dtype.itemsize > 0 and dtype.shape == ()
    if dtype.names == (LISTS,):
        base, shape = dtype[LISTS].base, dtype[LISTS].shape
        return base == np.float64 and len(shape) == 1 and shape[0] > 0
    return all(dtype[name].names is None and _readable(dtype[name]) for name in dtype.names)


def _is_text(array: np.ndarray) -> bool:
    """Whether an array of text holds characters alone; True of any other array.

    NumPy does not check this, and Python fails where it makes a text of them.
    """
    if array.dtype.kind != "U":
        return True
    native = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))
    return int(native.view(np.uint32).max()) <= sys.maxunicode


def _lists(path: Path, array: np.ndarray) -> np.ndarray:
    """Rows (length, entries, NaN) with lengths that they can have."""
    _check_room(path, array[LISTS])
    length = array[LISTS][:, 0]
    if not np.all((length >= 0) & (length < array[LISTS].shape[1]) & (length == np.floor(length))):
        fail(str(path), Words("other lengths"), "lists of numbers with their lengths first")
    return array.astype([(LISTS, np.float64, array.dtype[LISTS].shape)])


def _check_room(path: Path, array: np.ndarray) -> None:
    names = array.dtype.names
    holds = " x ".join(f"{one:,}" for one in array.shape) + f" values of {array.dtype}"
    number = np.dtype(np.float64).itemsize
    if names is None and array.dtype.kind in "biuf":
        return check_room(str(path), COPIES * number * array.size, holds)
    cells = array.size * len(names or " ")
    return check_room(str(path), 2.0 * array.nbytes + OBJECT * cells, holds)


def _csv(path: Path) -> np.ndarray | list[Any]:
    cells = _cells(path)
    check_room(str(path), 8.0 * COPIES * cells, f"{cells:,} cells")
    opened = partial(path.open, encoding="utf-8-sig", newline="\n")
    try:
        found = draws_in(opened, most_cells=available() / OBJECT)
    except TooManyCells as error:
        raise InvalidInput(
            f"{path} holds {error}: more than fit into memory; give fewer, or numbers alone"
        ) from None
    except ValueError as error:  # UnicodeDecodeError is one
        fail(str(path), str(error), "a CSV file, UTF-8")
    if len(found) == 0:
        fail(str(path), Words("no lines"), "a CSV file with a draw a line")
    return found


def _cells(path: Path) -> int:
    """How many cells a CSV file has, or a few more."""
    with path.open("rb") as file:
        return 1 + sum(
            part.count(b",") + part.count(b"\n") for part in iter(partial(file.read, CHUNK), b"")
        )


def _parquet(path: Path) -> np.ndarray | list[Any]:
    try:
        from pyarrow import ArrowException
    except ImportError:
        raise InvalidInput(
            f"{path} needs pyarrow: pip install 'dpaudit[parquet]', or save .npy or .csv"
        ) from None
    try:
        return _parquet_rows(path)
    except (ArrowException, OverflowError, ValueError, OSError) as error:
        if isinstance(error, InvalidInput) or getattr(error, "errno", None) is not None:
            raise
        fail(str(path), str(error), "a Parquet file")


def _parquet_rows(path: Path) -> np.ndarray | list[Any]:
    from pyarrow import parquet, types

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        numeric = [
            types.is_integer(one) or types.is_floating(one) or types.is_boolean(one)
            for one in schema.types
        ]
        plain = bool(numeric) and all(numeric)
        count, width = file.metadata.num_rows, len(numeric)
        needed = (8.0 * COPIES if plain else OBJECT) * count * width
        check_room(str(path), needed, f"{count:,} x {width:,} cells")
        table = file.read()
    if not plain:
        return table.to_pylist()
    columns = [column.to_numpy(zero_copy_only=False) for column in table.itercolumns()]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


READERS = {".npy": _npy, ".csv": _csv, ".parquet": _parquet}
