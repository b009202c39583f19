"""Where the databases of a regression study come from: a linear or logistic model, or random parts
of real data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit

from dpaudit import datasets
from dpaudit._core.check import Array, fail

FIT_STEPS = 50  # Newton steps of a fit without noise: it has converged long before


class Population(Protocol):
    """Draws databases, label last, and knows the coefficient that an estimate is held against."""

    @property
    def title(self) -> str: ...

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
class Model:
    """Features N(center·1, Ψ) with Ψ_ij = correlation^|i−j|; labels xᵀβ + noise·N(0, 1).

    coef : β, the truth. noise : None for labels that are 1 with chance 1/(1 + e^{−xᵀβ}), else 0.
    """

    coef: Array
    center: float
    correlation: float
    noise: float | None
    title: str = "simulated"

    @property
    def dim(self) -> int:
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
        root = np.linalg.cholesky(self._covariance)
        features = self.center + rng.standard_normal((public + rows, self.dim)) @ root.T
        predictor = features @ self.coef
        if self.noise is None:
            label = (rng.random(len(features)) < expit(predictor)).astype(float)
        else:
            label = predictor + self.noise * rng.standard_normal(len(features))
        return np.column_stack([features, label])

    def truth(self, private: Array, ridge: float) -> Array:
        return self.coef


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a real data set in random order; the truth is the fit to the private ones without
    noise.
    """

    data: Array
    title: str
    logistic: bool

    @classmethod
    def load(cls, name: str, *, logistic: bool, constant: bool) -> Rows:
        """Columns with mean 0 and deviation 1, but for labels 0 and 1; then a column of ones, if
        asked for.

        Raises `DataNotFound`.
        """
        found = datasets.load(name, constant=False)
        features, label = (
            standardised(found.X),
            found.y if logistic else standardised(found.y[:, None])[:, 0],
        )
        ones = np.ones((found.n, int(constant)))
        return cls(np.column_stack([ones, features, label]), name, logistic)

    @property
    def dim(self) -> int:
        return self.data.shape[1] - 1

    def sample(self, public: int, rows: int, rng: np.random.Generator) -> Array:
        if public + rows > len(self.data):
            fail("sizes", rows, f"at most {len(self.data) - public} private rows of {self.title}")
        return np.asarray(self.data[rng.permutation(len(self.data))[: public + rows]])

    def truth(self, private: Array, ridge: float) -> Array:
        features, label = private[:, :-1], private[:, -1]
        if self.logistic:
            return logistic_fit(features, label, ridge)
        gram = features.T @ features / len(label) + ridge * np.eye(self.dim)
        return np.asarray(np.linalg.solve(gram, features.T @ label / len(label)))


def standardised(columns: Array) -> Array:
    """Each column less its mean, over its deviation."""
    return np.asarray((columns - columns.mean(axis=0)) / columns.std(axis=0))


def logistic_fit(features: Array, label: Array, ridge: float) -> Array:
    """(d,) where the mean logistic loss plus ½·ridge·‖β‖² is least: Newton's method, halving steps
    that go up.
    """
    coef = np.zeros(features.shape[1])

    def loss(at: Array) -> float:
        predictor = features @ at
        return float(
            np.mean(np.logaddexp(0.0, predictor) - label * predictor) + 0.5 * ridge * at @ at
        )

    for _ in range(FIT_STEPS):
        mean = expit(features @ coef)
        slope = features.T @ (mean - label) / len(label) + ridge * coef
        curve = (features.T * (mean * (1.0 - mean))) @ features / len(label) + ridge * np.eye(
            len(coef)
        )
        step = np.linalg.solve(curve, slope)
        while loss(coef - step) > loss(coef) and np.abs(step).max() > 1e-12:
            step *= 0.5
        coef = coef - step
    return coef
