"""Where a row that comes into a database is from, so that a pair can be made again.

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

KINDS = ("user", "candidates", "bound", "row_bound")


@dataclass(frozen=True)
class RowSource:
    """Where a row that comes in is from.

    kind : "user" (given by hand), "candidates" (number `number` of the user's candidates), "bound"
        (a function of the public bound alone: a corner, or the row nearest to zero), "row_bound"
        (number `number` of `outliers.within_norm`, inside the largest norm `bound`, with the
        random numbers of `seed`; it depends on the data, along whose axes it lies).
    """

    kind: str = "user"
    number: int | None = None
    bound: float | None = None
    seed: np.random.SeedSequence | None = None

    @property
    def public(self) -> bool:
        """Whether the values of the row may be shown unasked."""
        return self.kind == "bound"

    @property
    def text(self) -> str:
        """The source in words: "candidate 3"."""
        words = {"user": "given by hand", "bound": "from the public bound"}
        named = {"candidates": "candidate", "row_bound": "within row_bound, number"}
        return words.get(self.kind) or f"{named[self.kind]} {self.number}"

    def to_dict(self, row: Array, *, show_data: bool = False) -> dict[str, Any]:
        """The source in JSON types; with the values of the row if they are public or asked for."""
        found: dict[str, Any] = {"from": self.kind}
        if self.number is not None:
            found["number"] = self.number
        if self.seed is not None:
            words = {"entropy": self.seed.entropy, "pool_size": self.seed.pool_size}
            seed = {**words, "spawn_key": list(self.seed.spawn_key)}
            found |= {"row_bound": self.bound, "seed": seed}
        if self.public or show_data:
            found["values"] = row.tolist()
        return found

    @classmethod
    def from_dict(cls, record: Mapping[str, Any] | None) -> Self:
        """What `to_dict` wrote; a row given by hand where nothing was written."""
        record = record or {}
        seed = record.get("seed")
        return cls(
            check.choice("from", record.get("from", "user"), KINDS),
            record.get("number"),
            record.get("row_bound"),
            None if seed is None else np.random.SeedSequence(**seed),
        )

    def remade(self, data: Array) -> Array:
        """The row of "row_bound", (d,), made again from the data, (n, d)."""
        assert self.bound is not None
        assert self.number is not None
        rows = outliers.within_norm(data, self.bound, np.random.default_rng(self.seed))
        return np.asarray(rows[self.number])
