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
from dpaudit.curves.accountant import SAMPLES, SampledGaussian
from dpaudit.curves.claims import Claim
from dpaudit.curves.renyi import ORDERS, sampled_gaussian
from dpaudit.errors import NoExactSpectrum
from dpaudit.mechanisms.base import example
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive, check_fields, one_of
from dpaudit.neighbours import NeighbourPair

RESIDUAL: dict[str, Callable[[Array], Array]] = {
    "logistic": lambda score: np.asarray(expit(score)),
    "linear": lambda score: score,
}
# in Poisson samples a row of zeros, which has no gradient, is as a row that is not there
CHANGES = {"zero-out": "remove", "remove": "remove", "add": "add", "replace": "replace"}
Loss = Annotated[str, one_of(*RESIDUAL)]
Sampling = Annotated[str, one_of(*SAMPLES)]


@value_class
class Step:
    """The record of one training step that an observer gets.

    number : the number of the step, from 0. features : (n, p), all rows without labels. gradients :
    (n, p), their unclipped gradients before the step. included : (n,), whether each row is in the
    batch. noisy_sum : (p,), the sum of the batch's clipped gradients plus noise. clip : the
    clipping norm C.
    """

    number: int
    features: Array
    gradients: Array
    included: np.ndarray
    noisy_sum: Array
    clip: float

    def canary(self, row: int | ArrayLike) -> dict[str, Any]:
        """The keyword arguments of `StepAudit.update` for one canary row, or for m rows at once.

        row : the index of the row, or (m,) of them; each value is then a scalar or (m,).
        projection : the noisy sum along the row's gradient, in units of C; along its features,
        which are parallel, where the gradient is zero. included : whether the row is in the batch.
        known : the projection of the batch's other rows, correctly clipped. shift : what the row
        adds if it is in the batch. noise : (p,), the noisy sum less the sum of the batch, correctly
        clipped, in units of C.
        """
        row = np.asarray(row)
        own = self.gradients[row]
        direction = _unit(np.where(own.any(axis=-1, keepdims=True), own, self.features[row]))
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
    """The state of one training run: features (n, p), labels (n,), the present weights (p,).

    memory : whatever a broken version keeps from one step to the next.
    """

    features: Array
    labels: Array
    weights: Array
    rng: np.random.Generator
    memory: Any = None

    @property
    def rows(self) -> int:
        return len(self.labels)


