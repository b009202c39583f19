"""Interactions of two columns, which sums over columns do not show and other columns hide.

Among many columns, trees split first where noise happens to be largest, so few draws are left when
they reach an interaction that shows only after two splits. A table of counts shows which columns
interact, and a model of these alone needs few draws: products of polynomials if the interaction is
smooth, a few cuts of both columns if it has jumps, a spline if it has many jumps or oblique ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import chdtri, expit, logit

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, evaluate, log_loss, zero
from dpaudit.scoring.models.logistic import Terms, fit_correction
from dpaudit.scoring.models.screen import Screen, limits_of_bins, strongest, surplus
from dpaudit.scoring.models.spline import fit_spline
from dpaudit.scoring.shrink import STEEPEST, shrink
from dpaudit.scoring.whiten import Whitener

Pairs = Sequence[tuple[int, int]]
Cuts = list[tuple[int, int]]
FEWEST = 1e-3  # draws; the variance of a count that the score expects to be 0


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
    train, bins = train.head(constants.PAIR_DRAWS), constants.PAIR_BINS
    p = expit(np.concatenate([evaluate(base, side) for side in (train.P, train.Q)]))
    seen = train
    if train.P.shape[1] > constants.TREE_COLUMNS:
        few = strongest(screen(train), constants.FEWER_TREE_COLUMNS)
        seen = Sides(train.P[:, few], train.Q[:, few])
    x, label = seen.stacked()
    residual, variance = label - p, p * (1.0 - p)

    def look(x: Array) -> Missed:
        limits = limits_of_bins(x, bins)[:, :, None]
        # counting the few limits below each value takes a third of the time of np.searchsorted
        below = (limit < column for limit, column in zip(limits, x.T, strict=True))
        place = [np.add.reduce(each, axis=0, dtype=np.int8).astype(np.intp) for each in below]
        single, cells = squares(place, bins, residual, variance)
        level = constants.MISCALIBRATED / max(train.P.shape[1], len(place))
        alone = bool(np.any(single > chdtri(cells, level)))
        if train.P.shape[1] > constants.PAIR_COLUMNS or len(place) < 2:
            return Missed(alone, ())
        i, j = np.triu_indices(len(place), 1)
        joint = (bins * first + second for first, second in combinations(place, 2))
        square, cells = squares(joint, bins**2, residual, variance)
        clear = np.flatnonzero(square > chdtri(cells, constants.PAIR_LEVEL / len(i)))
        beyond = (square - single[i] - single[j])[clear]
        best = clear[np.argsort(-beyond, kind="stable")[: constants.MOST_PAIRS]]
        pairs = list(zip(i[best].tolist(), j[best].tolist(), strict=True))
        return Missed(alone or bool(pairs), pairs)

    plain = look(x)
    if plain.anything:
        return plain
    white = Whitener.fit(*np.split(x, [len(train.P)])).rounded(x)
    length = np.einsum("ij,ij->i", white, white)
    return Missed(look(np.column_stack([white, length])).anything, ())


def squares(
    places: Iterable[np.ndarray], bins: int, residual: Array, variance: Array
) -> tuple[Array, np.ndarray]:
    """For each of m ways to put n rows into bins, (n,), the sum over bins of the squared residual
    of their rows, in units of its variance, and how many bins have rows; (m,) each.

    If the residuals, (n,), have these variances and mean 0, the sum is χ² with as many degrees of
    freedom.
    """
    sums = [[np.bincount(place, w, bins) for w in (residual, variance)] for place in places]
    table = np.array(sums).swapaxes(0, 1)
    return 2.0 * gain(table).sum(axis=1), np.count_nonzero(table[1], axis=1)


def fit_pairs(train: Sides, choose: Sides, base: Score, pairs: Pairs) -> Score | None:
    """The best on `choose` of products, cuts and a spline of the pairs of columns that `base`
    missed; None if there are none.

    Each corrects `base`, unless that may be mostly noise. Cuts and the spline also start from 0: a
    smooth score near a jump is a poor start, and a spline knows its columns' own differences.
    """
    if not pairs:
        return None
    useful = np.log(2.0) - log_loss(base, choose) > constants.WEAK_SIGNAL
    starts = [base, zero] if useful else [zero]
    scores = [fit_products(train, choose, starts[0], pairs)]
    for score in starts:
        for pair in pairs[: constants.CUT_PAIRS]:
            score = fit_cuts(train, score, pair)
        scores.append(score)
    if len(train.P) >= constants.SPLINE_OF_PAIR:
        spline = fit_spline_of_pair(train, choose, pairs[0])
        scores += [lambda x, start=start: start(x) + spline(x) for start in starts]
    return min(scores, key=lambda score: log_loss(score, choose))


def fit_products(train: Sides, choose: Sides, base: Score, pairs: Pairs) -> Score:
    """Correct `base` by polynomials, and by products of them over the pairs of columns, of one
    degree more in all.
    """
    columns, degree = np.unique(pairs), constants.PAIR_DEGREE
    ranks = np.linspace(-1.0, 1.0, constants.PAIR_POINTS)
    points = np.quantile(train.stacked()[0][:, columns], (ranks + 1.0) / 2.0, axis=0)
    places = np.searchsorted(columns, pairs).T
    powers = np.arange(1, degree + 1)
    low = np.flatnonzero(powers[:, None] + powers <= degree + 1)

    def terms(x: Array) -> Terms:
        """Legendre polynomials of the columns' ranks, and their products over the pairs."""
        each = zip(x[:, columns].T, points.T, strict=True)
        rank = np.stack([np.interp(column, knots, ranks) for column, knots in each])
        alone = legvander(rank, degree)[:, :, 1:]  # (columns, m, degree)
        left, right = alone[places]
        both = left[:, :, :, None] * right[:, :, None, :]
        flat = (alone, both.reshape(*left.shape[:2], -1)[:, :, low])
        return base(x), np.column_stack([part for block in flat for part in block])

    return fit_correction(base, terms, train, choose)


