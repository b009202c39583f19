"""A quick audit estimates δ(ε) of one pair from few draws, to compare several neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpaudit import scoring
from dpaudit._core.linalg import one_thread
from dpaudit._core.types import Array
from dpaudit.scoring import Classifier, Scores, Sides
from dpaudit.scoring.base import evaluate, refuse_nan, softplus
from dpaudit.scoring.encode import Encoder, all_usable
from dpaudit.scoring.models.closed import directions, fit_quadratic, full
from dpaudit.scoring.models.logistic import fit_ridge
from dpaudit.scoring.whiten import Whitener

THRESHOLDS = 200  # order statistics of the scores that are tried as thresholds
COMPARED = 512  # partners that show whether the noise is common
COUPLED = 0.5  # partners share noise if their squared distance is below this share of that of
# independent draws
CHOOSE = 0.25  # share of the training draws that choose, for classifiers that need them
HITS = 20  # an estimate from the odds needs this many draws, of both sides, with a loss above ε
# Standard errors, and share, by which the estimate from the odds may differ from the count. A count
# within as many errors of 0 is taken as 0: the largest of many counts exceeds one or two errors.
ERRORS, SHAPE = 4.0, 0.15
MOST_ODDS = 50.0  # nats; scores are clipped to ±MOST_ODDS
BINS = 4096  # equal bins of the scores; the odds are those of their centres
SLOPE_PENALTY = 1.0  # ridge penalty of the slope in standard deviations
DEFAULT = "quadratic"


@dataclass(frozen=True)
class QuickEstimate:
    """Held-out estimates for the larger of the two directions.

    counted, error : P(S) − e^ε Q(S) of one set S of outputs, from counts, and its standard error.
        It exceeds δ(ε) by noise only.
    delta : δ(ε) estimated from the odds, with much less noise; 0 if fewer than `HITS` draws have a
        loss above ε. If it contradicts `counted`: `counted`, or 0 if that is within `ERRORS`
        standard errors of 0.
    gain : log 2 minus the log loss, in nats a draw: how well the score tells the sides apart. It
        decides between neighbours whose δ cannot be estimated.
    """

    delta: float
    counted: float
    error: float
    gain: float


def quick_audit(
    P: Array, Q: Array, epsilon: float, classifier: Classifier, seed: np.random.SeedSequence
) -> QuickEstimate:
    """Estimate by cross-fitting: a score trained on one half of the draws judges the other half.

    P, Q : (n, k) draws; rows of the same number are partners, made with the same random numbers.
    classifier : `DEFAULT` or what `scoring.fit` takes. The default is a quadratic discriminant,
    with all moments if the partners share noise, else along few directions.

    For any set S, P(S) − e^ε Q(S) ≤ δ(ε), so a count from draws that chose neither score nor
    threshold can err upwards by noise only. Its noise is that of the difference of partners.

    Raises `InvalidInput` for a classifier whose scores are NaN.
    """
    draws, half = Sides(P, Q), len(P) // 2
    if not (all_usable(P) and all_usable(Q)):
        draws = Encoder.fit(draws).sides(draws)
    quadratic = isinstance(classifier, str) and classifier == DEFAULT
    common = quadratic and has_common_noise(draws.P[:COMPARED], draws.Q[:COMPARED])
    halves = draws.head(half), Sides(draws.P[half:], draws.Q[half:])
    gamma, counts, held_out = float(np.exp(epsilon)), [], []
    for train, test in (halves, halves[::-1]):
        with one_thread():
            if quadratic:  # a formula: neither a row's place nor the other rows matter to it
                formula = fit_quadratic(train, full if common else directions)
                trained, tested = (
                    (evaluate(formula, part.P), evaluate(formula, part.Q)) for part in (train, test)
                )
            else:
                size = max(1, int((1.0 - CHOOSE) * len(train.P)))
                choose = Sides(train.P[size:], train.Q[size:])
                score = scoring.fit(classifier, train.head(size), choose, seed).score
                trained, tested = scoring.scores(score, train), scoring.scores(score, test)
        for part in (trained, tested):
            refuse_nan(part, "the quick audit's classifier", argument="quick")
        p, q = np.sort(trained[0]), np.sort(trained[1])
        backward = -tested[1], -tested[0]
        counts.append([_counts(p, q, tested, gamma), _counts(-q[::-1], -p[::-1], backward, gamma)])
        held_out.append(tested)
    forward, backward_counts = (np.concatenate(way) for way in zip(*counts, strict=True))
    values = forward if forward.sum() >= backward_counts.sum() else backward_counts
    counted = float(np.clip(values.mean(), 0.0, 1.0))
    # at least the error of one draw of Q in S, e^ε/n
    error = max(float(values.std()), gamma / np.sqrt(len(values))) / float(np.sqrt(len(values)))
    delta, gain = _from_odds(held_out, epsilon)
    if abs(delta - counted) > ERRORS * error + SHAPE * delta:
        delta = counted if counted > ERRORS * error else 0.0
    return QuickEstimate(delta, counted, error, gain)


def has_common_noise(P: Array, Q: Array) -> bool:
    """Whether partners lie nearer to each other than independent draws would; P, Q : (m, k)."""
    whiten = Whitener.fit(P, Q)
    P, Q = whiten(P), whiten(Q)
    independent = np.var(P, axis=0).sum() + np.var(Q, axis=0).sum()
    return bool(np.var(P - Q, axis=0).sum() < COUPLED * independent)


def _counts(P: Array, Q: Array, tested: Scores, gamma: float) -> Array:
    """1{p > τ} − γ·1{q > τ}, γ = e^ε, for held-out scores p, q; τ is best on the training draws,
    whose scores P, Q are sorted.
    """
    pooled = np.sort(np.concatenate([P, Q]))
    tau = pooled[np.linspace(0, len(pooled) - 1, THRESHOLDS).round().astype(int)]
    p, q = (1.0 - np.searchsorted(side, tau, side="right") / len(side) for side in (P, Q))
    best = tau[int(np.argmax(p - gamma * q))]
    return (tested[0] > best).astype(np.float64) - gamma * (tested[1] > best)


def _from_odds(parts: list[Scores], epsilon: float) -> tuple[float, float]:
    """Estimates of δ(ε) and the gain that take the recalibrated scores as the privacy loss L.

    Over both sides together, with σ(L) the probability that a draw is of P, E_P[(1 − e^{ε−L})₊] =
    2E[σ(L)(1 − e^{ε−L})₊], and the same with −L in the other direction.
    """
    losses, numbers = [], []
    for sides in parts:
        clipped = [np.clip(side, -MOST_ODDS, MOST_ODDS) for side in sides]
        ends = min(side.min() for side in clipped), max(side.max() for side in clipped)
        (p, edges), (q, _) = (np.histogram(side, BINS, ends) for side in clipped)
        score, number = 0.5 * (edges[1:] + edges[:-1]), p + q
        # Platt scaling that shrinks towards the score itself, by a slope in standard deviations
        centred = score - np.average(score, weights=number)
        standard = centred / (np.sqrt(np.average(centred**2, weights=number)) or 1.0)
        table = np.column_stack([np.ones_like(standard), standard])
        losses.append(score + table @ fit_ridge(table, p, q, score, SLOPE_PENALTY, np.zeros(2)))
        numbers.append((p, q))
    loss, (p, q) = np.concatenate(losses), np.concatenate(numbers, axis=1)
    number = p + q
    gain = float(np.log(2.0) - (p @ softplus(-loss) + q @ softplus(loss)) / number.sum())
    ways = []
    for way in (loss, -loss):
        above = way > epsilon  # the other bins add nothing
        shares = 2.0 * expit(way[above]) * (1.0 - np.exp(epsilon - way[above]))
        ways.append((float(number[above] @ shares / number.sum()), number[above].sum()))
    delta, hits = max(ways)
    return (delta if hits >= HITS else 0.0), gain
