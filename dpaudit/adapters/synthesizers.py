"""Synthesizers: a model fitted on the database, and a synthetic table sampled from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.keywords import known_keywords
from dpaudit._core.types import Array, ArrayLike, describe
from dpaudit._core.value import value_class
from dpaudit.adapters.functions import OneDraw, one_draw
from dpaudit.neighbours import NeighbourPair
from dpaudit.outcomes import RecordFeatures, TableForm


@value_class(show_numbers=True)
class Synthesized:
    """f(data, rng=...) → the row, (k,), of a synthetic table; see `synthesizer`.

    form : what reads the table. features : what makes the row.
    """

    fit: Callable[[Array, np.random.Generator], Any]
    sample: Callable[[Any, np.random.Generator], Any]
    form: TableForm
    features: RecordFeatures

    def __call__(self, data: ArrayLike, *, rng: np.random.Generator) -> Array:
        """One row. Raises `NotOutcomes` where the table has another form."""
        copy = np.array(data, dtype=np.float64)  # a synthesizer may write into its data
        table = self.sample(self.fit(copy, rng), rng)
        return self.features(self.form(table))

    @property
    def name(self) -> str:
        """The name of the function that fits."""
        return describe(self.fit)[0]

    @property
    def summary(self) -> str:
        """One line for reports."""
        return "a synthesizer: one table a draw, encoded without the order of its records"

    def parameters(self) -> dict[str, Any]:
        """The parameters of the function that fits, if it says them."""
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
    """A mechanism that releases a synthetic table, whose records have no order.

    Parameters
    ----------
    fit : callable
        fit(data, rng) → a model; data is (n, c) float64.
    sample : callable
        sample(model, rng) → a table of c columns and any number of records: an array (m, c) or
        (m,), a structured array, a list of records (tuples or dicts), a data frame, or a dict of
        columns.
    pair : NeighbourPair
        The two databases of the audit (`dpaudit.neighbours`). A table becomes a row of counts and
        distances about the records in which they differ (`dpaudit.outcomes.records`), a fixed
        function of the table: what is certified of the rows holds of the tables too.
    columns : sequence of str, optional
        Names in the order of the database's columns, for tables that name theirs; if not given, the
        order in the table is taken.
    categories : dict, optional
        The columns of categories, {column number: its texts, in the order of their codes 0, 1, … in
        the database}, with None in place of the texts where the tables hold the codes; all other
        columns are of numbers then. If not given, columns of the database that hold only whole
        numbers from −1 to 20 are columns of categories.
    timeout : float, seconds, optional
        Time that one table may take.

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
