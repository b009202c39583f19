"""What the hooks of training runs share: canaries, their coins, and the steps.

A hook for another library is a subclass. In each step, before the gradients are clipped, it calls
`_place` with the sizes of the tensors, adds the canaries for which `_flip` says so (at `_entries`,
`LENGTH` clip norms long), and tells `_add` what the batch adds along all canaries. After the noise
it calls `_step` with the noisy sum, and takes the canaries for which that returns 1 out of it
again. `_forget` ends a step that failed. `loop.py` is the shortest example.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.seeds import Purpose, generator, root
from dpaudit._core.types import Array, RngLike
from dpaudit.curves.claims import ClaimLike
from dpaudit.curves.libraries import package
from dpaudit.one_run.step_result import StepResult
from dpaudit.one_run.steps import StepAudit
from dpaudit.verdict.numbers import number

MOST_NOISE = 10_000  # entries of a step's noise that are looked at
ARRIVED = "with the canaries' gradients in it"
DROPPED = "go on with the gradients that the audit returned, and drop none of them"
ROUNDING = 1e-5  # relative, of the sum of a batch
LENGTH = 10.0  # clip norms: a canary's gradient, so that missing clipping shows


class TrainingAudit:
    """An audit of a private training run; `OpacusAudit`, `JaxPrivacyAudit` and `LoopAudit` are it.

    It needs dp-accounting (``pip install "dpaudit[accountant]"``), and says so when it is made.

    A canary is a gradient of its own: ten clip norms long, along one weight, as of an example that
    moves this weight alone. In each step an independent coin of probability `sample_rate` (1/2 with
    full batches) decides whether it is added to the gradients of the batch, before the training
    clips them. After the noise the audit reads the weights' entries of the noisy sum, and takes the
    canaries' clipped gradients out again. So no data are changed, and a run that clips properly
    trains the same model as without the audit, but for rounding. The canaries are spread evenly
    over the tensors of weights.

    Parameters
    ----------
    sample_rate : float in (0, 1]
        The probability that an example is in a step's batch (Poisson sampling); 1 for full batches.
    noise_multiplier : float > 0
        σ: standard deviation of the noise on the sum over the clip norm.
    rows : int ≥ 1, optional
        The number of training examples, where batches are sampled from them. Without it the sizes
        of batches are not tested.
    canaries : int ≥ 1, default 50
        How many canaries.
    level : float in (0, 1), default 0.95
        The confidence of the verdict and of the bound of ε.
    rng : seed or Generator, optional
        As `numpy.random.default_rng` takes it.

    Attributes
    ----------
    steps_audit : StepAudit
        The audit of the steps: `verdict`, `reason` and `e_values` at any time.

    Notes
    -----
    Assumed: the training treats the canaries' gradients as it treats those of examples, and draws
    its noise without regard to them. What `StepAudit.epsilon_at` assumes is assumed too; the shift
    of a canary is read off the sum before noise, where the hook sees it. The sampling of examples
    is tested by the sizes of the batches alone.

    Seen: noise that is too small, missing, or used again in the next step, also in one tensor alone
    if it has a canary; missing clipping, a larger clip norm, clipping of the mean; division by the
    size of the batch; batches of one size, shuffled or partitioned data, and more or fewer
    gradients than sampling gives, as of accumulated or averaged batches.

    Not seen: clipping of each weight or of each tensor by itself to the whole clip norm, because a
    canary moves one weight; noise that is missing on weights without a canary, as on some tensors
    where there are more of them than canaries; noise that is used again much later, or is not
    Gaussian; what happens before the gradients of examples exist, such as batch normalisation
    across examples; what else the training releases, such as losses and metrics without noise; and
    sampling that gives the right sizes of the wrong examples.

    References
    ----------
    Nasr, Hayes, Steinke, Balle, Tramèr, Jagielski, Carlini & Terzis 2023 ("Tight Auditing of
    Differentially Private Machine Learning"), whose canaries have a gradient of their own.
    """

    subject = "audit"  # of errors: the argument that should have been told
    advice = "pass every step to the audit"
    units = ""  # what to do where the sum seems to be a mean; "" where the hook knows the divisor

    def __init__(
        self,
        *,
        sample_rate: float,
        noise_multiplier: float,
        rows: int | None = None,
        canaries: int = 50,
        level: float = 0.95,
        rng: RngLike = None,
    ) -> None:
        package("dp_accounting")  # for `result`: not to be missed after a training of hours
        self._rate = check.real("sample_rate", sample_rate, 0.0, 1.0)
        if self._rate == 1.0:
            rows = None  # all batches have one size
        self.steps_audit = StepAudit(
            sample_rate=0.5 if self._rate == 1.0 else sample_rate,
            noise_multiplier=noise_multiplier,
            level=level,
            orthogonal=True,
            rows=rows,
        )
        self._count = check.integer("canaries", canaries, 1)
        seed = root(rng)
        self._places, self._coins = (
            generator(seed, purpose) for purpose in (Purpose.CANARY, Purpose.COIN)
        )
        self._dither = generator(seed, Purpose.COIN, 1)
        self._sizes: list[int] = []
        self._entries: list[np.ndarray] = []
        self._included: np.ndarray | None = None
        self._known, self._batch = np.zeros(0), 0
        self._product = self._square = 1.0  # their ratio: the batch's sum over the expected one
        self._arrived = False  # whether a sum had a canary in it
        self._scaled = not self.units  # whether a noisy sum was as large as stated
        self._awaited = self._added = 0.0  # of canaries, how many there were and what they added

    def result(
        self, *, delta: float = 1e-5, steps: int | None = None, claim: ClaimLike = None
    ) -> StepResult:
        """The result so far: `epsilon_at(delta)`, `verdict`, `reason`, `save`, `to_dict`.

        delta : in (0, 1), the δ of the accountant's ε, to which the certified one is compared.
        steps : the number of steps of the whole training; by default those that were seen. claim :
        what the training promises, (ε, δ) with δ in (0, 1), which takes the place of `delta`; then
        the verdict is "violated" also where the certified ε is larger.

        Raises `InvalidInput` where no step was seen, and for another claim; ImportError without
        dp-accounting.
        """
        if self.steps_audit.steps == 0:
            fail(self.subject, Words("no step"), "seen in training", self.advice)
        full = 1.0 if self._rate == 1.0 else None
        return self.steps_audit.result(delta=delta, steps=steps, sample_rate=full, claim=claim)

    def __repr__(self) -> str:
        return repr(self.steps_audit).replace("StepAudit", type(self).__name__, 1)

    def _place(self, sizes: Sequence[int]) -> None:
        """Choose the canaries' weights at the first step, from the numbers of weights of tensors.

        The canaries of tensor k are at the flat indices `_entries[k]`. Raises `InvalidInput` where
        the tensors have changed.
        """
        if self._entries:
            if list(sizes) != self._sizes:
                fail(
                    self.subject,
                    Words(f"{len(sizes)} tensors with {sum(sizes)} weights"),
                    f"{len(self._sizes)} tensors with {sum(self._sizes)} weights, as before",
                    "make a new audit where the trained weights change",
                )
            return
        self._sizes = list(sizes)
        shares, left = np.zeros(len(sizes), dtype=int), min(self._count, sum(sizes))
        order = self._places.permutation(len(sizes))
        while left:
            roomy = [tensor for tensor in order if shares[tensor] < sizes[tensor]][:left]
            shares[roomy] += 1
            left -= len(roomy)
        self._entries = [
            np.sort(self._places.choice(size, share, replace=False))
            for size, share in zip(sizes, shares, strict=True)
        ]
        self._known = np.zeros(shares.sum())

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        """Values of all canaries, (m,), by tensor."""
        return np.split(values, np.cumsum([len(entries) for entries in self._entries])[:-1])

    @property
    def _stride(self) -> int:
        """Each so-many-th entry of a step's noise is looked at."""
        return -(-sum(self._sizes) // MOST_NOISE)

    def _flip(self) -> np.ndarray:
        """Which canaries to add now, (m,), bool: none where this step has had its coins."""
        count = len(self._known)
        if self._included is not None:
            return np.zeros(count, dtype=bool)
        self._included = self._coins.random(count) < self.steps_audit.sample_rate
        return self._included

    def _add(self, known: Array, size: int) -> None:
        """Take gradients into account: what they add to the projections, (m,), and how many."""
        self._known, self._batch = self._known + known, self._batch + size

    def _step(
        self,
        projection: Array,
        total: Array | None = None,
        noise: Array | None = None,
        *,
        precision: float = 0.0,
    ) -> Array:
        """End a step; all in clip norms.

        projection, total : the noisy sum and the sum before noise along the canaries, (m,). noise :
        what was added to entries of the sum, (k,). precision : of the noisy sum's numbers,
        relative; noise of that size is added to what is watched, since bets on rounded numbers are
        not fair. Returns the coins, (m,).
        """
        if self._included is None:
            fail(self.subject, Words("a noisy sum"), "told the gradients of its batch first")
        # Where clipping is not what it should be, so is what the batch adds: as in earlier steps.
        alone, known = self._known, self._known * (self._product / self._square)
        included = self._included
        if not self._scaled and np.any(included):
            self._refuse_a_mean(projection)
        seen: dict[str, Any] = {}
        if self.steps_audit.rows is not None:
            seen["batch_size"] = self._batch
        self._forget()  # also where the step is refused below, as one that overflowed
        if total is not None and noise is not None:
            # what a canary adds, at most the one clip norm that it should
            rest = total - known
            shares, error = rest[included], np.max(np.abs(rest[~included]), initial=0.0)
            self._refuse_a_sum_without_canaries(shares, known[included])
            shift = np.clip(shares.min() - error, 0.0, 1.0) if len(shares) else 0.0
            seen |= {"shift": np.full(len(projection), shift), "noise": noise}
        else:
            self._refuse_noise_alone((projection - known)[included])
        rounding = precision * np.abs(projection) * (self._dither.random(len(projection)) - 0.5)
        self.steps_audit.update(projection + rounding, included, known=known, **seen)
        out, before = alone[~included], projection if total is None else total
        self._product += float(out @ before[~included])
        self._square += float(out @ out)
        return included.astype(np.float64)

    def _forget(self) -> None:
        self._included, self._known, self._batch = None, np.zeros(len(self._known)), 0

    def _refuse_a_mean(self, projection: Array) -> None:
        """Raise `InvalidInput` if all entries of a sum, (m,), are small beside canaries and noise.

        Ten entries of noise of multiplier σ are all below σ/2 with probability at most 10⁻⁴.
        """
        limit = 0.5 * min(1.0, self.steps_audit.noise_multiplier)
        largest = float(np.max(np.abs(projection)))
        self._scaled = len(projection) < 10 or not largest < limit
        if not self._scaled:
            self._forget()
            small = Words(f"one of at most {number(largest, 2)} clip norms along every canary")
            fail("the noisy sum", small, "in the units of the clip norm", self.units)

    def _refuse_a_sum_without_canaries(self, shares: Array, known: Array) -> None:
        """Raise `InvalidInput` if the first canaries add nothing at all to the sum, (k,) each."""
        if self._arrived or len(shares) == 0:
            return
        self._arrived = bool(np.any(np.abs(shares) > ROUNDING * (1.0 + np.abs(known))))
        if not self._arrived:
            fail(self.subject, Words("a sum"), ARRIVED, DROPPED)

    def _refuse_noise_alone(self, shares: Array) -> None:
        """The same by noisy sums, once a canary's mean share is known to a tenth of a clip norm."""
        self._awaited, self._added = self._awaited + len(shares), self._added + float(shares.sum())
        audit = self.steps_audit
        enough = self._awaited >= 100.0 * max(audit.noise_multiplier**2, 1.0)
        if self._arrived or not enough or audit.verdict == "violated":
            return
        self._arrived = self._added > 0.5 * self._awaited
        if abs(self._added) < 0.1 * self._awaited:
            fail(self.subject, Words("noisy sums"), ARRIVED, DROPPED)
