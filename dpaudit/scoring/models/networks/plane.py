"""The few directions on which a network's score depends, and scores that see only these.

Where the loss depends on two of ten coordinates after a rotation, neighbours and trees need these
two: among ten, a neighbour is far away and a tree cuts across. A network finds them, since its
gradients lie in their span (the active subspace of Constantine, Dow & Wang 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, log_loss, zero
from dpaudit.scoring.models.boosted import fit_boosted
from dpaudit.scoring.models.nearest import fit_nearest

MOST = 3  # directions; among more, neighbours are far away
SHARE = 0.02  # of the largest eigenvalue, from which an eigenvalue of the gradients counts


@dataclass(frozen=True, eq=False, repr=False)
class InPlane:
    """The mean of the scores of a row's coordinates and of the score of the row itself.

    coordinates : rows (m, k) → (m, d).
    """

    coordinates: Score
    seen: tuple[Score, ...]
    whole: Score

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        z = self.coordinates(x)
        return np.mean([self.whole(x), *(score(z) for score in self.seen)], axis=0)


def active_directions(gradients: Array) -> Array | None:
    """Orthonormal columns (f, d) that span the gradients (m, f) of a score; None of more than
    `MOST`, or of all.
    """
    value, axes = np.linalg.eigh(gradients.T @ gradients)
    kept = value > SHARE * value[-1]
    return axes[:, kept] if kept.sum() <= min(MOST, len(value) - 1) else None


def fit_in_plane(
    coordinates: Score, whole: Score, train: Sides, choose: Sides, seed: np.random.SeedSequence
) -> InPlane | None:
    """Neighbours and trees in the plane of a score `whole`, averaged with it.

    coordinates : rows (m, k) → (m, d), in the plane. None if that is no better on the choosing
    draws than `whole` itself.
    """
    seen, checked = (Sides(coordinates(p.P), coordinates(p.Q)) for p in (train, choose))
    scores = fit_nearest(seen, checked, seed), fit_boosted(seen, checked, seed, zero)
    found = InPlane(coordinates, scores, whole)
    return found if log_loss(found, choose) < log_loss(whole, choose) else None
