"""The influence of a change on the mechanism's own output, from a few draws.

It is how far M(D') lies from M(D) with common random numbers, in units of the noise of M(D).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.scoring.base import Sides
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.whiten import Whitener

PARTNERS, SPREAD = 16, 1_000  # draws for the influence of a change, and for the noise of M(D)
# noise counts as common if partners' squared distance is below this share of independent draws'
COUPLED = 0.5


@dataclass(frozen=True, eq=False)
class NoiseUnits:
    """Coordinates in which the draws of M(D) have unit variance.

    fixed : the columns in which they do not vary at all; value : what they are there.
    """

    encoder: Encoder
    whiten: Whitener
    fixed: np.ndarray
    value: Array

    __repr__ = short_repr

    @classmethod
    def of(cls, draws: Array) -> NoiseUnits:
        """From draws of M(D), (n, k)."""
        encoder = Encoder.fit(Sides(draws, draws))
        encoded = encoder(draws)
        fixed = np.ptp(encoded, axis=0) == 0.0
        return cls(
            encoder, Whitener.fit(encoded, encoded), np.flatnonzero(fixed), encoded[0, fixed]
        )

    def distance(self, P: Array, Q: Array) -> float:
        """Root mean square of M(D') − M(D) over partners, in units of the noise; P, Q : (m, k).

        Infinite where a column that never varies under D has another value under D'.
        """
        P, Q = self.encoder(P), self.encoder(Q)
        if np.any(Q[:, self.fixed] != self.value):
            return float("inf")
        step = self.whiten(Q) - self.whiten(P)
        return float(np.sqrt(np.mean(np.sum(step**2, axis=1))))


def has_common_noise(P: Array, Q: Array) -> bool:
    """Whether partners lie nearer to each other than independent draws would; P, Q : (m, k)."""
    whiten = Whitener.fit(P, Q)
    P, Q = whiten(P), whiten(Q)
    independent = np.var(P, axis=0).sum() + np.var(Q, axis=0).sum()
    return bool(np.var(P - Q, axis=0).sum() < COUPLED * independent)
