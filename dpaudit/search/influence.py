"""How far a change moves the mechanism's own output: a few draws with common random numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.scoring.base import Sides
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.whiten import Whitener

# share of independent draws' squared distance below which two sides' noise counts as common
COUPLED = 0.5


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Coordinates in which M(D)'s draws have unit spread, and the columns in which they do not vary
    at all.
    """

    encoder: Encoder
    whiten: Whitener
    fixed: np.ndarray
    value: Array

    @classmethod
    def of(cls, draws: Array) -> Yardstick:
        """From draws of M(D), (n, k)."""
        encoder = Encoder.fit(Sides(draws, draws))
        encoded = encoder(draws)
        fixed = np.ptp(encoded, axis=0) == 0.0
        return cls(
            encoder, Whitener.fit(encoded, encoded), np.flatnonzero(fixed), encoded[0, fixed]
        )

    def moved(self, P: Array, Q: Array) -> float:
        """Root mean square of M(D') − M(D) over partners, in units of M(D)'s own spread; P, Q : (m,
        k).

        Infinite where a number that never varies under D is another one under D'.
        """
        P, Q = self.encoder(P), self.encoder(Q)
        if np.any(Q[:, self.fixed] != self.value):
            return float("inf")
        step = self.whiten(Q) - self.whiten(P)
        return float(np.sqrt(np.mean(np.sum(step**2, axis=1))))


def common(P: Array, Q: Array) -> bool:
    """Whether partners' noise is common: they lie nearer to each other than independent draws
    would; P, Q : (m, k).
    """
    whiten = Whitener.fit(P, Q)
    P, Q = whiten(P), whiten(Q)
    return bool(
        np.var(P - Q, axis=0).sum() < COUPLED * (np.var(P, axis=0).sum() + np.var(Q, axis=0).sum())
    )
