"""The origin of a row that comes into a database, so that a pair can be made again.

A row of the data or of the candidates is private, so a record names its place, never its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit.neighbours import outliers

KINDS = ("user", "candidates", "bound", "row_bound", "data_bounds")


@dataclass(frozen=True)
class RowSource:
    """The origin of a row that comes in. Raises `InvalidInput` when what the kind needs is missing.

    kind : "user", passed by hand; "candidates", one of the user's candidates; "bound", a function
    of the public bound alone, a corner or the row nearest to zero; "row_bound", a row of
    `outliers.within_norm` inside the largest norm `bound`, along the axes of the data;
    "data_bounds", a row of `outliers.within_data`, at the least and largest values of the data's
    own columns. number : of the row among these. seed : of the random numbers of "row_bound" and
    "data_bounds".
    """

    kind: str = "user"
    number: int | None = None
    bound: float | None = None
    seed: np.random.SeedSequence | None = None

    def __post_init__(self) -> None:
        check.choice("from", self.kind, KINDS)
        if self.kind in ("candidates", "row_bound", "data_bounds"):
            check.integer("number", self.number, 0)
        if self.kind == "row_bound":
            check.real("row_bound", self.bound, 0.0, open_=True)
        if self.remakable and self.seed is None:
            check.fail("seed", None, "that of the search")

    @property
    def remakable(self) -> bool:
        return self.kind in ("row_bound", "data_bounds")

    @property
    def text(self) -> str:
        words = {
            "user": "given by hand",
            "candidates": f"candidate {self.number}",
            "bound": "from the public bound",
            "row_bound": f"number {self.number} within row_bound",
            "data_bounds": f"number {self.number} within the bounds of the data",
        }
        return words[self.kind]

    def to_dict(self, rows: Array, *, show_data: bool = False) -> dict[str, Any]:
        """The origin in JSON types, with the row's values if they are public or `show_data` is set.

        rows : the row, (d,), or the rows of a group, (g, d).
        """
        record: dict[str, Any] = {"from": self.kind}
        if self.number is not None:
            record["number"] = self.number
        if self.seed is not None:
            if self.bound is not None:
                record["row_bound"] = self.bound
            record["seed"] = {
                "entropy": self.seed.entropy,
                "pool_size": self.seed.pool_size,
                "spawn_key": list(self.seed.spawn_key),
            }
        if self.kind == "bound" or show_data:  # the public bound alone decides this row
            record["values"] = rows.tolist()
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any] | None) -> Self:
        """Read what `to_dict` wrote; None stands for a row that the user passed."""
        record = record or {}
        seed = record.get("seed")
        if seed is not None:
            try:
                seed = np.random.SeedSequence(**seed)
            except (TypeError, ValueError):
                expected = "entropy, spawn_key and pool_size of a seed"
                check.fail("seed", type(seed).__name__, expected)
        return cls(record.get("from", "user"), record.get("number"), record.get("row_bound"), seed)

    def remade(self, data: Array) -> Array:
        """The row of "row_bound" or "data_bounds", (d,), made again from the data, (n, d)."""
        assert self.number is not None
        rng = np.random.default_rng(self.seed)
        if self.bound is None:
            rows = outliers.within_data(data, rng)
        else:
            rows = outliers.within_norm(data, self.bound, rng)
        if self.number >= len(rows):
            check.fail("data", check.Words(f"{data.shape[1]} columns"), "those of the search")
        return np.asarray(rows[self.number])
