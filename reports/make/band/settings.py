"""What every band that is compared has in common: the ε, the level, and its form as a function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.scores import SortedScores

SHOWN = np.array([0.0, 0.5, 1.0, 2.0])  # ε at which certified δ are compared
LEVEL = 0.95
Band = Callable[[SortedScores, SortedScores], Array]  # choosing, certifying → δ on SHOWN, (4,)
