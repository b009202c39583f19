"""A score corrected by logistic regression on features of the draws, as far as draws ask for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, evaluate, log_loss
from dpaudit.scoring.models.logistic import fit_ridge

PENALTIES = (1e4, 3e2, 1e1)  # of the squared coefficients of standardised features, heaviest first
LARGEST = 50.0  # standard deviations at which features are clipped: no outlier decides a slope

Features = Callable[[Array], Array]  # rows (m, k) → features (m, f)


@dataclass(frozen=True, eq=False, repr=False)
class Correction:
    """base(x) + intercept + features(x)·slopes, the features standardised and clipped.

    weights : (1 + f,), the intercept first.
    """

    base: Score
    features: Features
    mean: Array
    scale: Array
    weights: Array

    @classmethod
    def none(cls, base: Score, features: Features, values: Array) -> Correction:
        """The base itself, with the features' scale from their training `values`, (n, f)."""
        scale = values.std(axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        return cls(base, features, values.mean(axis=0), scale, np.zeros(values.shape[1] + 1))

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        standard = (self.features(x) - self.mean) / self.scale
        slopes = np.clip(standard, -LARGEST, LARGEST) @ self.weights[1:]
        return np.asarray(self.base(x) + self.weights[0] + slopes)


def fit_correction(base: Score, features: Features, train: Sides, choose: Sides) -> Score:
    """`base` plus the correction whose penalty has the least loss on the choosing draws.

    Penalties are tried from the heaviest on, as long as the loss falls; `base` if none lowers it.
    """
    x, label = Sides(features(train.P), features(train.Q)).stacked()
    score = Correction.none(base, features, x)
    x -= score.mean  # in place: the features of all training draws are the largest array there is
    x /= score.scale
    np.clip(x, -LARGEST, LARGEST, out=x)
    offset = np.concatenate([evaluate(base, train.P), evaluate(base, train.Q)])
    best, least = base, log_loss(base, choose)
    for penalty in PENALTIES:
        score = replace(score, weights=fit_ridge(x, label, offset, penalty, score.weights))
        loss = log_loss(score, choose)
        if loss >= least:
            break
        best, least = score, loss
    return best
