"""Run the steps of a search: work on changes in parallel, shared draws, and a checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from joblib import delayed

from dpaudit._core.linalg import one_thread
from dpaudit._core.seeds import below, describe, generator
from dpaudit._core.ticks import ticking
from dpaudit._core.types import Array, Mechanism
from dpaudit._core.user_code import Carried
from dpaudit._core.value import value_class
from dpaudit.curves.claims import MetricClaim
from dpaudit.errors import DpauditError
from dpaudit.sampling import Progress, checked, joined, outputs, sampler_of
from dpaudit.sampling.parallel import answer, elsewhere, results_of, workers
from dpaudit.scoring import Classifier
from dpaudit.search.changes import Change
from dpaudit.verdict.numbers import number

BLOCK = 1 << 14  # draws made in one call
FARTHEST = 500.0  # nats; no claim is judged above this ε

EPSILON = np.concatenate([[0.0], np.geomspace(1e-3, 40.0, 2000)])  # nats


@value_class
class Level:
    """The ε at which the neighbours of `data`, (n, d), are compared.

    epsilon : nats, for all neighbours. metric : if not None, a claim by distance, which gives each
    neighbour an ε of its own instead.
    """

    data: Array
    epsilon: float
    metric: MetricClaim | None = None

    def of(self, right: Array) -> float:
        if self.metric is None:
            return self.epsilon
        claimed = self.metric.on(SimpleNamespace(left=self.data, right=right)).epsilon
        assert claimed is not None
        return min(claimed, FARTHEST)

    def beyond(self, gain: float, change: Change) -> float:
        """The least ε that allows a gain (nats a draw), minus the ε that the claim allows.

        Without this a far neighbour would seem worse than a near one, whose claim allows less. The
        largest gain under (ε, 0) is that of randomised response, log 2 − h(1/(1 + e^ε)) with h the
        entropy, since its pair dominates all others (Kairouz, Oh & Viswanath 2015, theorem 3.3).
        If all neighbours are compared at one ε, the gain itself is returned.
        """
        if self.metric is None:
            return gain
        entropy = np.logaddexp(0.0, -EPSILON) + EPSILON / (1.0 + np.exp(EPSILON))
        needed = float(np.interp(gain, np.log(2.0) - entropy, EPSILON))
        return needed - self.of(change.pair(self.data).right)

    @property
    def text(self) -> str:
        if self.metric is None:
            return number(self.epsilon)
        return f"{self.metric.epsilon:g}·d ({self.metric.named})"


@dataclass(frozen=True)
class ChangeOutcome:
    """The outcome of one change at one stage. draws : made of M(D'). value : an influence, or the
    numbers of a `QuickEstimate` by name; None after a failure. failure : the error's text, or "".
    """

    draws: int
    value: float | dict[str, Any] | None = field(default=None, repr=False)
    failure: str = ""


class Checkpoint(Protocol):
    """Keeps outcomes, in JSON types, and draws of M(D), by key; what is absent is None."""

    def outcome(self, key: str) -> Any: ...
    def put_outcome(self, key: str, value: Any) -> None: ...
    def drawn(self, key: str) -> np.ndarray | None: ...
    def put_drawn(self, key: str, values: np.ndarray) -> None: ...


Work = Callable[[Array, Change], ChangeOutcome]  # function of D' and the change that made it


@value_class
class Runner:
    """The mechanism, the database and the settings that all steps of a search share.

    level : the ε at which δ is compared. classifier : scores the draws of quick audits.
    seed : the seed of the search, at key `Purpose.SEARCH` below the seed of the audit.
    """

    mechanism: Mechanism
    data: Array
    level: Level
    classifier: Classifier
    seed: np.random.SeedSequence
    n_jobs: int | None
    progress: Progress
    checkpoint: Checkpoint | None = None

    def run(
        self, step: str, stage: str, work: Work, changes: Sequence[Change], draws: int
    ) -> Iterator[ChangeOutcome]:
        """Yield work(D', change) for all changes in order, computed in parallel. stage : the part
        of the checkpoint's keys that names the work and its draws. draws : of a change, for
        `progress`.
        """
        keys = []
        for change in changes:
            index = "" if change.index is None else change.index
            digest = ""
            if change.row is not None:
                digest = hashlib.sha256(np.ascontiguousarray(change.row).data).hexdigest()
            keys.append(f"{stage} {change.relation} {index} {digest}".rstrip())
        known: list[ChangeOutcome | None] = []
        for key in keys:
            record = None if self.checkpoint is None else self.checkpoint.outcome(key)
            known.append(None if record is None else ChangeOutcome(*record))
        missing = [change for change, old in zip(changes, known, strict=True) if old is None]
        carried = Carried(work)
        wanted = len(keys) * draws
        self.progress(step, 0, wanted)
        with one_thread():  # set once: workers that each set it would undo it
            tasks = [delayed(_attempt)(carried, self.data, change) for change in missing]
            fresh = results_of(workers(self.n_jobs), tasks)
            ask = partial(next, fresh)
            if elsewhere(self.n_jobs):  # processes, which may be killed
                ask = partial(answer, ask, lambda: "try neighbours")
            for before, (key, old) in enumerate(zip(keys, known, strict=True)):
                done = before * draws
                with ticking(partial(self._more, step, done, wanted)):
                    outcome = old or ask()
                # the cause of a failure may be gone at the next start
                if old is None and self.checkpoint is not None and not outcome.failure:
                    self.checkpoint.put_outcome(key, [outcome.draws, outcome.value])
                self.progress(step, done + draws, wanted)
                yield outcome
            next(fresh, None)  # lets joblib end the call

    def _more(self, step: str, done: int, wanted: int, made: int) -> None:
        self.progress(step, min(done + made, wanted - 1), wanted)

    def shared_draws(self, size: int, *key: int) -> np.ndarray:
        """Draws of M(D) that all changes share, (size, k), at a key below the seed.

        Raises `MechanismError` if the mechanism fails on D.
        """
        name = "-".join(map(str, (*key, size)))
        before = None if self.checkpoint is None else self.checkpoint.drawn(name)
        if before is not None:
            return before
        with ticking(partial(self._more, "drawing M(D) for the search", 0, size)):
            values = draw_common(self.mechanism, self.data, size, below(self.seed, *key), "M(D)")
        if self.checkpoint is not None:
            self.checkpoint.put_drawn(name, values)
        return values


def _attempt(work: Work, data: Array, change: Change) -> ChangeOutcome:
    try:
        return work(change.pair(data).right, change)
    except DpauditError as error:
        return ChangeOutcome(0, failure=str(error))


def draw_common(
    mechanism: Mechanism, data: Array, size: int, seed: np.random.SeedSequence, what: str
) -> np.ndarray:
    """Draw mechanism(data), (size, k); block b has the generator at key (b,) below `seed`.

    With the seed of M(D), M(D') is drawn with common random numbers: if a mechanism takes the same
    ones whatever the data, the noise cancels in the difference of partners. Such draws serve to
    choose a change, but certify nothing, as they are not independent.

    what : the database in words, for errors. Raises `MechanismError`, and what preparing the
    mechanism raises.
    """
    try:
        sampler = sampler_of(mechanism, data)
    except DpauditError as error:
        raise type(error)(f"{what}: {error}") from error
    parts = []
    for block, start in enumerate(range(0, size, BLOCK)):
        some = min(BLOCK, size - start)
        where = f"{what}, block {block} ({some} draws, seed {describe(seed)}, key ({block},))"
        drawn = outputs(sampler, some, generator(seed, block), where)
        parts.append(checked(drawn, some, where, sort_keys=True))  # workers may be processes
    return joined(parts, what)
