"""A cheap audit: δ(ε) of one neighbour from few draws, good enough to say which of several is the
worst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from dpaudit import scoring
from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides, one_thread, refuse_nan
from dpaudit.scoring.calibration import recalibrated
from dpaudit.scoring.encode import Encoder, usable
from dpaudit.scoring.models.closed import fit_quadratic
from dpaudit.scoring.structure import directions, full
from dpaudit.search.influence import common

THRESHOLDS = 200  # quantiles of the scores that are tried as thresholds
TOLD = 512  # partners that show whether noise is common
CHOOSE = 0.25  # of the training draws, for classifiers that choose
HITS = 20  # draws beyond ε, of both sides together
# standard errors, and share, by which recalibrated scores may differ from counts
ERRORS, SHAPE = (4.0, 0.15)
DEFAULT = "quadratic"


@dataclass(frozen=True)
class Measure:
    """Held-out estimates of δ(ε), the larger direction. counted : from one set, with its standard
    error. delta : from the scores as recalibrated log-odds, less noisy by far; where the counts
    contradict it, these; 0 where too few draws (`HITS`) are beyond ε to say. gain : what the scores
    gain on knowing nothing, nats a draw."""

    delta: float
    counted: float
    error: float
    gain: float


def measure(
    P: Array, Q: Array, epsilon: float, classifier: Any, seed: np.random.SeedSequence
) -> Measure:
    """Cross-fitted on halves: each half is judged by the score that the other has trained; P, Q :
    (n, k) partners.

    For any set S, P(S) − e^ε Q(S) ≤ δ(ε), so a count that saw neither score nor threshold can err
    upwards by noise only. Its noise is that of the difference of partners.
    """
    draws, half = _finite(Sides(P, Q)), len(P) // 2
    fit = _fitting(draws, classifier, seed)
    parts = draws.head(half), Sides(draws.P[half:], draws.Q[half:])
    with one_thread():
        judged = [_half(fit(train), train, test, epsilon) for train, test in (parts, parts[::-1])]
    best = max(range(2), key=lambda way: sum(float(one.value[way].sum()) for one in judged))
    value = np.concatenate([one.value[best] for one in judged])
    counted = float(np.clip(value.mean(), 0.0, 1.0))
    error = max(float(value.std()), float(np.exp(epsilon)) / float(np.sqrt(len(value)))) / float(
        np.sqrt(len(value))
    )
    told = _told([one.tested for one in judged], epsilon)
    agree = abs(told.delta - counted) <= ERRORS * error + SHAPE * told.delta
    return Measure(told.delta if agree else counted, counted, error, told.gain)


def _finite(sides: Sides) -> Sides:
    """What is no finite number gets columns of its own."""
    if usable(sides.P).all() and usable(sides.Q).all():
        return sides
    return Encoder.fit(sides).sides(sides)


def _fitting(
    draws: Sides, classifier: Any, seed: np.random.SeedSequence
) -> Callable[[Sides], Score]:
    """The default is a quadratic discriminant: of all moments where the noise is common, of few
    directions else.
    """
    if isinstance(classifier, str) and classifier == DEFAULT:
        return partial(
            fit_quadratic, structure=full if common(draws.P[:TOLD], draws.Q[:TOLD]) else directions
        )

    def fit(train: Sides) -> Score:
        size = max(1, int((1.0 - CHOOSE) * len(train.P)))
        return scoring.fit(
            classifier, train.head(size), Sides(train.P[size:], train.Q[size:]), seed
        ).score

    return fit


@dataclass(frozen=True, eq=False)
class _Half:
    """value : for each direction what each pair of partners adds to P(S) − e^ε Q(S), two arrays
    (n,). tested : held-out scores of P's and of Q's draws."""

    value: tuple[Array, Array]
    tested: tuple[Array, Array]


def _half(score: Score, train: Sides, test: Sides, epsilon: float) -> _Half:
    trained, tested = scoring.scores(score, train), scoring.scores(score, test)
    for side in (*trained, *tested):
        refuse_nan(side, "the cheap audit's classifier", argument="quick")
    gamma = float(np.exp(epsilon))
    forward = _value(trained, tested, gamma)
    backward = _value((-trained[1], -trained[0]), (-tested[1], -tested[0]), gamma)
    return _Half((forward, backward), tested)


def _value(trained: tuple[Array, Array], tested: tuple[Array, Array], gamma: float) -> Array:
    """1{p > τ} − γ·1{q > τ} of held-out partners, at the τ that is best on the draws that trained."""
    tau = np.unique(np.quantile(np.concatenate(trained), np.linspace(0.0, 1.0, THRESHOLDS)))
    p, q = (1.0 - np.searchsorted(np.sort(side), tau, side="right") / len(side) for side in trained)
    best = tau[int(np.argmax(p - gamma * q))]
    return (tested[0] > best).astype(np.float64) - gamma * (tested[1] > best)


@dataclass(frozen=True)
class _Told:
    """What recalibrated scores say: δ and gain, as in `Measure`."""

    delta: float
    gain: float


def _told(parts: list[tuple[Array, Array]], epsilon: float) -> _Told:
    """As if the recalibrated scores were the privacy loss L itself.

    Over both sides together, with σ(L) the chance that a draw is of P: E_P[(1 − e^{ε−L})₊] =
    2E[σ(L)(1 − e^{ε−L})₊], and the other direction with −L.
    """
    found = [recalibrated(*part) for part in parts]
    loss, sign = (np.concatenate(column) for column in zip(*found, strict=True))
    gain = float(np.log(2.0) - np.logaddexp(0.0, -sign * loss).mean())
    ways = [
        float(np.mean(2.0 * expit(way) * np.maximum(1.0 - np.exp(epsilon - way), 0.0)))
        for way in (loss, -loss)
    ]
    best = loss if ways[0] >= ways[1] else -loss
    return _Told(max(ways) if np.count_nonzero(best > epsilon) >= HITS else 0.0, gain)
