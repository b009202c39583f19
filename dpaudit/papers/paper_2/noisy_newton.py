"""Noisy Newton steps for generalised linear models: the steps of paper 2's algorithms 3, 4 and 5.

A step releases the Hessian and the gradient of the loss at the last iterate, each with Gaussian
noise. Neighbours have one private row replaced, label included. Given the path each step is a
Gaussian shift, but the path depends on the data: only one step has an exact law.

The noise is part of the algorithm, and a step is taken even where it raises the loss: no plain
Newton solver can replace it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from dpaudit._core import check
from dpaudit._core.triangular import symmetric_matrix
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import GaussianNoise
from dpaudit.mechanisms.base import Sampler
from dpaudit.papers.algorithm import Algorithm
from dpaudit.papers.data import shrunk
from dpaudit.papers.paper_2.truncation import check_privacy

BLOCK = 1 << 19  # linear predictors held at a time
RELEASES = ("coef", "statistics")


@dataclass(frozen=True)
class Family:
    """An exponential family by b' and b'', its mean and variance in the canonical parameter θ.

    moments : θ ↦ (b'(θ), b''(θ)). steepest : θ ≥ 0 with the largest b'', infinite where b'' grows.
    """

    moments: Callable[[Array], tuple[Array, Array]]
    steepest: float

    def largest(self, reach: float) -> tuple[float, float, float]:
        """max b', max |b'| and max b'' over |θ| ≤ reach; b' increases."""
        ends, curve = self.moments(np.array([-reach, reach, min(reach, self.steepest)]))
        return float(ends[1]), float(np.abs(ends[:2]).max()), float(curve.max())


def _logistic(theta: Array) -> tuple[Array, Array]:
    mean = expit(theta)
    return mean, mean * (1.0 - mean)


def _poisson(theta: Array) -> tuple[Array, Array]:
    with np.errstate(over="ignore"):
        mean = np.exp(theta)
    return mean, mean


def _reflected(theta: Array) -> tuple[Array, Array]:
    mean = expit(-theta)
    return -mean, mean * (1.0 - mean)


FAMILIES = {
    "poisson": Family(_poisson, math.inf),  # b = exp θ
    "logistic": Family(_logistic, 0.0),  # b = ln(1 + exp θ)
    "linear": Family(lambda theta: (theta, np.ones_like(theta)), 0.0),  # b = θ²/2
    "reflected": Family(_reflected, 0.0),  # b = ln(1 + exp(−θ)), labels −1 and 0
}


@dataclass(frozen=True, eq=False, repr=False)
class Newton:
    """Noisy Newton steps from 0 for −Σ(y θ − b(θ))/n + ½βᵀ·penalty·β.

    rows : (n, d + 1) as they are cut, label last. steps : T. penalty : (d, d).
    sigmas : of the Hessian's entries on and above the diagonal, and of the gradient's.
    back : (d, d), from an iterate to the coefficient in the data's own coordinates.
    reach : iterates are shrunk to this norm after each step (∞: left alone).
    A Hessian that is singular or overflows makes an iterate NaN.
    """

    rows: Array
    family: Family
    sigmas: tuple[float, float]
    steps: int
    penalty: Array
    back: Array
    reach: float = math.inf

    @property
    def dim(self) -> int:
        """d, the number of features."""
        return self.rows.shape[1] - 1

    def means(self, coef: Array) -> Array:
        """Triangle of the Hessian and gradient without noise, (size, d(d+1)/2 + d).

        coef : (size, d), the points at which they are taken.
        """
        features, label = self.rows[:, :-1], self.rows[:, -1]
        row, column = np.triu_indices(self.dim)
        products = features[:, row] * features[:, column]
        out = np.empty((len(coef), len(row) + self.dim))
        with np.errstate(over="ignore", invalid="ignore"):
            for part in _blocks(len(coef), len(label)):
                slope, curve = self.family.moments(coef[part] @ features.T)
                out[part, : len(row)] = curve @ products
                out[part, len(row) :] = slope @ features
            out[:, len(row) :] -= label @ features
            out /= len(label)
            out[:, : len(row)] += self.penalty[row, column]
            out[:, len(row) :] += coef @ self.penalty
        return out

    @property
    def law(self) -> GaussianNoise:
        """The law of the first step's statistics."""
        mean = self.means(np.zeros((1, self.dim)))[0]
        return GaussianNoise(mean, np.repeat(self.sigmas, [len(mean) - self.dim, self.dim]))

    def path(self, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Iterates from 0, (size, T + 1, d), and each step's noisy statistics, (size, T, k)."""
        first = self.law
        coef = np.zeros((size, self.steps + 1, self.dim))
        seen = np.empty((size, self.steps, first.dim))
        for t in range(self.steps):
            mean = first.mean if t == 0 else self.means(coef[:, t])
            seen[:, t] = mean + first.deviation * rng.standard_normal((size, first.dim))
            coef[:, t + 1] = self._inside(coef[:, t] - self._step(seen[:, t]))
        return coef, seen

    def _step(self, seen: Array) -> Array:
        return _solved(symmetric_matrix(seen[:, : -self.dim], self.dim), seen[:, -self.dim :])

    def _inside(self, coef: Array) -> Array:
        if math.isinf(self.reach):
            return coef
        with np.errstate(invalid="ignore"):
            return shrunk(coef, self.reach)


class NewtonAlgorithm(Algorithm):
    """An algorithm of noisy Newton steps: subclasses give `newton`."""

    regression: ClassVar[bool] = True
    paper: ClassVar[int] = 2
    claimed: ClassVar[str] = "√2·μ-GDP"
    relation: ClassVar[str] = "replace"
    unknown: ClassVar[str] = (
        "later steps are taken where the earlier ones, which saw the data, have led; "
        'one step has one with release="statistics"'
    )

    mu: float
    eta: float
    steps: int
    ridge: float
    release: str

    def newton(self, data: Array) -> Newton:
        """The steps on these data."""
        raise NotImplementedError

    @property
    def claim(self) -> Claim:
        """√2·μ-GDP: μ for the Hessians and μ for the gradients."""
        return Claim.gdp(math.sqrt(2.0) * self.mu)

    def check_newton(self) -> None:
        """Raises `InvalidInput` for a wrong parameter."""
        self.check_variant()
        check_privacy(self.mu, self.eta)
        check.integer("steps", self.steps, 1)
        check.real("ridge", self.ridge, 0.0)
        check.choice("release", self.release, RELEASES)

    def law(self, data: Array) -> GaussianNoise:
        """The law of the statistics of one step. Raises `NoExactSpectrum` for anything else."""
        if self.steps > 1 or self.release != "statistics":
            raise self.no_exact_spectrum()
        return self.newton(data).law

    def prepare(self, data: Array) -> Sampler:
        """The steps on these data."""
        newton = self.newton(check.matrix("data", data, min_columns=2))

        def sample(size: int, rng: np.random.Generator) -> Array:
            parts = []
            for part in _blocks(size, len(newton.rows)):
                coef, seen = newton.path(part.stop - part.start, rng)
                statistics = seen.reshape(len(seen), -1)
                released = self.release == "statistics"
                parts.append(statistics if released else coef[:, -1] @ newton.back)
            return np.concatenate(parts)

        return sample

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Coefficients (size, d), or the statistics of all steps."""
        return self.prepare(data)(size, rng)

    def iterates(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """β after 0, 1, …, T steps in the data's own coordinates, (size, steps + 1, d)."""
        newton = self.newton(check.matrix("data", data, min_columns=2))
        return np.asarray(newton.path(size, rng)[0] @ newton.back)


def _blocks(count: int, numbers: int) -> Iterator[slice]:
    """Slices of range(count), each so short that its numbers fit in BLOCK."""
    step = max(1, BLOCK // numbers)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _solved(matrices: Array, vectors: Array) -> Array:
    """x of matrix·x = vector for each pair, (m, d); NaN for a singular or infinite matrix."""
    fine = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(vectors).all(axis=1)
    out = np.full_like(vectors, np.nan)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            out[fine] = np.linalg.solve(matrices[fine], vectors[fine, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            for i in np.flatnonzero(fine):
                out[i] = _one_solved(matrices[i], vectors[i])
    return out


def _one_solved(matrix: Array, vector: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(matrix, vector))
    except np.linalg.LinAlgError:
        return np.full_like(vector, np.nan)
