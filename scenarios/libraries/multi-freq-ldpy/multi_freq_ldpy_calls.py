"""What a client of multi-freq-ldpy reports, as mechanisms to audit: imported when one is called.

The database is one row, the user's value or values. numba draws the noise of most protocols and
numpy that of the others; both are seeded from the audit's generator, so an audit comes again digit
by digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from math import exp
from typing import Any

import numpy as np

Row = Any  # the values of one user


class Client:
    """`size` reports of one client, as they are returned.

    client : its module and name, without the package: "pure_frequency_oracles.GRR:GRR_Client".
    settings : what it is called with after the user's value, or values.
    """

    def __init__(self, client: str, settings: Sequence[Any]) -> None:
        self.name, self.settings = client, list(settings)

    def __call__(self, data: Row, size: int, *, rng: np.random.Generator) -> list[Any]:
        client, value = self._client(), _value(data)
        _seed(rng)
        return [self.read(client(value, *self.settings)) for _ in range(size)]

    def read(self, report: Any) -> Any:
        """What the audit sees of a report: all of it."""
        return report

    def _client(self) -> Callable[..., Any]:
        module, name = self.name.split(":")
        return getattr(import_module(f"multi_freq_ldpy.{module}"), name)  # type: ignore[no-any-return]


class AsSet(Client):
    """The same, where the entries of a report are sorted before they are sent."""

    def read(self, report: Any) -> Any:
        """Its entries in order."""
        return np.sort(report)


class Hashed(Client):
    """Of local hashing: the values whose hash is the reported one, which is what the server counts.

    settings : [k, epsilon, optimal], or [k, eps_perm, eps_1, optimal] with optimal = false. Of
    several attributes every report is read with k = sizes[i].
    """

    def __init__(
        self, client: str, settings: Sequence[Any], sizes: Sequence[int], epsilon: float, form: str
    ) -> None:
        super().__init__(client, settings)
        self.sizes, self.form = list(sizes), form
        self.buckets = round(exp(epsilon)) + 1 if epsilon else 2

    def read(self, report: Any) -> Any:
        """A row of 0 and 1: of one report, of all ("split"), or of the sampled one ("sampled")."""
        if self.form == "split":
            pairs = zip(report, self.sizes, strict=True)
            return np.concatenate([self._support(one, size) for one, size in pairs])
        if self.form == "sampled":
            return [report[0], self._support(report[1], self.sizes[report[0]])]
        return self._support(report, self.sizes[0])

    def _support(self, report: Any, size: int) -> np.ndarray[Any, Any]:
        import xxhash

        value, seed = report
        hashes = [xxhash.xxh32(str(v), seed=seed).intdigest() for v in range(size)]
        return np.array(hashes) % self.buckets == value


def _value(data: Row) -> Any:
    values = [int(value) for value in data[0]]
    return values[0] if len(values) == 1 else values


def _seed(rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**32))
    np.random.seed(seed)  # noqa: NPY002 - the package draws from it
    _numba_seed()(seed)


def _numba_seed() -> Callable[[int], None]:
    global _SEED
    if _SEED is None:
        from numba import njit

        def seed(value: int) -> None:
            np.random.seed(value)  # noqa: NPY002 - the package draws from it

        _SEED = njit(seed)
    return _SEED


_SEED: Callable[[int], None] | None = None
