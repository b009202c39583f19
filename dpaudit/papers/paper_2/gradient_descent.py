"""Noisy gradient descent with cut gradients, the baseline of paper 2 (Avella-Medina, Bradshaw & Loh
2023).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit.curves.claims import Claim
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import GaussianNoise, ShiftRows
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import Sampler
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.algorithm import Algorithm

BLOCK = 1 << 18  # residuals held at a time


@dataclass(frozen=True)
class DPGD(Algorithm):
    """DP-GD: T steps of gradient descent for ridge regression from 0, each row's gradient cut at
    norm c, with noise.

    A step goes by −rate times the average of the cut gradients (xᵀβ − y)x, plus N(0, σ²I), plus λβ.
    Paper 2 names T, c and the rate; σ = 2c√T/(μn) is Avella-Medina, Bradshaw & Loh's, for μ-GDP of
    the whole. That is exact: two rows whose gradients are c and −c at every step use up μ.

    Parameters
    ----------
    mu : μ > 0, of all steps together. steps : T ≥ 1. clip : c > 0. rate : step size > 0. ridge : λ
        ≥ 0.

    Output: (size, d), the last iterate. Raises `InvalidInput`.
    """

    mu: float
    steps: int = 1000
    clip: float = 1.0
    rate: float = 0.1
    ridge: float = 0.0
    summary: ClassVar[str] = (
        "ridge regression by noisy gradient descent, gradients cut (paper 2's baseline)"
    )
    paper: ClassVar[int] = 2
    box: ClassVar[str] = "section 6, DP-GD (Avella-Medina et al. 2023)"
    claimed: ClassVar[str] = "μ-GDP"
    relation: ClassVar[str] = "replace"
    unknown: ClassVar[str] = (
        "cut gradients are not linear in the noise of the steps before; one step has one"
    )

    def __post_init__(self) -> None:
        for name in ("mu", "clip", "rate"):
            check.real(name, getattr(self, name), 0.0, open_=True)
        check.integer("steps", self.steps, 1)
        check.real("ridge", self.ridge, 0.0)

    @property
    def claim(self) -> Claim:
        return Claim.gdp(self.mu)

    def law(self, data: Array) -> GaussianNoise:
        """Of one step."""
        self._known()
        mean = -self.rate * self._first(data).mean(axis=0)
        return GaussianNoise(mean, np.full_like(mean, self.rate * self._sigma(len(data))))

    def zeroed_rows(self, data: Array) -> ShiftRows:
        return self.replaced_rows(data, np.zeros((1, np.shape(data)[1])))

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        self._known()
        old, new = self._first(data), self._first(candidates)

        def change(rows: slice) -> Array:
            return np.sqrt(
                sum((u - v[:, None]) ** 2 for v, u in zip(old[rows].T, new.T, strict=True))
            )

        return ShiftRows(
            replacement.over_pairs(data, candidates, change) / (len(data) * self._sigma(len(data)))
        )

    def prepare(self, data: Array) -> Sampler:
        data = check.matrix("data", data, min_columns=2)
        if self.steps == 1:
            return self.law(data).sample
        features, label = data[:, :-1], data[:, -1]
        length = np.linalg.norm(features, axis=1)

        def sample(size: int, rng: np.random.Generator) -> Array:
            blocks = [
                self._descend(features, label, length, count, rng)
                for count in _blocks(size, len(data))
            ]
            return np.concatenate(blocks)

        return sample

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.prepare(data)(size, rng)

    def _descend(
        self, features: Array, label: Array, length: Array, size: int, rng: np.random.Generator
    ) -> Array:
        coef = np.zeros((size, features.shape[1]))
        sigma = self._sigma(len(label))
        bound = np.divide(self.clip, length, out=np.full_like(length, np.inf), where=length > 0.0)
        for _ in range(self.steps):
            pull = np.clip(coef @ features.T - label, -bound, bound)
            step = pull @ features / len(label) + sigma * rng.standard_normal(coef.shape)
            coef -= self.rate * (step + self.ridge * coef)
        return coef

    def _first(self, data: Array) -> Array:
        """The rows' cut gradients at 0, (n, d): (xᵀβ − y)x has norm |residual|·‖x‖."""
        data = check.matrix("data", data, min_columns=2)
        length = np.linalg.norm(data[:, :-1], axis=1)
        bound = np.divide(self.clip, length, out=np.full_like(length, np.inf), where=length > 0.0)
        return np.asarray(np.clip(-data[:, -1], -bound, bound)[:, None] * data[:, :-1])

    def _sigma(self, rows: int) -> float:
        from dpaudit.papers import printed

        return printed.gradient_descent_sigma(self.clip, rows, self.mu, self.steps)

    def _known(self) -> None:
        if self.steps > 1:
            raise NoExactSpectrum(
                f"{self.name} has no exact spectrum: {self.unknown}; use dpaudit.audit"
            )

    def pair(self) -> NeighbourPair:
        """One feature, two rows, labels so large that the first row's gradient is c or −c at every
        step: all of μ.
        """
        reach = self.rate * self.steps * self.clip * (1.0 + 20.0 / self.mu)
        label = 2.0 * (self.clip + reach)
        return replace_row(np.array([[1.0, label], [0.0, 0.0]]), 0, np.array([1.0, -label]))


def _blocks(size: int, numbers: int) -> Iterator[int]:
    step = max(1, BLOCK // numbers)
    return (min(step, size - start) for start in range(0, size, step))
