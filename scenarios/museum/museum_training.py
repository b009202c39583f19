"""Faults in private training, re-enacted on one step; `fixed` runs what replaced them.

Data are gradients, a row an example. A step is the sum of clipped gradients with Gaussian noise of
`multiplier` times the clipping norm: 1/multiplier-Gaussian DP for an example added or removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


def _clipped(gradients: Any, norm: float) -> Any:
    """Rows scaled down to the norm where they are longer."""
    return gradients / np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True) / norm, 1)


@dataclass(frozen=True)
class FastClipping:
    """opacus: fast gradient clipping. The engine did not pass its norm on, so examples were clipped
    to 1, the default of the module below it, and the noise was for the norm that was asked for.
    """

    norm: float
    multiplier: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        total = _clipped(data, self.norm if self.fixed else 1.0).sum(axis=0)
        return total + rng.normal(scale=self.multiplier * self.norm, size=(size, data.shape[1]))


@dataclass(frozen=True)
class KerasOptimizer:
    """tensorflow-privacy with Keras in TensorFlow 2: clipping and noise were in the optimizer's
    compute_gradients, which Keras no longer called. Each example is in the step with probability ½.
    """

    norm: float
    multiplier: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        batches = rng.random((size, len(data))) < 0.5
        if not self.fixed:
            return batches @ data / len(data)
        noise = rng.normal(scale=self.multiplier * self.norm, size=(size, data.shape[1]))
        return (batches @ _clipped(data, self.norm) + noise) / len(data)


@dataclass(frozen=True)
class SharedKey:
    """jax's example of private training: one key drew the noise of all parameters, so two of one
    shape got the same noise. The columns are two parameters of equal length.
    """

    norm: float
    multiplier: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        scale, columns = self.multiplier * self.norm, data.shape[1]
        one = rng.normal(scale=scale, size=(size, columns // 2))
        other = rng.normal(scale=scale, size=(size, columns // 2)) if self.fixed else one
        return _clipped(data, self.norm).sum(axis=0) + np.column_stack([one, other])


@dataclass(frozen=True)
class SparseVector:
    """NVFlare's SVTPrivacy: of the weights of an update, `upload` that are above a noisy threshold
    are sent, with noise. Those that were accepted and then not drawn to be sent went out as they
    were; after, all but those sent are 0. Data: (1, d), the update.
    """

    upload: int
    epsilon: float
    variance: float
    gamma: float
    tau: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        return np.array([self._one(data[0].copy(), rng) for _ in range(size)])

    def _one(self, weights: Any, rng: Any) -> Any:
        threshold = self.tau + rng.laplace(scale=2 * self.gamma / self.epsilon)
        second = self.epsilon * (2 * self.upload) ** (2 / 3)
        size = np.abs(np.clip(weights, -self.gamma, self.gamma))
        accepted, left = np.array([], dtype=int), np.arange(len(weights))
        while len(accepted) < self.upload:
            noise = rng.laplace(scale=4 * self.gamma * self.upload / second, size=len(left))
            above = size[left] + noise >= threshold
            accepted, left = np.append(accepted, left[above]), left[~above]
        sent = rng.choice(accepted, size=self.upload)
        noise = rng.laplace(scale=2 * self.gamma / self.variance, size=self.upload)
        noisy = np.clip(weights[sent] + noise, -self.gamma, self.gamma)
        released = np.zeros_like(weights) if self.fixed else weights
        released[left], released[sent] = 0, noisy
        return released
