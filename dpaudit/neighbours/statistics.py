"""Statistics of how much each row matters to least squares."""

from __future__ import annotations

from dpaudit._core import check
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class


@value_class
class RowStatistics:
    """What zeroing each row does to the least-squares solution x_opt.

    Attributes
    ----------
    leverage : array of shape (n,)
        hᵢ.
    residual_share : array of shape (n,)
        The share of the residual sum of squares that only row i explains.
    displacement : array of shape (n,)
        ‖x_opt − x'_opt‖, with x'_opt the solution without row i.
    """

    leverage: Array
    residual_share: Array
    displacement: Array

    def __repr__(self) -> str:
        return f"RowStatistics({len(self.leverage):,} rows)"


def row_statistics(data: ArrayLike) -> RowStatistics:
    """Leverage, residual share and displacement of each row, by column-scaled thin QR.

    Parameters
    ----------
    data : array of shape (n, p + 1)
        The label last.

    Returns
    -------
    RowStatistics

    Raises
    ------
    DegenerateData
        For dependent features, n ≤ p or zero residuals.
    """
    fit = least_squares(check.matrix("data", data, min_columns=2))
    return RowStatistics(fit.leverage, fit.residual_share, fit.displacement)
