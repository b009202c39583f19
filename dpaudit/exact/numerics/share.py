"""A number in [0, 1] beside what is missing to 1, so that neither loses its digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Share:
    """A leverage, or a share of a residual sum of squares: `value`, and `rest` = 1 − value."""

    value: float
    rest: float

    @classmethod
    def of(cls, value: float, rest: float | None = None) -> Share:
        """`rest` is 1 − value where it is not known better."""
        return cls(float(value), float(1.0 - value if rest is None else rest))

    @property
    def log_rest(self) -> float:
        """ln(1 − value), −∞ at 1."""
        with np.errstate(divide="ignore"):
            return float(np.log1p(-self.value) if self.value < 0.5 else np.log(self.rest))
