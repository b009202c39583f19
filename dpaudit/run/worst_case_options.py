"""The neighbours that an exact worst case is over: zeroed, removed, replaced or added rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.datasets import Table
from dpaudit.datasets.table import read_csv


@dataclass(frozen=True, eq=False)
class Neighbours:
    """relation, candidates (m, d) and row_bound as in `dpaudit.exact.worst_case`.

    source : the name of the candidates' file.
    """

    relation: str
    candidates: Array | None = None
    row_bound: float | None = None
    source: str | None = None

    __repr__ = short_repr

    @classmethod
    def given(
        cls, relation: str, candidates: str | Path | None, row_bound: float | None, dataset: Table
    ) -> Neighbours:
        """From the path of a CSV file of candidates. Raises `DataNotFound`, `InvalidInput`."""
        if candidates is None:
            return cls(relation, None, row_bound)
        path = Path(candidates).expanduser()
        return cls(relation, read_candidates(path, dataset), row_bound, path.name)

    @property
    def arguments(self) -> dict[str, Any]:
        """As keywords of `worst_case`, which checks them."""
        return {
            "relation": self.relation,
            "candidates": self.candidates,
            "row_bound": self.row_bound,
        }


def read_candidates(path: Path, dataset: Table) -> Array:
    """Rows that may take the place of a row of `dataset`, (m, d), in its order of columns.

    path : a CSV file with the data's columns by name, in any order; the column of ones that was
    added may be left out. Raises `DataNotFound`, and `InvalidInput` for another set of columns or a
    missing value.
    """
    table, wanted = read_csv(path), dataset.columns
    found = dict(zip(table.columns, table.values.T, strict=True))
    if "constant" in wanted and np.all(dataset.values[:, wanted.index("constant")] == 1.0):
        found.setdefault("constant", np.ones(len(table.values)))
    if set(found) != set(wanted):
        named = ", ".join(name for name in wanted if name != "constant")
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
    return np.column_stack([found[name] for name in wanted])
