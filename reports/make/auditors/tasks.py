"""Four pairs of laws on which auditing tools are compared, and the truth about each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core.check import Array

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])  # where δ(ε) is read
DELTA = np.array([0.0, 1e-3])  # where ε is read
GRID = np.linspace(0.0, 4.0, 81)  # the curve that dpaudit certifies at once
READINGS = ("δ(0)", "δ(0.5)", "δ(1)", "δ(2)", "ε at δ = 0", "ε at δ = 1e-3")
OURS = "dpaudit"
SLACK = 1e-9  # above the truth by less is rounding
Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class Answer:
    """What was certified, one number for each of READINGS, nan where there is no answer; seconds of
    one question, of the whole curve for dpaudit."""

    found: Array
    wall: float
    cpu: float


@dataclass(frozen=True)
class Task:
    """draw : (rng, n) → (P, Q), (n, d) each. curve : anything with `delta_at` and `epsilon_at`,
    both directions.
    """

    name: str
    text: str
    draw: Draw
    curve: Callable[[], Any]

    def truth(self) -> Array:
        """What READINGS ask for, (6,): δ is the larger direction's; ε, in nats, infinite where the
        loss is.
        """
        curve = self.curve()
        return np.concatenate([curve.delta_at(EPSILON), curve.epsilon_at(DELTA)])


class LaplaceShift:
    """Laplace(1) against the same moved by 1.

    The loss is 1 on a half line, −1 on another and 1 − 2u between, of density e^{−u}/2, so δ(ε) = 1
    − e^{(ε−1)/2}.
    """

    def delta_at(self, epsilon: Array) -> Array:
        return np.asarray(0.0 - np.expm1(0.5 * np.minimum(epsilon - 1.0, 0.0)))

    def epsilon_at(self, delta: Array) -> Array:
        return np.asarray(np.maximum(1.0 + 2.0 * np.log1p(-delta), 0.0))


def _normal(mean: Array, variance: Array) -> Draw:
    """N(0, I) against N(mean, diag(variance))."""

    def draw(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        p, q = rng.standard_normal((2, size, len(mean)))
        return p, mean + np.sqrt(variance) * q

    return draw


def _normal_curve(mean: Array, variance: Array) -> Callable[[], Any]:
    if np.all(variance == 1.0):
        return lambda: exact.PrivacyLoss.gaussian_shift(float(np.linalg.norm(mean))).spectrum(
            EPSILON
        )
    identity = np.eye(len(mean))
    return lambda: exact.PrivacyLoss.gaussian_pair(
        0.0 * mean, identity, mean, np.diag(variance)
    ).spectrum(EPSILON)


def _gaussian(name: str, text: str, mean: Array, variance: Array) -> Task:
    return Task(name, text, _normal(mean, variance), _normal_curve(mean, variance))


def _laplace(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
    return rng.laplace(size=(size, 1)), 1.0 + rng.laplace(size=(size, 1))


_ONE = np.ones(1)
TASKS = (
    _gaussian("T1", "N(0, 1) against N(1, 1)", _ONE, _ONE),
    _gaussian(
        "T2",
        "11 numbers, N(0, I) against N(0.5e₁, 0.97·diag(1/0.85, 1, …, 1))",
        np.r_[0.5, np.zeros(10)],
        0.97 * np.r_[1.0 / 0.85, np.ones(10)],
    ),
    _gaussian("T3", "30 numbers, N(0, I) against N(0, 0.8·I)", np.zeros(30), np.full(30, 0.8)),
    Task("T4", "Laplace(1) against the same moved by 1", _laplace, LaplaceShift),
)
NULL = _gaussian("null", "N(0, 1) against itself", 0.0 * _ONE, _ONE)
