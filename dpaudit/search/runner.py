"""The same work on many changes of a database, in parallel, with a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from dpaudit._core.seeds import below
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.threads import one_thread
from dpaudit._core.types import Array, Mechanism
from dpaudit._core.user_code import Carried
from dpaudit.errors import DpauditError
from dpaudit.sampling import Progress
from dpaudit.scoring import Classifier
from dpaudit.search.changes import Change
from dpaudit.search.checkpoint import ChangeOutcome, Checkpoint, key_of, recalled, remember
from dpaudit.search.draws import draw_common
from dpaudit.search.level import Level

Work = Callable[[Array, Change], ChangeOutcome]  # of the neighbour D' and the change that made it


@dataclass(frozen=True, eq=False)
class Runner:
    """The mechanism, the database and the settings that all steps of a search share.

    level : ε where δ is compared. classifier : of the quick audits.
    seed : the search's own, at key `Purpose.SEARCH` of the audit's.
    """

    mechanism: Mechanism
    data: Array
    level: Level
    classifier: Classifier
    seed: np.random.SeedSequence
    n_jobs: int | None
    progress: Progress
    checkpoint: Checkpoint | None = None

    __repr__ = short_repr

    def run(
        self, step: str, stage: str, work: Work, changes: Sequence[Change]
    ) -> Iterator[ChangeOutcome]:
        """work(D', change) of each change, in parallel, yielded in order.

        step : what progress is shown as. stage : what the outcomes are kept under, with their
        draws. An outcome of the checkpoint is not worked out again.
        """
        keys = [key_of(stage, change) for change in changes]
        known = [recalled(self.checkpoint, key) for key in keys]
        missing = [change for change, old in zip(changes, known, strict=True) if old is None]
        carried = Carried(work)
        with one_thread():  # set once: workers that each set it would undo it
            fresh = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
                delayed(_attempt)(carried, self.data, change) for change in missing
            )
            for done, (key, old) in enumerate(zip(keys, known, strict=True), start=1):
                one = next(fresh) if old is None else old
                if old is None:
                    remember(self.checkpoint, key, one)
                self.progress(step, done, len(keys))
                yield one
            next(fresh, None)  # lets joblib end the call

    def shared_draws(self, size: int, *key: int) -> np.ndarray:
        """Draws of M(D) for all changes, (size, k), at a key below the seed.

        Raises `MechanismError` where the mechanism fails on D.
        """
        name = "-".join(map(str, (*key, size)))
        kept = None if self.checkpoint is None else self.checkpoint.drawn(name)
        if kept is not None:
            return kept
        values = draw_common(self.mechanism, self.data, size, below(self.seed, *key), "M(D)")
        if self.checkpoint is not None:
            self.checkpoint.put_drawn(name, values)
        return values


def _attempt(work: Work, data: Array, change: Change) -> ChangeOutcome:
    """The outcome of `work`; a mechanism that fails on one neighbour does not end the search."""
    try:
        return work(change.pair(data).right, change)
    except DpauditError as error:
        return ChangeOutcome(0, failure=str(error))
