"""Neighbouring databases: the two that are compared, and statistics of how much each row matters.

This room knows nothing of mechanisms or audits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core import check
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Two databases, D and D'.

    left, right : (n, d) and (m, d) float64, the label in the last column. They are read-only,
        copies unless they were so before, since a mechanism that changes its data would change the
        audit.
    relation : "zero-out", "replace" or "pair" (any two).
    index : the row that differs, or None.

    Raises `InvalidInput` when they are identical, as all mechanisms have the same law on both, or
    when they are not in the relation.
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
            object.__setattr__(self, name, _read_only(side))

    def _check_relation(self, left: Array, right: Array) -> None:
        """Raises `InvalidInput` unless the relation holds, since exact spectra rely on it."""
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


def _read_only(data: Array) -> Array:
    """The database itself if it is read-only and owns its memory, else a read-only copy."""
    if data.flags.owndata and data.flags.c_contiguous and not data.flags.writeable:
        return data
    own = data.copy()
    own.setflags(write=False)
    return own


def zero_row(data: ArrayLike, index: int) -> NeighbourPair:
    """D and D with row `index` set to zero (paper 1, definition 1). Raises `InvalidInput`.

    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0, 2.0], [3.0, 4.0]], 1)
    >>> pair.left.tolist(), pair.right.tolist(), pair.index
    ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [0.0, 0.0]], 1)
    """
    data = check.matrix("data", data)
    return replace_row(data, index, np.zeros(data.shape[1]), relation="zero-out")


def replace_row(
    data: ArrayLike, index: int, row: ArrayLike, *, relation: str = "replace"
) -> NeighbourPair:
    """D and D with row `index` replaced by `row`, shape (d,). Raises `InvalidInput`."""
    data = check.matrix("data", data)
    index = check.integer("index", index, 0)
    if index >= len(data):
        check.fail("index", index, f"a row number below {len(data)}")
    row = _checked_row(row, data.shape[1])
    if np.array_equal(data[index], row):
        state = "already zero" if relation == "zero-out" else "unchanged"
        raise InvalidInput(f"row {index} is {state}: no neighbour")
    right = data.copy()
    right[index] = row
    right.setflags(write=False)
    return NeighbourPair(data, right, relation, index)


def _checked_row(row: ArrayLike, columns: int) -> Array:
    """The row as (columns,) float64. Raises `InvalidInput`."""
    numbers = check.array_of_numbers("row", row, f"{columns} numbers")
    matrix = check.matrix("row", np.atleast_2d(numbers))
    if matrix.shape != (1, columns):
        check.fail("row", f"{matrix.size} numbers", f"{columns} numbers, one a column")
    return np.asarray(matrix[0])


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """What zeroing each row does to the least-squares solution x_opt, (n,) each.

    leverage : h_i. residual_share : the share of the residual sum of squares that only row i
        explains. displacement : ‖x_opt − x'_opt‖, with x'_opt the solution without row i.
    """

    leverage: Array
    residual_share: Array
    displacement: Array


def row_statistics(data: ArrayLike) -> RowStatistics:
    """Leverage, residual share and displacement of each row, by column-scaled thin QR.

    data : (n, p + 1), label last. Raises `DegenerateData` for dependent features, n ≤ p or zero
        residuals.
    """
    fit = least_squares(check.matrix("data", data, min_columns=2))
    return RowStatistics(fit.leverage, fit.residual_share, fit.displacement)
