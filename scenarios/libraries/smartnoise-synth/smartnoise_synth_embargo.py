"""What smartnoise-synth releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np


class Scaled:
    """The mean and variance that StandardScaler learns within bounds, which it asks ε for."""

    def __init__(self, epsilon: float, lower: float, upper: float) -> None:
        self.parameters = {"epsilon": epsilon, "lower": lower, "upper": upper}

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        from snsynth.transform import StandardScaler

        return np.array([self._fitted(StandardScaler, data[:, 0].tolist()) for _ in range(size)])

    def _fitted(self, made: Any, values: Any) -> list[float]:
        scaler = made(**self.parameters)
        scaler.fit(values)
        return [float(scaler.mean), float(scaler.var)]
