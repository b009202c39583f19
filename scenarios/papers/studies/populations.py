"""Where a regression study's databases come from: a model, or random parts of real data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit

from dpaudit import datasets
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.scoring.models.logistic import newton

STEPS, HALVINGS = 50, 40  # of Newton's method, to rounding: convergence takes some ten steps


class Population(Protocol):
    """Draws databases, label last, and gives the coefficient that estimates are compared with."""

    @property
    def title(self) -> str:
        """For the panels and sentences."""
        ...

    @property
    def dim(self) -> int:
        """Number of features."""
        ...

    def sample(self, public: int, rows: int, rng: np.random.Generator) -> Array:
        """(public + rows, d + 1), the public rows first."""
        ...

    def truth(self, private: Array, ridge: float) -> Array:
        """(d,) the coefficient to be estimated from these private rows."""
        ...


@dataclass(frozen=True, eq=False)
class SimulatedModel:
    """Features N(center·1, Ψ) with Ψ_ij = correlation^|i−j|; labels xᵀβ + noise·N(0, 1).

    coef : β, the truth. noise : None for logistic labels, 1 with probability 1/(1 + e^{−xᵀβ}),
    else 0.
    """

    coef: Array
    center: float
    correlation: float
    noise: float | None
    title: str = "simulated"

    @property
    def dim(self) -> int:
        """Number of features."""
        return len(self.coef)

    @property
    def moment(self) -> Array:
        """Σ = Ψ + center²·11ᵀ."""
        return self._covariance + self.center**2

    @property
    def _covariance(self) -> Array:
        place = np.arange(self.dim)
        return np.asarray(float(self.correlation) ** np.abs(place[:, None] - place))

    def sample(self, public: int, rows: int, rng: np.random.Generator) -> Array:
        """(public + rows, d + 1), the public rows first."""
        root = np.linalg.cholesky(self._covariance)
        features = self.center + rng.standard_normal((public + rows, self.dim)) @ root.T
        predictor = features @ self.coef
        if self.noise is None:
            label = (rng.random(len(features)) < expit(predictor)).astype(float)
        else:
            label = predictor + self.noise * rng.standard_normal(len(features))
        return np.column_stack([features, label])

    def truth(self, private: Array, ridge: float) -> Array:
        """β."""
        return self.coef


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a real data set in random order; the truth is the private rows' fit without noise."""

    data: Array
    title: str
    logistic: bool

    @classmethod
    def load(cls, name: str, *, logistic: bool, constant: bool) -> Rows:
        """Columns with mean 0 and deviation 1, except labels 0 and 1.

        constant : add a column of ones. Raises `DataNotFound`.
        """
        found = datasets.load(name, constant=False)
        features = standardised(found.X)
        label = found.y if logistic else standardised(found.y[:, None])[:, 0]
        ones = np.ones((found.n, int(constant)))
        return cls(np.column_stack([ones, features, label]), name, logistic)

    @property
    def dim(self) -> int:
        """Number of features."""
        return self.data.shape[1] - 1

    def sample(self, public: int, rows: int, rng: np.random.Generator) -> Array:
        """(public + rows, d + 1) different rows. Raises `InvalidInput` for more than there are."""
        if public + rows > len(self.data):
            fail("sizes", rows, f"at most {len(self.data) - public} private rows of {self.title}")
        return np.asarray(self.data[rng.permutation(len(self.data))[: public + rows]])

    def truth(self, private: Array, ridge: float) -> Array:
        """The ridge or logistic regression of the private rows."""
        features, label = private[:, :-1], private[:, -1]
        if self.logistic:
            return logistic_fit(features, label, ridge)
        gram = features.T @ features / len(label) + ridge * np.eye(self.dim)
        return np.asarray(np.linalg.solve(gram, features.T @ label / len(label)))


def standardised(columns: Array) -> Array:
    """Columns with mean 0 and deviation 1."""
    return np.asarray((columns - columns.mean(axis=0)) / columns.std(axis=0))


def logistic_fit(features: Array, label: Array, ridge: float) -> Array:
    """(d,) where the mean logistic loss plus ½·ridge·‖β‖² is least; labels 0 and 1."""
    count, zero = len(label), np.zeros(features.shape[1])
    penalty = np.full(len(zero), count * ridge)  # of the sum of losses, not of their mean
    return newton(
        features, label, 1.0 - label, penalty, gain=0.0, steps=STEPS, halvings=HALVINGS
    ).weights
