"""What earlier batches choose for the next one: score, bet, and sets of the lower bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpaudit import scoring
from dpaudit._core.types import Array
from dpaudit.auditing.sequential.record import MANY
from dpaudit.auditing.settings import Settings
from dpaudit.certify.bet_choice import Menu, cuts_by_draws
from dpaudit.certify.betting import Bet, Cuts
from dpaudit.scoring import Fitted, Sides
from dpaudit.scoring.base import refuse_nan, without_nan
from dpaudit.scoring.few.ranks import fit_few_draws
from dpaudit.scoring.platt import calibrated

CHOOSE = 0.25  # share of the past that chooses among scores, calibrates, and chooses bets
LARGEST = 40.0  # nats; larger scores count as this one
PLAIN = (0.0, 1.0)
SMALL = "small"


@dataclass(frozen=True, eq=False, repr=False)
class Judge:
    """A calibrated score, a bet and the sets of the lower bounds."""

    fitted: Fitted
    line: tuple[float, float]
    bet: Bet
    cuts: Cuts

    def odds(self, scores: scoring.Scores) -> Sides:
        """Calibrated log-odds (n,) of both sides' draws, from their scores."""
        return odds(scores, self.line)


def odds(scores: scoring.Scores, line: tuple[float, float]) -> Sides:
    """line[0] + line[1]·score of both sides' draws, within ±LARGEST, with 0 for a score of NaN."""
    return Sides(*(_odds(without_nan(score), line) for score in scores))


def _odds(score: Array, line: tuple[float, float]) -> Array:
    found = line[0] + line[1] * np.clip(score, -LARGEST, LARGEST)
    return np.asarray(np.clip(found, -LARGEST, LARGEST))


def _fit(
    settings: Settings,
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    alias: str | None = None,
) -> Fitted:
    """Fit the classifier asked for, or the one of an alias instead."""
    classifier = settings.classifier if alias is None else alias
    return scoring.fit(classifier, train, choose, seed, settings.bits)


def judge_by_few(
    settings: Settings, menu: Menu, past: Sides, seed: np.random.SeedSequence
) -> Judge:
    """From few draws: a score averaged over its own uncertainty, which needs no calibration. A
    known score is calibrated on all of them. Raises `InvalidInput` where that is NaN.
    """
    known = not scoring.is_trained(settings.classifier)
    if known:
        fitted = _fit(settings, past, past, seed)
    else:
        fitted = Fitted(SMALL, fit_few_draws(past, settings.bits))
    scores = scoring.scores(fitted.score, past)
    refuse_nan(scores, fitted.name)
    found, line = odds(scores, PLAIN), PLAIN
    if known:
        line = calibrated(found.P, found.Q)
        found = odds(scores, line)
    return Judge(
        fitted,
        line,
        menu.by_model(np.concatenate([found.P, found.Q])),
        Cuts(settings.epsilon, settings.epsilon),
    )


def judge_by_many(
    settings: Settings,
    menu: Menu,
    past: Sides,
    history: Sides,
    seed: np.random.SeedSequence,
    upcoming: int,
) -> Judge:
    """Part of the past trains. The other part chooses, together with what earlier scores said of
    draws that they had not seen.

    history : log-odds (n,) of earlier batches, each by its own judge. upcoming : size of the
        next batch.
    """
    cut = int((1.0 - CHOOSE) * len(past.P)) if scoring.is_trained(settings.classifier) else 0
    choose = Sides(past.P[cut:], past.Q[cut:])
    fitted = _contest(settings, past.head(cut), choose, seed)
    scores = scoring.scores(fitted.score, choose)
    plain = odds(scores, PLAIN)
    line = calibrated(plain.P, plain.Q)
    fresh = odds(scores, line)
    first, last = len(history.P) // 3, len(history.P) - len(choose.P)
    earlier = slice(first, max(first, last))
    x = np.concatenate([fresh.P, history.P[earlier]])
    y = np.concatenate([fresh.Q, history.Q[earlier]])
    forward = cuts_by_draws(x, y, settings.epsilon, upcoming)
    cuts = Cuts(forward, cuts_by_draws(-y, -x, settings.epsilon, upcoming))
    return Judge(fitted, line, menu.by_draws(x, y), cuts)


def _contest(
    settings: Settings, train: Sides, choose: Sides, seed: np.random.SeedSequence
) -> Fitted:
    """The classifier asked for. "auto" compares the small score with a closed form and, from MANY
    draws on, with the whole portfolio.
    """
    if not isinstance(settings.classifier, str) or settings.classifier != "auto":
        return _fit(settings, train, choose, seed)
    many = len(train.P) + len(choose.P) >= MANY
    other = _fit(settings, train, choose, seed, "auto" if many else "qda")
    small = Fitted(SMALL, fit_few_draws(train.head(MANY), settings.bits))
    losses = {one.name: scoring.log_loss(one.score, choose) for one in (small, other)}
    chosen = other if losses[other.name] < losses[SMALL] else small
    return replace(chosen, portfolio={**other.portfolio, **losses}, notes=other.notes)
