"""Products of the signs of two or three columns: parities, which no sum over columns shows.

Where each column, and each pair of columns, has the same law on both sides, closed forms see
nothing, and trees have no first split to begin with. A product of signs shows such a difference by
its mean. All of them are tested at once by one matrix product.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import expit, ndtri

from dpaudit._core.linalg import medians
from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, evaluate
from dpaudit.scoring.models.logistic import Terms, fit_correction


def fit_products(train: Sides, choose: Sides, base: Score) -> Score | None:
    """Correct `base` by the sign products that show what it missed; None if there are none."""
    products = find_products(train.head(constants.PRODUCT_DRAWS), base)
    if products is None:
        return None
    centre, sets = products

    def terms(x: Array) -> Terms:
        signs = np.where(x > centre, 1.0, -1.0)
        return base(x), np.column_stack([signs[:, columns].prod(axis=1) for columns in sets])

    return fit_correction(base, terms, train, choose)


def find_products(train: Sides, base: Score) -> tuple[Array, list[list[int]]] | None:
    """The centre of each column, (k,), and the sets of columns whose product of signs of x − centre
    has a mean product with the residual of `base` that differs from 0 significantly.

    The residual of a row is its label, 1 for P and 0 for Q, less the probability that `base` gives
    it (Rao's score test: the slope of the loss in a new feature's weight). The level is divided by
    the number of products (Bonferroni). None where no product passes, there are no pairs, or there
    are more than `constants.PRODUCT_COLUMNS` columns.
    """
    x, label = train.stacked()
    if not 1 < x.shape[1] <= constants.PRODUCT_COLUMNS:
        return None
    centre = medians(x)
    # the centre is just below the median where few values are above it, as for frequent bits
    few = np.mean(x > centre, axis=0) < constants.FEW_ABOVE
    centre = np.where(few, np.nextafter(centre, -np.inf), centre)
    residual = label - expit(evaluate(base, x))
    signs = np.where(x > centre, 1.0, -1.0).astype(np.float32)
    # of all pairs and triples of columns, the sum of each one's product times the residual
    columns, weighted = x.shape[1], signs * residual[:, None].astype(np.float32)
    sets: list[list[int]] = []
    slopes: list[Array] = []
    for i in range(columns - 1):
        later = signs[:, i + 1 :]
        sets += [[i, j] for j in range(i + 1, columns)]
        slopes.append(weighted[:, i] @ later)
        sums = weighted[:, i + 1 :].T @ (signs[:, i, None] * later)  # j = l is column i alone
        sets += [[i, j, k] for j, k in combinations(range(i + 1, columns), 2)]
        slopes.append(sums[np.triu_indices(columns - i - 1, 1)])
    z = np.abs(np.concatenate(slopes, dtype=float)) / max(
        float(np.linalg.norm(residual)), np.finfo(float).tiny
    )
    order = np.argsort(-z, kind="stable")[: constants.MOST_PRODUCTS]
    telling = order[z[order] > -ndtri(0.5 * constants.PRODUCT_LEVEL / len(sets))]
    return (centre, [sets[i] for i in telling]) if len(telling) else None
