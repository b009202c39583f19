"""Bit vectors of different lengths, of which opendp releases each bit: a mechanism to audit.

The database is one number, of bytes without a set bit. opendp draws from the operating system and
cannot be seeded.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def zeros(claim: float, weight: int, f: float) -> Any:
    """make_randomized_response_bitvec on that many bytes: map(1) = claim."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.bitvector_domain(max_weight=weight)
    made = dp.m.make_randomized_response_bitvec(domain, dp.discrete_distance(), f=f)
    if abs(made.map(1) - claim) > 1e-9:
        raise ValueError(f"the measurement promises {made.map(1)}, not {claim}")

    def draw(data: Any, size: int, *, rng: np.random.Generator) -> Any:
        vector = np.zeros(int(data[0, 0]), np.uint8)
        released = [made(vector) for _ in range(size)]
        return [np.unpackbits(np.frombuffer(one, np.uint8)).tolist() for one in released]

    return draw
