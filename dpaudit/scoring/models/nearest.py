"""Nearest neighbours in low dimension: votes around a few thousand centres, averaged by rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Sides, logistic_loss
from dpaudit.scoring.whiten import Whitener

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

THREADS = -1  # all cores: each row is looked up by itself, so the result is the same


def fit_nearest(train: Sides, choose: Sides) -> Nearest:
    """Fit log-odds by the votes of the k nearest training draws in whitened coordinates.

    The votes are counted around centres only, so a large k costs its time once; a centre is a
    training draw, whose own vote does not count. Its log-odds are averaged with those of the
    centres around it. k and the number of these centres are chosen on `choose`. train, choose :
    finite rows (n, k).
    """
    whiten = Whitener.fit(train.P, train.Q)
    voting = train.head(constants.VOTERS)
    voters = Sides(whiten(voting.P), whiten(voting.Q))
    centres = voters.head(constants.CENTRES).stacked()[0]
    from scipy.spatial import cKDTree  # here: slow to import

    tree, votes = cKDTree(centres), centre_odds(voters, centres)
    scores = [
        Nearest(whiten, tree, odds[_nearest(tree, centres, around)].mean(axis=1))
        for around in constants.CENTRES_AROUND
        for odds in votes
    ]
    check = choose.head(constants.NEAREST_CHECKS)
    places = [scores[0].place(side) for side in (check.P, check.Q)]
    return min(
        scores, key=lambda score: logistic_loss(*(score.at(place) for place in places)).mean()
    )


@value_class
class Nearest:
    """The score that averages the log-odds of the few centres nearest to a row.

    odds : (c,), log-odds at the centres in `tree`.
    """

    whiten: Whitener
    tree: cKDTree
    odds: Array

    def place(self, x: Array) -> np.ndarray:
        """Positions of the centres nearest to each row of x, (m, `CENTRES_OF_A_ROW`)."""
        return _nearest(self.tree, self.whiten(x), constants.CENTRES_OF_A_ROW)

    def at(self, place: np.ndarray) -> Array:
        """The log-odds, (m,), in nats, of rows with these nearest centres."""
        return np.asarray(self.odds[place].mean(axis=1))

    def __call__(self, x: Array) -> Array:
        """The log-odds, (m,), in nats, of rows (m, k)."""
        return self.at(self.place(x))


def _nearest(tree: cKDTree, x: Array, count: int) -> np.ndarray:
    """Positions in the tree of the points nearest to each row of x, (m, `count` or all points)."""
    neighbours = np.arange(1, min(count, tree.n) + 1)
    return np.asarray(tree.query(x, k=neighbours, workers=THREADS)[1])


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
