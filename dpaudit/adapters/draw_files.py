"""A reader of draws in .npy, CSV and Parquet files, which unpickles nothing and checks headers."""

from __future__ import annotations

import csv
import io
import math
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit.errors import DataNotFound, InvalidInput
from dpaudit.outcomes import NotOutcomes, joined, rows

ARRAY = "a non-empty (n,) or (n, k) array of numbers or text"
NPY = "a .npy file of numbers or text, without pickle"
FIELDS = "a .npy file of numbers or text, or (n,) records whose fields are numbers or text"
KINDS = "fiubUS"  # NumPy's kinds of dtypes that are numbers or text
COPIES = 2  # float64 copies of the draws that are needed: the draws, and what an audit computes
OBJECT = 100  # bytes of memory per cell that is a Python object
CHUNK = 1 << 20  # bytes read at a time
MOST_CELLS = 1 << 24  # in text that is not a table of numbers; a cell takes some 60 bytes
MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")  # has the memory limits of a container


def read_draws(path: str | Path) -> np.ndarray:
    """Read the draws in a file.

    Parameters
    ----------
    path : path
        .npy: an array (n,) or (n, k) of numbers or text, or (n,) records of them.
        .csv: one draw per line, with any number of cells: numbers, words or empty cells.
        .parquet: one draw per row (needs pyarrow). Missing numbers are NaN. If some column has no
        numbers, a draw is the dict of its row.

    Returns
    -------
    array
        The draws, in one of the forms of `dpaudit.outcomes`.

    Raises
    ------
    DataNotFound
        If the file does not exist.
    InvalidInput
        If the file is not as described, or needs more memory than is available: 16 bytes per number
        or 100 bytes per cell of text. Such a file is refused before it is read.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        fail(
            str(path),
            path.suffix or "a file without a suffix",
            f"a file with the ending {' or '.join(READERS)}",
        )
    if path.exists() and not (path.is_file() or path.is_dir()):
        fail(str(path), Words("a pipe or a device"), "a regular file")
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # numbers may be wider than float64
            return joined([rows(reader(path))])
    except OSError as error:
        raise DataNotFound(f"cannot read {path}: {error.strerror or error}") from None
    except NotOutcomes as error:
        fail(str(path), error.got, ARRAY)


def _npy(path: Path) -> np.ndarray:
    """The array in a .npy file. Raises `InvalidInput`, also if the file is shorter than it says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except OSError:
        raise
    except Exception as error:  # the header is Python source and may break its parser in any way
        objects = "Python objects" in str(error)
        fail(str(path), Words("Python objects" if objects else str(error)), NPY)
    if array.dtype.hasobject or not _readable(array.dtype):
        fail(str(path), Words(f"dtype {array.dtype}"), FIELDS)
    if array.ndim not in (1, 2) or array.size == 0 or (array.dtype.names and array.ndim == 2):
        fail(str(path), Words(f"{array.dtype} of shape {array.shape}"), ARRAY)
    names, needed = array.dtype.names, 8.0 * COPIES * array.size
    if names is not None or array.dtype.kind not in "biuf":
        needed = 2.0 * array.nbytes + OBJECT * array.size * len(names or " ")
    shape = " x ".join(f"{length:,}" for length in array.shape)
    check_room(str(path), needed, f"{shape} values of {array.dtype}")
    if not all(_is_text(array[name] if name else array) for name in names or ("",)):
        fail(str(path), Words("numbers that stand for no character"), "a .npy file of text")
    return array


