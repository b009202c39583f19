"""What diffprivlib releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib_calls import _filled, _mechanism


class FirstEigenvector:
    """mechanisms.Bingham on XᵀX, rows of norm at most 1, its sign apart: (ε, 0).

    features : the rows are filled up with zeros to this length.
    """

    def __init__(self, epsilon: float, features: int) -> None:
        self.epsilon, self.features = epsilon, features

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        made, X = _mechanism("Bingham", rng, epsilon=self.epsilon), _filled(data, self.features)
        return np.abs([made.randomise(X.T @ X) for _ in range(size)])
