"""The [data] table: a data set by name, or a CSV file by path and target."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit import datasets
from dpaudit._core import check
from dpaudit.run.scenario.table import Table, flag, text


@dataclass(frozen=True)
class Data:
    """A data set by name, or a CSV file by path and target.

    constant : whether a column of ones is put before the features. row_bound : longer rows, label
    included, are shrunk to this norm; None leaves them.
    """

    name: str | None
    path: Path | None
    target: str | None
    constant: bool
    row_bound: float | None = None

    def load(self) -> datasets.Dataset:
        """Raises `DataNotFound`, `InvalidInput`."""
        found = self.path or self.name
        assert found is not None
        loaded = datasets.load(found, target=self.target, constant=self.constant)
        return loaded if self.row_bound is None else loaded.shrunk(self.row_bound)


def read_data(table: Table, folder: Path) -> Data:
    """The table's content. Faults are noted in the table."""
    path = table.get("path", text, None)
    name = table.get("name", _name, None)
    target = table.get("target", text, None)
    constant = table.get("constant", flag, True)
    row_bound = table.get("row_bound", partial(check.real, low=0.0, open_=True), None)
    if table.readable and ("name" in table) == ("path" in table):
        table.fault("", "must have either name or path")
    if "path" in table and "target" not in table:
        table.fault("target", "missing (the column to predict)")
    table.close()
    place = None if path is None else folder / os.path.expanduser(path)
    return Data(name, place, target, constant, row_bound)


def _name(key: str, value: Any) -> str:
    if Path(text(key, value)).suffix or len(Path(value).parts) > 1:
        known = ", ".join(datasets.names())
        check.fail(key, value, f"the name of a data set ({known}); a file goes under path")
    return str(value)
