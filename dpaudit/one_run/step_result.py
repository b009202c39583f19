"""The result of an audit of the steps of DP-SGD, which is the content of result.json."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpaudit._core import check
from dpaudit._core.result_file import SCHEMA_VERSION, STEPS, plain, versions
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves import SampledGaussian, epsilon_at
from dpaudit.curves.claims import Claim
from dpaudit.report.result import Result
from dpaudit.verdict.attacker import of_curve
from dpaudit.verdict.headline import CLAIMED, PREMISE, Headline
from dpaudit.verdict.numbers import counted
from dpaudit.verdict.one_run import premise_reason

if TYPE_CHECKING:
    from dpaudit.one_run.steps import StepAudit

POINTS, BEYOND = 61, 1.25  # of the curves in result.json: how many ε, and up to which of the claim
FINE, FARTHEST = 4001, 3.0  # the same for an attacker's rates


@value_class(show_numbers=True, eq=True)
class Certified:
    """A certified μ of a step, composed over steps.

    mu : the lower bound of a step's μ, 0 if there is none. sample_rate : in (0, 1], the probability
    of the canary in a step. steps : their number, at least 1.
    """

    mu: float
    sample_rate: float
    steps: int

    @cached_property
    def curve(self) -> SampledGaussian:
        """The curve of as many steps with `mu`, which is above 0."""
        return SampledGaussian(self.sample_rate, 1.0 / self.mu, self.steps, "remove")

    def epsilon_at(self, delta: float) -> float:
        """The lower bound of ε, nats, at a δ in (0, 1). ImportError without dp-accounting."""
        at = check.real("delta", delta, 0.0, 1.0, open_=True)
        return float(epsilon_at(self.curve.low, at)) if self.mu > 0.0 else 0.0

    def low(self, epsilon: Array) -> Array:
        """The lower bound of δ at each ε, nats."""
        return self.curve.low(epsilon) if self.mu > 0.0 else np.zeros_like(epsilon)


@value_class
class StepResult(Result):
    """The result of an audit of the steps of one training by DP-SGD.

    Attributes
    ----------
    content : dict
        The content of result.json.
    headline : Headline
        The accountant's ε of the claimed noise and sampling, or that of a claim, and the certified
        one.
    certified : Certified
        The certified μ of a step (`certified.mu`), and over which steps it is composed.
    level : float
        The confidence level of the verdict, and of the certified μ by itself.
    """

    content: dict[str, Any]
    headline: Headline
    certified: Certified
    level: float

    kind: ClassVar[str | None] = STEPS

    @classmethod
    def made(
        cls, audit: StepAudit, certified: Certified, delta: float, claim: Claim | None = None
    ) -> StepResult:
        """The result of an audit so far, with the accountant's claim at δ.

        claim : an (ε, δ) claim at this δ, which a larger certified ε refutes, too.
        """
        sigma = audit.noise_multiplier
        premise = SampledGaussian(certified.sample_rate, sigma, certified.steps, "remove")

        def allowed(epsilon: Array) -> Array:
            return np.maximum(*premise.delta(epsilon))

        accounted, refuted = float(epsilon_at(allowed, delta)), audit.verdict == "violated"
        epsilon, claimed, claimant = certified.epsilon_at(delta), accounted, PREMISE
        if claim is not None and claim.epsilon is not None and not refuted:
            claimed, claimant = claim.epsilon, CLAIMED
            epsilon = min(epsilon, accounted)
        violated = refuted or (claimant == CLAIMED and epsilon > claimed)
        headline = Headline(
            "ε",
            delta,
            claimed,
            epsilon if violated else min(epsilon, claimed),
            violated,
            epsilon=claimed,
            certified_delta=0.0,
            allowed_delta=None,
            level=audit.level,
            who=f"{counted(audit.steps, 'step')} of one run",
            claimant=claimant,
        )
        texts = headline.text, audit.reason
        training = certified.steps, certified.sample_rate
        reason = premise_reason(*texts, audit.to_dict(), headline, *training)
        grid = np.linspace(0.0, BEYOND * max(accounted, headline.certified), POINTS)
        fine = np.linspace(0.0, FARTHEST * max(accounted, 1.0), FINE)
        record = {
            "schema_version": SCHEMA_VERSION,
            "kind": STEPS,
            "level": audit.level,
            "verdict": "violated" if violated else audit.verdict,
            "reason": reason,
            "headline": headline.to_dict(),
            "claim": {
                "text": premise.law if claim is None else claim.text,
                "epsilon": accounted if claim is None else claim.epsilon,
                "delta": delta,
            },
            "certified": {
                "mu": certified.mu,
                "sample_rate": certified.sample_rate,
                "steps": certified.steps,
                "delta": delta,
                "epsilon": headline.certified,
            },
            "attacker": of_curve(fine, certified.low(fine)),
            "steps": audit.to_dict(),
            "curves": {"epsilon": grid, "claim": allowed(grid), "low": certified.low(grid)},
            "versions": versions(),
        }
        return cls(dict(plain(record)), headline, certified, audit.level)

    @property
    def record(self) -> dict[str, Any]:
        return self.content

    @property
    def verdict(self) -> str:
        """ "violated", "not violated" or "inconclusive"."""
        return str(self.record["verdict"])

    @property
    def reason(self) -> str:
        """Sentences for people: the headline, the evidence, and what the certified ε assumes."""
        return str(self.record["reason"])

    def epsilon_at(self, delta: float) -> float:
        """The certified lower bound of ε (nats) at a δ in (0, 1): `StepAudit.epsilon_at`."""
        return self.certified.epsilon_at(delta)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Self:
        """Make a result from the content of result.json."""
        known = record["certified"]
        certified = Certified(float(known["mu"]), float(known["sample_rate"]), int(known["steps"]))
        return cls(record, Headline.of(record["headline"]), certified, float(record["level"]))
