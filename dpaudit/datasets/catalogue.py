"""Find a data set by name or path: embedded, from scikit-learn, in a folder, or any CSV file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.datasets import flight
from dpaudit.datasets.dataset import Table
from dpaudit.datasets.table import FrameFile, Texts, read_csv
from dpaudit.errors import DataNotFound, InvalidInput

FOLDER = "DPAUDIT_DATA"


def load(
    name_or_path: str | os.PathLike[str],
    *,
    target: str | None = None,
    constant: bool = True,
    data_dir: str | os.PathLike[str] | None = None,
) -> Table:
    """Load a data set by name, or a CSV file by path; unpacks as `X, y = load("flight")`.

    Parameters
    ----------
    name_or_path : str or path
        "flight" and "diabetes" come with the installation. Any other bare name `foo` is the file
        foo.csv in `data_dir`, or else in the folder named by the environment variable DPAUDIT_DATA.
        A `Path`, or text with a separator or a suffix, is the path of a CSV file (see
        `table.read_csv`).
    target : str, optional
        The column to predict. Required for a path; the default for a name is the last column.
    constant : bool, default True
        Whether to put a column of ones first, called "constant". It is not added if a feature is
        one nonzero number throughout, since the features would be linearly dependent.
    data_dir : path, optional
        The folder of data sets that are looked up by name.

    Returns
    -------
    Table
        Without the rows that have a missing value, which are counted in `.dropped`.

    Raises
    ------
    DataNotFound
        When there is no such data set.

    Examples
    --------
    >>> import dpaudit as dp
    >>> dataset = dp.datasets.load("diabetes")
    >>> X, y = dataset
    >>> X.shape, y.shape, dataset.target
    ((442, 11), (442,), 'progression')
    """
    check.boolean("constant", constant)
    table = read_table(name_or_path, texts=None, data_dir=data_dir)
    if target is None and _is_path(name_or_path):
        columns = f"given for a CSV path, as one of its columns: {table.listing()}"
        fail("target", None, f"{columns}; datasets.read_rows gives the rows as they are")
    table = table.predicting(table.columns[-1] if target is None else target)
    table = table.with_constant() if constant else table
    if not table.features:
        raise InvalidInput(
            f"{table.name} must have a column besides the target {table.target!r}, got none"
        )
    return table


def read_rows(path: str | os.PathLike[str]) -> Array:
    """The rows of a CSV file of numbers as they are, (n, d), the columns in the file's order.

    A scenario with `[data] path` and a mechanism of the user's own audits the same rows. Rows with
    a missing value are left out, and a warning counts them. Raises `DataNotFound` when there is no
    such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import dpaudit as dp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("age,income\\n30,2.5\\n41,3\\n")
    >>> dp.datasets.read_rows(path)
    array([[30. ,  2.5],
           [41. ,  3. ]])
    """
    table = read_csv(_path("path", path, "the path of a CSV file"))
    if count := sum(table.dropped.values()):
        warnings.warn(
            f"{table.name}: {count:,} rows with a missing value are left out; {table.n:,} are left",
            UserWarning,
            stacklevel=2,
        )
    return table.values


def read_table(
    name_or_path: str | os.PathLike[str] | Any,
    *,
    ignore: Sequence[str] = (),
    texts: Texts | None = MappingProxyType({}),
    data_dir: str | os.PathLike[str] | None = None,
) -> Table:
    """All columns of a data set, as they are in its source; texts become codes.

    Parameters
    ----------
    name_or_path : str, path or DataFrame
        As in `load`; or a data frame of pandas, whose index is left out.
    ignore : sequence of str
        Names of columns to leave out, such as an identifier of people.
    texts : dict from str to list of str, or None
        The texts that a column may hold, public, in the order of their codes 0, 1, …; a column of
        texts that is not named has its own texts in alphabetical order. None refuses all texts.
    data_dir : str or path, optional
        As in `load`.

    Returns
    -------
    Table
        Its array of numbers, and `.types`, which says what they stand for, as
        `dpaudit.adapters.records` takes it. Rows with a missing value are left out.

    Raises
    ------
    DataNotFound
        When there is no such data set.
    InvalidInput
        When a column does not exist, or a cell is neither a number nor an allowed text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import dpaudit as dp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,region,income\\n7,south,2.5\\n8,north,3\\n")
    >>> table = dp.datasets.read_table(path, ignore=["id"])
    >>> table.database
    array([[1. , 2.5],
           [0. , 3. ]])
    >>> table.types
    {'region': ('north', 'south'), 'income': 'float'}
    """
    if texts is not None and not isinstance(texts, Mapping):
        fail("texts", texts, "a dict of the texts of columns, such as {'region': ['east', 'west']}")
    if hasattr(name_or_path, "to_csv"):
        return read_csv(FrameFile(name_or_path), ignore, texts)
    expected = "the name of a data set, the path of a CSV file or a data frame"
    place = _path("name_or_path", name_or_path, expected)
    installed = _INSTALLED.get(place.name) if not _is_path(name_or_path) else None
    if installed is not None:
        if ignore or texts:
            fail("ignore" if ignore else "texts", ignore or texts, "left out for this data set")
        return installed[0]()
    path = place if _is_path(name_or_path) else _find(place.name, data_dir)
    return read_csv(path, ignore, texts)


def names() -> tuple[str, ...]:
    """The names that `load` knows, first those that need no file."""
    return tuple(describe())


def describe() -> dict[str, str]:
    """One line about each known data set, by name."""
    installed = {name: line for name, (_, line) in _INSTALLED.items()}
    return installed | {
        name: f"{line} ({name}.csv in {FOLDER})" for name, line in _IN_FOLDER.items()
    }


def _path(argument: str, value: object, expected: str) -> Path:
    if not isinstance(value, str | os.PathLike) or not str(value):
        fail(argument, value, expected)
    return Path(value).expanduser()


def _is_path(value: str | os.PathLike[str]) -> bool:
    """Whether `value` is a path, not the bare name of a data set."""
    place = Path(value)
    return not isinstance(value, str) or bool(place.suffix) or len(place.parts) > 1


def _find(name: str, data_dir: str | os.PathLike[str] | None) -> Path:
    folder = (
        os.environ.get(FOLDER)
        if data_dir is None
        else _path("data_dir", data_dir, "the path of a folder")
    )
    if folder and (path := Path(folder).expanduser() / f"{name}.csv").is_file():
        return path
    absent = f"there is no {name}.csv in {folder}" if folder else f"{FOLDER} is not set"
    if name in _IN_FOLDER:
        raise DataNotFound(
            f"data set {name!r} not found: {absent}; set {FOLDER} (or data_dir) to the folder "
            f"that holds {name}.csv, or give the path of a CSV file and its target"
        )
    raise DataNotFound(
        f"data set {name!r} not found: give the path of a CSV file, such as {name}.csv, or a known "
        f"name ({', '.join(names())}). The folder that {FOLDER} or data_dir names would be "
        f"searched too, but {absent}"
    )


def _diabetes() -> Table:
    from sklearn.datasets import load_diabetes

    diabetes = load_diabetes()
    values = np.column_stack([diabetes.data, diabetes.target])
    source = (
        "scikit-learn's load_diabetes (Efron et al., Least Angle Regression, 2004), "
        "features as scaled there"
    )
    return Table("diabetes", (*diabetes.feature_names, "progression"), values, source)


# for each name the function that reads it, and a line about it
_INSTALLED: dict[str, tuple[Callable[[], Table], str]] = {
    "flight": (
        flight.read,
        "arrival by departure delay of New York flights in 2013, 327,346 x 1 (embedded)",
    ),
    "diabetes": (_diabetes, "disease progression by 10 measurements, 442 x 10 (from scikit-learn)"),
}
_IN_FOLDER = {
    "cancer": "lung-cancer mortality by US county, 2,809 x 11",
    "wine_white": "quality of white wines, 4,898 x 11",
    "ccpp": "power output of a combined-cycle plant, 9,568 x 4",
    "bank_marketing_codes": "subscription after a bank's call, categories as codes, 45,211 x 16",
    "banknote": "forged banknotes from image statistics, 1,372 x 4",
    "boston": "house prices by census tract, 506 x 13",
    "tecator_fat": "fat content of meat from near-infrared spectra, near-singular, 215 x 100",
}
