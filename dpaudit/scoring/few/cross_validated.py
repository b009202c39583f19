"""The score of few draws: closed forms and a regression on ranks, weighed by cross-validated loss.

To choose one would be to follow the noise of the losses: those of kinds far apart in what they
certify differ by less than their standard error. The probabilities of the kinds are averaged
instead, each weighed by how likely it makes the draws that it was not fitted to (pseudo-Bayesian
model averaging, Yao, Vehtari, Simpson & Gelman 2018). The simplest kind, few columns that differ,
has the larger prior weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import log_expit, logsumexp, softmax

from dpaudit._core.types import Array
from dpaudit.scoring.base import Fitted, Score, Sides, logistic_loss
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.few.ranks import fit_few_draws
from dpaudit.scoring.few.sparse import fit_sparse
from dpaudit.scoring.models.closed import fit_quadratic
from dpaudit.scoring.structure import STRUCTURES

FOLDS = 5
PREFERENCE = 5.0  # nats; prior log-odds of few columns against each other kind
LEAST = 0.01  # a kind of smaller weight is left out
MOST = 10.0  # nats; a log-odds beyond counts as this in the loss, which one draw could else decide
UNFITTED = 1e3  # nats; the loss of a draw that a kind cannot score, so that it gets no weight
RANKS, SPARSE = "rank regression", "few columns"
COLUMNS = 100  # up to which closed forms take part: they need the draws' covariance
Fit = Callable[[Sides], Score]


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """Log-odds of the weighted mean of the probabilities of several scores.

    weight : (k,), of sum 1. In log space, so that scores far from 0 stay apart.
    """

    scores: Sequence[Score]
    weight: Array

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k), nats."""
        odds = np.stack([score(x) for score in self.scores])
        p, q = (
            logsumexp(log_expit(side), axis=0, b=self.weight[:, None]) for side in (odds, -odds)
        )
        return np.asarray(p - q)


def fit_few(past: Sides) -> Fitted:
    """The score of `past`, at least five draws a side; (n, k) outputs of any scale.

    Each kind is fitted to four fifths of the draws and judged on the rest, five times; then those
    of some weight are fitted to all. Named by these, the heaviest first.
    """
    encoder = Encoder.fit(past)
    past = encoder.sides(past)
    kinds = _kinds(past.P.shape[1])
    losses = {name: _losses(past, fit) for name, fit in kinds.items()}
    weights = _weights(losses)
    scores = [kinds[name](past) for name in weights]
    score = scores[0] if len(scores) == 1 else Mixture(scores, np.array(list(weights.values())))
    mean = {name: float(loss.mean()) for name, loss in losses.items()}
    return Fitted(", ".join(weights), lambda x: score(encoder(x)), mean)


def _kinds(columns: int) -> dict[str, Fit]:
    kinds: dict[str, Fit] = {RANKS: fit_few_draws, SPARSE: fit_sparse}
    if columns <= COLUMNS:
        kinds |= {
            name: partial(fit_quadratic, structure=structure)
            for name, structure in STRUCTURES.items()
        }
    return kinds


def _weights(losses: dict[str, Array]) -> dict[str, float]:
    """The weight of each kind that has some, the largest first; their sum is 1."""
    evidence = [PREFERENCE * (name == SPARSE) - loss.sum() for name, loss in losses.items()]
    found = dict(zip(losses, softmax(evidence), strict=True))
    kept = sorted((name for name in found if found[name] >= LEAST), key=lambda name: -found[name])
    total = sum(found[name] for name in kept)
    return {name: float(found[name] / total) for name in kept}


def _losses(past: Sides, fit: Fit) -> Array:
    """Log loss of each draw, (2n,), by the score of the other folds, nats; `UNFITTED` where none
    fits, or a score is NaN.
    """
    fold = np.arange(len(past.P)) % FOLDS
    found = np.full((2, len(past.P)), np.nan)
    for one in range(FOLDS):
        out = fold == one
        with suppress(np.linalg.LinAlgError):
            score = fit(Sides(past.P[~out], past.Q[~out]))
            found[:, out] = score(past.P[out]), score(past.Q[out])
    worst = [[-UNFITTED], [UNFITTED]]
    p, q = np.where(np.isnan(found), worst, np.clip(found, -MOST, MOST))
    return logistic_loss(p, q)
