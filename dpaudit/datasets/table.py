"""Read a CSV file of numbers, strictly: a misread row would be audited as if it were a person."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from array import array
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.datasets.dataset import Table
from dpaudit.errors import DataNotFound, InvalidInput

MISSING = frozenset({"", "na", "nan", "null", "?"})
EXPECTED = (
    "a finite number, or missing (empty, NA, NaN, null or ?); "
    "encode text as numbers or remove the column"
)


def read_csv(path: Path) -> Table:
    """Read the CSV file at `path`: UTF-8, comma-separated, with a header row.

    A byte-order mark is allowed. Rows with a missing value (empty, NA, NaN, null or ?, in any case)
    are dropped and counted; blank lines are skipped. Raises `DataNotFound` when the file cannot be
    read, and `InvalidInput` with the line for anything else that is not a full row of finite
    numbers.
    """
    try:
        raw = path.read_bytes()
        lines = io.StringIO(raw.decode("utf-8-sig"), newline="")
    except OSError as error:
        raise DataNotFound(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"{path.name} must be UTF-8 text, got byte {raw[error.start]:#04x} on line {line}"
        ) from None
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    try:
        columns = _header(path.name, next(reader, []))
        values = _values(path.name, columns, ((reader.line_num, row) for row in reader if row))
    except csv.Error as error:
        raise InvalidInput(
            f"{path.name} must be a CSV file, got {error} on line {reader.line_num}"
        ) from None
    if len(values) == 0:
        raise InvalidInput(f"{path.name} must have at least one row of numbers, got a header only")
    missing = np.isnan(values)
    complete = values[~missing.any(axis=1)]
    if len(complete) == 0:
        emptiest = columns[int(missing.sum(axis=0).argmax())]
        raise InvalidInput(
            f"{path.name} must have a row without a missing value, got none in {len(values)} rows "
            f"(column {emptiest!r} has the most missing)"
        )
    dropped = {"missing value": int(missing.any(axis=1).sum())} if missing.any() else {}
    source = f"CSV file {path.name}, sha256 {hashlib.sha256(raw).hexdigest()[:16]}"
    return Table(path.stem, columns, complete, source, dropped)


def read_candidates(path: Path, dataset: Table) -> Array:
    """Rows that may take the place of a row of `dataset`, (m, d), in its order of columns.

    path : a CSV file with the data's columns by name, in any order; the column of ones that was
    added may be left out. Raises `DataNotFound`, and `InvalidInput` for another set of columns or a
    missing value.
    """
    table, columns = read_csv(path), dataset.columns
    by_name = dict(zip(table.columns, table.values.T, strict=True))
    if "constant" in columns and np.all(dataset.values[:, columns.index("constant")] == 1.0):
        by_name.setdefault("constant", np.ones(len(table.values)))
    if set(by_name) != set(columns):
        named = ", ".join(name for name in columns if name != "constant")
        fail(
            f"the header of {path.name}",
            ", ".join(table.columns),
            f"the columns of {dataset.name}: {named}",
        )
    if table.dropped:
        fail(
            path.name,
            Words(f"{sum(table.dropped.values())} rows with a missing value"),
            "a file without missing values",
        )
    return np.column_stack([by_name[name] for name in columns])


def _header(file: str, cells: list[str]) -> tuple[str, ...]:
    """The column names. Raises `InvalidInput` unless they are distinct names split by commas."""
    columns = tuple(cell.strip() for cell in cells)
    numbers = {column: _number(column) for column in columns}
    is_value = {name: isinstance(at, float) and not math.isnan(at) for name, at in numbers.items()}
    values = [column for column in columns if is_value[column]]
    # a name may be a year, but hardly a number with a sign or a decimal point
    if not columns or len(values) == len(columns) or not all(map(str.isdigit, values)):
        first = "a row of values" if columns else "no line"
        fail(f"the first line of {file}", Words(first), "a header row of column names")
    if len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        fail(f"the header of {file}", Words("other separators"), "separated by commas")
    for place, column in enumerate(columns):
        if not column or column in columns[:place]:
            name = f"the name of column {columns.index(column) + 1}" if column else "no name"
            expected = "named, and unlike the columns before it"
            fail(f"column {place + 1} in the header of {file}", Words(name), expected)
    return columns


def _values(file: str, columns: tuple[str, ...], rows: Iterable[tuple[int, list[str]]]) -> Array:
    """The numbers in all cells, (n, k), NaN if missing. rows : pairs of line number and cells."""
    cells = array("d")
    for line, row in rows:
        if len(row) != len(columns):
            fail(
                f"the number of cells on line {line} of {file}",
                len(row),
                f"{len(columns)}, as in the header",
            )
        for column, cell in zip(columns, row, strict=True):
            number = _number(cell)
            if not isinstance(number, float):
                fail(f"{file} line {line}, column {column!r}", Words(number), EXPECTED)
            cells.append(number)
    return np.array(cells, dtype=np.float64).reshape(-1, len(columns))


def _number(cell: str) -> float | str:
    """The cell as a number, NaN when missing; else why it is refused: text, infinity or 1_000.

    The reason does not quote the cell, which may be a person's value.
    """
    if cell.strip().lower() in MISSING:
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        return "text"
    if math.isinf(number):
        return "an infinite number"
    return "a number with _" if "_" in cell else number
