"""What python-dp releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np


class Geometric:
    """The geometric mechanism of pydp.ml on the number of rows: (ε, 0).

    It needs set_probability, which its documentation does not explain. 1 − e⁻ᵉ is the probability
    of the geometric mechanism that it cites, whose noise then has the ratio e⁻ᵉ.
    """

    def __init__(self, epsilon: float, largest: int = 0) -> None:
        self.epsilon, self.largest = epsilon, largest

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        from pydp.ml.mechanisms import geometric

        made = geometric.GeometricTruncated() if self.largest else geometric.Geometric()
        made.set_epsilon(self.epsilon).set_sensitivity(1)
        made.set_probability(1 - np.exp(-self.epsilon))
        if self.largest:
            made.set_bounds(0, self.largest)
        return np.array([made.randomise(len(data)) for _ in range(size)], dtype=np.float64)
