"""The [data] table: a data set by name, or a CSV file by path."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import model_validator

from dpaudit import datasets
from dpaudit._core import check
from dpaudit.errors import InvalidInput
from dpaudit.run.scenario.section import (
    FLAG,
    LINE,
    TEXT,
    Checked,
    ScenarioPath,
    Section,
    number,
    text,
)


def _name(key: str, value: Any) -> str:
    if Path(text(key, value)).suffix or len(Path(value).parts) > 1:
        known = ", ".join(datasets.names())
        check.fail(key, value, f"the name of a data set ({known}); a file goes under path")
    return str(value)


class Data(Section):
    """The database: a data set that comes with dpaudit, or a CSV file."""

    path: ScenarioPath = None
    """A CSV file, from the scenario's folder. Give either this or name."""
    name: Annotated[str | None, Checked(_name, LINE)] = None
    """A data set of `dpaudit list datasets`. Give either this or path."""
    target: Annotated[str | None, TEXT] = None
    """The column to predict, which is put last."""
    constant: Annotated[bool | None, FLAG] = None
    """A column of ones comes first; by default in dpaudit's regressions only."""
    row_bound: Annotated[float | None, number(0.0, open_=True)] = None
    """Longer rows, label included, are shrunk to this norm."""

    @model_validator(mode="after")
    def _either(self) -> Data:
        if (self.name is None) == (self.path is None):
            raise InvalidInput("must have either name or path")
        return self

    def seen_by(self, mechanism: Any) -> Data:
        """With a column of ones, unless the scenario says otherwise, for a mechanism of dpaudit's
        own that fits a regression, and for no other one.
        """
        fits = bool(getattr(mechanism, "regression", False))
        return self if self.constant is not None else self.model_copy(update={"constant": fits})

    def load(self) -> datasets.Table:
        """The rows as the mechanism sees them. Raises `DataNotFound`, `InvalidInput`.

        The target of a data set is its last column; without one a file keeps the order of its own.
        """
        place = self.path or self.name
        assert place is not None
        table = datasets.read_table(place)
        target = table.columns[-1] if self.path is None and self.target is None else self.target
        table = table if target is None else table.predicting(target)
        table = table.with_constant() if self.constant else table
        return table if self.row_bound is None else table.shrunk(self.row_bound)
