"""Nearest neighbours in low dimension: votes around a few thousand centres, averaged by rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, logistic_loss
from dpaudit.scoring.whiten import Whitener

DRAWS = 50_000  # a side, that vote
CENTRES = 2048  # a side
NEIGHBOURS = (32, 128, 512)  # candidates for k; at most a quarter of all voters, but for the first
SHARED = (4, 24)  # candidates for the number of centres whose log-odds a row averages
CHECKS = 5000  # choosing draws a side, that choose among these candidates
PORTION = 1 << 20  # neighbours looked up at a time
THREADS = -1  # all cores: each row is looked up by itself, so the result is the same


def fit_nearest(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    """Log-odds of the votes of the k nearest training draws in whitened coordinates.

    The votes are counted around centres only, so a large k costs its time once; a centre is a
    training draw, whose own vote does not count. A row gets the mean log-odds of the centres that
    are nearest to it. k and the number of these centres are chosen on `choose`. Takes finite rows.
    """
    whiten = Whitener.fit(train.P, train.Q)
    voters = Sides(whiten(train.P[:DRAWS]), whiten(train.Q[:DRAWS]))
    centres = voters.head(CENTRES).stacked()[0]
    near = cKDTree(centres)
    check = choose.head(CHECKS)
    places = {
        shared: [_nearest(near, whiten(side), shared) for side in (check.P, check.Q)]
        for shared in SHARED
    }
    votes = _votes(voters, centres)
    losses = {
        (number, shared): logistic_loss(*(odds[place].mean(axis=1) for place in sides)).mean()
        for number, odds in enumerate(votes)
        for shared, sides in places.items()
    }
    number, shared = min(losses, key=losses.__getitem__)
    return Nearest(whiten, near, votes[number], shared)


@dataclass(frozen=True, eq=False, repr=False)
class Nearest:
    """odds : log-odds (c,) at the centres in the tree. shared : how many of them a row averages."""

    whiten: Whitener
    tree: cKDTree
    odds: Array
    shared: int

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        place = _nearest(self.tree, self.whiten(x), self.shared)
        return np.asarray(self.odds[place].mean(axis=1))


def _nearest(tree: cKDTree, x: Array, count: int) -> np.ndarray:
    """Positions of the nearest points of the tree to each row of x, (m, count or all points)."""
    neighbours = np.arange(1, min(count, tree.n) + 1)
    return np.asarray(tree.query(x, k=neighbours, workers=THREADS)[1])


def _votes(voters: Sides, centres: Array) -> Array:
    """Log-odds of the votes around each centre, (numbers of neighbours, c)."""
    points, label = voters.stacked()
    tree = cKDTree(points)
    sizes = np.array([k for k in NEIGHBOURS if k == NEIGHBOURS[0] or 4 * k <= len(points)])
    sizes = np.minimum(sizes, len(points) - 1)
    step = max(1, PORTION // (sizes[-1] + 1))
    parts = [
        _counted(tree, label, centres[i : i + step], sizes) for i in range(0, len(centres), step)
    ]
    return np.concatenate(parts, axis=1)


def _counted(tree: cKDTree, label: np.ndarray, centres: Array, sizes: np.ndarray) -> Array:
    """Log-odds of the votes, for each of the sizes.

    The nearest voter is left out: it is the centre itself, or another draw at the same place.
    """
    place = tree.query(centres, k=sizes[-1] + 1, workers=THREADS)[1][:, 1:]
    won = np.cumsum(label[place], axis=1)[:, sizes - 1].T
    return np.log(won + 0.5) - np.log(sizes[:, None] - won + 0.5)
