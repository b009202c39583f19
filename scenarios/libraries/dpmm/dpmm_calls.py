"""What dpmm releases: synthetic tables, to be audited as they are.

The whole fit is audited: preprocessing, the choice and the measurement of marginals, the model, and
the table that is drawn from it. dpmm is imported when a model is fitted. It splits the budget,
`epsilon` for the model and `proc_epsilon` for preprocessing, so the claim is the sum of both, for a
record that is added or removed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np


class Dpmm:
    """A pipeline of dpmm on columns of categories: (epsilon + proc_epsilon, delta).

    pipeline : "MST", "AIM" or "PrivBayes". sizes : number of values of each column, 0, 1, …; they
    are given to dpmm as its domain, which it needs for its guarantee. records : how many are
    released. steps : of the inference, which is post-processing and takes most of the time.
    """

    def __init__(
        self,
        pipeline: str,
        epsilon: float,
        proc_epsilon: float,
        delta: float,
        sizes: Sequence[int],
        records: int,
        steps: int,
    ) -> None:
        self.pipeline, self.records, self.steps = pipeline, records, steps
        self.budget = {"epsilon": epsilon, "proc_epsilon": proc_epsilon, "delta": delta}
        self.columns = [f"column {number + 1}" for number in range(len(sizes))]
        self.categories = {j: [str(one) for one in range(size)] for j, size in enumerate(sizes)}

    def fit(self, data: Any, rng: np.random.Generator) -> Any:
        """The fitted pipeline."""
        import pandas

        values = dict(zip(self.columns, self.categories.values(), strict=True))
        frame = pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(column.astype(int), values[name])
                for name, column in zip(self.columns, data.T, strict=True)
            }
        )
        model = copy.deepcopy(self._unfitted)
        domain = {name: {"categories": given} for name, given in values.items()}
        model.fit(frame, domain, random_state=_seed(rng))
        return model

    @cached_property
    def _unfitted(self) -> Any:
        """The pipeline before any data: to turn its budget into noise takes most of a second."""
        from dpmm import pipelines

        make = getattr(pipelines, f"{self.pipeline}Pipeline")
        return make(**self.budget, n_jobs=1, gen_kwargs={"n_iters": self.steps})

    def sample(self, model: Any, rng: np.random.Generator) -> Any:
        """A data frame of `records` records."""
        return model.generate(n_records=self.records, random_state=_seed(rng)).astype(str)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
