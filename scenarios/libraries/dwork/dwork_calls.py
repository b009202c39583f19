"""What dwork releases, as mechanisms to audit: imported when one is made.

Data are (n, 2): weight and height, which the schema says are between 0 and 200. The noise comes
from the operating system and cannot be seeded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _batch(integer: bool, release: Callable[[Any], Any]) -> Any:
    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        people = _people(data, integer)
        return np.array([[float(release(people))] for _ in range(size)])

    return draw


def _people(data: Any, integer: bool) -> Any:
    import pandas as pd
    from dwork.dataschema import DataSchema
    from dwork.dataset.pandas import PandasDataset
    from dwork.language.types import Float, Integer

    kind = Integer if integer else Float

    class Person(DataSchema):  # type: ignore[misc]
        weight = kind(min=0, max=200)
        height = kind(min=0, max=200)

    rows = data.astype(int) if integer else data
    return PandasDataset(Person, pd.DataFrame(rows, columns=["weight", "height"]))


def length(epsilon: float) -> Any:
    """ds.len().dp(ε): the number of rows."""
    return _batch(True, lambda people: people.len().dp(epsilon))


def total(epsilon: float, integer: bool) -> Any:
    """ds["weight"].sum().dp(ε): a sum of integers or of floats in [0, 200]."""
    return _batch(integer, lambda people: people["weight"].sum().dp(epsilon))


def scaled(epsilon: float, factor: float) -> Any:
    """(ds["weight"].sum() * factor).dp(ε) of floats."""
    return _batch(False, lambda people: (people["weight"].sum() * factor).dp(epsilon))