def fit_spline_of_pair(train: Sides, choose: Sides, pair: tuple[int, int]) -> Score:
    """The spline of two columns, whose bins may have odds of their own: it follows oblique stripes,
    and parities of integers.
    """
    columns = list(pair)
    seen, checked = (Sides(part.P[:, columns], part.Q[:, columns]) for part in (train, choose))
    spline = fit_spline(seen, checked)
    return lambda x: spline(x[:, columns])


def fit_cuts(train: Sides, base: Score, pair: tuple[int, int]) -> Score:
    """Correct `base` by an amount for each rectangle between cuts of two columns.

    Rectangles whose amounts do not differ significantly have one in common: the rows above a
    threshold are then a union of rectangles, which does not depend on the noise in each.
    """
    columns, (x, label) = list(pair), train.stacked()
    p = expit(np.clip(evaluate(base, x), -STEEPEST, STEEPEST))
    bins = min(constants.CUT_BINS, len(x) // constants.CUT_DRAWS + 2)
    limits = limits_of_bins(x[:, columns], bins)

    def place(x: Array, limits: Sequence[Array] | Array) -> np.ndarray:
        """Which rectangle each row is in, (m,)."""
        sides = zip(limits, x[:, columns].T, strict=True)
        first, second = (np.searchsorted(*side) for side in sides)
        return np.asarray(first * (len(limits[1]) + 1) + second)

    where = place(x, limits)
    tables = [np.bincount(where, w, minlength=bins**2) for w in (label - p, p * (1.0 - p))]
    sums = np.array(tables).reshape(2, bins, bins).cumsum(axis=1).cumsum(axis=2)
    sums = np.pad(sums, ((0, 0), (1, 0), (1, 0)))
    edges = edges_of(find_cuts(sums), bins)
    inner = [at[ends[1:-1] - 1] for at, ends in zip(limits, edges, strict=True)]
    cells = np.diff(np.diff(sums[:, edges[0]][:, :, edges[1]], axis=1), axis=2)
    group = merged(cells.reshape(2, -1))
    member = group[place(x, inner)]
    a, b = (np.bincount(member[label == side], minlength=len(group)) for side in (1, 0))
    guess = logit(np.bincount(member, p, minlength=len(a)) / np.maximum(a + b, 1))
    amount = (shrink(a, b, guess)[0] - guess)[group]
    return lambda x: base(x) + amount[place(x, inner)]


def find_cuts(sums: Array) -> Cuts:
    """Cuts of two columns: which of them, 0 or 1, and the position of a bin.

    sums : (2, bins + 1, bins + 1), the residuals of a score and their variances, summed over the
    rows below two positions.

    Cuts are made even if they gain little, because others may need them: of a checkerboard no cut
    alone shows anything. After each of them all move to where they are best. At the end those that
    gain no more than chance are taken out.
    """
    cuts, bins = Cuts(), sums.shape[1] - 1

    def gains(cuts: Cuts) -> Array:
        """What one more cut of each column gains at each position, (2, bins − 1), nats, beyond what
        chance may give the best one.
        """
        net, ends = [], edges_of(cuts, bins)
        for axis, own in enumerate(ends):
            strips = np.diff(sums.swapaxes(1, 1 + axis)[:, :, ends[1 - axis]], axis=2)
            after = np.searchsorted(own, np.arange(1, bins))
            low, here, high = strips[:, own[after - 1]], strips[:, 1:-1], strips[:, own[after]]
            more = gain(here - low) + gain(high - here) - gain(high - low)
            by_chance = 0.5 * chdtri(strips.shape[2], constants.CUT_LEVEL / bins**2)
            net.append(more.sum(axis=1) - by_chance)
        return np.array(net)

    def best(cuts: Cuts) -> tuple[int, int]:
        axis, position = divmod(int(gains(cuts).argmax()), bins - 1)
        return axis, position + 1

    for _ in range(constants.CUTS):
        cuts.append(best(cuts))
        for i in range(len(cuts)):
            cuts[i] = best(cuts[:i] + cuts[i + 1 :])
    while cuts:
        others = [cuts[:i] + cuts[i + 1 :] for i in range(len(cuts))]
        worth = [gains(rest)[axis, at - 1] for rest, (axis, at) in zip(others, cuts, strict=True)]
        if min(worth) > 0.0:
            break
        cuts = others[int(np.argmin(worth))]
    return cuts


def edges_of(cuts: Cuts, bins: int) -> list[np.ndarray]:
    """The cuts of each of two columns and its ends, 0 and `bins`, ascending."""
    return [np.array(sorted({0, bins, *(at for a, at in cuts if a == axis)})) for axis in (0, 1)]


def gain(sums: Array) -> Array:
    """By how many nats an amount of its own improves the score of each cell, about (Rao's score
    test).

    sums : (2, ...), the residuals and their variances, summed over the rows of each cell.
    """
    return np.asarray(0.5 * sums[0] ** 2 / np.maximum(sums[1], FEWEST))


def merged(cells: Array) -> np.ndarray:
    """The group of each cell, (c,), after those that do not differ significantly are merged.

    cells : (2, c), the residuals and their variances, summed over the rows of each cell.
    """
    order = np.argsort(cells[0] / np.maximum(cells[1], FEWEST), kind="stable")
    groups, sums = [[cell] for cell in order.tolist()], cells[:, order]
    while len(groups) > 1:
        loss = gain(sums[:, :-1]) + gain(sums[:, 1:]) - gain(sums[:, :-1] + sums[:, 1:])
        least = int(loss.argmin())
        if loss[least] > 0.5 * chdtri(1, constants.CUT_LEVEL):
            break
        sums[:, least] += sums[:, least + 1]
        sums = np.delete(sums, least + 1, axis=1)
        groups[least] += groups.pop(least + 1)
    group = np.empty(len(order), dtype=int)
    for number, members in enumerate(groups):
        group[members] = number
    return group
