"""Neighbouring databases: which two are compared, and how much one row weighs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit._core.linalg import least_squares
from dpaudit.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Two databases, D and D'.

    left, right : (n, d) and (m, d) float64, the label in the last column.
    relation : "zero-out", "replace" or "pair" (any two).
    index : the row that differs, or None.

    Raises `InvalidInput` when they are identical: no mechanism can tell them apart.
    """

    left: Array
    right: Array
    relation: str = "pair"
    index: int | None = None

    def __post_init__(self) -> None:
        left, right = check.matrix("left", self.left), check.matrix("right", self.right)
        if left.shape[1] != right.shape[1]:
            check.fail(
                "right",
                f"{right.shape[1]} columns",
                f"a database of {left.shape[1]} columns, as left",
            )
        if left.shape == right.shape and np.array_equal(left, right):
            raise InvalidInput(
                "left and right must differ: the databases are identical, not a neighbour pair"
            )
        self._check_relation(left, right)
        for name, side in (("left", left), ("right", right)):
            own = side.copy()
            # a mechanism that writes into its data would change the audit
            own.setflags(write=False)
            object.__setattr__(self, name, own)

    def _check_relation(self, left: Array, right: Array) -> None:
        """The label must be true: exact spectra go by it."""
        check.choice("relation", self.relation, ("zero-out", "replace", "pair"))
        if self.relation == "pair" and self.index is None:
            return
        index = check.integer("index", self.index, 0)
        if left.shape != right.shape or index >= len(left):
            check.fail(
                "index",
                index,
                f"a row of two databases of one shape, got {left.shape} and {right.shape}",
            )
        if not np.array_equal(np.delete(left, index, axis=0), np.delete(right, index, axis=0)):
            check.fail("right", "other rows that differ", f"left but for row {index}")
        if self.relation == "zero-out" and np.any(right[index]):
            check.fail("right", right[index], f"zero in row {index}")


def zero_row(data: Any, index: int) -> NeighbourPair:
    """D and D with row `index` set to zero (paper 1, definition 1). Raises `InvalidInput`.

    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0, 2.0], [3.0, 4.0]], 1)
    >>> pair.left.tolist(), pair.right.tolist(), pair.index
    ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [0.0, 0.0]], 1)
    """
    data = check.matrix("data", data)
    return replace_row(data, index, np.zeros(data.shape[1]), relation="zero-out")


def replace_row(data: Any, index: int, row: Any, *, relation: str = "replace") -> NeighbourPair:
    """D and D with row `index` replaced by `row`, shape (d,). Raises `InvalidInput`."""
    data = check.matrix("data", data)
    index = check.integer("index", index, 0)
    if index >= len(data):
        check.fail("index", index, f"a row number below {len(data)}")
    row = check.matrix(
        "row", np.atleast_2d(check.array_of_numbers("row", row, f"{data.shape[1]} numbers"))
    )
    if row.shape != (1, data.shape[1]):
        check.fail("row", f"{row.size} numbers", f"{data.shape[1]} numbers, one a column")
    if np.array_equal(data[index], row[0]):
        raise InvalidInput(
            f"row {index} is {'already zero' if relation == 'zero-out' else 'unchanged'}: no neighbour"
        )
    right = data.copy()
    right[index] = row
    return NeighbourPair(data, right, relation, index)


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """leverage, residual_share, displacement (‖x_opt − x'_opt‖), each (n,)."""

    leverage: Array
    residual_share: Array
    displacement: Array


def row_statistics(data: Any) -> RowStatistics:
    """How much each row of a least-squares database weighs, by column-scaled thin QR.

    data : (n, p + 1), label last. Raises `DegenerateData` for dependent features, n ≤ p or zero
        residuals.
    """
    fit = least_squares(data)
    return RowStatistics(fit.leverage, fit.residual_share, fit.displacement)
