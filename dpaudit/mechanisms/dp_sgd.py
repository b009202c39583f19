"""DP-SGD for logistic and linear regression (Abadi et al. 2016), with a callback for each step."""

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
from dpaudit._core.value import value_class
from dpaudit.curves.accountant import SampledGaussian
from dpaudit.curves.claims import Claim
from dpaudit.curves.renyi import ORDERS, sampled_gaussian
from dpaudit.errors import NoExactSpectrum
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive, check_fields, one_of
from dpaudit.neighbours import NeighbourPair

RESIDUAL: dict[str, Callable[[Array], Array]] = {
    "logistic": lambda score: np.asarray(expit(score)),
    "linear": lambda score: score,
}
# a row of zeros has no gradient, as a row that is not there
CHANGES = {"zero-out": "remove", "remove": "remove", "add": "add", "replace": "replace"}
Loss = Annotated[str, one_of(*RESIDUAL)]


@value_class
class Step:
    """The record of one training step that an observer gets.

    number : the number of the step, from 0. gradients : (n, p), the unclipped gradients of all rows
    before the step. included : (n,), whether each row is in the batch. noisy_sum : (p,), the sum of
    the batch's clipped gradients plus noise. clip : the clipping norm C.
    """

    number: int
    gradients: Array
    included: np.ndarray
    noisy_sum: Array
    clip: float

    def canary(self, row: int | ArrayLike) -> dict[str, Any]:
        """The keyword arguments of `StepAudit.update` for one canary row, or for m rows at once.

        row : the index of the row, or (m,) of them; each value is then a scalar or (m,).
        projection : the noisy sum along the row's gradient, in units of C. included : whether the
        row is in the batch. known : the projection of the batch's other rows, correctly clipped.
        shift : what the row adds if it is in the batch. noise : (p,), the noisy sum less the sum of
        the batch, correctly clipped, in units of C.
        """
        row = np.asarray(row)
        own = self.gradients[row]
        direction = own / np.maximum(np.linalg.norm(own, axis=-1, keepdims=True), 1e-300)
        each = clipped(self.gradients, self.clip)
        shift, batch = np.sum(each[row] * direction, axis=-1), each[self.included].sum(axis=0)
        return {
            "projection": direction @ self.noisy_sum / self.clip,
            "included": self.included[row],
            "known": (direction @ batch - shift * self.included[row]) / self.clip,
            "shift": shift / self.clip,
            "noise": (self.noisy_sum - batch) / self.clip,
        }


Watch = Callable[[Step], object]


@dataclass(eq=False, repr=False)
class Run:
    """The state of one training run on a database of `rows` rows and `features` features.

    memory : whatever a broken version keeps from one step to the next.
    """

    rows: int
    features: int
    rng: np.random.Generator
    memory: Any = None


@value_class(show_numbers=True, eq=True)
class DPSGD:
    """Gradient descent on Poisson samples with clipped gradients and Gaussian noise.

    Training starts from zero weights. Each step takes every row with probability q = `sample_rate`,
    clips its gradient to norm C, adds N(0, σ²C²) with σ = `noise_multiplier` to each coordinate of
    the sum, and divides by qn. The number n of rows is public: the same for both databases.

    Data: (n, p + 1), the label last; 0 or 1 for the logistic loss. Output: (size, p) weights.

    Parameters
    ----------
    steps : int, default 200
        The number of steps.
    sample_rate : float in (0, 1), default 0.1
        The probability q that a row is in a batch.
    noise_multiplier, clip : float > 0, default 1
        σ, and the clipping norm C.
    learning_rate : float > 0, default 0.1
        The factor of each step.
    loss : {"logistic", "linear"}, default "logistic"
        The loss that is minimised.
    claimed_delta : float in (0, 1), default 1e-5
        δ of the claim, which is about adding or removing a row.
    rows : int, optional
        The public number n; by default the number of rows of the data, so that an added or removed
        row shows in it, and only zeros in its place keep the claim.

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
    rows: Count | None = None
    sound: ClassVar[bool] = True
    summary: ClassVar[str] = "DP-SGD with Poisson sampling"
    source: ClassVar[str] = "Abadi et al. 2016, algorithm 1"

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def parameters(self) -> dict[str, Any]:
        """The parameters as a dict from name to value."""
        return dataclasses.asdict(self)

    @cached_property
    def claim(self) -> Claim:
        """(ε, δ)-DP with δ = `claimed_delta` and ε by Rényi accounting (Mironov et al. 2019)."""
        values = self.steps * sampled_gaussian(ORDERS, self.sample_rate, self.noise_multiplier)
        epsilon = Claim.rdp(ORDERS, values).epsilon_at(self.claimed_delta)
        return Claim(float(epsilon), self.claimed_delta)

    def upper_curve(self, pair: NeighbourPair) -> SampledGaussian:
        """The upper bound of δ(ε) that an accountant gives for a pair, whatever its rows are.

        Raises `NoExactSpectrum` for a version that changes a step, for a pair that does not differ
        in one row, and where the pair changes the number n.
        """
        use = "use dpaudit.audit, or watch the steps by dpaudit.StepAudit"
        if type(self) is not DPSGD:
            raise NoExactSpectrum(f"no accountant knows the steps of {self.name}; {use}")
        if pair.relation not in CHANGES:
            raise NoExactSpectrum(
                "the accountant's curve of DPSGD is of one row zeroed, removed, added or "
                f"replaced, and this pair has the relation {pair.relation!r}; {use}"
            )
        if self.rows is None and len(pair.left) != len(pair.right):
            raise NoExactSpectrum(
                "DPSGD divides by the number of rows, which this pair changes; give the public "
                "number, DPSGD(rows=...), or take dpaudit.neighbours.zero_row"
            )
        change = CHANGES[pair.relation]
        return SampledGaussian(self.sample_rate, self.noise_multiplier, self.steps, change)

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> Array:
        """Train `size` times independently on `data` (n, p + 1); returns the weights, (size, p)."""
        generator = as_generator(rng)
        size = check.integer("size", size, 1)
        return np.stack([self.train(data, rng=generator) for _ in range(size)])

    def train(self, data: ArrayLike, *, rng: RngLike = None, watch: Watch | None = None) -> Array:
        """Train once on `data` (n, p + 1), the label last; returns the weights, (p,).

        Parameters
        ----------
        data, rng : array, and seed or Generator
            The database, and the source of randomness.
        watch : callable, optional
            Called with each `Step` before the weights change; its return value is ignored.
        """
        table = check.matrix("data", data, 1, 2)
        features, labels = table[:, :-1], table[:, -1]
        if self.loss == "logistic" and not np.isin(labels, (0.0, 1.0)).all():
            fail("data", Words("other labels"), "rows with a last entry of 0 or 1")
        run = Run(len(table), features.shape[1], as_generator(rng))
        weights, public = np.zeros(features.shape[1]), self.rows or len(table)
        for number in range(self.steps):
            residual = RESIDUAL[self.loss](features @ weights) - labels
            gradients = residual[:, None] * features
            included = self.batch(number, run)
            noisy = self.total(gradients[included]) + self.noise(number, run)
            if watch is not None:
                watch(Step(number, gradients, included, noisy, self.clip))
            weights = weights - self.learning_rate * noisy / (self.sample_rate * public)
        return weights

    def batch(self, number: int, run: Run) -> np.ndarray:
        """Draw the batch of a step: whether each row is in it, (n,)."""
        return run.rng.random(run.rows) < self.sample_rate

    def noise(self, number: int, run: Run) -> Array:
        """Draw the noise on the sum of a step's clipped gradients, (p,)."""
        return self.noise_multiplier * self.clip * run.rng.standard_normal(run.features)

    def total(self, gradients: Array) -> Array:
        """The sum (p,) of a batch's gradients (b, p) after each of them is clipped to norm C."""
        return np.asarray(clipped(gradients, self.clip).sum(axis=0))


