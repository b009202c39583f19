"""Read a CSV file strictly: a misread row would be audited as if it were a person.

A database is an array of numbers, so the texts of a column become codes, if texts are allowed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.datasets.dataset import Table
from dpaudit.errors import DataNotFound, InvalidInput

LARGEST_WHOLE = 1 << 53
MISSING = frozenset({"", "na", "nan", "null", "?"})
TEXT, BOOLEANS = "text", ("false", "true")
EXPECTED = (
    "a finite number, or missing (empty, NA, NaN, null or ?); a function that takes a table gets "
    'texts (--kind frame, in a scenario kind = "records", in Python dpaudit.datasets.read_table), '
    "a program needs codes in their place, and --ignore leaves the column out"
)
LISTED = "one of the texts that `columns` lists, or missing"
Texts = Mapping[str, Sequence[str]]  # the texts that a column may hold, by its name


class FrameFile(NamedTuple):
    """A data frame of pandas, read as the CSV file that it would be, without its index."""

    frame: Any
    name: str = "frame"

    @property
    def stem(self) -> str:
        return self.name

    def read_bytes(self) -> bytes:
        return bytes(self.frame.to_csv(index=False), "utf-8")


def read_csv(
    path: Path | FrameFile, ignore: Sequence[str] = (), texts: Texts | None = None
) -> Table:
    """Read the CSV file at `path`: UTF-8, comma-separated, with a header row.

    A byte-order mark is allowed. Rows with a missing value (empty, NA, NaN, null or ?, in any case)
    are dropped and counted; blank lines are skipped. ignore : columns that are left out. texts :
    None if every cell must be a number. Otherwise a column with a text holds texts, which become
    the codes 0, 1, … of the texts in the order given here, or else in alphabetical order.
    `Table.types` keeps them.

    Raises `DataNotFound` when the file cannot be read, and `InvalidInput` with the line for
    anything else that is not a full row of such cells.
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
    header = _header(path.name, next(_rows(path.name, lines), (1, []))[1])
    for name in ignore:
        if name not in header:
            fail("ignore", name, f"a column of {path.name}: {', '.join(header)}")
    columns = tuple(name for name in header if name not in ignore)
    if not columns:
        fail("ignore", Words("all columns"), f"some columns of {path.name}")
    codes: dict[str, dict[str, int]] = {}
    if texts is not None:
        named = _with_text(header, columns, _rows(path.name, lines), texts)
        codes = {name: {text: at for at, text in enumerate(texts.get(name, ()))} for name in named}
    known = frozenset(texts or ())
    values = _values(path.name, header, columns, _rows(path.name, lines), codes, known)
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
    types = {
        name: _typed(complete[:, at], codes.get(name), name in known)
        for at, name in enumerate(columns)
    }
    unread = ", ".join(repr(name) for name in header if name in ignore)
    changes = (f"left out: {unread}",) if unread else ()
    coded = ("texts in " + ", ".join(map(repr, codes)),) if codes else ()
    return Table(
        path.stem, columns, complete, source, dropped, changes=(*changes, *coded), types=types
    )


def _rows(file: str, lines: io.StringIO) -> Iterator[tuple[int, list[str]]]:
    """The line number and the cells of each row that is not blank, the header included."""
    lines.seek(0)
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    try:
        for number, row in enumerate(reader):
            if row or number == 0:
                yield reader.line_num, row
    except csv.Error as error:
        raise InvalidInput(
            f"{file} must be a CSV file, got {error} on line {reader.line_num}"
        ) from None


def _with_text(
    header: Sequence[str],
    columns: Sequence[str],
    rows: Iterator[tuple[int, list[str]]],
    texts: Texts,
) -> list[str]:
    """The names of `columns` in which a cell is text, or one of the column's own `texts`."""
    next(rows)
    places = {name: header.index(name) for name in columns}
    for _, row in rows:
        for name, at in list(places.items()):
            cell = row[at] if at < len(row) else ""
            if _number(cell) == TEXT or cell.strip() in texts.get(name, ()):
                del places[name]
    return [name for name in columns if name not in places]


def _typed(column: Array, codes: dict[str, int] | None, public: bool) -> str | tuple[str, ...]:
    """The type of a column, as `adapters.records` takes it; codes of texts become alphabetical.

    codes : the code of each text. public : whether the user gave the texts, whose order stays.
    """
    if codes is None:
        whole = np.all((np.floor(column) == column) & (np.abs(column) < LARGEST_WHOLE))
        return "int" if whole else "float"
    if public:
        return tuple(codes)
    named = {code: text for text, code in codes.items()}
    used, place = np.unique(column, return_inverse=True)
    texts = [named[int(code)] for code in used]
    ordered = sorted(texts)
    if {text.lower() for text in texts} <= set(BOOLEANS):
        column[:] = np.array([BOOLEANS.index(text.lower()) for text in texts])[place]
        return "bool"
    column[:] = np.array([ordered.index(text) for text in texts])[place]
    return tuple(ordered)


def read_candidates(path: Path, dataset: Table) -> Array:
    """Rows that may take the place of a row of `dataset`, (m, d), in its order of columns.

    path : a CSV file with the data's columns by name, in any order; the column of ones that was
    added may be left out. Raises `DataNotFound`, and `InvalidInput` for another set of columns or a
    missing value.
    """
    table, columns = read_csv(path, texts=dataset.texts or None), dataset.columns
    if other := [name for name in table.texts if name not in dataset.texts]:
        fail(f"column {other[0]!r} of {path.name}", Words("text"), f"numbers, as in {dataset.name}")
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
    """The column names, which must be distinct and split by commas."""
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


def _values(
    file: str,
    header: Sequence[str],
    columns: Sequence[str],
    rows: Iterator[tuple[int, list[str]]],
    codes: dict[str, dict[str, int]],
    known: frozenset[str],
) -> Array:
    """The numbers in the cells of `columns`, (n, k), NaN if missing.

    codes : by the name of a column of texts, the code of each text, to which this function adds new
    texts, except for the columns in `known`.
    """
    cells = array("d")
    places = [(name, header.index(name), codes.get(name)) for name in columns]
    next(rows)
    for line, row in rows:
        if len(row) != len(header):
            fail(
                f"the number of cells on line {line} of {file}",
                len(row),
                f"{len(header)}, as in the header",
            )
        for column, at, texts in places:
            cell = row[at]
            if texts is not None and cell.strip() in texts:
                number: float | str = float(texts[cell.strip()])
            elif texts is not None and cell.strip().lower() not in MISSING:
                if column in known:
                    fail(f"{file} line {line}, column {column!r}", Words("another text"), LISTED)
                number = float(texts.setdefault(cell.strip(), len(texts)))
            else:
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
        return TEXT
    if math.isinf(number):
        return "an infinite number"
    return "a number with _" if "_" in cell else number
