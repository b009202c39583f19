"""What the gallery is computed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpaudit._core.types import Array, Mechanism
from dpaudit.errors import InvalidInput
from dpaudit.run import Scenario
from dpaudit.run.execute import loaded_data

DELTA = 1e-5


@dataclass(frozen=True, eq=False)
class Settings:
    """One database and the grids of every part; `points` and `steps` are how many ε a curve has.

    Attributes
    ----------
    database : (n, d), label last; name : what it is called.
    mechanisms : (name, mechanism) pairs whose spectra are drawn.
    points : ε of each curve. steps : ε of the figure on Gaussian mixing. mixing_rows : its k.
    targets : ε of the calibrations, at δ = DELTA. rows : r, k or ν of every sketch that is
        calibrated.
    releases : how often the compositions are released.
    """

    database: Array
    name: str
    mechanisms: tuple[tuple[str, Mechanism], ...]
    points: int = 81
    steps: int = 33
    mixing_rows: tuple[int, ...] = (100, 1000)
    mixing_delta: float = 1e-6
    targets: tuple[float, ...] = (0.1, 0.5, 1.0, 2.0)
    rows: int = 100_000
    releases: tuple[int, ...] = (1, 10, 100)

    @classmethod
    def of_scenarios(cls, paths: Sequence[Path]) -> Settings:
        """The mechanisms of scenario files that share one data set.

        Raises `ScenarioError`, `InvalidInput`.
        """
        scenarios = [Scenario.load(path) for path in sorted(paths)]
        if not scenarios or len({scenario.data for scenario in scenarios}) != 1:
            raise InvalidInput(
                f"scenarios must be files that share one data set, got {len(scenarios)} files"
            )
        dataset = loaded_data(scenarios[0])
        named = tuple((scenario.name, scenario.mechanism) for scenario in scenarios)
        return cls(dataset.database, dataset.name, named)

    @property
    def row_bound(self) -> float:
        """B, the largest norm of a row."""
        return float(np.linalg.norm(self.database, axis=1).max())