@value_class(show_numbers=True, eq=True)
class DPSGD:
    """Gradient descent on random samples with clipped gradients and Gaussian noise.

    Training starts from zero weights. Each step takes every row with probability q = `sample_rate`,
    clips its gradient to norm C, adds N(0, σ²C²) with σ = `noise_multiplier` to each coordinate of
    the sum, and divides by qn. The number n of rows is public: the same for both databases.
    `StepAudit` watches Poisson samples.

    Data: (n, p + 1), the label last; 0 or 1 for the logistic loss. Output: (size, p) weights.

    sample_rate, noise_multiplier, clip : q in (0, 1), the probability that a row is in a batch,
    σ > 0, and C > 0. loss : "logistic" or "linear". claimed_delta : δ of the claim, which is about
    adding or removing a row. rows : the public number n; by default the number of rows of the data,
    so that an added or removed row shows in it, and only zeros in its place keep the claim.
    sampling : "poisson", each row by itself, or "fixed", ⌊qn⌋ rows, at least one, without
    replacement. A row that leaves lets another one into its place then, which moves the sum by up
    to 2C, so the claim is that of half the noise. Source: Abadi et al. 2016, algorithm 1.
    """

    steps: Count = 200
    sample_rate: BelowOne = 0.1
    noise_multiplier: Positive = 1.0
    clip: Positive = 1.0
    learning_rate: Positive = 0.1
    loss: Loss = "logistic"
    claimed_delta: BelowOne = 1e-5
    rows: Count | None = None
    sampling: Sampling = "poisson"
    sound: ClassVar[bool] = True
    summary: ClassVar[str] = "DP-SGD with Poisson sampling"
    source: ClassVar[str] = "Abadi et al. 2016, algorithm 1"

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def name(self) -> str:
        return type(self).__name__

    def parameters(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @cached_property
    def claim(self) -> Claim:
        """(ε, δ)-DP with δ = `claimed_delta` and ε by Rényi accounting (Mironov et al. 2019)."""
        noise = self.noise_multiplier / (2.0 if self.sampling == "fixed" else 1.0)
        values = self.steps * sampled_gaussian(ORDERS, self.sample_rate, noise)
        epsilon = Claim.rdp(ORDERS, values).epsilon_at(self.claimed_delta)
        return Claim(float(epsilon), self.claimed_delta)

    def upper_curve(self, pair: NeighbourPair) -> SampledGaussian:
        """The upper bound of δ(ε) that an accountant gives for a pair, whatever its rows are.

        Raises `NoExactSpectrum` for a version that changes a step, for a pair that does not differ
        in one row, where the pair changes the number n, and for a zeroed row in samples of a fixed
        size.
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
        change, rate = CHANGES[pair.relation], self.sample_rate
        if self.sampling == "fixed":
            sizes, batch = (len(pair.left), len(pair.right)), self.fixed_size(len(pair.left))
            if pair.relation == "zero-out" or batch > min(sizes):
                raise NoExactSpectrum(
                    "no accountant knows a zeroed row in samples of a fixed size, nor samples "
                    f"larger than the data (here {batch} of {min(sizes)} rows); take "
                    "dpaudit.neighbours.replace_row or remove_row, or sampling='poisson'"
                )
            rate = batch / max(sizes)
        return SampledGaussian(
            rate, self.noise_multiplier, self.steps, change, sampling=self.sampling
        )

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> Array:
        """Train `size` times independently on `data` (n, p + 1); the weights, (size, p)."""
        generator = as_generator(rng)
        size = check.integer("size", size, 1)
        return np.stack([self.train(data, rng=generator) for _ in range(size)])

    def train(self, data: ArrayLike, *, rng: RngLike = None, watch: Watch | None = None) -> Array:
        """Train once on `data` (n, p + 1), the label last; the weights, (p,).

        watch : called with each `Step` before the weights change; its return value is ignored.
        """
        table = check.matrix("data", data, 1, 2)
        features, labels = table[:, :-1], table[:, -1]
        if self.loss == "logistic" and not np.isin(labels, (0.0, 1.0)).all():
            fail("data", Words("other labels"), "rows with a last entry of 0 or 1")
        run = Run(features, labels, np.zeros(features.shape[1]), as_generator(rng))
        for number in range(self.steps):
            gradients = self.gradients(features, labels, run.weights)
            included = self.batch(number, run)
            noisy = self.noisy_sum(number, gradients, included, run)
            if watch is not None:
                watch(Step(number, features, gradients, included, noisy, self.clip))
            step = self.learning_rate * noisy / self.batch_size(run)
            run.weights = run.weights - step
        return run.weights

    def batch_size(self, run: Run) -> float:
        """The expected size qn of a batch, by which the noisy sum is divided."""
        return self.sample_rate * (self.rows or run.rows)

    def gradients(self, features: Array, labels: Array, weights: Array) -> Array:
        """The gradient of each row's loss, (n, p), from features (n, p) and labels (n,)."""
        residual = RESIDUAL[self.loss](features @ weights) - labels
        return np.asarray(residual[:, None] * features)

    def noisy_sum(self, number: int, gradients: Array, included: np.ndarray, run: Run) -> Array:
        """What moves the weights, (p,), before it is divided by the expected size of a batch.

        gradients : (n, p), of all rows. included : (n,), whether each row is in the batch.
        """
        return self.total(gradients[included]) + self.noise(number, run)

    def batch(self, number: int, run: Run) -> np.ndarray:
        """Whether each row is in the batch of a step, (n,)."""
        if self.sampling == "fixed":
            return np.asarray(run.rng.permutation(run.rows) < self.fixed_size(run.rows))
        return run.rng.random(run.rows) < self.sample_rate

    def fixed_size(self, rows: int) -> int:
        """⌊qn⌋, at least 1, but for the rounding of floats."""
        return max(int(self.sample_rate * (self.rows or rows) * (1.0 + 1e-12)), 1)

    def noise(self, number: int, run: Run) -> Array:
        """The noise on the sum of a step's clipped gradients, (p,)."""
        return self.noise_multiplier * self.clip * run.rng.standard_normal(run.weights.size)

    def total(self, gradients: Array) -> Array:
        """The sum (p,) of a batch's gradients (b, p) after each of them is clipped to norm C."""
        return np.asarray(clipped(gradients, self.clip).sum(axis=0))


def clipped(gradients: Array, clip: float) -> Array:
    """The gradients (b, p), with those longer than `clip` scaled down to this norm."""
    norm = np.linalg.norm(gradients, axis=1, keepdims=True)
    return np.asarray(gradients * np.minimum(1.0, clip / np.maximum(norm, 1e-300)))


def _unit(vectors: Array) -> Array:
    """The vectors (..., p) with norm 1, also where their squares would underflow; zeros stay."""
    size = np.abs(vectors).max(axis=-1, keepdims=True)
    scaled = vectors / np.where(size > 0.0, size, 1.0)
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=-1, keepdims=True), 1.0))


