"""Calls of PipelineDP on its local backend.

Its noise is that of PyDP, which comes from the operating system and cannot be seeded. Data are
(n, 3): a row is a person (a number), a partition (a whole number) and a value. PipelineDP protects
a person, so the row that comes in is one of a person who is not yet there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PARTITIONS = [0, 1]  # public, where they are


class Aggregate:
    """DPEngine.aggregate over public partitions, or those it selects: (ε, δ) for all together.

    A person gives the value `times` times in each of `spread` partitions, as PipelineDP is told.
    `width` is the length of a vector, whose entries are the value and its negatives in turn.
    """

    def __init__(
        self,
        metrics: list[str],
        noise: str = "LAPLACE",
        epsilon: float = 1.0,
        delta: float = 0.0,
        percentiles: list[float] | None = None,
        width: int = 0,
        norm: str = "Linf",
        public: bool = True,
        times: int = 1,
        spread: int = 1,
        **bounds: Any,
    ) -> None:
        self.metrics, self.noise, self.budget = metrics, noise, (epsilon, delta)
        self.percentiles, self.width, self.norm = percentiles or [], width, norm
        self.times, self.spread, self.bounds = times, spread, bounds
        self.partitions = PARTITIONS if public else None

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import pipeline_dp

        rows = [
            (int(who), (int(part) + step) % 2, float(value))
            for who, part, value in data
            for step in range(self.spread)
            for _ in range(self.times)
        ]
        return [self._draw(pipeline_dp, rows) for _ in range(size)]

    def _draw(self, pipeline_dp: Any, rows: Any) -> Any:
        accountant = _accountant(pipeline_dp, self.budget)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        result = engine.aggregate(
            rows, self._parameters(pipeline_dp), self._extractors(pipeline_dp), self.partitions
        )
        accountant.compute_budgets()
        return [
            [float(number) for field in metrics for number in np.atleast_1d(field)]
            for _, metrics in sorted(result, key=lambda pair: pair[0])
        ]

    def _parameters(self, pipeline_dp: Any) -> Any:
        named = [getattr(pipeline_dp.Metrics, metric) for metric in self.metrics]
        limits: dict[str, Any] = {
            "max_partitions_contributed": self.spread,
            "max_contributions_per_partition": self.times,
        }
        if self.width:
            kind = getattr(pipeline_dp.aggregate_params.NormKind, self.norm)
            limits |= {"vector_size": self.width, "vector_norm_kind": kind, "vector_max_norm": 1.0}
        return pipeline_dp.AggregateParams(
            noise_kind=getattr(pipeline_dp.NoiseKind, self.noise),
            metrics=named + [pipeline_dp.Metrics.PERCENTILE(p) for p in self.percentiles],
            **limits | self.bounds,
        )

    def _extractors(self, pipeline_dp: Any) -> Any:
        return pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: self._vector(row[2]) if self.width else row[2],
        )

    def _vector(self, value: float) -> Any:
        return value * np.where(np.arange(self.width) % 2, -1.0, 1.0)


class Private:
    """Partitions that PipelineDP selects itself, with a count where `counted`: (ε, δ).

    An output has an entry for each of the partitions 0 to 2: its count, or 1 where none is asked
    for, and nan where the partition is not selected.
    """

    def __init__(
        self, strategy: str, epsilon: float, delta: float, counted: bool = False, **more: Any
    ) -> None:
        self.strategy, self.budget, self.counted, self.more = (
            strategy,
            (epsilon, delta),
            counted,
            more,
        )

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import pipeline_dp

        rows = [(int(who), int(part), float(value)) for who, part, value in data]
        return np.array([self._draw(pipeline_dp, rows) for _ in range(size)])

    def _draw(self, pipeline_dp: Any, rows: Any) -> list[float]:
        accountant = _accountant(pipeline_dp, self.budget)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        selected = (self._counts if self.counted else self._keys)(pipeline_dp, engine, rows)
        accountant.compute_budgets()
        found = dict(selected)
        return [float(found.get(part, np.nan)) for part in range(3)]

    def _keys(self, pipeline_dp: Any, engine: Any, rows: Any) -> Any:
        parameters = pipeline_dp.SelectPartitionsParams(
            **{"max_partitions_contributed": 1} | self.more,
            partition_selection_strategy=self._strategy(pipeline_dp),
        )
        return (
            (part, 1.0)
            for part in engine.select_partitions(rows, parameters, _extractors(pipeline_dp))
        )

    def _counts(self, pipeline_dp: Any, engine: Any, rows: Any) -> Any:
        parameters = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            partition_selection_strategy=self._strategy(pipeline_dp),
            **self.more,
        )
        result = engine.aggregate(rows, parameters, _extractors(pipeline_dp))
        return ((part, metrics.privacy_id_count) for part, metrics in result)

    def _strategy(self, pipeline_dp: Any) -> Any:
        return getattr(pipeline_dp.PartitionSelectionStrategy, self.strategy)


class Noise:
    """DPEngine.add_dp_noise on the sums of values in [0, 1] of the public partitions: (ε, δ)."""

    def __init__(self, noise: str, epsilon: float, delta: float = 0.0) -> None:
        self.noise, self.budget = noise, (epsilon, delta)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import pipeline_dp

        clipped = np.clip(data[:, 2], 0, 1)
        sums = [(part, float(clipped[data[:, 1] == part].sum())) for part in PARTITIONS]
        return np.array([self._draw(pipeline_dp, sums) for _ in range(size)])

    def _draw(self, pipeline_dp: Any, sums: Any) -> list[float]:
        accountant = _accountant(pipeline_dp, self.budget)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        noise = getattr(pipeline_dp.NoiseKind, self.noise)
        parameters = pipeline_dp.aggregate_params.AddDPNoiseParams(
            noise_kind=noise, l0_sensitivity=1, linf_sensitivity=1.0
        )
        result = engine.add_dp_noise(sums, parameters)
        accountant.compute_budgets()
        return [value for _, value in sorted(result)]


def _accountant(pipeline_dp: Any, budget: tuple[float, float]) -> Any:
    return pipeline_dp.NaiveBudgetAccountant(total_epsilon=budget[0], total_delta=budget[1])


def _extractors(pipeline_dp: Any) -> Any:
    return pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
