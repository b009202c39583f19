"""Two rings in the plane, between which no linear or quadratic score decides well."""

from collections.abc import Callable

import numpy as np

SPREAD = 0.2


def rings(
    rng: np.random.Generator, size: int, gap: float
) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Draws of both sides and the loss of a point. Radius N(1, 0.2²) | N(1 + gap, 0.2²)."""
    turn, radius = (
        2.0 * np.pi * rng.random((2, size)),
        1.0 + SPREAD * rng.standard_normal((2, size)),
    )
    radius[1] += gap
    P, Q = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=2)

    def loss(x: np.ndarray) -> np.ndarray:
        far = np.hypot(*x.T)
        return ((far - 1.0 - gap) ** 2 - (far - 1.0) ** 2) / (2.0 * SPREAD**2)

    return P, Q, loss