def clipped(gradients: Array, clip: float) -> Array:
    """The gradients (b, p), with those longer than `clip` scaled down to this norm."""
    norm = np.linalg.norm(gradients, axis=1, keepdims=True)
    return np.asarray(gradients * np.minimum(1.0, clip / np.maximum(norm, 1e-300)))


# --- common bugs; each broken version claims the privacy of the sound one


@value_class(show_numbers=True, eq=True)
class NoiseDividedTwice(DPSGD):
    """Add the noise of the mean gradient, σC/(qn), to the sum, which is then divided by qn."""

    sound = False
    summary = "noise not scaled by the batch"
    source = "a common slip: σ off by the batch size"

    def noise(self, number: int, run: Run) -> Array:
        return super().noise(number, run) / (self.sample_rate * run.rows)


@value_class(show_numbers=True, eq=True)
class BatchClipping(DPSGD):
    """Clip the mean gradient of a batch instead of each row's gradient."""

    sound = False
    summary = "clipping per batch"
    source = "a common slip: a library's clipping of the batch's gradient"

    def total(self, gradients: Array) -> Array:
        """The clipped mean gradient times the batch size, (p,)."""
        size = max(len(gradients), 1)
        return size * clipped(gradients.sum(axis=0, keepdims=True) / size, self.clip)[0]


@value_class(show_numbers=True, eq=True)
class NoClipping(DPSGD):
    """Do not clip gradients."""

    sound = False
    summary = "clipping missing"
    source = "a common slip: the norm is taken to be bounded"

    def total(self, gradients: Array) -> Array:
        return np.asarray(gradients.sum(axis=0))


@value_class(show_numbers=True, eq=True)
class ShuffledBatches(DPSGD):
    """Shuffle the rows in each epoch of ⌈1/q⌉ steps and split them into batches of equal size.

    The claim assumes Poisson sampling instead.
    """

    sound = False
    summary = "shuffling claimed as Poisson sampling"
    source = "Chua et al. 2024, how private are DP-SGD implementations?"

    def batch(self, number: int, run: Run) -> np.ndarray:
        epoch = int(np.ceil(1.0 / self.sample_rate - 1e-9))
        if number % epoch == 0:
            run.memory = run.rng.permutation(run.rows) % epoch
        return np.asarray(run.memory == number % epoch)


@value_class(show_numbers=True, eq=True)
class NoiselessLastStep(DPSGD):
    """Add no noise in the last step."""

    sound = False
    summary = "last step without noise"
    source = "a common slip: a flush of gradients after the private loop"

    def noise(self, number: int, run: Run) -> Array:
        return super().noise(number, run) * (number < self.steps - 1)


@value_class(show_numbers=True, eq=True)
class ReusedStepNoise(DPSGD):
    """Draw new noise only every `kept` steps, as if these steps were parts of one step."""

    kept: Count = 4
    sound = False
    summary = "noise reused over accumulation steps"
    source = "a common slip: noise cached with the accumulated gradient"

    def noise(self, number: int, run: Run) -> Array:
        if number % self.kept == 0:
            run.memory = super().noise(number, run)
        return np.asarray(run.memory)


BROKEN_DPSGD: tuple[type[DPSGD], ...] = (
    NoiseDividedTwice,
    BatchClipping,
    NoClipping,
    ShuffledBatches,
    NoiselessLastStep,
    ReusedStepNoise,
)
