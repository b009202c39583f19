"""Measurements of tmlt-core that need no Spark session.

tmlt-core draws from the operating system and cannot be seeded. Data are (n, 1): values that are
clipped to [0, 1]. What the measurement promises is its own privacy_function for a change by 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np


class Noise:
    """A noise mechanism on a sum of values: pure ε, or ρ, for the distance 1."""

    def __init__(self, name: str, scale: float, claim: float) -> None:
        self.name, self.scale, self.claim = name, scale, claim

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        measurement = self._measurement()
        _agreed(measurement, self.claim)
        total = np.clip(data[:, 0], 0, 1).sum()
        value = np.float64(total) if self._continuous else np.int64(round(total))
        return np.array([measurement(value) for _ in range(size)], dtype=np.float64)

    @property
    def _continuous(self) -> bool:
        return self.name in ("AddLaplaceNoise", "AddGaussianNoise")

    def _measurement(self) -> Any:
        from tmlt.core.domains.numpy_domains import NumpyFloatDomain
        from tmlt.core.measurements import noise_mechanisms

        domain = [NumpyFloatDomain()] if self._continuous else []
        return getattr(noise_mechanisms, self.name)(*domain, _exact(self.scale))


class Series:
    """A noise mechanism on each value of a pandas series of 0 and 1: pure ε for the distance 1."""

    def __init__(self, scale: float, claim: float) -> None:
        self.scale, self.claim = scale, claim

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import pandas as pd
        from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise
        from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries

        measurement = AddNoiseToSeries(AddGeometricNoise(_exact(self.scale)))
        _agreed(measurement, self.claim)
        values = pd.Series(np.clip(data[:, 0], 0, 1).round().astype(np.int64))
        return np.array([measurement(values) for _ in range(size)], dtype=np.float64)


class Quantile:
    """NoisyQuantile within [0, 1]: pure ε, or ρ = ε²/8 where zCDP is asked for."""

    def __init__(self, quantile: float, epsilon: float, claim: float, concentrated: bool) -> None:
        self.quantile, self.epsilon, self.claim = quantile, epsilon, claim
        self.concentrated = concentrated

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import pandas as pd

        measurement = self._measurement()
        _agreed(measurement, self.claim)
        values = pd.Series(data[:, 0])
        return np.array([measurement(values) for _ in range(size)], dtype=np.float64)

    def _measurement(self) -> Any:
        from tmlt.core.domains.numpy_domains import NumpyFloatDomain
        from tmlt.core.domains.pandas_domains import PandasSeriesDomain
        from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
        from tmlt.core.measures import PureDP, RhoZCDP

        return NoisyQuantile(
            input_domain=PandasSeriesDomain(NumpyFloatDomain()),
            output_measure=RhoZCDP() if self.concentrated else PureDP(),
            quantile=self.quantile,
            lower=0.0,
            upper=1.0,
            epsilon=_exact(self.epsilon),
        )


def _exact(number: float) -> Any:
    from tmlt.core.utils.exact_number import ExactNumber

    return ExactNumber(Fraction(number).limit_denominator(1000))


def _agreed(measurement: Any, claim: float) -> None:
    promised = measurement.privacy_function(1).to_float(round_up=True)
    if abs(promised - claim) > 1e-9:
        raise ValueError(f"tmlt-core promises {promised}, claimed is {claim}")
