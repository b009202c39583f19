"""Scores: estimates of the privacy loss L = log dP/dQ from draws, P = M(D) and Q = M(D').

One score serves every ε, since the set {L > ε} is the best one at each (Neyman and Pearson). The
room holds the models (`models`), what prepares draws for them (`encode`, `whiten`), the choice
among them (`portfolio`) and all numbers that were measured (`constants`). It knows arrays of draws;
it knows neither mechanisms nor certified sets and bounds. A score never sees a draw that certifies.
"""

from dpaudit.scoring.base import (
    Fitted,
    Score,
    Scores,
    Sides,
    evaluate,
    log_loss,
    pooled,
    refuse_batch_scores,
    scores,
)
from dpaudit.scoring.classifier import (
    ALIASES,
    Classifier,
    ClassifierLike,
    KnownScore,
    as_classifier,
    fit,
    is_trained,
)

__all__ = [
    "ALIASES",
    "Classifier",
    "ClassifierLike",
    "Fitted",
    "KnownScore",
    "Score",
    "Scores",
    "Sides",
    "as_classifier",
    "evaluate",
    "fit",
    "is_trained",
    "log_loss",
    "pooled",
    "refuse_batch_scores",
    "scores",
]