def _readable(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is that of numbers, text, or records of them."""
    if dtype.names is None:
        return dtype.kind in KINDS and dtype.itemsize > 0 and dtype.shape == ()
    return all(dtype[name].names is None and _readable(dtype[name]) for name in dtype.names)


def _is_text(array: np.ndarray) -> bool:
    """Whether an array of text holds only valid characters, which NumPy does not check; True for
    other arrays.
    """
    if array.dtype.kind != "U":
        return True
    native = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))
    return int(native.view(np.uint32).max()) <= sys.maxunicode


def _csv(path: Path) -> np.ndarray | list[Any]:
    """The draws in a CSV file, as `draws_in` returns them. Raises `InvalidInput`."""
    with path.open("rb") as file:  # commas in quotes make the number of cells a little too large
        parts = iter(partial(file.read, CHUNK), b"")
        cells = 1 + sum(part.count(b",") + part.count(b"\n") for part in parts)
    check_room(str(path), 8.0 * COPIES * cells, f"{cells:,} cells")
    opened = partial(path.open, encoding="utf-8-sig", newline="\n")
    try:
        draws = draws_in(opened, most_cells=available() / OBJECT)
    except TooManyCells as error:
        raise InvalidInput(
            f"{path} holds {error}: more than fit into memory; give fewer, or numbers alone"
        ) from None
    except ValueError as error:  # UnicodeDecodeError is one
        fail(str(path), str(error), "a CSV file, UTF-8")
    if len(draws) == 0:
        fail(str(path), Words("no lines"), "a CSV file with a draw a line")
    return draws


def _parquet(path: Path) -> np.ndarray | list[Any]:
    """The draws in a Parquet file: (n, k) numbers, or a list of dicts. Raises `InvalidInput`."""
    try:
        from pyarrow import ArrowException, parquet, types
    except ImportError:
        raise InvalidInput(
            f"{path} needs pyarrow: pip install 'dpaudit[parquet]', or save .npy or .csv"
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            kinds, length = file.schema_arrow.types, file.metadata.num_rows
            tests = types.is_integer, types.is_floating, types.is_boolean
            plain = bool(kinds) and all(any(test(kind) for test in tests) for kind in kinds)
            needed = (8.0 * COPIES if plain else OBJECT) * length * len(kinds)
            check_room(str(path), needed, f"{length:,} x {len(kinds):,} cells")
            table = file.read()
        if not plain:
            return table.select(sorted(table.column_names)).to_pylist()
        columns = [column.to_numpy(zero_copy_only=False) for column in table.itercolumns()]
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    except (ArrowException, KeyError, OverflowError, ValueError, OSError) as error:
        if isinstance(error, InvalidInput) or getattr(error, "errno", None) is not None:
            raise
        fail(str(path), str(error), "a Parquet file")


def columns_of(path: str | Path) -> list[str]:
    """The names of the columns in a .parquet file, or the words of the first line of a .csv file,
    which are these names if its draws are numbers; none where there are no names.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = next(csv.reader(file), [])
        return first if all(type(_cell(cell)) is str for cell in first) else []
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        return list(parquet.read_schema(path).names)
    return []


READERS = {".npy": _npy, ".csv": _csv, ".parquet": _parquet}


# --- CSV text

Opened = Callable[[], TextIO]  # opens a text from its beginning, without translating newlines


class TooManyCells(ValueError):
    """A text that is not a table of numbers has more cells than may be kept in memory."""


def draws_in(
    opened: Opened, size: int | None = None, most_cells: float = MOST_CELLS
) -> np.ndarray | list[Any]:
    """Parse the draws in a CSV text, one per line: (n, k) float64, or a list for `outcomes.rows`.

    size : the expected number of draws, if it is known. most_cells : the number of cells allowed if
    lines hold words or differ in length.

    A cell becomes a number (nan and inf are numbers), a text, or None if it is empty; a line of one
    cell this value, another line a list. Empty lines at the end are dropped as long as more than
    `size` lines remain. A first line of words is a header if some column has no words below it, or
    if exactly `size` lines follow it. Raises ValueError if the text is not CSV or has too many
    cells.
    """
    with opened() as text:
        table = _table(text)
    if table is not None:
        return table
    with opened() as text:
        lines = _lines(text, most_cells)
    while lines and not lines[-1] and len(lines) > (size or 0):
        lines.pop()
    below = lines[1:]
    if below and len(lines) != size and lines[0] and all(type(cell) is str for cell in lines[0]):
        columns = zip(*below, strict=False)
        if len(below) == size or any(str not in set(map(type, column)) for column in columns):
            lines = below  # the first line is a header
    return [line[0] if len(line) == 1 else line for line in lines]


def text_of(content: bytes) -> Opened:
    """A function that opens bytes as UTF-8 text and skips a byte order mark at the beginning."""
    return lambda: io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="\n")


def _table(text: TextIO) -> np.ndarray | None:
    """The numbers in a text, (n, k); None if it has words, gaps or lines of different length."""
    counter = count()
    lines = (line for line, _ in zip(text, counter, strict=False))
    first = next(lines, "")
    if not first or first.isspace():
        return None
    try:
        table = np.loadtxt(chain([first], lines), delimiter=",", ndmin=2, comments=None)
    except ValueError:
        return None
    return table if len(table) == next(counter) else None


def _lines(text: TextIO, most: float) -> list[list[Any]]:
    """The cells of each line: numbers, texts or None. Raises ValueError for more than `most`."""
    lines, cells = [], 0
    try:
        for line in csv.reader(text):
            lines.append([_cell(cell) for cell in line])
            cells += len(line) + 1
            if cells > most:
                raise TooManyCells(
                    f"more than {most:,.0f} cells in lines with words or of different length"
                )
    except csv.Error as error:
        raise ValueError(str(error)) from None
    return lines


def _cell(cell: str) -> float | str | None:
    """The value of a cell of text: a number, the stripped text, or None if that is empty."""
    stripped = cell.strip()
    try:
        return None if not stripped else float(stripped) if "_" not in stripped else stripped
    except ValueError:
        return stripped


# --- memory


def available() -> float:
    """The number of bytes that this process may still allocate; ∞ if the system does not say. A
    container's limit counts; outside Linux it is the total memory.
    """
    free = container = math.inf
    with suppress(OSError, ValueError, AttributeError):
        free = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError, IndexError):
        lines = MEMINFO.read_text().splitlines()
        free = 1024.0 * next(int(x.split()[1]) for x in lines if x.startswith("MemAvailable:"))
    with suppress(OSError, ValueError):
        most, used = ((GROUP / name).read_text() for name in ("memory.max", "memory.current"))
        container = math.inf if most.strip() == "max" else float(most) - float(used)
    return min(free, container)


def check_room(name: str, needed: float, holds: str) -> None:
    """Raises `InvalidInput` if `needed` bytes are more than are available.

    name, holds : the file, and a description of its content, for the error message.
    """
    room = available()
    if needed > room:
        raise InvalidInput(
            f"{name} holds {holds}, and to audit them takes {needed / 2**30:.3g} GiB of memory; "
            f"{max(room, 0.0) / 2**30:.3g} GiB are available, so give fewer draws or columns"
        )
