"""Scores: estimates of the privacy loss from draws. One score serves every ε, since {L > ε} is
optimal at each.
"""

from dpaudit.scoring.base import Fitted, Score, Sides, evaluate, log_loss
from dpaudit.scoring.pool import pooled, scores
from dpaudit.scoring.portfolio import ALIASES, KnownScore, fit, is_trained, known

__all__ = [
    "ALIASES",
    "Fitted",
    "KnownScore",
    "Score",
    "Sides",
    "evaluate",
    "fit",
    "is_trained",
    "known",
    "log_loss",
    "pooled",
    "scores",
]
