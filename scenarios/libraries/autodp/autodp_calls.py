"""Noise that autodp calibrates (autodp.privacy_calibrator), on the sum of values in [0, 1].

autodp computes the scale for a sensitivity of 1 and states the (ε, δ) that the noise then gives;
numpy draws the noise, seeded.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Calibrated:
    """A sum with noise of the named calibrator: (ε, δ). `runs` is how often it is released."""

    def __init__(self, name: str, epsilon: float, delta: float, runs: int = 1) -> None:
        self.name, self.budget, self.runs = name, (epsilon, delta), runs
        self.parameters: dict[str, float] = {}

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        self.parameters = self.parameters or self._calibrated()
        (scale,) = self.parameters.values()
        noise = rng.laplace if "b" in self.parameters else rng.normal
        return np.clip(data[:, 0], 0, 1).sum() + noise(scale=scale, size=(size, self.runs))

    def _calibrated(self) -> Any:
        import autodp.rdp_acct  # noqa: F401  (first: autodp.privacy_calibrator alone fails)
        from autodp import privacy_calibrator

        more = {} if self.runs == 1 else {"k": self.runs}
        return getattr(privacy_calibrator, self.name)(*self.budget, **more)


class RandomisedResponse:
    """A bit that is told truly with the probability of randresponse_mech: (ε, 0)."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.budget = (epsilon, delta)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import autodp.rdp_acct  # noqa: F401  (first: autodp.privacy_calibrator alone fails)
        from autodp.privacy_calibrator import randresponse_mech

        truly = rng.random(size) < randresponse_mech(*self.budget)["p"]
        return np.where(truly, data[0, 0], 1 - data[0, 0])
