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
MOST_EPSILON = 10_000  # points of the grid: an audit takes time and memory by each
MOST_DRAWS = 10**12  # a quarter of 10^9 of them, which train and choose, are held in memory
LEVEL = 0.95
CURVE_POINTS, CURVE_END = 41, 1e-9  # of `claim_grid`
# With the focus "pure" these shares of the draws choose, however many draws there are, since the
# sets that decide are small: for a score that is trained, and for a known score.
PURE_CHOOSE, PURE_CHOOSE_KNOWN = 0.1, 0.2
UNITS = ("draw", "call")  # what is independent of what


def silent(step: str, done: int, wanted: int) -> None:
    """A `Progress` that shows nothing."""


@value_class(show_numbers=True)
class Settings:
    """The settings of an audit, checked. `dpaudit.audit` explains them.

    epsilon : (m,) distinct ascending ε, nats, a claim's own ε among them.
    metric : a claim by the distance of two records, until `on` makes a claim of it.
    draws : a side. classifier : an alias, an estimator or a known score.
    level, alpha : the joint confidence, and 1 − level exactly, which is what a computation takes:
        level rounds to the float below 1 where alpha is small.
    seed : of all random numbers. train_share, choose_share : None for the default shares.
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
            refuse_unbreakable(self.claim, self.epsilon)  # a user's curve may be wrong, too
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
        """From what a user gives; `rest` are fields as they are. Raises `InvalidInput`.

        alpha : 1 − level where that is known more exactly than `level`, which is then left out.
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
        """A copy with other values of some fields, checked again; `alpha` follows a `level`."""
        if "level" in changes:
            level = check.real("level", changes["level"], 0.0, 1.0, open_=True)
            changes = {"alpha": 1.0 - level, **changes}
        return replace(self, **changes)

    def on(self, pair: Pair) -> Settings:
        """With the claim about this pair, and its ε on the grid, where the claim depends on one.

        Raises `InvalidInput`, as `MetricClaim.on`.
        """
        if self.metric is None:
            return self
        claim = self.metric.on(pair)
        return self.replaced(claim=claim, metric=None, epsilon=grid(self.epsilon, claim))

    @property
    def claims(self) -> bool:
        """Whether something is claimed, of this pair or by a distance."""
        return self.claim is not None or self.metric is not None

    @property
    def claimed_epsilon(self) -> float | None:
        """The claim's own ε, of an (ε, δ) claim."""
        return None if self.claim is None else self.claim.epsilon

    @property
    def claimed(self) -> tuple[float, float] | None:
        """(ε, δ) of a claim with an ε of its own."""
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
        """Draws of each call of the mechanism, where they are asked for."""
        return 1 if self.unit == "call" else None

    def split(self, columns: int | None = None) -> Split:
        """How the draws are split, for outputs of so many numbers. Raises `InvalidInput`."""
        trained = scoring.is_trained(self.classifier)
        if self.few:
            return few_split(self.draws, columns, trained=trained)
        choose = self.choose_share
        if self.focus == "pure" and choose is None:
            choose = PURE_CHOOSE if trained else PURE_CHOOSE_KNOWN
        return split(self.draws, self.train_share, choose, columns, trained=trained)


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
    """Distinct ascending ε, (m,), nats, the claim's own among them; `claim_grid` where none are
    given. Raises `InvalidInput`.
    """
    points = np.atleast_1d(claim_grid(claim) if epsilon is None else check.epsilon(epsilon))
    if len(points) > MOST_EPSILON:
        check.fail(
            "epsilon", check.Words(f"{len(points):,} points"), f"at most {MOST_EPSILON:,} points"
        )
    if points.max() > LARGEST_EPSILON:
        expected = f"at most {LARGEST_EPSILON:g}: no number of draws shows more"
        check.fail("epsilon", float(points.max()), expected)
    own = [] if claim is None or claim.epsilon is None else [in_reach(claim.epsilon)]
    return np.unique(np.concatenate([points, own]))


def in_reach(epsilon: float, name: str = "claim epsilon") -> float:
    """A claimed ε, nats. Raises `InvalidInput` above `LARGEST_EPSILON`."""
    if epsilon > LARGEST_EPSILON:
        expected = f"at most {LARGEST_EPSILON:g} nats: no number of draws refutes a larger one"
        check.fail(name, epsilon, expected)
    return epsilon


def claim_grid(claim: Claim | None) -> Array:
    """ε at which a claim is judged where the user names none, nats.

    For a claim without an ε of its own: 41 ε from 0 to where its δ is 1e-9, since it may fail only
    at large ε. The default ε are added where the claim goes beyond them. The default ε for all
    other claims, and for a claim of δ = 0 at every ε.
    """
    if claim is None or claim.epsilon is not None:
        return DEFAULT_EPSILON
    end = min(float(claim.epsilon_at(CURVE_END)), LARGEST_EPSILON)
    if end == 0.0:
        return DEFAULT_EPSILON
    points = np.linspace(0.0, end, CURVE_POINTS)
    return points if end <= DEFAULT_EPSILON[-1] else np.union1d(points, DEFAULT_EPSILON)
