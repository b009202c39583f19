"""DP-SGD of a logistic or a linear model (Abadi et al. 2016), whose steps can be watched."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import expit

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.seeds import as_generator
from dpaudit._core.types import Array, ArrayLike, RngLike
from dpaudit.curves.claims import Claim
from dpaudit.curves.renyi import ORDERS, sampled_gaussian
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive, check_fields, one_of

RESIDUAL: dict[str, Callable[[Array], Array]] = {
    "logistic": lambda score: np.asarray(expit(score)),
    "linear": lambda score: score,
}
Loss = Annotated[str, one_of(*RESIDUAL)]


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step as its observer sees it.

    number : the steps are numbered from 0. gradients : (n, p), those of all rows before the step,
    none of them clipped. included : (n,), whether each row is in the batch. noisy_sum : (p,),
    before it is divided. clip : C.
    """

    number: int
    gradients: Array
    included: np.ndarray
    noisy_sum: Array
    clip: float

    def canary(self, row: int | ArrayLike) -> dict[str, Any]:
        """What `StepAudit.update` takes: projection, included and known of one row, or of (m,).

        known : the share of the batch's other rows, clipped as they should be.
        """
        row = np.asarray(row)
        own = self.gradients[row]
        direction = own / np.maximum(np.linalg.norm(own, axis=-1, keepdims=True), 1e-300)
        rest = clipped(self.gradients, self.clip) * self.included[:, None]
        share = np.sum(rest[row] * direction, axis=-1)
        return {
            "projection": direction @ self.noisy_sum / self.clip,
            "included": self.included[row],
            "known": (direction @ rest.sum(axis=0) - share) / self.clip,
        }


Watch = Callable[[Step], object]


@dataclass(eq=False, repr=False)
class Randomness:
    """The batches and the noise of one run on `rows` rows and `features` features."""

    of: Any  # the DPSGD whose run it is
    rows: int
    features: int
    rng: np.random.Generator

    def batch(self, number: int) -> np.ndarray:
        """Whether each row is in the batch of a step, (n,)."""
        return self.rng.random(self.rows) < self.of.sample_rate

    def noise(self, number: int) -> Array:
        """The noise on the sum of a step, (p,)."""
        scale = self.of.noise_multiplier * self.of.clip
        return scale * self.rng.standard_normal(self.features)


@dataclass(frozen=True)
class DPSGD:
    """Gradient descent on Poisson samples with clipped gradients and Gaussian noise.

    Each step takes every row with probability q = `sample_rate`, clips its gradient to norm C, adds
    N(0, σ²C²) to each coordinate of the sum, σ = `noise_multiplier`, and divides by qn. It starts
    from zero weights. n is taken to be public.

    Data: (n, p + 1), the label last; 0 or 1 for the logistic loss. Output: (size, p) weights.

    Parameters
    ----------
    steps : int, default 200
        The number of steps.
    sample_rate : float in (0, 1), default 0.1
        The probability q that a row is in a batch.
    noise_multiplier : float > 0, default 1
        σ.
    clip : float > 0, default 1
        The clipping norm C.
    learning_rate : float > 0, default 0.1
        The factor of each step.
    loss : {"logistic", "linear"}, default "logistic"
        The loss that is minimised.
    claimed_delta : float in (0, 1), default 1e-5
        δ of the claim, which is about adding or removing a row.

    Raises
    ------
    InvalidInput
        When a parameter, or the data of a call, are not as described.

    References
    ----------
    Abadi et al. 2016, algorithm 1.
    """

    steps: Count = 200
    sample_rate: BelowOne = 0.1
    noise_multiplier: Positive = 1.0
    clip: Positive = 1.0
    learning_rate: Positive = 0.1
    loss: Loss = "logistic"
    claimed_delta: BelowOne = 1e-5
    sound: ClassVar[bool] = True
    summary: ClassVar[str] = "DP-SGD with Poisson sampling"
    source: ClassVar[str] = "Abadi et al. 2016, algorithm 1"
    randomness: ClassVar[type[Randomness]] = Randomness

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def parameters(self) -> dict[str, Any]:
        """Parameters by name."""
        return dataclasses.asdict(self)

    @cached_property
    def claim(self) -> Claim:
        """(ε, δ) at `claimed_delta`, from the Rényi divergences of all steps (Mironov et al.
        2019).
        """
        values = self.steps * sampled_gaussian(ORDERS, self.sample_rate, self.noise_multiplier)
        epsilon = Claim.rdp(ORDERS, values).epsilon_at(self.claimed_delta)
        return Claim(float(epsilon), self.claimed_delta)

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> Array:
        """(size, p) weights of independent runs on `data` (n, p + 1)."""
        generator = as_generator(rng)
        size = check.integer("size", size, 1)
        return np.stack([self.train(data, rng=generator) for _ in range(size)])

    def train(self, data: ArrayLike, *, rng: RngLike = None, watch: Watch | None = None) -> Array:
        """Weights of one run.

        Parameters
        ----------
        data : array of shape (n, p + 1)
            The label last.
        rng : seed or Generator, optional
            As `numpy.random.default_rng` takes it.
        watch : callable, optional
            Called with each `Step` before it moves the weights; what it returns is ignored.

        Returns
        -------
        array of shape (p,)
        """
        table = check.matrix("data", data, 1, 2)
        features, labels = table[:, :-1], table[:, -1]
        if self.loss == "logistic" and not np.isin(labels, (0.0, 1.0)).all():
            fail("data", Words("other labels"), "rows with a last entry of 0 or 1")
        generator = as_generator(rng)
        run = self.randomness(self, len(table), features.shape[1], generator)
        weights = np.zeros(features.shape[1])
        for number in range(self.steps):
            residual = RESIDUAL[self.loss](features @ weights) - labels
            gradients = residual[:, None] * features
            included = run.batch(number)
            noisy = self.total(gradients[included]) + run.noise(number)
            if watch is not None:
                watch(Step(number, gradients, included, noisy, self.clip))
            weights = weights - self.learning_rate * noisy / (self.sample_rate * len(table))
        return weights

    def total(self, gradients: Array) -> Array:
        """The sum (p,) of a batch's gradients (b, p), each clipped."""
        return np.asarray(clipped(gradients, self.clip).sum(axis=0))


def clipped(gradients: Array, clip: float) -> Array:
    """Gradients (b, p) scaled down to norm `clip` where they are longer."""
    norm = np.linalg.norm(gradients, axis=1, keepdims=True)
    return np.asarray(gradients * np.minimum(1.0, clip / np.maximum(norm, 1e-300)))
