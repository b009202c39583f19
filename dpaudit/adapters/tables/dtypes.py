"""What the numbers of a column stand for: floats, integers, truth values or texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array

Dtype = str | type[float] | type[int] | type[bool] | Sequence[str]  # as users write it
NAMES = {"float": np.float64, "int": np.int64, "bool": np.bool_}
EXPECTED = '"float", "int", "bool", or a list of texts in the order of their codes 0, 1, …'


@dataclass(frozen=True)
class Coding:
    """How a column of float64 becomes a column of another type.

    name : of `NAMES`, or "text". texts : those of the codes 0, 1, …, of texts alone.
    """

    name: str = "float"
    texts: tuple[str, ...] = ()

    def __call__(self, column: Array) -> np.ndarray:
        """(n,) numbers as (n,) values. Raises ValueError where a number stands for none."""
        if self.name == "float":
            return np.array(column, dtype=np.float64)
        largest = {"bool": 2, "text": len(self.texts)}.get(self.name, 1 << 53)
        whole = np.isfinite(column) & (np.floor(column) == column)
        if not whole.all():
            raise ValueError(f"a column of dtype {self.name} holds numbers that are not whole")
        if np.any((np.abs(column) if self.name == "int" else column) >= largest):
            raise ValueError(f"a column of dtype {self.name} holds numbers from {largest} on")
        if self.name != "int" and np.any(column < 0):
            raise ValueError(f"a column of dtype {self.name} holds negative numbers")
        codes = column.astype(np.int64)
        return np.array(self.texts)[codes] if self.texts else codes.astype(NAMES[self.name])

    @property
    def written(self) -> str | list[str]:
        """As users write it."""
        return list(self.texts) or self.name


def coding(name: str, value: object) -> Coding:
    """The coding that a dtype stands for. Raises `InvalidInput`.

    >>> coding("dtype", ["no", "yes"])(np.array([1.0, 0.0])).tolist()
    ['yes', 'no']
    >>> coding("dtype", int)(np.array([1.0, 0.0])).dtype.name
    'int64'
    """
    if isinstance(value, type):
        value = value.__name__
    if isinstance(value, str) and value in NAMES:
        return Coding(value)
    texts = () if isinstance(value, str) or not isinstance(value, Sequence) else tuple(value)
    if not texts or not all(isinstance(one, str) for one in texts) or len(set(texts)) < len(texts):
        check.fail(name, value, EXPECTED)
    return Coding("text", texts)
