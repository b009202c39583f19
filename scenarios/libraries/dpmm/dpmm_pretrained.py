"""The models of dpmm in their worst case: their tables, or the noisy marginals behind these.

dpmm is imported when a model is fitted.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np


class Pretrained:
    """A model of dpmm whose marginals were chosen on public data: (epsilon, delta).

    Where the choice costs nothing, all of the budget ρ is noise on the marginals, and a record
    moves them by √(2ρ) standard deviations: the mechanism is √(2ρ)-GDP, and no less.

    model : "MST", "AIM" or "PrivBayes". sizes : number of values of each column, 0, 1, …; a record
    of each combination is the public data. steps : of the inference. As many records are released
    as the model estimates that there are.
    """

    def __init__(
        self, model: str, epsilon: float, delta: float, sizes: Sequence[int], steps: int = 20
    ) -> None:
        self.model, self.steps = model, steps
        self.budget = {"epsilon": epsilon, "delta": delta}
        self.domain = {f"column {number + 1}": int(size) for number, size in enumerate(sizes)}

    def fit(self, data: Any, rng: np.random.Generator) -> Any:
        """The model with the noise of this fit."""
        model = copy.deepcopy(self._chosen)
        model.set_random_state(_random_state(rng))
        model.fit(self._frame(data))
        return model

    def sample(self, model: Any, rng: np.random.Generator) -> Any:
        """A data frame of records."""
        return model.generate()

    @cached_property
    def _chosen(self) -> Any:
        """The model after its choice on public data."""
        from dpmm import models
        from dpmm.models.base.mechanisms import mechanism

        # A fit turns the budget into ρ by a search that takes 30 times as long as all the rest.
        mechanism.cdp_rho = cache(mechanism.cdp_rho)
        make = getattr(models, f"{self.model}GM")
        model = make(
            **self.budget, n_iters=self.steps, compress=False, domain=self.domain, n_jobs=1
        )
        model.set_random_state(np.random.RandomState(0))
        combinations = itertools.product(*(range(size) for size in self.domain.values()))
        model.fit(self._frame(list(combinations)), public=True)
        return model

    def _frame(self, records: Any) -> Any:
        import pandas

        return pandas.DataFrame(np.asarray(records).astype(int), columns=list(self.domain))


class Marginals(Pretrained):
    """The noisy marginals of which the table is post-processing: a row of numbers a draw."""

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        """Noise is opendp's, which draws from the system and not from `rng`."""
        model, frame = self._chosen, self._frame(data)
        draws = []
        for _ in range(size):
            model.fit(frame, marginals_only=True)
            draws.append(np.concatenate([counts for _, counts, _, _ in model.generator.measures]))
        return np.array(draws)


def _random_state(rng: np.random.Generator) -> np.random.RandomState:
    return np.random.RandomState(rng.integers(2**31 - 1))
