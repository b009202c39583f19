"""Noisy gradient descent with cut gradients, the baseline with which paper 2 compares.

Source: Avella-Medina, Bradshaw & Loh 2023, quoted in paper 2, section 6.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.claims import Claim
from dpaudit.laws import GaussianNoise, ShiftRows
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import Sampler
from dpaudit.mechanisms.parameters import Count, NonNegative, Positive
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.algorithm import ReplacementAlgorithm
from dpaudit.papers.printed import gradient_descent_sigma

BLOCK = 1 << 18  # residuals held at a time


@value_class(show_numbers=True, eq=True)
class DPGD(ReplacementAlgorithm):
    """DP-GD: T noisy gradient steps from 0 for ridge regression, each row's gradient cut at norm c.

    A step is −`rate` times the sum of three terms: the average of the cut gradients (xᵀβ − y)x,
    N(0, σ²I), and λβ. Paper 2 specifies T = `steps`, c = `clip`, the rate and λ = `ridge`. The
    noise σ = 2c√T/(μn) of Avella-Medina, Bradshaw & Loh makes all steps together μ-GDP, where
    μ = `mu` > 0. This is exact: two rows whose gradients are c and −c at every step attain μ.
    Output: (size, d), the last iterate.
    """

    mu: Positive
    steps: Count = 1000
    clip: Positive = 1.0
    rate: Positive = 0.1
    ridge: NonNegative = 0.0
    regression = True
    summary = "ridge regression by noisy gradient descent, gradients cut (paper 2's baseline)"
    paper = 2
    statement = "section 6, DP-GD (Avella-Medina et al. 2023)"
    claimed = "μ-GDP"
    relation = "replace"
    unknown = "cut gradients are not linear in the noise of the steps before; one step has one"

    @property
    def claim(self) -> Claim:
        return Claim.gdp(self.mu)

    def law(self, data: Array) -> GaussianNoise:
        if self.steps > 1:
            raise self.no_exact_spectrum()
        mean = -self.rate * self._first(data).mean(axis=0)
        return GaussianNoise(mean, np.full_like(mean, self.rate * self._sigma(len(data))))

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        if self.steps > 1:
            raise self.no_exact_spectrum()
        old, new = self._first(data), self._first(candidates)

        def change(rows: slice) -> Array:
            axes = zip(old[rows].T, new.T, strict=True)
            return np.sqrt(sum((u - v[:, None]) ** 2 for v, u in axes))

        noise = len(data) * self._sigma(len(data))
        return ShiftRows(replacement.over_pairs(data, candidates, change) / noise)

    def prepare(self, data: Array) -> Sampler:
        data = check.matrix("data", data, min_columns=2)
        if self.steps == 1:
            return self.law(data).sample
        features, label = data[:, :-1], data[:, -1]
        step = max(1, BLOCK // len(data))

        def sample(size: int, rng: np.random.Generator) -> Array:
            counts = [min(step, size - start) for start in range(0, size, step)]
            return np.concatenate([self._descend(features, label, count, rng) for count in counts])

        return sample

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.prepare(data)(size, rng)

    def _descend(self, features: Array, label: Array, size: int, rng: np.random.Generator) -> Array:
        coef = np.zeros((size, features.shape[1]))
        sigma, bound = self._sigma(len(label)), self._residual_bound(features)
        for _ in range(self.steps):
            pull = np.clip(coef @ features.T - label, -bound, bound)
            step = pull @ features / len(label) + sigma * rng.standard_normal(coef.shape)
            coef -= self.rate * (step + self.ridge * coef)
        return coef

    def _first(self, data: Array) -> Array:
        """The cut gradients of all rows at β = 0, (n, d). A gradient has norm |residual|·‖x‖."""
        data = check.matrix("data", data, min_columns=2)
        bound = self._residual_bound(data[:, :-1])
        return np.asarray(np.clip(-data[:, -1], -bound, bound)[:, None] * data[:, :-1])

    def _residual_bound(self, features: Array) -> Array:
        """The |residual| c/‖x‖ above which a row's gradient is cut, (n,)."""
        length = np.linalg.norm(features, axis=1)
        return np.divide(self.clip, length, out=np.full_like(length, np.inf), where=length > 0.0)

    def _sigma(self, rows: int) -> float:
        return gradient_descent_sigma(self.clip, rows, self.mu, self.steps)

    def pair(self) -> NeighbourPair:
        """One feature and two rows; the first row's gradient is always c or −c, which attains μ."""
        reach = self.rate * self.steps * self.clip * (1.0 + 20.0 / self.mu)
        label = 2.0 * (self.clip + reach)
        return replace_row(np.array([[1.0, label], [0.0, 0.0]]), 0, np.array([1.0, -label]))
