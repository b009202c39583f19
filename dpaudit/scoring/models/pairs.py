"""Interactions of two columns, which sums over columns do not show and other columns hide.

Among many columns, trees split first where noise happens to be largest, so few draws are left when
they reach an interaction that shows only after two splits. A table of counts shows which columns
interact, and a model of these alone needs few draws: products of polynomials if the interaction is
smooth, trees if it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import chdtri, expit

from dpaudit._core.linalg import ascending_columns
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, evaluate, log_loss, zero
from dpaudit.scoring.models.boosted import boosted
from dpaudit.scoring.models.logistic import Terms, fit_correction
from dpaudit.scoring.models.screen import Screen, squares, strongest, surplus
from dpaudit.scoring.whiten import Whitener

Pairs = Sequence[tuple[int, int]]


@value_class
class Missed:
    """What a score missed: whether anything, and the pairs of columns, the clearest first."""

    anything: bool
    pairs: Pairs


def missed(train: Sides, base: Score, screen: Screen = surplus) -> Missed:
    """The columns and pairs of columns on which the residual of `base` depends significantly.

    The residual of a row is its label, 1 for P and 0 for Q, less the probability p that `base`
    gives it. Its `squares` are summed over the cells of two columns' quantiles. The level is
    divided by the number of pairs (Bonferroni). What each column shows by itself does not count for
    the order of the pairs. What trees see, whitened coordinates and their squared length, is looked
    at in the same way. Of wide rows only the columns that differ most count, and no pairs.
    """
    train = train.head(constants.PAIR_DRAWS)
    x, label = train.stacked()
    p, bins = expit(evaluate(base, x)), constants.PAIR_BINS
    residual, variance = label - p, p * (1.0 - p)
    if x.shape[1] > constants.TREE_COLUMNS:
        x = x[:, strongest(screen(train), constants.FEWER_TREE_COLUMNS)]

    def look(x: Array) -> Missed:
        limits = ascending_columns(x)[:, np.arange(1, bins) * (len(x) - 1) // bins]
        place = [np.searchsorted(*column) for column in zip(limits, x.T, strict=True)]
        singles = [squares(cell, residual, variance) for cell in place]
        level = constants.MISCALIBRATED / max(train.P.shape[1], len(singles))
        alone = any(square > chdtri(cells, level) for square, cells in singles)
        if train.P.shape[1] > constants.PAIR_COLUMNS:
            return Missed(alone, ())
        both, beyond = list(combinations(range(x.shape[1]), 2)), {}
        for i, j in both:
            square, cells = squares(bins * place[i] + place[j], residual, variance)
            if square > chdtri(cells, constants.PAIR_LEVEL / len(both)):
                beyond[i, j] = square - singles[i][0] - singles[j][0]
        pairs = sorted(beyond, key=lambda pair: -beyond[pair])[: constants.MOST_PAIRS]
        return Missed(alone or bool(pairs), pairs)

    seen = look(x)
    if seen.anything:
        return seen
    white = Whitener.fit(*np.split(x, [len(train.P)])).rounded(x)
    length = np.einsum("ij,ij->i", white, white)
    return Missed(look(np.column_stack([white, length])).anything, ())


def fit_products(train: Sides, choose: Sides, base: Score, pairs: Pairs) -> Score | None:
    """Correct `base` by products over the pairs of columns that it missed; None if there are
    none."""
    if not pairs:
        return None
    columns = np.unique(pairs)
    ranks = np.linspace(-1.0, 1.0, constants.PAIR_POINTS)
    points = np.quantile(train.stacked()[0][:, columns], (ranks + 1.0) / 2.0, axis=0)
    places, start = np.searchsorted(columns, pairs).T, _or_zero(base, choose)

    def terms(x: Array) -> Terms:
        """Legendre polynomials of the columns' ranks, and their products over the pairs."""
        each = zip(x[:, columns].T, points.T, strict=True)
        rank = np.stack([np.interp(column, knots, ranks) for column, knots in each])
        alone = legvander(rank, constants.PAIR_DEGREE)[:, :, 1:]  # (columns, m, degree)
        left, right = alone[places]
        both = left[:, :, :, None] * right[:, :, None, :]
        flat = (alone, both.reshape(*left.shape[:2], -1))
        return start(x), np.column_stack([part for block in flat for part in block])

    return fit_correction(start, terms, train, choose)


def fit_trees(
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    base: Score,
    pairs: Pairs,
) -> Score | None:
    """Trees of the pairs of columns that `base` missed, which start from it or from 0, whichever is
    better on `choose`; None if there are none.

    A smooth score near a jump is a poor start.
    """
    if not pairs:
        return None
    columns = np.unique(pairs)
    sets = np.searchsorted(columns, pairs).tolist()
    choose = choose.head(constants.STOPPING_DRAWS)
    growth = constants.PAIR_TREES
    starts = [zero] if _or_zero(base, choose) is zero else [base, zero]
    scores = [
        boosted(lambda x: x[:, columns], train, choose, seed, start, growth, sets)
        for start in starts
    ]
    return min(scores, key=lambda score: log_loss(score, choose))


def _or_zero(base: Score, choose: Sides) -> Score:
    """The score itself, or 0 if it may be mostly noise."""
    return base if np.log(2.0) - log_loss(base, choose) > constants.WEAK_SIGNAL else zero
