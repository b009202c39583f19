"""A cheap audit: δ(ε) of one neighbour from few draws, good enough to say which of several is the worst."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpaudit import exact, scoring
from dpaudit._check import Array
from dpaudit.scoring.base import Score, Sides, evaluate, one_thread
from dpaudit.scoring.closed import fit_quadratic
from dpaudit.scoring.encode import Encoder, usable
from dpaudit.scoring.structure import directions, full
from dpaudit.search.influence import common

THRESHOLDS = 200  # quantiles of the scores that are tried as thresholds
TOLD = 512  # partners that show whether noise is common
CHOOSE = 0.25  # of the training draws, for classifiers that choose
DEFAULT = "quadratic"


@dataclass(frozen=True)
class Measure:
    """delta : held-out estimate of δ(ε), the larger direction, with its standard error. fitted : δ(ε) of two normal
    laws with the scores' moments, which says something where no draw is beyond ε."""

    delta: float
    error: float
    fitted: float


def measure(P: Array, Q: Array, epsilon: float, classifier: Any, seed: np.random.SeedSequence) -> Measure:
    """Cross-fitted on halves: each half is judged by the score that the other has trained; P, Q : (n, k) partners.

    For any set S, P(S) − e^ε Q(S) ≤ δ(ε), so an estimate that saw neither score nor threshold can err upwards by noise
    only. The noise is that of the difference of partners.
    """
    draws, half = _finite(Sides(P, Q)), len(P) // 2
    fit = _fitting(draws, classifier, seed)
    parts = draws.head(half), Sides(draws.P[half:], draws.Q[half:])
    with one_thread():
        judged = [_half(fit(train), train, test, epsilon) for train, test in (parts, parts[::-1])]
    best = max(range(2), key=lambda way: sum(float(one.value[way].sum()) for one in judged))
    value = np.concatenate([one.value[best] for one in judged])
    error = float(value.std() / np.sqrt(len(value)))
    delta, fitted = float(value.mean()), float(np.mean([one.fitted for one in judged]))
    return Measure(min(max(delta, 0.0), 1.0), error, fitted)


def _finite(sides: Sides) -> Sides:
    """What is no finite number gets columns of its own."""
    if usable(sides.P).all() and usable(sides.Q).all():
        return sides
    return Encoder.fit(sides).sides(sides)


def _fitting(draws: Sides, classifier: Any, seed: np.random.SeedSequence) -> Callable[[Sides], Score]:
    """The default is a quadratic discriminant: of all moments where the noise is common, of few directions else."""
    if isinstance(classifier, str) and classifier == DEFAULT:
        return partial(fit_quadratic, structure=full if common(draws.P[:TOLD], draws.Q[:TOLD]) else directions)

    def fit(train: Sides) -> Score:
        size = max(1, int((1.0 - CHOOSE) * len(train.P)))
        return scoring.fit(classifier, train.head(size), Sides(train.P[size:], train.Q[size:]), seed).score

    return fit


@dataclass(frozen=True, eq=False)
class _Half:
    """value : for each direction what each pair of partners adds to P(S) − e^ε Q(S), two arrays (n,)."""

    value: tuple[Array, Array]
    fitted: float


def _half(score: Score, train: Sides, test: Sides, epsilon: float) -> _Half:
    trained = evaluate(score, train.P), evaluate(score, train.Q)
    tested = evaluate(score, test.P), evaluate(score, test.Q)
    gamma = float(np.exp(epsilon))
    forward = _value(trained, tested, gamma)
    backward = _value((-trained[1], -trained[0]), (-tested[1], -tested[0]), gamma)
    return _Half((forward, backward), _binormal(*tested, epsilon))


def _value(trained: tuple[Array, Array], tested: tuple[Array, Array], gamma: float) -> Array:
    """1{p > τ} − γ·1{q > τ} of held-out partners, at the τ that is best on the draws that trained."""
    tau = np.unique(np.quantile(np.concatenate(trained), np.linspace(0.0, 1.0, THRESHOLDS)))
    p, q = (1.0 - np.searchsorted(np.sort(side), tau, side="right") / len(side) for side in trained)
    best = tau[int(np.argmax(p - gamma * q))]
    return (tested[0] > best).astype(np.float64) - gamma * (tested[1] > best)


def _binormal(p: Array, q: Array, epsilon: float) -> float:
    """δ(ε) of normal laws with the moments of the scores, the larger direction; 1 where a side does not vary."""
    mean, var = (p.mean(), q.mean()), (p.var(), q.var())
    if not np.all(np.isfinite([*mean, *var])):
        return 1.0
    if min(var) <= 1e-12 * max(abs(mean[0] - mean[1]), max(var), 1e-300):
        return float(mean[0] != mean[1])
    return float(max(exact.gaussian_pair([mean[0]], [[var[0]]], [mean[1]], [[var[1]]], epsilon)))
