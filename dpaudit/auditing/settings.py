"""The settings of an audit: one frozen object, checked when it is made."""

from __future__ import annotations

from dataclasses import KW_ONLY, field, replace
from typing import Any

import numpy as np

from dpaudit import scoring
from dpaudit._core import check
from dpaudit._core.seeds import root
from dpaudit._core.types import Array, ArrayLike, Count, RngLike
from dpaudit._core.value import value_class
from dpaudit.certify.band import level_of
from dpaudit.certify.constants import FEW
from dpaudit.certify.few import few_split
from dpaudit.certify.sets import FOCUS
from dpaudit.certify.split import Split, split
from dpaudit.curves.claims import Claim, ClaimLike, MetricClaim, Pair, as_claim, refuse_unbreakable
from dpaudit.sampling import BlockStore, Progress
from dpaudit.scoring import ClassifierLike
from dpaudit.scoring.classifier import Classifier

DEFAULT_EPSILON = np.linspace(0.0, 4.0, 41)
LARGEST_EPSILON = 500.0  # nats
MOST_EPSILON = 10_000  # most points of the grid: each costs time and memory
MOST_DRAWS = 10**12  # memory holds the training and choosing draws, a quarter of 10^9 draws
LEVEL = 0.95
CURVE_POINTS, CURVE_END = 41, 1e-9  # points of the grid of a claim that is a curve, δ at the last
UNITS = ("draw", "call")  # the units that are independent of each other


def silent(step: str, done: int, wanted: int) -> None:
    """A `Progress` that shows nothing."""


@value_class(show_numbers=True)
class Settings:
    """The settings of an audit, checked. The docstring of `dpaudit.audit` explains them.

    epsilon : (m,) distinct ascending ε, nats, which include the ε of an (ε, δ) claim.
    metric : a claim whose ε depends on the distance of two records, until `on` fixes it for a pair.
    draws : number of draws a side. classifier : an alias, an estimator or a known score.
    level, alpha : the joint confidence, and 1 − level. Computations use alpha, since level is
        rounded when alpha is small.
    seed : seed of all random numbers. train_share, choose_share : None for the default shares.
    Raises `InvalidInput`.
    """

    epsilon: Array
    draws: int
    _: KW_ONLY
    claim: Claim | None = None
    metric: MetricClaim | None = None
    level: float = LEVEL
    alpha: float = 1.0 - LEVEL
    classifier: Classifier = "auto"
    seed: np.random.SeedSequence = field(default_factory=np.random.SeedSequence)
    detect: float | None = None
    train_share: float | None = None
    choose_share: float | None = None
    bits: bool = False
    focus: str = "spectrum"
    stop: str | None = None
    unit: str = "draw"

    def __post_init__(self) -> None:
        if check.integer("draws", self.draws, 1) > MOST_DRAWS:
            check.fail("draws", self.draws, f"at most {MOST_DRAWS:,} a side")
        check.choice("focus", self.focus, FOCUS)
        if self.claim is not None:
            refuse_unbreakable(self.claim, self.epsilon)  # also checks a curve that a user wrote
        self.split()
        check.real("alpha", self.alpha, 0.0, 1.0, open_=True)
        if self.level != level_of(self.alpha) and self.alpha != 1.0 - self.level:
            check.fail("alpha", self.alpha, f"1 - level, with level {self.level}")
        if self.detect is not None:
            check.real("detect", self.detect, 0.0, 1.0)
        check.boolean("bits", self.bits)
        if self.stop is not None:
            check.choice("stop", self.stop, ("verdict",))
        check.choice("unit", self.unit, UNITS)

    @classmethod
    def of(
        cls,
        draws: Count,
        *,
        epsilon: ArrayLike | None = None,
        claim: ClaimLike = None,
        level: float = LEVEL,
        alpha: float | None = None,
        classifier: ClassifierLike = "auto",
        rng: RngLike = None,
        **rest: Any,
    ) -> Settings:
        """Settings from a user's arguments; `rest` are fields as they are. Raises `InvalidInput`.

        alpha : 1 − level, if it is known more exactly than `level`, which is then ignored.
        """
        if alpha is None:
            alpha = 1.0 - check.real("level", level, 0.0, 1.0, open_=True)
        else:
            level = level_of(check.real("alpha", alpha, 0.0, 1.0, open_=True))
        metric = claim if isinstance(claim, MetricClaim) else None
        own = None if isinstance(claim, MetricClaim) else as_claim(claim)
        score = scoring.as_classifier(classifier)
        return cls(
            grid(epsilon, own),
            check.count("draws", draws, 1),
            claim=own,
            metric=metric,
            level=level,
            alpha=alpha,
            classifier=score,
            seed=root(rng),
            **rest,
        )

    def replaced(self, **changes: Any) -> Settings:
        """A copy with other values of some fields, checked again; a `level` also sets `alpha`."""
        if "level" in changes:
            level = check.real("level", changes["level"], 0.0, 1.0, open_=True)
            changes = {"alpha": 1.0 - level, **changes}
        return replace(self, **changes)

    def on(self, pair: Pair) -> Settings:
        """A copy for a pair: a claim by distance becomes the claim about `pair`, and its ε joins
        the grid. Without such a claim, the settings as they are. Raises what `MetricClaim.on` does.
        """
        if self.metric is None:
            return self
        claim = self.metric.on(pair)
        return self.replaced(claim=claim, metric=None, epsilon=grid(self.epsilon, claim))

    @property
    def claims(self) -> bool:
        """Whether there is a claim, with a fixed ε or curve, or by distance."""
        return self.claim is not None or self.metric is not None

    def allowed(self, epsilon: float) -> float:
        """The δ that the claim allows at ε, nats; 0 without a claim."""
        return 0.0 if self.claim is None else float(self.claim.delta_at(epsilon))

    @property
    def claimed_epsilon(self) -> float | None:
        """The ε of an (ε, δ) claim, in nats; None for other claims and without a claim."""
        return None if self.claim is None else self.claim.epsilon

    @property
    def claimed(self) -> tuple[float, float] | None:
        """The pair (ε, δ) of an (ε, δ) claim; None for other claims and without a claim."""
        own = self.claimed_epsilon
        return None if self.claim is None or own is None else (own, self.claim.delta)

    @property
    def few(self) -> bool:
        """Whether this is an audit of few draws (`auditing.fixed`): at most 500 a side, scored
        by "auto" or a known score, with no shares given.
        """
        known = not scoring.is_trained(self.classifier)
        shares = self.train_share is not None or self.choose_share is not None
        usual = self.stop is None and not shares and not self.bits
        return self.draws <= FEW and usual and (known or self.classifier == "auto")

    @property
    def call(self) -> int | None:
        """Draws in each call of the mechanism: 1 for the unit "call", else None (no request)."""
        return 1 if self.unit == "call" else None

    def split(self, columns: int | None = None) -> Split:
        """The split of the draws for outputs of `columns` numbers. Raises `InvalidInput`."""
        trained = scoring.is_trained(self.classifier)
        if self.few:
            return few_split(self.draws, columns, trained=trained)
        shares = self.train_share, self.choose_share
        return split(self.draws, *shares, columns, trained=trained, focus=self.focus)


