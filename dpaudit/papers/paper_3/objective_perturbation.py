"""Objective perturbation (Kifer et al. 2012; paper 3, algorithm 6).

It is logistic regression with a random linear term in the objective.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from dpaudit._core.linalg import cholesky_stack
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws import Density
from dpaudit.mechanisms.parameters import BelowOne, Positive
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers.algorithm import Algorithm, Variant, check_signs, within
from dpaudit.papers.printed import objective_ridge, objective_sigma

STEPS = 2000  # largest number of steps to a minimum; some ten are usual
TOLERANCE = 1e-10  # for the gradient's norm, relative to the norms of the noise and the rows
ROUNDING = 1e-13  # a step may raise the value by this relative amount
NUMBERS = 1 << 21  # largest product of draws and data rows that are computed at a time
REACH, PANELS = 10.0, 400  # the density's grid of b: its end in units of σ, and number of panels


@value_class(show_numbers=True, eq=True)
class ObjectivePerturbation(Algorithm):
    """Release argmin_θ Σ loss(y_i x_iᵀθ) + bᵀθ + Δ‖θ‖²/2 with a random b ~ N(0, σ²I).

    Source: paper 3, algorithm 6. σ = C√(4ε + 8 ln(2/δ))/ε with C = `row_bound`, and Δ = C²/(2ε) is
    2/ε times the loss's largest curvature C²/4. Labels are −1 and 1. The printed factor 1/n does
    not change the minimum. The printed loss −ln(1 + e^{−s}) has the wrong sign, a misprint (class C
    of the findings): it is concave, its minimum misclassifies as many rows as it can, and may jump
    as b changes. The loss of variant="corrected" is ln(1 + e^{−s}).

    Output: (size, p). With variant="corrected" the minimum is unique and exact up to rounding;
    otherwise it is the lowest of the minima reached from both ends of every axis. Each draw takes
    about n·p² operations, since no smaller statistic of the data is sufficient.
    """

    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    variant: Variant = "printed"
    regression = True
    paper = 3
    statement = "algorithm 6, objective perturbation"
    summary = (
        "logistic regression with a random linear term (paper 3, algorithm 6; Kifer et al. 2012)"
    )
    unknown = (
        "its density is known, its spectrum for one feature only (`law`, with relation 'pair')"
    )
    correction = "the sign of the loss"

    @property
    def sigma(self) -> float:
        return objective_sigma(self.row_bound, self.epsilon, self.delta)

    @property
    def ridge(self) -> float:
        return objective_ridge(self.row_bound, self.epsilon)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        signed = _signed(data, self.row_bound)
        problem = Perturbed(signed, self.ridge, 1.0 if self.variant == "corrected" else -1.0)
        noise = self.sigma * rng.standard_normal((size, signed.shape[1]))
        step = max(1, NUMBERS // len(signed))
        parts = (noise[start : start + step] for start in range(0, size, step))
        return np.vstack([problem.minimum(part) for part in parts])

    def law(self, data: Array) -> Density:
        """The law of θ for one feature, corrected: at the minimum b is minus the slope of the other
        terms, so the density is that of N(0, σ²) at this b, times ``|db/dθ|``.
        """
        signed = _signed(data, self.row_bound)
        if self.variant == "printed" or signed.shape[1] > 1:
            raise self.no_exact_spectrum()
        x, ridge, sigma = signed[:, 0], self.ridge, self.sigma

        def log_p(theta: Array) -> Array:
            share = expit(-np.outer(theta, x))
            curvature = ridge + (share * (1.0 - share)) @ x**2
            b = share @ x - ridge * theta
            at_noise = -0.5 * (b / sigma) ** 2 - 0.5 * np.log(2.0 * np.pi) - np.log(sigma)
            return np.asarray(at_noise + np.log(curvature))

        b = np.linspace(REACH * sigma, -REACH * sigma, PANELS + 1)
        ends = Perturbed(signed, ridge, 1.0).minimum(b[:, None])[:, 0]
        return Density(log_p, ends)

    def pair(self) -> NeighbourPair:
        """Rows with the feature C, half with each label; one of them is zeroed.

        About 2/ε rows are enough to cancel the penalty's curvature at θ = 0 in the printed
        objective.
        """
        count = 2 * max(1, round(1.0 / self.epsilon))
        label = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
        return zero_row(np.column_stack([np.full(count, self.row_bound), label]), 0)


@value_class
class Perturbed:
    """The objective sign·Σ ln(1 + e^{−v_iᵀθ}) + bᵀθ + Δ‖θ‖²/2, Δ > 0, for many b at once.

    signed : rows v_i = y_i x_i, (n, p). ridge : Δ. sign : 1, or −1 for the printed loss, which is
    not convex, so that `dpaudit.scoring.models.logistic` cannot stand in.
    """

    signed: Array
    ridge: float
    sign: float

    def minimum(self, noise: Array) -> Array:
        """The minimisers θ, (m, p), for the linear terms b = `noise`, (m, p)."""
        if self.sign > 0.0:
            return self._descend(np.zeros_like(noise), noise)
        far = np.abs(self.signed).sum(axis=0) + np.abs(noise).max(initial=0.0)
        axes = np.eye(noise.shape[1]) * far.max() / self.ridge
        starts = [sign * axis - noise / self.ridge for axis in axes for sign in (1.0, -1.0)]
        minima = np.array([self._descend(start, noise) for start in starts])
        best = np.argmin([self._value(theta, noise) for theta in minima], axis=0)
        return np.asarray(minima[best, np.arange(len(noise))])

    def _descend(self, theta: Array, noise: Array) -> Array:
        """Descend from `theta` (m, p) to minima by Newton's steps; returns the last iterates.

        If the Hessian is not definite or Newton's step raises the value, it takes a gradient step
        that is short enough not to raise the value.
        """
        p = noise.shape[1]
        outer = (self.signed[:, :, None] * self.signed[:, None, :]).reshape(len(self.signed), -1)
        steepest = self.ridge + (
            0.25 * np.linalg.norm(self.signed, 2) ** 2 if self.sign > 0.0 else 0.0
        )
        scale = np.linalg.norm(noise, axis=1) + np.linalg.norm(self.signed, axis=1).sum()
        theta, value, left = theta.copy(), self._value(theta, noise), np.arange(len(noise))
        for _ in range(STEPS):
            share = expit(-theta[left] @ self.signed.T)
            slope = self.ridge * theta[left] + noise[left] - self.sign * share @ self.signed
            rough = np.linalg.norm(slope, axis=1) > TOLERANCE * scale[left]
            left, share, slope = left[rough], share[rough], slope[rough]
            if not len(left):
                break
            curvature = ((share * (1.0 - share)) @ outer).reshape(-1, p, p)
            hessian = self.sign * curvature + self.ridge * np.eye(p)
            _, definite = cholesky_stack(hessian)
            hessian[np.logical_not(definite)] = np.eye(p)
            newton = theta[left] - np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
            reached = self._value(newton, noise[left])
            lower = definite & (reached <= value[left] + ROUNDING * np.abs(value[left]))
            theta[left] = np.where(lower[:, None], newton, theta[left] - slope / steepest)
            value[left[lower]], by_gradient = reached[lower], left[np.logical_not(lower)]
            value[by_gradient] = self._value(theta[by_gradient], noise[by_gradient])
        return theta

    def _value(self, theta: Array, noise: Array) -> Array:
        loss = -log_expit(theta @ self.signed.T).sum(axis=1)
        pull = np.sum(noise * theta + 0.5 * self.ridge * theta**2, axis=1)
        return np.asarray(self.sign * loss + pull)


def _signed(data: Array, row_bound: float) -> Array:
    data = check_signs(data)
    return np.asarray(within(data[:, :-1], row_bound) * data[:, -1:])
