"""Calls of python-dp (PyDP), the Python face of Google's C++ library.

Its noise comes from the operating system and cannot be seeded, so no run comes again digit by
digit. Data are (n, 1): a row is the one value that a person contributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Algorithm:
    """An algorithm of pydp.algorithms.laplacian on the values: (ε, 0), or (ε, δ) with `delta`."""

    def __init__(self, name: str, **parameters: Any) -> None:
        self.name, self.parameters = name, parameters

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        from pydp.algorithms import laplacian

        made = getattr(laplacian, self.name)
        number = float if self.parameters.get("dtype") == "float" else int
        values = [number(value) for value in data[:, 0]]
        return np.array([self._result(made, values) for _ in range(size)])

    def _result(self, made: Any, values: Any) -> float:
        try:
            return float(made(**self.parameters).quick_result(values))
        except RuntimeError:  # no bounds were found: an outcome too
            return float("nan")


class Quantiles:
    """Several quantiles of one QuantileTree."""

    def __init__(self, epsilon: float, delta: float, noise: str) -> None:
        self.epsilon, self.delta, self.noise = epsilon, delta, noise

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        from pydp.algorithms.quantile_tree import QuantileTree

        return np.array([self._quantiles(QuantileTree, data[:, 0]) for _ in range(size)])

    def _quantiles(self, made: Any, values: Any) -> Any:
        tree = made(lower=0.0, upper=1.0, tree_height=4, branching_factor=4)
        for value in values:
            tree.add_entry(float(value))
        return tree.compute_quantiles(
            epsilon=self.epsilon,
            delta=self.delta,
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            quantiles=[0.25, 0.5, 0.75],
            noise_type=self.noise,
        )


class Noise:
    """LaplaceMechanism (ε) or GaussianMechanism (ε, δ) on the sum of values in [0, 1].

    `threshold` asks whether the noised sum exceeds it, and nothing else.
    """

    def __init__(self, name: str, threshold: float | None = None, **parameters: float) -> None:
        self.name, self.threshold, self.parameters = name, threshold, parameters

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        from pydp.algorithms import numerical_mechanisms

        made = getattr(numerical_mechanisms, self.name)(sensitivity=1.0, **self.parameters)
        total = float(np.clip(data[:, 0], 0, 1).sum())
        if self.threshold is None:
            return np.array([made.add_noise(total) for _ in range(size)])
        above = made.noised_value_above_threshold
        return np.array([float(above(total, self.threshold)) for _ in range(size)])


class Selection:
    """Whether a partition with as many users as the data have rows is kept: (ε, δ)."""

    def __init__(self, strategy: str, epsilon: float, delta: float, before: int = 0) -> None:
        self.parameters = (strategy, epsilon, delta, 1, before or None)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        from pydp.algorithms.partition_selection import create_partition_strategy

        strategy = create_partition_strategy(*self.parameters)
        return np.array([float(strategy.should_keep(len(data))) for _ in range(size)])


class LaplaceBounded:
    """LaplaceBoundedDomain of pydp.ml on the mean of values in [0, 1], n public: (ε, 0)."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        from pydp.ml.mechanisms.laplace import LaplaceBoundedDomain

        made = LaplaceBoundedDomain().set_epsilon(self.epsilon).set_sensitivity(1 / len(data))
        made.set_bounds(0, 1)
        mean = float(np.clip(data[:, 0], 0, 1).mean())
        return np.array([made.randomise(mean) for _ in range(size)])