# --- common bugs; each broken version claims the privacy of the sound one


@example("a common slip: σ off by the batch size", sound=False)
class NoiseDividedTwice(DPSGD):
    """Add the noise of the mean gradient, σC/(qn), to the sum, which is then divided by qn."""

    summary = "noise not scaled by the batch"

    def noise(self, number: int, run: Run) -> Array:
        return super().noise(number, run) / self.batch_size(run)


@example("a common slip: a library's clipping of the batch's gradient", sound=False)
class BatchClipping(DPSGD):
    """Clip the mean gradient of a batch instead of each row's gradient."""

    summary = "clipping per batch"

    def total(self, gradients: Array) -> Array:
        size = max(len(gradients), 1)
        return size * clipped(gradients.sum(axis=0, keepdims=True) / size, self.clip)[0]


@example("a common slip: the norm is taken to be bounded", sound=False)
class NoClipping(DPSGD):
    """Do not clip gradients."""

    summary = "clipping missing"

    def total(self, gradients: Array) -> Array:
        return np.asarray(gradients.sum(axis=0))


@example("Chua et al. 2024, how private are DP-SGD implementations?", sound=False)
class ShuffledBatches(DPSGD):
    """Shuffle the rows in each epoch of ⌈1/q⌉ steps and split them into batches of equal size.

    The claim assumes Poisson sampling instead.
    """

    summary = "shuffling claimed as Poisson sampling"

    def batch(self, number: int, run: Run) -> np.ndarray:
        epoch = int(np.ceil(1.0 / self.sample_rate - 1e-9))
        if number % epoch == 0:
            run.memory = run.rng.permutation(run.rows) % epoch
        return np.asarray(run.memory == number % epoch)


@example("a common slip: a flush of gradients after the private loop", sound=False)
class NoiselessLastStep(DPSGD):
    """Add no noise in the last step."""

    summary = "last step without noise"

    def noise(self, number: int, run: Run) -> Array:
        return super().noise(number, run) * (number < self.steps - 1)


@example("a common slip: noise cached with the accumulated gradient", sound=False)
class ReusedStepNoise(DPSGD):
    """Draw new noise only every `kept` steps, as if these steps were parts of one step."""

    kept: Count = 4
    summary = "noise reused over accumulation steps"

    def noise(self, number: int, run: Run) -> Array:
        if number % self.kept == 0:
            run.memory = super().noise(number, run)
        return np.asarray(run.memory)


@example("jax-privacy, common pitfalls: division by batch size", sound=False)
class RealisedBatchSize(DPSGD):
    """Divide the noisy sum by the number of rows in the batch, which is private."""

    summary = "division by the realised batch size"

    def noisy_sum(self, number: int, gradients: Array, included: np.ndarray, run: Run) -> Array:
        total = super().noisy_sum(number, gradients, included, run)
        return total * self.batch_size(run) / max(int(included.sum()), 1)


@example("a common slip: gradients accumulated, and then clipped", sound=False)
class MicrobatchClipping(DPSGD):
    """Clip the mean gradient of each microbatch of `size` rows instead of each row's gradient."""

    size: Count = 4
    summary = "loss averaged over a microbatch before clipping"

    def total(self, gradients: Array) -> Array:
        parts = [gradients[i : i + self.size] for i in range(0, len(gradients), self.size)]
        means = [part.mean(axis=0) for part in parts]
        return clipped(np.reshape(means, (-1, gradients.shape[1])), self.clip).sum(axis=0)


