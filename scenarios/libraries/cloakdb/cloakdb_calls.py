"""What cloakdb releases, as mechanisms to audit: imported when one is made.

Data are one row: a salary. A whole number is given as an integer where `typed`, which
is what the package reads from JSON and SQL. The noise is by default a hash of the value, its place
and a secret salt, which the package asks for; each draw has a salt of its own from the audit's
generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

USUAL = {"clip_min": 0.0, "clip_max": 100.0, "sensitivity": 100.0}
README = {"clip_min": 20e3, "clip_max": 250e3, "sensitivity": 5e3}
OPEN = {"sensitivity": 100.0}
ROOMS = {"usual": USUAL, "readme": README, "open": OPEN}


def masked(epsilon: float, room: str = "usual", typed: bool = False, **settings: Any) -> Any:
    """The strategy differential_privacy on a number: in [0, 100], as in the README, not clipped."""
    from cloakdb.core.context import TransformationContext
    from cloakdb.strategies.differential_privacy import DifferentialPrivacyStrategy

    strategy = DifferentialPrivacyStrategy()
    settings |= {"epsilon": epsilon, **ROOMS[room]}

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        value = float(data[0, 0])
        value = int(value) if typed and value.is_integer() else value
        salts = [rng.bytes(32).hex() for _ in range(size)]
        places = [TransformationContext("staff", "salary", 0, salt) for salt in salts]
        return np.array([[strategy.transform(value, place, **settings)] for place in places])

    return draw
