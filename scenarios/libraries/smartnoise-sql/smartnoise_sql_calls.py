"""Calls of smartnoise-sql on a pandas frame.

Its noise is opendp's and cannot be seeded. It searches the scale of the noise anew in each query;
here each scale is searched once, since it depends on ε, δ, the bounds of the metadata and max_ids
alone. That makes a query thirty times as fast and changes nothing else.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

COLUMNS = {"person": {"type": "int", "private_id": True}, "grp": {"type": "int"}}


class Query:
    """A query on rows (person, group, value): all numbers of the answer, in order of the groups.

    `claim` is what get_privacy_cost says that the query costs: another cost is an error.
    """

    def __init__(
        self,
        query: str,
        epsilon: float,
        delta: float,
        claim: list[float],
        bounds: list[float],
        gaussian: bool = False,
        **options: Any,
    ) -> None:
        self.query, self.claim, self.gaussian = query, claim, gaussian
        self.budget = {"epsilon": epsilon, "delta": delta}
        value = {"type": "float", "lower": bounds[0], "upper": bounds[1]}
        table = {"rows": 10, **COLUMNS, "value": value, **options}
        self.metadata = {"": {"data": {"people": table}}}

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        reader = self._reader(data)
        cost = reader.get_privacy_cost(self.query)
        if not np.allclose(cost, self.claim, atol=1e-4):
            raise ValueError(f"smartnoise-sql says that the query costs {cost}, not {self.claim}")
        return [self._answer(reader) for _ in range(size)]

    def _reader(self, data: Any) -> Any:
        import pandas as pd
        import snsql
        from snsql.sql._mechanisms import gaussian, laplace

        for made in (laplace.Laplace, gaussian.Gaussian):
            _remember(made)
        frame = pd.DataFrame(data, columns=["person", "grp", "value"])
        frame = frame.astype({"person": int, "grp": int})
        privacy = snsql.Privacy(**self.budget)
        if self.gaussian:
            for stat in snsql.Stat:
                privacy.mechanisms.map[stat] = snsql.Mechanism.gaussian
        return snsql.from_connection(frame, privacy=privacy, metadata=self.metadata)

    def _answer(self, reader: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = reader.execute(self.query)[1:]
        return [
            [float("nan") if cell is None else float(cell) for cell in row] for row in sorted(rows)
        ]


class Union:
    """Which of the groups 0 to 3 the differentially private set union of rows (person, group,
    group) releases: (ε, δ). A group below 0 stands for none.
    """

    def __init__(self, epsilon: float, delta: float) -> None:
        self.budget = {"epsilon": epsilon, "delta": delta, "max_contrib": 2}

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import pandas as pd
        from snsql.sql.dpsu import policy_laplace

        rows = [
            (int(who), (int(group),)) for who, *groups in data for group in groups if group >= 0
        ]
        frame = pd.DataFrame(rows, columns=["person", "group_cols"])
        found = [policy_laplace(frame.copy(), **self.budget)["group_cols"] for _ in range(size)]
        return np.array([[float((group,) in set(one)) for group in range(4)] for one in found])


def _remember(made: Any) -> None:
    """The scale of a mechanism is searched once for the same parameters."""
    if hasattr(made, "remembered"):
        return
    search, made.remembered = made._compute_noise_scale, {}

    def scale(self: Any) -> None:
        key = (self.lower, self.upper, self.max_contrib, self.epsilon, self.delta)
        if key not in made.remembered:
            search(self)
            made.remembered[key] = self.scale
        self.scale = made.remembered[key]

    made._compute_noise_scale = scale
