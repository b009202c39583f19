"""The [data] table: a data set by name, or a CSV file by path."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit import datasets
from dpaudit._core import check
from dpaudit.run.scenario.table import LINE, Table, flag, takes, text


@dataclass(frozen=True)
class Data:
    """A data set by name, or a CSV file by path.

    target : the column that is put last, to be predicted; None leaves the columns of a file in
    their order, and those of a data set, whose target is the last one.
    constant : whether a column of ones is put first; None where the scenario does not say.
    row_bound : longer rows, label included, are shrunk to this norm; None leaves them.
    """

    name: str | None
    path: Path | None
    target: str | None
    constant: bool | None
    row_bound: float | None = None

    def seen_by(self, mechanism: Any) -> Data:
        """With a column of ones, unless the scenario says otherwise, for a mechanism of dpaudit's
        own that fits a regression, and for no other one.
        """
        fits = bool(getattr(mechanism, "regression", False))
        return replace(self, constant=fits if self.constant is None else self.constant)

    def load(self) -> datasets.Table:
        """The rows as the mechanism sees them. Raises `DataNotFound`, `InvalidInput`."""
        found = self.path or self.name
        assert found is not None
        table = datasets.read_table(found)
        target = table.columns[-1] if self.path is None and self.target is None else self.target
        table = table if target is None else table.predicting(target)
        table = table.with_constant() if self.constant else table
        return table if self.row_bound is None else table.shrunk(self.row_bound)


def read_data(table: Table, folder: Path) -> Data:
    """The table's content. Faults are noted in the table."""
    path = table.get("path", text, None)
    name = table.get("name", _name, None)
    target = table.get("target", text, None)
    constant = table.get("constant", flag, None)
    row_bound = table.get("row_bound", partial(check.real, low=0.0, open_=True), None)
    if table.readable and ("name" in table) == ("path" in table):
        table.fault("", "must have either name or path")
    table.close()
    place = None if path is None else folder / os.path.expanduser(path)
    return Data(name, place, target, constant, row_bound)


@takes(LINE)
def _name(key: str, value: Any) -> str:
    if Path(text(key, value)).suffix or len(Path(value).parts) > 1:
        known = ", ".join(datasets.names())
        check.fail(key, value, f"the name of a data set ({known}); a file goes under path")
    return str(value)