@example("jax-privacy, common pitfalls: cross-example operations", sound=False)
class BatchNormalisation(DPSGD):
    """Scale each feature to mean 0 and deviation 1 over the batch before gradients are taken."""

    summary = "batch normalisation"

    def noisy_sum(self, number: int, gradients: Array, included: np.ndarray, run: Run) -> Array:
        rows, labels = run.features[included], run.labels[included]
        if len(rows):
            rows = (rows - rows.mean(axis=0)) / np.sqrt(rows.var(axis=0) + 1e-5)
        return self.total(self.gradients(rows, labels, run.weights)) + self.noise(number, run)


@example("jax-privacy, common pitfalls: zero-sized batches", sound=False)
class SkippedEmptyBatch(DPSGD):
    """Skip the step, noise included, if the batch is empty."""

    summary = "empty batches skipped"

    def noisy_sum(self, number: int, gradients: Array, included: np.ndarray, run: Run) -> Array:
        noisy = super().noisy_sum(number, gradients, included, run)
        return noisy * included.any()


@example(
    "jax-privacy, common pitfalls: non-finite gradients; loss scaling of mixed precision",
    sound=False,
)
class SkippedOverflow(DPSGD):
    """Skip the step, noise included, if a gradient times `loss_scale` overflows half precision."""

    loss_scale: Positive = 2.0**15
    summary = "steps with non-finite gradients skipped"

    def noisy_sum(self, number: int, gradients: Array, included: np.ndarray, run: Run) -> Array:
        noisy = super().noisy_sum(number, gradients, included, run)
        with np.errstate(over="ignore"):
            scaled = (self.loss_scale * gradients[included]).astype(np.float16)
        return noisy * np.isfinite(scaled).all()


@example("jax-privacy, common pitfalls: gradient accumulation", sound=False)
class NoisePerMicrobatch(DPSGD):
    """Add a k-th of the noise to each of k accumulated microbatches, which is σ/√k in all."""

    microbatches: Count = 4
    summary = "noise divided among microbatches"

    def noise(self, number: int, run: Run) -> Array:
        return super().noise(number, run) / np.sqrt(self.microbatches)


@example("jax-privacy, common pitfalls: accounting and batch selection mismatch", sound=False)
class FixedSizeBatches(DPSGD):
    """Take qn rows without replacement at each step; the claim assumes Poisson sampling.

    A row that is removed then lets another one into its place, so the sum changes by up to 2C.
    """

    summary = "batches of a fixed size claimed as Poisson sampling"

    def batch(self, number: int, run: Run) -> np.ndarray:
        return np.asarray(run.rng.permutation(run.rows) < self.fixed_size(run.rows))


@example("jax-privacy, common pitfalls: auxiliary information", sound=False)
class ExactTrainingLoss(DPSGD):
    """Release the mean training loss of the final weights beside them. Output: (size, p + 1)."""

    summary = "training loss released without noise"

    def train(self, data: ArrayLike, *, rng: RngLike = None, watch: Watch | None = None) -> Array:
        weights = super().train(data, rng=rng, watch=watch)
        table = np.asarray(data, dtype=np.float64)
        score, label = table[:, :-1] @ weights, table[:, -1]
        squared = 0.5 * (score - label) ** 2
        losses = squared if self.loss == "linear" else np.logaddexp(0.0, score) - label * score
        return np.append(weights, losses.mean())


@example("Abadi et al. 2016, section 3.1, with the median of the private batch itself", sound=False)
class MedianClipping(DPSGD):
    """Clip to the median norm of the batch's gradients, which the claim does not account for."""

    summary = "adaptive clipping unaccounted"

    def noisy_sum(self, number: int, gradients: Array, included: np.ndarray, run: Run) -> Array:
        norms = np.linalg.norm(gradients[included], axis=1)
        clip = float(np.median(norms)) if len(norms) else self.clip
        noise = self.noise(number, run) * clip / self.clip
        return clipped(gradients[included], clip).sum(axis=0) + noise


BROKEN_DPSGD: tuple[type[DPSGD], ...] = tuple(DPSGD.__subclasses__())
