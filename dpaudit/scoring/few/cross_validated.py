"""The score of few draws: a closed form or a regression on ranks, by cross-validated loss.

The simplest kind, few columns that differ, is left only for one that is clearly better: of several
noisy losses the least is often that of a score that has followed the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Fitted, Score, Sides, logistic_loss
from dpaudit.scoring.few.ranks import fit_few_draws
from dpaudit.scoring.few.sparse import fit_sparse
from dpaudit.scoring.models.closed import fit_quadratic
from dpaudit.scoring.structure import STRUCTURES

FOLDS = 5
CLEAR = 1.0  # standard errors of a difference of losses
MOST = 10.0  # nats; a log-odds beyond counts as this in the loss, which one draw could else decide
RANKS, SPARSE = "rank regression", "few columns"
COLUMNS = 100  # up to which closed forms take part: they need the draws' covariance
Fit = Callable[[Sides], Score]


def fit_few(past: Sides) -> Fitted:
    """The best score of `past`, at least five draws a side; rows (n, k).

    Each kind is fitted to four fifths of the draws and judged on the rest, five times. Among those
    clearly better than the simplest, the one of least loss is taken.
    """
    kinds = _kinds(past.P.shape[1])
    losses = {name: _losses(past, fit) for name, fit in kinds.items()}
    mean = {name: float(loss.mean()) for name, loss in losses.items()}
    better = [name for name in kinds if _clearly_less(losses[name], losses[SPARSE])]
    best = min(better, key=lambda name: mean[name], default=SPARSE)
    return Fitted(best, kinds[best](past), mean)


def _kinds(columns: int) -> dict[str, Fit]:
    kinds: dict[str, Fit] = {RANKS: fit_few_draws, SPARSE: fit_sparse}
    if columns <= COLUMNS:
        kinds |= {
            name: partial(fit_quadratic, structure=structure)
            for name, structure in STRUCTURES.items()
        }
    return kinds


def _clearly_less(one: Array, other: Array) -> bool:
    """Whether losses of the same draws differ by more than CLEAR standard errors."""
    gap = other - one
    return bool(gap.mean() > CLEAR * gap.std() / np.sqrt(len(gap)))


def _losses(past: Sides, fit: Fit) -> Array:
    """Log loss of each draw, (2n,), by the score of the other folds, nats; the worst where none
    fits, or a score is NaN.
    """
    fold = np.arange(len(past.P)) % FOLDS
    found = np.full((2, len(past.P)), np.nan)
    for one in range(FOLDS):
        out = fold == one
        with suppress(np.linalg.LinAlgError):
            score = fit(Sides(past.P[~out], past.Q[~out]))
            found[:, out] = score(past.P[out]), score(past.Q[out])
    p, q = np.where(np.isnan(found), [[-MOST], [MOST]], np.clip(found, -MOST, MOST))
    return logistic_loss(p, q)
