"""What ldp-hierarchical-mechanism collects of one user, as a mechanism to audit.

The database is one row, the user's value. The noise is drawn by numpy and random, whose global
generators are seeded from the audit's, so an audit comes again digit by digit.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np


class Tree:
    """`size` trees, each updated with the one value: what the servers of all levels hold then.

    bound, branching, epsilon, protocol, all_levels : of Private_TreeBary.
    """

    def __init__(
        self, bound: int, branching: int, epsilon: float, protocol: str, all_levels: bool
    ) -> None:
        self.settings = (bound, branching, epsilon, protocol, all_levels)

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        seed = int(rng.integers(2**32))
        np.random.seed(seed)  # noqa: NPY002 - the package draws from it
        random.seed(seed)
        return np.array([self._collected(data[:, 0].astype(int)) for _ in range(size)])

    def _collected(self, values: Any) -> np.ndarray[Any, Any]:
        from hierarchical_mechanism_LDP import Private_TreeBary

        tree = Private_TreeBary(*self.settings)
        tree.update_tree(values)
        return np.concatenate([server.aggregated_data for server in tree.servers])
