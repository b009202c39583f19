"""Logistic regression that starts from a score and is pulled back to it.

scikit-learn's takes no offset; with one, a ridge shrinks towards the best closed form instead of
towards nothing, and a few thousand draws can afford a hundred features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides, evaluate, log_loss

PENALTIES = (1e4, 3e2, 1e1)  # of the squared coefficients of standardised features, heaviest first
STEPS, SMALL = 25, 1e-9  # Newton steps; gain in mean log-likelihood that ends them
LARGEST = 50.0  # standard deviations: a far outlier is no lever

Features = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Correction:
    """base(x) + intercept + features(x)·slope, the features standardised and clipped."""

    base: Score
    features: Features
    mean: Array
    scale: Array
    weight: Array  # the intercept first

    def __call__(self, x: Array) -> Array:
        return self.base(x) + self.weight[0] + self.standard(x) @ self.weight[1:]

    def standard(self, x: Array) -> Array:
        return np.clip((self.features(x) - self.mean) / self.scale, -LARGEST, LARGEST)


def fit_correction(base: Score, features: Features, train: Sides, choose: Sides) -> Score:
    """The penalty is lightened as long as the loss on the choosing draws falls; `base` itself if
    none helps.
    """
    x, label = Sides(features(train.P), features(train.Q)).stacked()
    scale = x.std(axis=0)
    blank = Correction(
        base, features, x.mean(axis=0), np.where(scale > 0.0, scale, 1.0), np.zeros(x.shape[1] + 1)
    )
    x -= blank.mean
    x /= blank.scale
    np.clip(x, -LARGEST, LARGEST, out=x)
    start = np.concatenate([evaluate(base, train.P), evaluate(base, train.Q)])
    best, least, weight = base, log_loss(base, choose), blank.weight
    for penalty in PENALTIES:
        weight = newton(x, label, start, penalty, weight)
        score = Correction(base, features, blank.mean, blank.scale, weight)
        loss = log_loss(score, choose)
        if loss >= least:
            break
        best, least = score, loss
    return best


def newton(x: Array, label: Array, offset: Array, penalty: float, weight: Array) -> Array:
    """Intercept and slopes that minimise Σ log(1 + e^{−±score}) + penalty/2·‖slopes‖², from
    `weight` on.
    """
    ridge = np.full(len(weight), penalty)
    ridge[0] = 1e-6 * len(label)

    def objective(weight: Array) -> tuple[float, Array]:
        score = offset + weight[0] + x @ weight[1:]
        sign = np.where(label > 0, -score, score)
        return float(np.sum(np.logaddexp(0.0, sign)) + 0.5 * ridge @ weight**2), score

    value, score = objective(weight)
    for _ in range(STEPS):
        chance = expit(score)
        step = _step(x, chance - label, chance * (1.0 - chance), ridge, weight)
        share = 1.0
        while (found := objective(weight - share * step))[0] > value and share > 1e-4:
            share *= 0.5
        if found[0] > value:
            break
        weight, gain, (value, score) = weight - share * step, value - found[0], found
        if gain < SMALL * len(label):
            break
    return weight


def _step(x: Array, error: Array, curvature: Array, ridge: Array, weight: Array) -> Array:
    slope = np.concatenate([[error.sum()], error @ x]) + ridge * weight
    weighed = x * curvature[:, None]
    hessian = np.empty((len(weight), len(weight)))
    hessian[0, 0], hessian[0, 1:] = curvature.sum(), weighed.sum(axis=0)
    hessian[1:, 0], hessian[1:, 1:] = hessian[0, 1:], weighed.T @ x
    hessian[np.diag_indices_from(hessian)] += ridge + 1e-12 * np.trace(hessian)
    return np.asarray(cho_solve(cho_factor(hessian), slope))
