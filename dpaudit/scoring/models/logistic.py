"""Penalised logistic regression with an offset, by Newton's method: the one solver of all scores.

scikit-learn's takes no offset. With one, the ridge shrinks towards a score that is already good
instead of towards zero, and a few thousand draws can afford a hundred features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from dpaudit._core.types import Array

GAIN_PER_DRAW = 1e-9  # decrease of the mean loss, in nats, at which Newton's method may stop
INTERCEPT_RIDGE = 1e-6  # a draw: keeps the intercept of a perfectly separating regression finite
JITTER = 1e-12  # of the Hessian's trace: repeated features make it singular

Solver = Callable[[Array, Array], Array]  # matrix (k, k), right-hand side (k,) → solution (k,)
Loss = Callable[[Array, Array, Array], float]  # draws of P, of Q and log-odds, each (n,) → nats


def loss_of_counts(p: Array, q: Array, odds: Array) -> float:
    """Σ p log(1 + e^{−s}) + q log(1 + e^{s}).

    The two functions below are the same for rows that are one draw each (q = 1 − p, 0 or 1), but
    for rounding. Rounding decides which of the last, negligible steps are taken, so each score
    keeps its own function: published results stay the same to the last bit.
    """
    return float(p @ np.logaddexp(0.0, -odds) + q @ np.logaddexp(0.0, odds))


def loss_of_draws(p: Array, q: Array, odds: Array) -> float:
    """Σ log(1 + e^{∓s}), − for draws of P."""
    return float(np.sum(np.logaddexp(0.0, np.where(p > 0, -odds, odds))))


def loss_by_likelihood(p: Array, q: Array, odds: Array) -> float:
    """Σ log(1 + e^{s}) − p·s; inaccurate for very large |s|, where the terms cancel."""
    return float(np.logaddexp(0.0, odds).sum() - p @ odds)


def cholesky(matrix: Array, right: Array) -> Array:
    """Solution of a symmetric positive definite linear system."""
    return np.asarray(cho_solve(cho_factor(matrix), right))


def elimination(matrix: Array, right: Array) -> Array:
    """Solution of any regular linear system, by LU factors."""
    return np.asarray(np.linalg.solve(matrix, right))


@dataclass(frozen=True, eq=False, repr=False)
class LogisticProblem:
    """Minimise Σ p log(1 + e^{−s}) + q log(1 + e^{s}) + ½ wᵀRw over w, with s = offset + x·w.

    x : (n, k) features. p, q : (n,) draws of P and of Q that have each row of features.
    ridge : R, (k, k), or its diagonal (k,). offset : (n,) log-odds before any feature counts.
    intercept : the first weight belongs to a column of ones that x does not hold; `ridge` does.
    jitter : what is added to the Hessian's diagonal, in units of its trace.
    loss : how the loss is added up. solver : of the linear system of a Newton step.
    """

    x: Array
    p: Array
    q: Array
    ridge: Array
    offset: Array | float = 0.0
    intercept: bool = False
    jitter: float = 0.0
    loss: Loss = loss_of_counts
    solver: Solver = cholesky

    def odds(self, weights: Array) -> Array:
        """Log-odds s of every row, (n,)."""
        if self.intercept:
            return np.asarray(self.offset + weights[0] + self.x @ weights[1:])
        return np.asarray(self.offset + self.x @ weights)

    def objective(self, weights: Array, odds: Array) -> float:
        """The penalised loss at `weights`, whose log-odds are `odds`, in nats."""
        loss = self.loss(self.p, self.q, odds)
        if self.ridge.ndim == 1:
            return float(loss + 0.5 * self.ridge @ weights**2)
        return float(loss + 0.5 * weights @ self.ridge @ weights)

    def gradient(self, weights: Array, odds: Array) -> Array:
        """Gradient of the objective in `weights`, (k,)."""
        error = (self.p + self.q) * expit(odds) - self.p
        pull = self.ridge * weights if self.ridge.ndim == 1 else self.ridge @ weights
        slope = error @ self.x
        return np.asarray((np.append(error.sum(), slope) if self.intercept else slope) + pull)

    def hessian(self, odds: Array) -> Array:
        """Hessian of the objective, with the jitter added, (k, k)."""
        share = expit(odds)
        curvature = (self.p + self.q) * share * (1.0 - share)
        weighted = self.x * curvature[:, None]
        hessian = weighted.T @ self.x
        if self.intercept:
            border = weighted.sum(axis=0)
            hessian = np.block([[curvature.sum(), border], [border[:, None], hessian]])
        ridge = np.diag(self.ridge) if self.ridge.ndim == 1 else self.ridge
        return np.asarray(hessian + (ridge + self.jitter * np.trace(hessian) * np.eye(len(ridge))))


@dataclass(frozen=True)
class Stop:
    """When Newton's method ends: after `steps`, or a step that gains at most `gain` nats.

    halvings : how often a step that raises the objective is halved before the method gives up.
    """

    gain: float
    steps: int = 25
    halvings: int = 14


@dataclass(frozen=True, eq=False, repr=False)
class Minimum:
    """weights : (k,). objective : at `weights`, nats.

    before : the weights that the last step started from. hessian : at `before`, (k, k).
    """

    weights: Array
    objective: float
    before: Array
    hessian: Array


def newton(problem: LogisticProblem, start: Array, stop: Stop) -> Minimum:
    """The minimum of a regression by damped Newton steps from `start`."""
    weights, odds = start, problem.odds(start)
    value = problem.objective(weights, odds)
    for _ in range(stop.steps):
        before, hessian = weights, problem.hessian(odds)
        step = problem.solver(hessian, problem.gradient(weights, odds))
        for halving in range(stop.halvings + 1):
            weights = before - 0.5**halving * step
            odds = problem.odds(weights)
            after = problem.objective(weights, odds)
            if not after > value:
                break
        if after > value:
            return Minimum(before, value, before, hessian)
        gain, value = value - after, after
        if gain <= stop.gain:
            break
    return Minimum(weights, value, before, hessian)


def fit_ridge(x: Array, label: Array, offset: Array, penalty: float, start: Array) -> Array:
    """Intercept and slopes, (1 + k,), that minimise the loss + penalty/2·‖slopes‖².

    x : (n, k). label : (n,), 1 for P and 0 for Q. offset : (n,) log-odds. start : (1 + k,).
    """
    ridge = np.full(len(start), penalty)
    ridge[0] = INTERCEPT_RIDGE * len(label)
    problem = LogisticProblem(
        x,
        label,
        1 - label,
        ridge,
        offset=offset,
        intercept=True,
        jitter=JITTER,
        loss=loss_of_draws,
    )
    return newton(problem, start, Stop(GAIN_PER_DRAW * len(label))).weights
