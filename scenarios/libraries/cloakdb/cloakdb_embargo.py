"""What cloakdb releases of a salary that may be missing, as a mechanism to audit.

The database is one number, below 0 for None; each draw has a salt of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def masked(epsilon: float) -> Any:
    """The strategy differential_privacy with Laplace noise, in [0, 100]; NaN stands for None."""
    from cloakdb.core.context import TransformationContext
    from cloakdb.strategies.differential_privacy import DifferentialPrivacyStrategy

    strategy = DifferentialPrivacyStrategy()
    bounds = {"clip_min": 0.0, "clip_max": 100.0, "sensitivity": 100.0}

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        value = None if data[0, 0] < 0 else float(data[0, 0])
        salts = [rng.bytes(32).hex() for _ in range(size)]
        places = [TransformationContext("staff", "salary", 0, salt) for salt in salts]
        drawn = [strategy.transform(value, place, epsilon=epsilon, **bounds) for place in places]
        return np.array(drawn, dtype=float)[:, None]

    return draw
