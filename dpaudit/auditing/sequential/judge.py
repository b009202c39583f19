"""From the past to what judges the next wave: a score, a bet, and the sets of the lower bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit import scoring
from dpaudit._core.check import Array
from dpaudit.auditing.sequential.record import MANY
from dpaudit.certify.betting import Bet, Cuts, Menu, cuts_by_draws
from dpaudit.errors import InvalidInput
from dpaudit.scoring import Fitted, Sides
from dpaudit.scoring.models.small import calibrated, fit_small

CHOOSE = 0.25  # of the past: chooses among scores, calibrates, picks bets
LARGEST = 40.0  # nats; a score beyond says no more
PLAIN = (0.0, 1.0)
SMALL = "small"


@dataclass(frozen=True, eq=False)
class Judge:
    """A calibrated score, a bet and the sets of the lower bounds."""

    fitted: Fitted
    line: tuple[float, float]
    bet: Bet
    cuts: Cuts

    def odds(self, sides: Sides) -> Sides:
        """Calibrated log-odds (n,) of both sides' draws."""
        return odds(self.fitted, self.line, sides)


def odds(fitted: Fitted, line: tuple[float, float], sides: Sides) -> Sides:
    """line[0] + line[1]·score of both sides' draws, within ±LARGEST. Raises `InvalidInput` for NaN."""
    rows = np.concatenate([sides.P, sides.Q])
    score = scoring.evaluate(fitted.score, rows)
    if np.isnan(score).any():
        raise InvalidInput(f"classifier must give numbers, got NaN scores from {fitted.name}")
    found = np.clip(line[0] + line[1] * np.clip(score, -LARGEST, LARGEST), -LARGEST, LARGEST)
    return Sides(found[: len(sides.P)], found[len(sides.P) :])


@dataclass(frozen=True, eq=False)
class Ask:
    """What was asked for: the classifier, whether to read the bits of floats, and the ε grid."""

    classifier: Any
    bits: bool
    epsilon: Array

    def fit(
        self, train: Sides, choose: Sides, seed: np.random.SeedSequence, name: str | None = None
    ) -> Fitted:
        """By the classifier, or by an alias instead."""
        return scoring.fit(
            self.classifier if name is None else name, train, choose, seed, self.bits
        )


def judge_by_few(ask: Ask, menu: Menu, past: Sides, seed: np.random.SeedSequence) -> Judge:
    """Few draws: a score that keeps its doubts, taken at its word. A known score is calibrated on
    all of them.
    """
    if not scoring.is_trained(ask.classifier):
        fitted = ask.fit(past, past, seed)
        plain = odds(fitted, PLAIN, past)
        line = calibrated(plain.P, plain.Q)
    else:
        fitted, line = Fitted(SMALL, fit_small(past, ask.bits)), PLAIN
    found = odds(fitted, line, past)
    return Judge(
        fitted,
        line,
        menu.by_model(np.concatenate([found.P, found.Q])),
        Cuts(ask.epsilon, ask.epsilon),
    )


def judge_by_many(
    ask: Ask, menu: Menu, past: Sides, history: Sides, seed: np.random.SeedSequence, upcoming: int
) -> Judge:
    """Part of the past trains; the rest, and what earlier scores said of draws before they saw
    them, picks.

    history : log-odds (n,) of earlier waves by the scores of their time. upcoming : size of the
        next wave.
    """
    cut = int((1.0 - CHOOSE) * len(past.P)) if scoring.is_trained(ask.classifier) else 0
    choose = Sides(past.P[cut:], past.Q[cut:])
    fitted = _contest(ask, past.head(cut), choose, seed)
    plain = odds(fitted, PLAIN, choose)
    line = calibrated(plain.P, plain.Q)
    fresh, (first, last) = (
        odds(fitted, line, choose),
        (len(history.P) // 3, len(history.P) - len(choose.P)),
    )
    x, y = (
        np.concatenate([new, old[first : max(first, last)]]) for new, old in _sides(fresh, history)
    )
    cuts = Cuts(
        cuts_by_draws(x, y, ask.epsilon, upcoming), cuts_by_draws(-y, -x, ask.epsilon, upcoming)
    )
    return Judge(fitted, line, menu.by_draws(x, y), cuts)


def _sides(one: Sides, other: Sides) -> list[tuple[Array, Array]]:
    return [(one.P, other.P), (one.Q, other.Q)]


def _contest(ask: Ask, train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    """What was asked for; for "auto" the small score against a closed form, later against the whole
    portfolio.
    """
    if not isinstance(ask.classifier, str) or ask.classifier != "auto":
        return ask.fit(train, choose, seed)
    many = len(train.P) + len(choose.P) >= MANY
    other = ask.fit(train, choose, seed, "auto" if many else "qda")
    small = Fitted(SMALL, fit_small(train.head(MANY), ask.bits))
    losses = {one.name: scoring.log_loss(one.score, choose) for one in (small, other)}
    chosen = other if losses[other.name] < losses[SMALL] else small
    return replace(chosen, portfolio={**other.portfolio, **losses}, notes=other.notes)
