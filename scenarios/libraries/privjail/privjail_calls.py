"""What privjail releases, as mechanisms to audit: imported when one is made.

Data are (n, 5): a group (0 or 1) and four amounts that the schema says are between 0 and 1. The
data are read from files as the package wants it. It draws from numpy.random, which is seeded from
the audit's generator.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Query = Callable[[Any], Any]  # of the table, what is to be released
COLUMNS = ["group", "a", "b", "c", "d"]
REAL = {"type": "float64", "range": [0.0, 1.0]}
SCHEMA = {"group": {"type": "category", "categories": [0, 1]}} | dict.fromkeys(COLUMNS[1:], REAL)


def _table(data: Any, accountant: str) -> Any:
    import pandas as pd
    from privjail.pandas import read_csv

    with tempfile.TemporaryDirectory() as folder:
        rows, schema = Path(folder) / "rows.csv", Path(folder) / "schema.json"
        frame = pd.DataFrame(data, columns=COLUMNS).astype({"group": int})
        frame.to_csv(rows, index=False)
        schema.write_text(json.dumps(SCHEMA))
        return read_csv(str(rows), str(schema), accountant=accountant)


def _batch(query: Query, release: Callable[[Any], Any], accountant: str = "pure") -> Any:
    """Asks the query once, and releases it as often as draws are wanted."""

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        np.random.seed(rng.integers(2**32))  # noqa: NPY002 (its source of noise)
        with contextlib.redirect_stdout(io.StringIO()):
            asked = query(_table(data, accountant))
            return np.array([np.ravel(release(asked)) for _ in range(size)])

    return draw


def _revealed(query: Query, epsilon: float) -> Any:
    return _batch(query, lambda asked: asked.reveal(eps=epsilon))


def _gaussian(query: Query, epsilon: float, delta: float) -> Any:
    settings = {"eps": epsilon, "delta": delta, "mech": "gaussian"}
    return _batch(query, lambda asked: asked.reveal(**settings), "approx")


def count(epsilon: float) -> Any:
    """df.shape[0].reveal(eps): the number of rows."""
    return _revealed(lambda table: table.shape[0], epsilon)


def total(epsilon: float) -> Any:
    """df["a"].sum().reveal(eps)."""
    return _revealed(lambda table: table["a"].sum(), epsilon)


def clipped(epsilon: float, upper: float) -> Any:
    """df["a"].clip(0, upper).sum().reveal(eps)."""
    return _revealed(lambda table: table["a"].clip(0.0, upper).sum(), epsilon)


def mean(epsilon: float) -> Any:
    """df["a"].mean(eps)."""
    return _batch(lambda table: table["a"], lambda column: column.mean(eps=epsilon))


def value_counts(epsilon: float) -> Any:
    """df["group"].value_counts(sort=False).reveal(eps)."""
    return _revealed(lambda table: table["group"].value_counts(sort=False), epsilon)


def column_sums(epsilon: float) -> Any:
    """df[["a", "b", "c", "d"]].sum().reveal(eps)."""
    return _revealed(lambda table: table[COLUMNS[1:]].sum(), epsilon)


def group_sizes(epsilon: float) -> Any:
    """df.groupby("group").size().reveal(eps)."""
    return _revealed(lambda table: table.groupby("group").size(), epsilon)


def group_means(epsilon: float) -> Any:
    """df.groupby("group").mean(eps): two groups, four columns."""
    return _batch(lambda table: table.groupby("group"), lambda groups: groups.mean(eps=epsilon))


def gaussian(epsilon: float, delta: float) -> Any:
    """df["a"].sum().reveal(eps, delta, mech="gaussian")."""
    return _gaussian(lambda table: table["a"].sum(), epsilon, delta)


def group_sums_gaussian(epsilon: float, delta: float) -> Any:
    """df.groupby("group").sum().reveal(eps, delta, mech="gaussian"): two groups, four columns."""
    return _gaussian(lambda table: table.groupby("group").sum(), epsilon, delta)


def most_common(epsilon: float) -> Any:
    """argmax of the two groups' sizes, by the exponential mechanism."""
    import privjail

    def sizes(table: Any) -> Any:
        counts = table["group"].value_counts(sort=False)
        return [counts[0], counts[1]]

    return _batch(sizes, lambda counts: privjail.argmax(counts, eps=epsilon))