@value_class(show_numbers=True)
class Drawing:
    """How draws are made, which changes no result: workers, progress, and a store of blocks."""

    n_jobs: int | None = None
    progress: Progress = silent
    store: BlockStore | None = None

    def __post_init__(self) -> None:
        jobs = self.n_jobs
        if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0):
            check.fail("n_jobs", jobs, "None or a whole number other than 0")


def grid(epsilon: ArrayLike | None, claim: Claim | None) -> Array:
    """The grid: distinct ascending ε, (m,), nats, including the ε of an (ε, δ) claim.

    Without `epsilon` it has the default ε. For a claim that is a curve, it then has 41 points from
    0 to the ε where its δ is 1e-9, since it may fail only at large ε, and the default ε too if that
    end lies beyond them; for a claim of δ = 0 at every ε, the default ε. Raises `InvalidInput`.
    """
    points = DEFAULT_EPSILON if epsilon is None else np.atleast_1d(check.epsilon(epsilon))
    if epsilon is None and claim is not None and claim.epsilon is None:
        end = min(float(claim.epsilon_at(CURVE_END)), LARGEST_EPSILON)
        if end > DEFAULT_EPSILON[-1]:
            points = np.union1d(np.linspace(0.0, end, CURVE_POINTS), DEFAULT_EPSILON)
        elif end > 0.0:
            points = np.linspace(0.0, end, CURVE_POINTS)
    if len(points) > MOST_EPSILON:
        check.fail(
            "epsilon", check.Words(f"{len(points):,} points"), f"at most {MOST_EPSILON:,} points"
        )
    if points.max() > LARGEST_EPSILON:
        expected = f"at most {LARGEST_EPSILON:g}: no number of draws shows more"
        check.fail("epsilon", float(points.max()), expected)
    own = [] if claim is None or claim.epsilon is None else [in_reach(claim.epsilon)]
    return np.unique(np.concatenate([points, own]))


def in_reach(epsilon: float) -> float:
    """Return `epsilon` (nats), or raise `InvalidInput` if it is above `LARGEST_EPSILON`."""
    if epsilon > LARGEST_EPSILON:
        expected = f"at most {LARGEST_EPSILON:g} nats: no number of draws refutes a larger one"
        check.fail("claim epsilon", epsilon, expected)
    return epsilon
