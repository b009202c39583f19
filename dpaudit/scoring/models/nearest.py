"""Nearest neighbours in low dimension: votes around a few thousand centres, averaged by rows."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, logistic_loss
from dpaudit.scoring.whiten import Whitener

THREADS = -1  # all cores: each row is looked up by itself, so the result is the same


def fit_nearest(train: Sides, choose: Sides) -> Score:
    """Fit log-odds by the votes of the k nearest training draws in whitened coordinates.

    The votes are counted around centres only, so a large k costs its time once; a centre is a
    training draw, whose own vote does not count. Its log-odds are averaged with those of the
    centres around it, and a row's are the mean of those of the few centres nearest to it. k and the
    number of centres around one are chosen on `choose`. train, choose : finite rows (n, k).
    """
    from scipy.spatial import cKDTree  # here: slow to import

    whiten = Whitener.fit(train.P, train.Q)
    voting = train.head(constants.VOTERS)
    voters = Sides(whiten(voting.P), whiten(voting.Q))
    centres = voters.head(constants.CENTRES).stacked()[0]
    tree, votes = cKDTree(centres), centre_odds(voters, centres)

    def nearest(x: Array, count: int) -> np.ndarray:
        """Positions of the `count` centres, or all, nearest to each row of coordinates x."""
        neighbours = np.arange(1, min(count, tree.n) + 1)
        return np.asarray(tree.query(x, k=neighbours, workers=THREADS)[1])

    check = choose.head(constants.NEAREST_CHECKS)
    places = [nearest(whiten(side), constants.CENTRES_OF_A_ROW) for side in (check.P, check.Q)]
    averaged = [
        odds[nearest(centres, around)].mean(axis=1)
        for around in constants.CENTRES_AROUND
        for odds in votes
    ]
    best = min(
        averaged,
        key=lambda odds: logistic_loss(*(odds[place].mean(axis=1) for place in places)).mean(),
    )
    return lambda x: best[nearest(whiten(x), constants.CENTRES_OF_A_ROW)].mean(axis=1)


def centre_odds(voters: Sides, centres: Array) -> Array:
    """The log-odds of the votes around each of c centres, (numbers of neighbours, c).

    The nearest voter is left out: it is the centre itself, or another draw at the same place.
    """
    from scipy.spatial import cKDTree

    points, label = voters.stacked()
    tree, first = cKDTree(points), constants.NEIGHBOURS[0]
    sizes = np.array([k for k in constants.NEIGHBOURS if k == first or 4 * k <= len(points)])
    sizes = np.minimum(sizes, len(points) - 1)
    step = max(1, constants.LOOKED_UP // (sizes[-1] + 1))
    parts = []
    for start in range(0, len(centres), step):
        part = centres[start : start + step]
        place = tree.query(part, k=sizes[-1] + 1, workers=THREADS)[1][:, 1:]
        votes = np.cumsum(label[place], axis=1)[:, sizes - 1].T
        parts.append(np.log(votes + 0.5) - np.log(sizes[:, None] - votes + 0.5))
    return np.concatenate(parts, axis=1)
