"""Mechanisms that release texts, each of which is encoded as a row of word and letter counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.text import with_article
from dpaudit._core.types import Array, Mechanism, RngLike, Wrapped
from dpaudit._core.value import value_class
from dpaudit.errors import MechanismError

MOST = 998  # columns of counts: with the two columns of sizes, 1000 is what classifiers accept
WORDS, LETTERS = (1, 2), (3, 3)  # lengths of the runs of words and of letters that are counted
COLUMNS = 512
FORM = "must return `size` texts, got "


@value_class(show_numbers=True)
class Texts(Wrapped):
    """A mechanism that releases word and letter counts of another mechanism's texts."""

    columns: int = COLUMNS

    def __call__(self, data: Array, size: int, *, rng: RngLike = None) -> Array:
        """Count words and letters of `size` texts, (size, 2 + columns).

        Raises a `MechanismError` that quotes no text if the outputs are not texts.
        """
        from sklearn.feature_extraction.text import HashingVectorizer  # here: slow to import

        written = self.mechanism(data, size, rng=rng)
        if isinstance(written, str) or not hasattr(written, "__len__"):
            raise MechanismError(f"{FORM}one {type(written).__name__}")
        if len(written) != size:
            raise MechanismError(f"{FORM}{len(written)} outputs for size = {size}")
        wrong = next((output for output in written if not isinstance(output, str)), None)
        if wrong is not None:
            raise MechanismError(f"{FORM}{with_article(type(wrong).__name__)}")
        half = self.columns // 2
        words = {"ngram_range": WORDS, "n_features": half, "token_pattern": r"\S+"}
        letters = {"ngram_range": LETTERS, "n_features": self.columns - half, "analyzer": "char_wb"}
        vectorizers = (
            HashingVectorizer(alternate_sign=False, norm=None, **way) for way in (words, letters)
        )
        counts = [vectorizer.transform(written).toarray() for vectorizer in vectorizers]
        sizes = [[len(text), len(text.split())] for text in written]
        return np.column_stack([sizes, *counts]).astype(np.float64)

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "columns": self.columns}


def texts(mechanism: Mechanism, *, columns: int = COLUMNS) -> Texts:
    """Make a mechanism that releases rows of numbers from one that releases texts.

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng)` → `size` texts. `one_draw` makes such a mechanism from a function
        that returns one text per call.
    columns : int, 2 to 998
        The number of columns that hold the counts.

    Notes
    -----
    A row holds the numbers of characters and of words, then the counts of words and pairs of words,
    and of runs of three letters, each hashed into half of the columns (scikit-learn's
    `HashingVectorizer`, without upper case). The counts are computed from the output alone, so a
    privacy loss certified for them holds for the texts too (post-processing). They ignore the order
    of the text beyond pairs of words. Without this adapter a whole text is treated as one value, so
    that an audit can see a difference only if whole texts repeat.

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
    count = check.integer("columns", columns, 2)
    if count > MOST:
        check.fail("columns", columns, f"2 to {MOST}")
    return Texts(mechanism, count)
