"""Logistic regression around a score: the one solver, corrections of a score, Platt scaling.

scikit-learn's solver takes no offset. With one, the ridge shrinks towards a score that is already
good instead of towards zero, and a few thousand draws can afford a hundred features.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.special import expit

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, logistic_loss, rows_at_once, softplus

Terms = tuple[Array, Array]  # of rows (m, k): log-odds (m,), and features (m, f)


@value_class
class Minimum:
    """The point where Newton's method ended.

    weights : (k,). objective : the penalised loss there, nats. hessian : (k, k), at the weights
    from which the last step started.
    """

    weights: Array
    objective: float
    hessian: Array


def newton(
    x: Array,
    p: Array,
    q: Array,
    ridge: Array,
    *,
    gain: float,
    offset: Array | float = 0.0,
    start: Array | None = None,
    steps: int = 25,
    halvings: int = 14,
) -> Minimum:
    """Minimise Σ p log(1 + e^{−s}) + q log(1 + e^{s}) + ½ wᵀRw over weights w, where s = offset +
    x·w.

    x : (n, k) features. p, q : (n,), the numbers of draws of P and of Q with each row of features.
    ridge : R, (k, k), or its diagonal (k,). offset : (n,) log-odds before any feature counts. gain
    : nats; a step that gains no more is the last step. start : (k,), zeros by default. halvings :
    how often a step that raises the objective is halved before the method gives up.
    """
    total, stiffness = p + q, np.diag(ridge) if ridge.ndim == 1 else ridge

    def objective(weights: Array) -> tuple[Array, float]:
        """Log-odds (n,) and penalised loss; equal terms cancel exactly before they are added."""
        odds = offset + x @ weights
        loss = np.sum(total * softplus(odds) - p * odds)
        return odds, float(loss + 0.5 * weights @ stiffness @ weights)

    weights = np.zeros(x.shape[1]) if start is None else start
    odds, value = objective(weights)
    for _ in range(steps):
        share = expit(odds)
        curvature = (x * (total * share * (1.0 - share))[:, None]).T @ x
        # without the jitter, repeated features would make the matrix singular
        hessian = curvature + stiffness
        hessian += constants.JITTER * np.trace(hessian) * np.eye(len(hessian))
        gradient = (total * share - p) @ x + stiffness @ weights
        _, step, failed = dposv(hessian, gradient)  # as `cho_factor`, whose checks take longer
        if failed:
            raise np.linalg.LinAlgError("the Hessian is not positive definite")
        for halving in range(halvings + 1):
            shorter = weights - 0.5**halving * step
            odds, after = objective(shorter)
            if after <= value:
                break
        else:
            break
        last, weights, value = value - after <= gain, shorter, after
        if last:
            break
    return Minimum(weights, value, hessian)


def fit_ridge(x: Array, p: Array, q: Array, offset: Array, penalty: float, start: Array) -> Array:
    """The weights (k,) that minimise the loss + penalty/2·‖all weights but the first‖².

    x : (n, k), with ones in the first column. p, q : (n,), the numbers of draws of P and of Q with
    each row of features. offset : (n,) log-odds.
    """
    p, q = p.astype(np.float64), q.astype(np.float64)  # once, and not at every step
    draws = np.sum(p + q)
    ridge = np.full(len(start), penalty)
    ridge[0] = constants.INTERCEPT_RIDGE * draws
    gain = constants.GAIN_PER_DRAW * draws
    return newton(x, p, q, ridge, offset=offset, start=start, gain=gain).weights


def fit_correction(
    base: Score, terms: Callable[[Array], Terms], train: Sides, choose: Sides
) -> Score:
    """`base` plus the correction whose penalty has the least loss on the choosing draws.

    The correction is linear in features that are standardised and clipped. terms : gives the scores
    of `base` and the features of rows. Penalties are tried from the heaviest to lighter ones, as
    long as the loss falls; the result is `base` if none lowers it.
    """
    (offset, x), label = _terms_of(terms, train), train.stacked()[1]
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)

    def standard(features: Array) -> Array:
        features = (features - mean) / scale
        return np.clip(features, -constants.FARTHEST_FEATURE, constants.FARTHEST_FEATURE, features)

    x = np.column_stack([np.ones(len(x)), standard(x)])
    # evaluated once for all penalties
    odds, features = _terms_of(terms, choose := choose.head(constants.STOPPING_DRAWS))
    features, size = standard(features), len(choose.P)
    weights, best = np.zeros(x.shape[1]), None
    least = logistic_loss(odds[:size], odds[size:]).mean()
    for penalty in constants.CORRECTION_PENALTIES:
        weights = fit_ridge(x, label, 1 - label, offset, penalty, weights)
        corrected = odds + weights[0] + features @ weights[1:]
        loss = logistic_loss(corrected[:size], corrected[size:]).mean()
        if loss >= least:
            break
        best, least = weights, loss
    if best is None:
        return base
    constant, slopes = best[0], best[1:]

    def score(x: Array) -> Array:
        odds, features = terms(x)
        return np.asarray(odds + constant + standard(features) @ slopes)

    return score


def _terms_of(terms: Callable[[Array], Terms], sides: Sides) -> Terms:
    """The log-odds (2n,) and features (2n, f) of the draws of both sides, P's first."""
    step = rows_at_once(sides.P)
    odds, features = zip(
        *(
            terms(side[start : start + step])
            for side in (sides.P, sides.Q)
            for start in range(0, len(side), step)
        ),
        strict=True,
    )
    return np.concatenate(odds), np.concatenate(features)


def calibrated(x: Array, y: Array) -> tuple[float, float]:
    """(a, b) such that a + b·score is the log-odds of a draw with that score (Platt 1999).

    x, y : scores (n,), in nats, of draws of M(D) and of M(D') that trained nothing. (a, b) is the
    posterior mode under a standard normal prior about (0, 1), so that a score which separates the
    sides keeps a finite slope.
    """
    score, label = np.concatenate([x, y]), np.repeat([1.0, 0.0], [len(x), len(y)])
    table = np.column_stack([np.ones_like(score), score])
    mode = newton(
        table, label, 1.0 - label, np.ones(2), offset=score, gain=constants.SETTLED_FIT
    ).weights
    return float(mode[0]), 1.0 + float(mode[1])
