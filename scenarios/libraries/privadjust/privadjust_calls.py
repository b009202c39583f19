"""What a client of privadjust reports, as mechanisms to audit: imported when one is called.

The database is one row, the user's value. The hash functions are public and made once a process,
from a fixed seed; the noise is drawn by numpy and random, whose global generators are seeded from
the audit's, so an audit comes again digit by digit.
"""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import numpy as np


class Sketch:
    """`size` reports: client(value).

    client : its module and class: "count_mean.private_cms_client:privateCMSClient".
    """

    def __init__(self, client: str, epsilon: float, k: int, m: int) -> None:
        self.name, self.settings = client, (epsilon, k, m)
        self.made: Any = None  # its list of primes takes seconds

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> list[Any]:
        self.made = self.made or self._client()
        _seed(int(rng.integers(2**32)))
        reports = [self.made.client(int(data[0, 0])) for _ in range(size)]
        self.made.client_matrix.clear()
        return reports

    def _client(self) -> Any:
        import pandas as pd

        module, name = self.name.split(":")
        _seed(0)
        values = pd.DataFrame({"value": range(8)})
        return getattr(import_module(f"privadjust.{module}"), name)(*self.settings, values)


def _seed(seed: int) -> None:
    np.random.seed(seed)  # noqa: NPY002 - the package draws from it
    random.seed(seed)
