"""What inf-tda releases, as mechanisms to audit: imported when one is made.

Data are (n, m): a row is a user, and holds the tuples to which the user contributes, 0 (A, a),
1 (A, b), 2 (B, a) and 3 (B, b), or -1 for none. Its noise, of opendp, cannot be seeded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TUPLES = [("A", "a"), ("A", "b"), ("B", "a"), ("B", "b")]


def hierarchy(epsilon: float, delta: float, distinct: bool) -> Any:
    """inf_tda of the counts of four tuples in two levels, bounded privacy: (ε, δ)."""

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        import pandas as pd
        from InfTDA import inf_tda

        counts = np.bincount(data[data >= 0].astype(int), minlength=4)
        index = pd.MultiIndex.from_tuples(TUPLES)
        table = pd.Series(counts, index=index)
        settings = {"contribution": data.shape[1], "distinct_tuples": distinct}
        draws = [inf_tda(table, (epsilon, delta), **settings) for _ in range(size)]
        return np.array([one.reindex(index, fill_value=0).to_numpy() for one in draws])

    return draw
