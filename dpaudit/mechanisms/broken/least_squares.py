"""Private least squares with a wrong scale, or with one computed from the private data.

Data: (n, p + 1), label last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.laws import Gaussian, GaussianRows
from dpaudit.mechanisms.example import ExampleMechanism
from dpaudit.mechanisms.least_squares import GaussianLS
from dpaudit.mechanisms.parameters import Count, Positive, UpToOne
from dpaudit.mechanisms.scatter import RandomProjection
from dpaudit.neighbours import NeighbourPair


def line_with_outlier(size: float) -> NeighbourPair:
    """24 points about a line, the last one moved by `size`, and the same with that row zeroed."""
    x = np.linspace(-1.0, 1.0, 24)
    data = np.column_stack([np.ones_like(x), x, 0.5 * x + 0.3 * np.cos(7.0 * np.arange(24.0))])
    data[-1, -1] += size
    right = data.copy()
    right[-1] = 0.0
    return NeighbourPair(data, right)


@dataclass(frozen=True)
class SquaredNoiseLS(ExampleMechanism):
    """x_opt + N(0, (σ²)²I) where N(0, σ²I) is meant, σ = Δ√(2 ln(1.25/δ))/ε < 1.

    Output: (size, p).

    Parameters
    ----------
    epsilon, delta : float > 0, nats, and float in (0, 1)
        ε and δ of the claim.
    sensitivity : float > 0
        Δ, a bound on the change of x_opt, which holds for `pair`.
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3
    sensitivity: Positive = 0.05
    sound = False
    source = "paper 1, proposition 2, with σ² for σ"
    summary = "least squares plus Gaussian noise whose deviation is squared"

    def law(self, data: Array) -> Gaussian:
        """Gaussian about the solution, with standard deviation σ²."""
        right = GaussianLS(epsilon=self.epsilon, delta=self.delta, sensitivity=self.sensitivity)
        return GaussianLS(sigma=right.noise**2).law(data)

    def pair(self) -> NeighbourPair:
        """Points about a line; a row is zeroed."""
        return line_with_outlier(0.0)


@dataclass(frozen=True)
class ResidualScaleLS(ExampleMechanism):
    """x_opt + N(0, σ²I) with σ = ‖w‖/n·√(2 ln(1.25/δ))/ε, w the private residuals.

    The spread of the residuals is no public bound on what one row changes, and the noise itself
    depends on the data. Output: (size, p).
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3
    sound = False
    source = "paper 1, proposition 2, with the sensitivity read off the residuals"
    summary = "least squares plus Gaussian noise scaled by the private residuals"

    def law(self, data: Array) -> Gaussian:
        error = least_squares(data).norm / len(data)
        sigma = error * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon
        return GaussianLS(sigma=sigma).law(data)

    def pair(self) -> NeighbourPair:
        """Points about a line with an outlier; its row is zeroed."""
        return line_with_outlier(6.0)


@dataclass(frozen=True)
class RowBoundProjection(ExampleMechanism):
    """(ΠA')ᵀΠA', A' the data padded by w·I, where w is scaled by the largest PRIVATE row norm B.

    w² = 4B²(√(2r ln(4/δ)) + ln(4/δ))/ε. Output: (size, (p + 1)(p + 2)/2).

    Parameters
    ----------
    epsilon : float > 0, nats
        ε of the claim, and through w of the padding.
    delta : float in (0, 1)
        δ of the claim, and through w of the padding.
    rows : int
        r of the sketch.
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3
    rows: Count = 50
    sound = False
    source = "paper 4, algorithm 1, with B read off the data"
    summary = "a padded Gaussian sketch, padded by the largest private row"

    def law(self, data: Array) -> GaussianRows:
        bound, log = float(np.linalg.norm(data, axis=1).max()), math.log(4.0 / self.delta)
        padding = 2.0 * bound * math.sqrt((math.sqrt(2.0 * self.rows * log) + log) / self.epsilon)
        return RandomProjection(self.rows, "gram", padding).law(data)

    def pair(self) -> NeighbourPair:
        """Points about a line, the longest of which is zeroed."""
        return line_with_outlier(1.0)
