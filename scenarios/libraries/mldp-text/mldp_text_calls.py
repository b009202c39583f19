"""What mldp-text puts in the place of a word, as mechanisms to audit.

The database is one row, the number of a word in a small space of two dimensions. The noise is
numpy's and scipy's, drawn from numpy's global generator, which is seeded from the audit's, so an
audit comes again digit by digit. The claim of a scenario is ε times the distance of its two words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

LINE = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
FEW = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 2.0], [3.0, 1.0]])


def _crowd() -> np.ndarray[Any, Any]:
    """Two words 0.002 apart, 100 within 0.1 of both, 100 of the second alone, one far from all."""
    angles = np.linspace(0.5, 1.5, 100) * np.pi
    near = 0.09 * np.column_stack([np.cos(angles), np.sin(angles)])
    far = np.column_stack([np.full(100, 0.101), np.linspace(-0.001, 0.001, 100)])
    return np.vstack([[[0.0, 0.0], [0.002, 0.0]], near, far, [[1.0, 1.0]]])


SPACES = {"line": LINE, "few": FEW, "crowd": _crowd()}


class Word:
    """`size` words in the place of one, by replace_word: their numbers.

    mechanism, settings : of get_mechanism. space : where the words are, of SPACES.
    """

    def __init__(self, mechanism: str, space: str, settings: Mapping[str, Any]) -> None:
        self.mechanism, self.space, self.settings = mechanism, space, dict(settings)

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        import gensim.models
        import mldp_text

        vectors = SPACES[self.space]
        words = [f"w{number}" for number in range(len(vectors))]
        embeddings = gensim.models.KeyedVectors(2)
        embeddings.add_vectors(words, vectors)
        replaced = mldp_text.get_mechanism(
            self.mechanism,
            embedding_matrix=embeddings,
            dim=2,
            use_faiss=False,
            vocab=set(words),
            **self.settings,
        ).replace_word
        word = words[int(data[0, 0])]
        np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002 - the package draws from it
        return np.array([[int(str(replaced(word))[1:])] for _ in range(size)])
