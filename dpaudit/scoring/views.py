"""Views of rows that are bags, series or rankings: other columns in which their difference shows.

A bag is a row of m parts of c numbers each, whose order means nothing. A classifier learns a score
of single parts, each labelled with the side of its draw, on a share of the training draws; sums,
extremes and quantiles of the scores over the bag are its columns. This is a mean embedding (Smola
et al. 2007) with learned features. If every part is drawn anew, the sum of the scores is the loss
itself; if one part is, the loss is a function of the sum of their exponentials.

A look at the training draws alone decides which views there are (`views_of`), so that other rows
pay for the look only. The view of a row depends on that row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import gammaln

from dpaudit._core.linalg import medians
from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Fitted, Sides, losses
from dpaudit.scoring.encode import all_usable
from dpaudit.scoring.patches import fit_patch
from dpaudit.scoring.whiten import Whitener

View = Callable[[Array], Array]  # rows (n, k) → rows (n, k')
FitRows = Callable[[Sides, Sides], Fitted]  # training and choosing draws as rows → a score
OF_PARTS = "scores of parts"  # the name of the view of a bag


def fitted_views(
    views: Mapping[str, View], train: Sides, choose: Sides, fit: FitRows
) -> list[tuple[Fitted, Array]]:
    """For each view, its score as a score of plain rows, and the losses of that on `choose`."""
    rivals = []
    for name, view in views.items():
        seen, checked = (Sides(view(sides.P), view(sides.Q)) for sides in (train, choose))
        rival = fit(seen, checked)
        of_rows = replace(
            rival,
            name=f"{rival.name} of {name}",
            score=partial(lambda score, view, x: score(view(x)), rival.score, view),
            portfolio={f"{model} of {name}": loss for model, loss in rival.portfolio.items()},
            closed=False,
        )
        rivals.append((of_rows, losses(rival.score, checked)))
    return rivals


def best_view(fitted: Fitted, rivals: Sequence[tuple[Fitted, Array]], choose: Sides) -> Fitted:
    """The score of plain rows, or of a view that is better on `choose`."""
    if not rivals:
        return fitted
    best, loss, table = fitted, losses(fitted.score, choose), dict(fitted.portfolio)
    for rival, rival_loss in rivals:
        table |= rival.portfolio
        gain = loss - rival_loss
        if gain.mean() > constants.VIEW_BETTER * gain.std() / np.sqrt(len(gain)):
            best, loss = rival, rival_loss
    return replace(best, portfolio=table)


def views_of(train: Sides, fit: FitRows) -> Iterator[tuple[str, View]]:
    """The views that a look at the training draws gives reason for, each with its name.

    fit : learns scores of parts. Infinities, and numbers whose squares overflow, are cut to
    `LARGEST`; NaN stay.
    """
    for name, view in _views(Sides(bounded(train.P), bounded(train.Q)), fit):
        yield name, partial(lambda view, x: view(bounded(x)), view)


def bounded(x: Array) -> Array:
    """The rows with numbers cut to `LARGEST`; `x` itself, not a copy, where none is larger."""
    return x if all_usable(x) else np.clip(x, -constants.LARGEST, constants.LARGEST)


def _views(train: Sides, fit: FitRows) -> Iterator[tuple[str, View]]:
    columns = train.P.shape[1]
    few = train.head(min(constants.LOOK_DRAWS, constants.LOOK_NUMBERS // columns))
    if len(few.P) < constants.LEAST_LOOK or not 3 <= columns <= constants.MOST_COLUMNS:
        return
    if (run := ranking(few)) is not None:
        yield "pairs", partial(pairs, run=run)
        return
    if np.isnan(few.P).all() or np.isnan(few.Q).all():
        return
    enough = max(constants.RANKED_DRAWS, constants.RANKED_NUMBERS // columns)
    ranks = Sides(*common_ranks(few.head(enough)))
    if (bag := bag_of(ranks)) is not None:
        start, width = bag
        if not all(plain_parts(side[:, start:], width) for side in (few.P, few.Q)):
            if columns - start <= constants.SORTED_NUMBERS:
                parts = np.concatenate([few.P[:, start:], few.Q[:, start:]]).reshape(-1, width)
                parts = parts[np.isfinite(parts).all(axis=1)]
                # the direction along which the parts spread most
                axis = np.linalg.eigh(np.atleast_2d(np.cov(parts.T)))[1][:, -1]
                yield "sorted parts", partial(in_order, start=start, axis=axis)
            yield OF_PARTS, learned(train, partial(bags, start=start, width=width), fit)
    elif (width := lag(ranks)) > 0:
        yield "differences", partial(differences, width=width)
    elif len(train.P) > columns and (size := image_size(ranks)) > 0:
        yield "the likeliest patch", fit_patch(train, size)
    if (matrix := components(few)) is not None:
        yield "independent components", lambda x: x @ matrix


# --- rankings -------------------------------------------------------------------------------------


def ranking(few: Sides) -> slice | None:
    """The columns in which every row holds the same distinct values, in some order."""
    rows = np.concatenate([few.P, few.Q])
    most = min(rows.shape[1], constants.RANKED_ITEMS + 1)
    for start in (0, 1):
        for stop in range(most, start + 2, -1):
            values = np.sort(rows[:2, start:stop], axis=1)
            if np.all(values[0] == values[1]) and np.all(np.diff(values[0]) > 0.0):
                alike = np.all(np.sort(rows[:, start:stop], axis=1) == values[0])
                if alike and np.any(rows[:, start:stop] != rows[0, start:stop]):
                    return slice(start, stop)
    return None


def pairs(x: Array, run: slice) -> Array:
    """For each two items of a ranking which of them comes first, as −1 or 1."""
    place = np.argsort(x[:, run], axis=1)  # of each item
    left, right = np.triu_indices(place.shape[1], 1)
    return np.sign(place[:, right] - place[:, left]).astype(np.float64)


# --- bags -----------------------------------------------------------------------------------------


def common_ranks(few: Sides) -> tuple[Array, Array]:
    """Both sides with each number replaced by its rank among all numbers, from 0 to 1; NaN stay."""
    numbers = np.concatenate([few.P.ravel(), few.Q.ravel()])
    some = numbers[:: max(len(numbers) // constants.RANKED_NUMBERS, 1)]
    grid = np.unique(np.nanquantile(np.sort(some), np.linspace(0.0, 1.0, 1025)))

    def ranks(x: Array) -> Array:
        return np.where(np.isnan(x), np.nan, np.searchsorted(grid, x) / len(grid))

    return ranks(few.P), ranks(few.Q)


def bag_of(ranks: Sides) -> tuple[int, int] | None:
    """The first column of a bag, which ends with the row, and the numbers of a part; or None."""
    columns = ranks.P.shape[1]
    for start in (0, 1):
        sides, run = (ranks.P[:, start:], ranks.Q[:, start:]), columns - start
        for width in range(1, constants.PART_WIDTH + 1):
            if run % width == 0 and run >= constants.LEAST_PARTS * width:
                # of both sides the means first: they take little time
                looks = (look(side, width) for look in (one_mean, one_covariance) for side in sides)
                if all(looks):
                    return start, width
    return None


def centred(x: Array, width: int) -> tuple[Array, Array]:
    """Rows (n, m·width) less the mean of all their parts, 0 for NaN, and how many of each column
    are known.
    """
    known = ~np.isnan(x)
    count, total = (
        array.sum(axis=0).reshape(-1, width) for array in (known, np.where(known, x, 0.0))
    )
    mean = total.sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    return np.where(known, x - np.tile(mean, len(count)), 0.0), count.ravel()


def one_mean(x: Array, width: int) -> bool:
    """Whether the parts of rows (n, m·width) vary, and have one mean but for `SAME_LAW` standard
    errors; NaN are left out.
    """
    apart, count = centred(x, width)
    square = (apart**2).sum(axis=0).reshape(-1, width).sum(axis=0)
    variance = square / np.maximum(count.reshape(-1, width).sum(axis=0), 1)
    error = np.sqrt(np.tile(variance, len(count) // width) / np.maximum(count, 1)) + 1e-12
    gap = np.abs(apart.sum(axis=0) / np.maximum(count, 1))
    return bool(np.any(variance > 0.0) and np.all(gap <= constants.SAME_LAW * error))


def one_covariance(x: Array, width: int) -> bool:
    """Whether the parts of rows (n, m·width) have one covariance, and one with each other, but for
    `SAME_LAW` standard errors; NaN are left out.
    """
    known, (apart, count) = (~np.isnan(x)).astype(float), centred(x, width)
    blocks = len(count) // width
    # of each two parts: the sum of products, of their squares, and how many there are
    tables = [
        (array.T @ array).reshape(blocks, width, blocks, width).swapaxes(1, 2)
        for array in (apart, apart**2, known)
    ]
    itself = np.eye(blocks, dtype=bool)
    for which in (itself, ~itself):
        one, fourth, n = (table[which] for table in tables)
        pairs = np.maximum(n.sum(axis=0), 1.0)
        level = np.maximum(fourth.sum(axis=0) / pairs, 1e-12)
        gap = np.abs(one / np.maximum(n, 1.0) - one.sum(axis=0) / pairs)
        if np.any(gap > constants.SAME_LAW * np.sqrt(level / np.maximum(n, 1.0))):
            return False
    return True


def plain_parts(x: Array, width: int) -> bool:
    """Whether parts look normal, but for numbers of two values: closed forms are enough.

    The mean fourth power of their Mahalanobis distance is then c(c + 2) (Mardia 1970), and the mean
    distance that of a χ law, both but for `SAME_LAW` standard errors. Clusters with a few far parts
    may have the first, not both. Skewness is not looked at: of smooth skewed laws closed forms see
    nearly all.
    """
    parts = x.reshape(-1, width)
    if np.isnan(parts).any():
        return False
    parts = parts[:, ~((parts == parts.min(axis=0)) | (parts == parts.max(axis=0))).all(axis=0)]
    apart = parts - parts.mean(axis=0)
    apart /= np.abs(apart).max(axis=0)  # columns of small numbers are not taken for constant ones
    covariance = apart.T @ apart / len(apart)
    inverse = np.linalg.pinv(covariance, hermitian=True)
    distance = np.maximum(((apart @ inverse) * apart).sum(axis=1), 0.0)  # squared
    size = np.sum(inverse * covariance)  # c, less the columns that follow from others
    fourth = size * (size + 2.0)
    mean = np.sqrt(2.0) * np.exp(gammaln(0.5 * size + 0.5) - gammaln(0.5 * size))
    errors = constants.SAME_LAW * np.sqrt(np.array([8.0 * fourth, size - mean**2]) / len(parts))
    gaps = np.mean(distance**2) - fourth, np.mean(np.sqrt(distance)) - mean
    return bool(np.all(np.abs(gaps) <= errors))


def bags(x: Array, start: int, width: int) -> tuple[Array, Array]:
    """Rows as parts (n, m, width), and the columns before them."""
    return x[:, start:].reshape(len(x), -1, width), x[:, :start]


def in_order(x: Array, start: int, axis: Array) -> Array:
    """Rows whose parts are sorted along an axis; parts with NaN come last."""
    parts, rest = bags(x, start, len(axis))
    order = np.argsort(parts @ axis, axis=1, kind="stable")
    ordered = np.take_along_axis(parts, order[:, :, None], axis=1)
    return np.column_stack([rest, ordered.reshape(len(x), -1)])


def learned(train: Sides, parts_of: Callable[[Array], tuple[Array, Array]], fit: FitRows) -> View:
    """The statistics of a score of parts over each row, the moments of its parts, and its rest.

    The score is learned from the first `PARTS_SHARE` of the training draws.
    """
    size = max(int(constants.PARTS_SHARE * len(train.P)), 1)
    cut = max(int(constants.PARTS_TRAIN * size), 1)
    sets = []
    for first, last, most in ((0, cut, constants.PARTS), (cut, size, constants.PARTS // 2)):
        rows = slice(first, min(last, first + most))  # each has a part at least
        flat = [_flat(parts_of(side[rows])[0], most) for side in (train.P, train.Q)]
        shorter = min(map(len, flat))
        sets.append(Sides(*(side[:shorter] for side in flat)))
    score = fit(*sets).score
    reach = [
        np.quantile(seen, constants.PARTS_REACH, axis=0)
        for seen in (score(sets[1].stacked()[0]), sets[0].stacked()[0])
    ]

    def view(x: Array) -> Array:
        parts, rest = parts_of(x)
        parts = np.clip(parts, *reach[1])
        there = ~np.isnan(parts).all(axis=2)
        odds = np.full(there.shape, np.nan)
        odds[there] = np.clip(score(parts[there]), *reach[0])
        return np.column_stack([rest, statistics(odds), moments(parts)])

    return view


def _flat(parts: Array, most: int) -> Array:
    """At most about `most` of the parts of all rows, (l, c), spread evenly over the rows."""
    flat = parts.reshape(-1, parts.shape[2])
    flat = flat[~np.isnan(flat).all(axis=1)]
    return flat[:: max(-(-len(flat) // most), 1)]


def statistics(odds: Array) -> Array:
    """Sums, extremes and quantiles of the scores of each row's parts, (n, m) → (n, 12).

    Where one part is drawn anew, the loss is a function of the mean of exp(score).
    """
    known = ~np.isnan(odds)
    count = known.sum(axis=1)
    zeros = np.where(known, odds, 0.0)
    powers = [np.where(known, np.exp(np.clip(sign * zeros, -30.0, 30.0)), 0.0) for sign in (1, -1)]
    means = [np.log(power.sum(axis=1) / np.maximum(count, 1) + 1e-12) for power in powers]
    ordered = np.sort(odds, axis=1)  # NaN last
    columns = [count.astype(np.float64), zeros.sum(axis=1), (zeros**2).sum(axis=1), *means]
    last = np.maximum(count - 1, 0)
    for level in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0):
        at = np.rint(level * last).astype(np.intp)
        columns.append(ordered[np.arange(len(odds)), at])
    return np.column_stack(columns)


def moments(parts: Array) -> Array:
    """The mean and spread of each number of the parts, over the parts of a row."""
    known = ~np.isnan(parts)
    count = np.maximum(known.sum(axis=1), 1)
    mean = np.where(known, parts, 0.0).sum(axis=1) / count
    apart = np.where(known, parts - mean[:, None, :], 0.0)
    return np.column_stack([mean, np.sqrt((apart**2).sum(axis=1) / count)])


# --- series ---------------------------------------------------------------------------------------


def lag(ranks: Sides) -> int:
    """The distance of columns that are like each other more than all others are, 0 for none."""
    columns, best = ranks.P.shape[1], (constants.SERIES, 0)
    if np.isnan(ranks.P).any() or np.isnan(ranks.Q).any():
        return 0
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.mean([np.corrcoef(side.T) for side in (ranks.P, ranks.Q)], axis=0)
    table = np.nan_to_num(table)  # a constant column is like no other
    for width in range(1, constants.PART_WIDTH + 1):
        if columns % width == 0 and columns >= 4 * width:
            correlation = float(np.median(np.diagonal(table, width)))
            best = max(best, (correlation, width), key=lambda pair: (round(pair[0], 2), -pair[1]))
    return best[1]


def differences(x: Array, width: int) -> Array:
    """The first `width` columns, and the difference of each column from that `width` before it."""
    return np.column_stack([x[:, :width], x[:, width:] - x[:, :-width]])


# --- images ---------------------------------------------------------------------------------------


def image_size(ranks: Sides) -> int:
    """The side of the square image that a row is, 0 if neighbours across rows are not alike."""
    size = int(np.sqrt(ranks.P.shape[1]))
    if size < constants.LEAST_IMAGE or size**2 != ranks.P.shape[1]:
        return 0
    pixels = np.nan_to_num(ranks.P - ranks.P.mean(axis=0)).reshape(-1, size, size)
    spread = max(float((pixels**2).mean()), np.finfo(float).tiny)
    across = (pixels[:, 1:] * pixels[:, :-1]).mean() / spread
    along = (pixels[:, :, 1:] * pixels[:, :, :-1]).mean() / spread
    return size if min(across, along) > constants.ALIKE_PIXELS else 0


# --- vectors --------------------------------------------------------------------------------------


def components(few: Sides) -> Array | None:
    """Directions, (k, k), along which columns are less dependent than they are; None if none are.

    The squares of whitened columns are correlated if the columns mix independent numbers that are
    not normal, or have a common scale. Components (`unmixing`) help with mixtures.
    """
    rows = np.concatenate([few.P, few.Q])
    if rows.shape[1] > constants.MOST_COMPONENTS or not np.isfinite(rows).all():
        return None
    if any(len(np.unique(column)) < len(column) // 2 for column in rows.T):
        return None
    least = constants.SAME_LAW / np.sqrt(len(rows))
    if (before := dependence(rows)) < least:
        return None
    whiten = Whitener.fit(few.P, few.Q)  # whose axes may mix columns that were independent
    if (before := min(before, dependence(whiten(rows)))) < least:
        return None
    matrix = whiten.matrix @ unmixing(whiten(rows))
    return matrix if dependence(rows @ matrix) < constants.SEPARATED * before else None


def unmixing(z: Array) -> Array:
    """The maximum likelihood matrix W, (k, k), for which the columns of z·W are independent.

    z : (n, k), whitened. A column with heavy tails has the density 1/cosh(y), any other one
    exp(−y²/2)·cosh(y) (extended infomax: Lee, Girolami and Sejnowski 1999), but for constants.
    Steps of W·E are Newton's with the Hessian of independent columns, which has a block of two for
    E_ij and E_ji, made positive definite (Ablin, Cardoso and Gramfort 2018).
    """
    z = z - medians(z)
    # no covariance bounds rows of heavy tails; their directions still tell the columns apart
    far = np.linalg.norm(z, axis=1, keepdims=True) / (constants.CLIP * np.sqrt(z.shape[1]))
    z /= np.maximum(far, 1.0)
    matrix, same = np.diag(1.0 / np.maximum(np.abs(z).mean(axis=0), 1e-12)), np.eye(z.shape[1])
    for number in range(constants.UNMIXING_STEPS):
        y = z @ matrix
        slope = np.tanh(y)
        bend = 1.0 - slope**2
        heavy = bend.mean(axis=0) * (y**2).mean(axis=0) > (y * slope).mean(axis=0)
        gradient = y.T @ np.where(heavy, slope, y - slope) / len(y) - same
        hessian = (y**2).T @ np.where(heavy, bend, 1.0 - bend) / len(y)
        least = 0.5 * (hessian + hessian.T - np.hypot(hessian - hessian.T, 2.0))
        hessian += np.maximum(constants.LEAST_CURVATURE - least, 0.0)
        step = (gradient.T - hessian.T * gradient) / (hessian * hessian.T - 1.0 + same)
        np.fill_diagonal(step, -np.diag(gradient) / (1.0 + np.diag(hessian)))
        # full steps swing about the solution where tails are heavy
        step /= 1.0 + number / 5.0 + 2.0 * np.abs(step).max()
        matrix = matrix + matrix @ step
        if np.abs(step).max() <= constants.UNMIXED:
            break
    return matrix


def dependence(x: Array) -> float:
    """The largest correlation of the squares of two columns, of which large values are clipped."""
    if x.shape[1] < 2:
        return 0.0
    apart = x - medians(x)
    scale = np.maximum(medians(np.abs(apart)), np.finfo(float).tiny)
    squares = np.minimum(np.abs(apart) / scale, constants.CLIP) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.nan_to_num(np.corrcoef(squares.T))  # a constant column depends on no other
    np.fill_diagonal(table, 0.0)
    return float(np.abs(table).max())
