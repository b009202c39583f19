"""What multi-freq-ldpy releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from multi_freq_ldpy_calls import Client, Row


class Repeated(Client):
    """Several reports of a user whose value stays the same."""

    def __init__(self, client: str, settings: Sequence[Any], times: int) -> None:
        super().__init__(client, settings)
        self.times = times

    def __call__(self, data: Row, size: int, *, rng: np.random.Generator) -> list[Any]:
        reports = super().__call__(data, size * self.times, rng=rng)
        return [reports[i : i + self.times] for i in range(0, len(reports), self.times)]
