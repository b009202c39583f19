"""Mechanisms that release texts: each text becomes a row of counts of its words and letters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, Mechanism, RngLike, Wrapped
from dpaudit._core.value import value_class
from dpaudit.errors import MechanismError

MOST = 998  # columns, so that with the two sizes they are as many as classifiers read
WORDS, LETTERS = (1, 2), (3, 3)  # lengths of the runs of words and of letters that are counted
COLUMNS = 512
FORM = "must return `size` texts, got "


@value_class(show_numbers=True)
class Texts(Wrapped):
    """A mechanism whose outputs are counts of words and letters of another's texts; see `texts`."""

    columns: int = COLUMNS

    def __call__(self, data: Array, size: int, *, rng: RngLike = None) -> Array:
        """Rows (size, 2 + columns). Raises `MechanismError`, and whatever the mechanism raises."""
        from sklearn.feature_extraction.text import HashingVectorizer  # here: slow to import

        written = _texts(self.mechanism(data, size, rng=rng), size)
        half, common = self.columns // 2, {"alternate_sign": False, "norm": None}
        words = HashingVectorizer(
            ngram_range=WORDS, n_features=half, token_pattern=r"\S+", **common
        )
        letters = HashingVectorizer(
            ngram_range=LETTERS, n_features=self.columns - half, analyzer="char_wb", **common
        )
        counts = [vectorizer.transform(written).toarray() for vectorizer in (words, letters)]
        sizes = [[len(text), len(text.split())] for text in written]
        return np.column_stack([sizes, *counts]).astype(np.float64)

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "columns": self.columns}


def texts(mechanism: Mechanism, *, columns: int = COLUMNS) -> Texts:
    """A mechanism of rows of numbers from one that releases texts.

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng)` → `size` texts; of a function that writes one text a call
        `one_draw` makes one.
    columns : int, 2 to 998
        How many columns hold the counts.

    Notes
    -----
    A row holds the number of characters and of words, then counts of words and pairs of words, and
    of runs of three letters, hashed into half of the columns each (scikit-learn's
    `HashingVectorizer`; upper and lower case are one). The counts are computed from the output
    alone, so the privacy loss that is certified of them is one of the texts too (post-processing).
    They leave out the order of the text beyond its pairs of words. Without this adapter a text
    counts as one value, which shows a difference only where whole texts repeat.

    Examples
    --------
    >>> import numpy as np
    >>> def letter(data, size, *, rng):
    ...     return ["dear reader", "dear dear reader"]
    >>> texts(letter, columns=8)(np.ones((3, 2)), 2)[:, :2]
    array([[11.,  2.],
           [16.,  3.]])
    """
    check.function("mechanism", mechanism, "a callable mechanism(data, size, *, rng)")
    wanted = check.integer("columns", columns, 2)
    if wanted > MOST:
        check.fail("columns", columns, f"2 to {MOST}")
    return Texts(mechanism, wanted)


def _texts(outputs: Any, size: int) -> list[str]:
    """The outputs as a list of `size` texts. Raises `MechanismError`, which quotes no text."""
    if isinstance(outputs, str) or not hasattr(outputs, "__len__"):
        raise MechanismError(f"{FORM}one {type(outputs).__name__}")
    if len(outputs) != size:
        raise MechanismError(f"{FORM}{len(outputs)} outputs for size = {size}")
    other = next((output for output in outputs if not isinstance(output, str)), None)
    if other is not None:
        raise MechanismError(f"{FORM}a {type(other).__name__}")
    return [str(text) for text in outputs]
