"""DP-SGD watched from inside, a step at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.result_file import plain
from dpaudit._core.types import Array, ArrayLike
from dpaudit.certify.one_run.step_mu import StepMu
from dpaudit.certify.one_run.steps import BETTORS, StepWealth
from dpaudit.curves.claims import ClaimLike, as_claim
from dpaudit.one_run.canaries import coins_of
from dpaudit.one_run.step_result import Certified, StepResult
from dpaudit.verdict.numbers import counted
from dpaudit.verdict.one_run import steps_reason

RECORDED = (
    *("sample_rate", "noise_multiplier", "level", "orthogonal", "steps", "canaries", "verdict"),
    *("reason", "violated_at", "e_value", "largest_e_value", "largest_at", "e_values", "shifts"),
    "mu",
)


class StepAudit:
    """An audit of one run of DP-SGD from inside, valid at every step and whatever the history.

    At each step tell it the noisy sum of clipped gradients, projected on a canary's gradient, and
    whether the canary was in the batch. It bets against the claim that each step samples every
    example independently at `sample_rate`, clips it, and adds fresh Gaussian noise. The wealth of
    the bets is an e-process: if the claim is true, the probability that it ever reaches
    1/(1 − level) is at most 1 − level. So you may look at it at every step and stop at any.

    Parameters
    ----------
    sample_rate : float in (0, 1)
        The probability that an example is in a batch (Poisson sampling). With full batches put the
        canary in by a coin of your own at each step, and give its probability.
    noise_multiplier : float > 0
        σ: standard deviation of the noise on the sum over the clip norm.
    level : float in (0, 1), default 0.95
        The confidence of the verdict.
    orthogonal : bool, default False
        Whether the directions of several canaries are orthogonal, so that their evidence
        multiplies. Otherwise that of one step is averaged over them. Directions that are made up,
        such as axes of weights, can be made so.
    rows : int ≥ 1, optional
        How many rows other than the canaries there are. Then `update` takes the size of each batch,
        and sees sizes that Poisson sampling does not give, and division by the size.

    Notes
    -----
    Verdict: "violated" once the wealth has reached 1/(1 − level), and from then on. "inconclusive"
    while projections that told every coin could not have reached it by privacy alone. Else "not
    violated", which proves nothing of other canaries, other data or later steps.

    `mu` and `epsilon_at` bound from below what the steps lose, whatever is claimed of clipping and
    noise. They rest on assumptions of their own, which `epsilon_at` names.

    What is bet on, and why each bet is fair, is derived in `dpaudit.certify.one_run.steps` and
    `dpaudit.certify.one_run.step_mu`.

    References
    ----------
    Ville's inequality (Ramdas, Grünwald, Vovk & Shafer 2023); Gaussian DP of a step (Dong, Roth &
    Su 2022); canaries with a gradient of their own, and an ε from μ of a step (Nasr et al. 2023,
    arXiv 2302.07956).

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0)
    >>> rng = np.random.default_rng(1)
    >>> for _ in range(400):
    ...     included = rng.random() < 0.1
    ...     audit.update(3.0 * included + rng.normal(), included)  # clipped at 3, not at 1
    >>> audit
    StepAudit(sample_rate=0.1, noise_multiplier=1, level=0.95): violated at step 56 of 400
    """

    def __init__(
        self,
        *,
        sample_rate: float,
        noise_multiplier: float,
        level: float = 0.95,
        orthogonal: bool = False,
        rows: int | None = None,
    ) -> None:
        self.sample_rate = check.real("sample_rate", sample_rate, 0.0, 1.0, open_=True)
        self.noise_multiplier = check.real("noise_multiplier", noise_multiplier, 0.0, open_=True)
        self.level = check.real("level", level, 0.0, 1.0, open_=True)
        self.orthogonal = check.boolean("orthogonal", orthogonal)
        self.rows = None if rows is None else check.integer("rows", rows, 1)
        self.steps = 0
        self.canaries: int | None = None
        self.violated_at: int | None = None
        self.largest_at, self._largest, self._leader = 0, 0.0, ""
        self._wealth = StepWealth(sample_rate, noise_multiplier, orthogonal, 1)
        self.shifts = False
        self._mu = StepMu(self.sample_rate, self.orthogonal, 1, self.shifts)
        self._sampling_refuted = self._any_included = False

    def update(
        self,
        projection: ArrayLike,
        included: ArrayLike,
        *,
        known: ArrayLike | None = None,
        batch_size: int | None = None,
        shift: ArrayLike | None = None,
        noise: ArrayLike | None = None,
    ) -> None:
        """Take one step into account.

        Parameters
        ----------
        projection : float or array of shape (m,)
            The noisy sum of the batch's clipped gradients, before it is divided by a batch size,
            times the unit direction of the canary's own gradient, over the clip norm. A number, or
            one for each of m canaries, the same ones in the same order at each step.
        included : bool or array of shape (m,), bool
            Whether the canary was in the batch of this step.
        known : float or array of shape (m,), optional
            What the rest of the batch, without the canary and without noise, adds to `projection`,
            where the training loop can compute it; in the same shape. The audit is valid for any
            value that depends neither on this step's noise nor on the canary's coin, and it sees
            most with the right one.
        batch_size : int ≥ 0, optional
            How many rows other than the canaries are in the batch; given if `rows` is.
        shift : float or array of shape (m,), optional
            What the canary adds to `projection` by itself, or would add if it were in the batch,
            where the training loop can see the sum before noise; in the same shape. For `mu` alone,
            which is much larger with it. Pass it at every step or at none.
        noise : array of shape (k,), optional
            The noise of the step, over the clip norm: noisy sum less sum before noise, or some of
            its coordinates. For `mu` alone, which needs `shift` too; without it the noise is that
            of `projection`.

        Notes
        -----
        The directions may depend on earlier steps, as gradients do. Pass numbers as precise as they
        were released. If they have few bits, as float16 and bfloat16 have, add noise of the size of
        their rounding first, or a sound run may be refuted; the hooks of `dpaudit.training` do so.
        """
        coins = coins_of(included).astype(np.float64)
        residual, rest = _numbers("projection", projection, len(coins)), np.zeros(len(coins))
        if known is not None:
            rest = _numbers("known", known, len(coins))
            residual = residual - rest
        shifts = None if shift is None else _numbers("shift", shift, len(coins))
        noises = None if noise is None else _numbers("noise", noise, None)
        if noises is not None and shifts is None:
            fail("noise", Words("an array without shift"), "given with shift", "pass shift=, too")
        if (batch_size is None) != (self.rows is None):
            expected = "None where `rows` is" if self.rows is None else "given, as `rows` is"
            fail("batch_size", batch_size, expected)
        size = None if batch_size is None else check.integer("batch_size", batch_size, 0)
        if self.canaries is None:
            self.canaries = len(coins)
            claim = self.sample_rate, self.noise_multiplier, self.orthogonal
            self._wealth = StepWealth(*claim, self.canaries, self.rows)
            self.shifts = shifts is not None
            self._mu = StepMu(self.sample_rate, self.orthogonal, self.canaries, self.shifts)
        if len(coins) != self.canaries:
            fail("included", Words(f"{len(coins)} canaries"), f"{self.canaries} canaries as before")
        self._mu.see_coins(self._wealth.standardised(residual), coins)
        if shifts is not None:
            if noises is None:  # along directions that are not orthogonal, noises depend
                noises = (residual - shifts * coins)[: None if self.orthogonal else 1]
            self._mu.see_noise(noises, float(np.max(np.abs(shifts))))
        self._wealth.bet(residual, coins, rest, size)
        self.steps += 1
        self._any_included |= bool(coins.any())
        share = self._wealth.logs["sampling"] - math.log(len(BETTORS))
        self._sampling_refuted |= self._reaches(share)
        if self._wealth.log_total > self._largest:
            logs = self._wealth.logs
            self.largest_at, self._largest = self.steps, self._wealth.log_total
            self._leader = max(logs, key=logs.__getitem__)
        if self.violated_at is None and self._reaches(self._wealth.log_total):
            self.violated_at = self.steps

    def _reaches(self, log_wealth: float) -> bool:
        return log_wealth >= -math.log1p(-self.level)

    @property
    def e_value(self) -> float:
        """The wealth now, from 1 at the start: evidence against the claim, possibly infinite."""
        return _exp(self._wealth.log_total)

    @property
    def largest_e_value(self) -> float:
        """The largest wealth so far, which decides; it was reached at step `largest_at`."""
        return _exp(self._largest)

    @property
    def e_values(self) -> dict[str, float]:
        """The wealth now of each bettor; `e_value` is their mean."""
        return {name: _exp(log) for name, log in self._wealth.logs.items()}

    @property
    def mu(self) -> float:
        """The certified lower bound of μ, the canary's shift over the noise, of some step.

        It holds at `level` at all steps together. Unless the claim is refuted, it is at most the
        claimed 1/`noise_multiplier`. What it assumes is named by `epsilon_at`.
        """
        bound = self._mu.bound(1.0 - self.level)
        return bound if self.violated_at else min(bound, 1.0 / self.noise_multiplier)

    def epsilon_at(
        self, delta: float, *, steps: int | None = None, sample_rate: float | None = None
    ) -> float:
        """The certified lower bound of ε (nats) at δ, of a training whose steps are like these.

        Some step had at least `mu`, at `level` and whatever the history. If all steps have it, and
        sampling is as claimed, the change by one example, added or removed, that is like this
        canary at each step loses at least the ε that dp-accounting computes for `mu`
        (``pip install "dpaudit[accountant]"``).

        Assumed:

        - The noise of a step is Gaussian, independent of the coins, of the rest of the batch and of
          the noise of other steps, and its coordinates are independent with one standard deviation.
          How large that is is not assumed: it is estimated.
        - The steps are alike: clipping and noise of the steps that are counted are not better than
          those of the step that `mu` is about.
        - Each step takes the canary by an independent coin of probability `sample_rate`. Where the
          coins refute the claimed rate, 0 is returned.
        - With `shift` passed to `update`: the canary adds at least that. Without: nothing of
          clipping, since what the canary adds is estimated.

        Not assumed: clipping, `noise_multiplier`, and anything of the rest of the batch, which the
        attacker is taken to know, as accountants do.

        Parameters
        ----------
        delta : float in (0, 1)
            The δ at which ε is bounded.
        steps : int, optional
            The number of steps of the training; by default those that were seen.
        sample_rate : float in (0, 1], optional
            The probability with which the training samples the canary; by default the claimed one.
            Give 1 for full batches whose canary went in by a coin of your own.

        Raises
        ------
        ImportError
            Without dp-accounting.
        """
        return self._certified(steps, sample_rate).epsilon_at(delta)

    def _certified(self, steps: int | None, sample_rate: float | None) -> Certified:
        count = self.steps if steps is None else check.integer("steps", steps, 1)
        rate = sample_rate
        if rate is not None:
            rate = check.real("sample_rate", rate, 0.0, 1.0)
            if rate == 0.0:
                fail("sample_rate", rate, "a number in (0, 1]")
        refuted = self._sampling_refuted and rate is None
        mu = 0.0 if refuted else self.mu
        return Certified(mu, self.sample_rate if rate is None else rate, count)

    def result(
        self,
        *,
        delta: float = 1e-5,
        steps: int | None = None,
        sample_rate: float | None = None,
        claim: ClaimLike = None,
    ) -> StepResult:
        """The result so far: verdict, reason and `epsilon_at`, to be saved with a report.

        Its claim is the accountant's: ε at `delta` for the claimed noise multiplier. With a claim
        (ε, δ), δ in (0, 1), this δ takes the place of `delta`, and the verdict is "violated" also
        where the certified ε is above the claimed one. steps, sample_rate : as in `epsilon_at`.
        Raises `InvalidInput`, also before the first step, and ImportError without dp-accounting.
        """
        if self.steps == 0:
            fail("steps", 0, "at least one step", "call update at each step first")
        delta = check.real("delta", delta, 0.0, 1.0, open_=True)
        claimed = as_claim(claim)
        if claimed is not None:
            if claimed.epsilon is None or not 0.0 < claimed.delta < 1.0:
                expected = "an (ε, δ) claim with δ in (0, 1)"
                fail("claim", claimed, expected, "give ε at such a δ, as (8.0, 1e-5)")
            delta = claimed.delta
        return StepResult.made(self, self._certified(steps, sample_rate), delta, claimed)

    @property
    def verdict(self) -> str:
        """ "violated", "not violated" or "inconclusive"."""
        if self.violated_at is not None:
            return "violated"
        able = self._reaches(self._wealth.log_largest) and self._any_included
        return "not violated" if able else "inconclusive"

    @property
    def reason(self) -> str:
        """The verdict in a few sentences for people."""
        if self.verdict == "inconclusive" and self._reaches(self._wealth.log_largest):
            watched = counted(self.steps, "step")
            return f"No canary was in the batch of any of {watched}, so they show nothing."
        return steps_reason(
            self.verdict,
            sample_rate=self.sample_rate,
            noise_multiplier=self.noise_multiplier,
            level=self.level,
            steps=self.steps,
            violated_at=self.violated_at,
            log_e=self._wealth.log_total,
            log_largest=self._largest,
            largest_at=self.largest_at,
            bettor=self._leader,
        )

    def to_dict(self) -> dict[str, Any]:
        """The audit as JSON types; infinity is the string "inf"."""
        return dict(plain({name: getattr(self, name) for name in RECORDED}))

    def __repr__(self) -> str:
        """Parameters and verdict; no projection."""
        seen = f", {counted(self.steps, 'step')}"
        if self.violated_at:
            seen = f" at step {self.violated_at} of {self.steps}"
        return (
            f"StepAudit(sample_rate={self.sample_rate:g}, "
            f"noise_multiplier={self.noise_multiplier:g}, level={self.level:g}): "
            f"{self.verdict}{seen}"
        )


def _numbers(name: str, value: ArrayLike, canaries: int | None) -> Array:
    """Finite numbers, one for each canary, (m,); of any number if it is None."""
    expected = "a 1-D array of finite numbers"
    if canaries is not None:
        expected = f"a finite number for each canary, {canaries} as `included` has"
    numbers = np.atleast_1d(check.array_of_numbers(name, value, expected))
    return check.vector(name, numbers, expected, canaries)


def _exp(log: float) -> float:
    return math.exp(log) if log < 709.0 else math.inf
