"""DP-SGD with the usual bugs. Each claims what the sound one has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.mechanisms.dp_sgd import DPSGD, Randomness, clipped
from dpaudit.mechanisms.parameters import Count


class _SmallNoise(Randomness):
    def noise(self, number: int) -> Array:
        return super().noise(number) / (self.of.sample_rate * self.rows)


@dataclass(frozen=True)
class NoiseDividedTwice(DPSGD):
    """Noise of the mean gradient, σC/(qn), is added to the sum, which is then divided by qn."""

    sound = False
    summary = "noise not scaled by the batch"
    source = "a common slip: σ off by the batch size"
    randomness = _SmallNoise


@dataclass(frozen=True)
class BatchClipping(DPSGD):
    """The mean gradient of a batch is clipped in place of each row's gradient."""

    sound = False
    summary = "clipping per batch"
    source = "a common slip: a library's clipping of the batch's gradient"

    def total(self, gradients: Array) -> Array:
        """The clipped mean times the batch size."""
        size = max(len(gradients), 1)
        return size * clipped(gradients.sum(axis=0, keepdims=True) / size, self.clip)[0]


@dataclass(frozen=True)
class NoClipping(DPSGD):
    """Gradients are not clipped."""

    sound = False
    summary = "clipping missing"
    source = "a common slip: the norm is taken to be bounded"

    def total(self, gradients: Array) -> Array:
        return np.asarray(gradients.sum(axis=0))


class _Shuffled(Randomness):
    def batch(self, number: int) -> np.ndarray:
        epoch = int(np.ceil(1.0 / self.of.sample_rate - 1e-9))
        if number % epoch == 0:
            self.dealt = self.rng.permutation(self.rows) % epoch
        return np.asarray(self.dealt == number % epoch)


@dataclass(frozen=True)
class ShuffledBatches(DPSGD):
    """Rows are shuffled in each epoch of ⌈1/q⌉ steps and dealt to batches of equal size.

    The claim is that of Poisson sampling.
    """

    sound = False
    summary = "shuffling claimed as Poisson sampling"
    source = "Chua et al. 2024, how private are DP-SGD implementations?"
    randomness = _Shuffled


class _NoiselessEnd(Randomness):
    def noise(self, number: int) -> Array:
        noise = super().noise(number)
        return noise if number < self.of.steps - 1 else np.zeros_like(noise)


@dataclass(frozen=True)
class NoiselessLastStep(DPSGD):
    """The last step has no noise."""

    sound = False
    summary = "last step without noise"
    source = "a common slip: a flush of gradients after the private loop"
    randomness = _NoiselessEnd


class _CachedNoise(Randomness):
    def noise(self, number: int) -> Array:
        if number % self.of.kept == 0:
            self.last = super().noise(number)
        return self.last


@dataclass(frozen=True)
class ReusedStepNoise(DPSGD):
    """Noise is drawn anew every `kept` steps only, as if they were parts of one step."""

    kept: Count = 4
    sound = False
    summary = "noise reused over accumulation steps"
    source = "a common slip: noise cached with the accumulated gradient"
    randomness = _CachedNoise


BROKEN_DPSGD: tuple[type[DPSGD], ...] = (
    NoiseDividedTwice,
    BatchClipping,
    NoClipping,
    ShuffledBatches,
    NoiselessLastStep,
    ReusedStepNoise,
)
