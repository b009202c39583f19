"""Mechanisms that fit a synthesizer on the database and sample a synthetic table from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.keywords import known_keywords
from dpaudit._core.types import Array, ArrayLike, describe
from dpaudit._core.value import value_class
from dpaudit.adapters.functions import OneDraw, one_draw
from dpaudit.adapters.table_rows import RecordFeatures, TableForm
from dpaudit.neighbours import NeighbourPair


@value_class(show_numbers=True)
class Synthesized:
    """f(data, rng=...) → a synthetic table, encoded as one row (k,); see `synthesizer`.

    form : converts the table to an array of records. features : encodes the records as a row.
    """

    fit: Callable[[Array, np.random.Generator], Any]
    sample: Callable[[Any, np.random.Generator], Any]
    form: TableForm
    features: RecordFeatures

    def __call__(self, data: ArrayLike, *, rng: np.random.Generator) -> Array:
        """Sample one table and encode it, (k,). Raises `NotOutcomes` for another form of table."""
        copy = np.array(data, dtype=np.float64)  # a synthesizer may write into its data
        table = self.sample(self.fit(copy, rng), rng)
        return self.features(self.form(table))

    @property
    def name(self) -> str:
        return describe(self.fit)[0]

    @property
    def summary(self) -> str:
        return "a synthesizer: one table a draw, encoded without the order of its records"

    def parameters(self) -> dict[str, Any]:
        return describe(self.fit)[1]


@known_keywords()
def synthesizer(
    fit: Callable[[Array, np.random.Generator], Any],
    sample: Callable[[Any, np.random.Generator], Any],
    pair: NeighbourPair,
    *,
    columns: Sequence[str] | None = None,
    categories: Mapping[int, Sequence[str] | None] | None = None,
    timeout: float | None = None,
) -> OneDraw:
    """Make a mechanism that releases a synthetic table, whose records have no order.

    Parameters
    ----------
    fit : callable
        fit(data, rng) → a model; data is (n, c) float64.
    sample : callable
        sample(model, rng) → a table of c columns and any number of records: an array (m, c) or
        (m,), a structured array, a list of records (tuples or dicts), a data frame, or a dict of
        columns.
    pair : NeighbourPair
        The two databases of the audit (`dpaudit.neighbours`). A table is encoded as a row of counts
        and distances to the records in which they differ (`dpaudit.adapters.table_rows`). The row
        is a fixed function of the table, so a privacy loss certified for the rows holds for the
        tables.
    columns : sequence of str, optional
        The names of the database's columns in their order, for tables whose columns have names. By
        default the order of the columns in the table is used.
    categories : dict, optional
        The categorical columns: {column number: texts in the order of their codes 0, 1, … in the
        database}, with None instead of the texts if the tables hold the codes. All other columns
        are then numeric. By default a column of the database is categorical if it holds only whole
        numbers from −1 to 20.
    timeout : float, seconds, optional
        The time that one table may take.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> pair = dp.neighbours.add_row([[0.0], [1.0], [1.0]], [0.0])
    >>> def fit(data, rng):
    ...     noisy = np.bincount(data[:, 0].astype(int), minlength=2) + rng.laplace(size=2)
    ...     return np.maximum(noisy, 0.1)
    >>> def sample(model, rng):
    ...     return rng.choice(2, size=10, p=model / model.sum())
    >>> mechanism = dp.adapters.synthesizer(fit, sample, pair)
    >>> mechanism(pair.left, 3, rng=0)[0][:2].tolist()  # records, copies of the new one
    [10.0, 6.0]
    """
    for name, function in (("fit", fit), ("sample", sample)):
        check.function(name, function, f"a function {name}(..., rng)")
    if not isinstance(pair, NeighbourPair):
        check.fail("pair", pair, "a NeighbourPair, as dpaudit.neighbours makes them")
    width = pair.left.shape[1]
    names = None if columns is None else () if isinstance(columns, str) else tuple(columns)
    if names is not None and not len(names) == len(set(names)) == width:
        check.fail("columns", columns, f"{width} different names, one a column of the database")
    expected = f"a dict from column numbers below {width} to lists of texts, or None"
    if not isinstance(categories, (Mapping, type(None))):
        check.fail("categories", categories, expected)
    labels: dict[int, tuple[str, ...]] = {}
    for number, texts in (categories or {}).items():
        if check.integer("categories", number, 0) >= width:
            check.fail("categories", number, expected)
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts or ()):
            check.fail("categories", texts, expected)
        if texts is not None:
            labels[number] = tuple(texts)
    features = RecordFeatures.of(pair.left, pair.right, categories)
    synthesized = Synthesized(fit, sample, TableForm(width, names, labels), features)
    return one_draw(synthesized, timeout=timeout)
