"""What a client of ldp-toolbox reports, as mechanisms to audit: imported when one is called.

The database is one row, the user's value. numba draws the noise of some protocols and numpy that
of the others; both are seeded from the audit's generator, so an audit comes again digit by digit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np


class Protocol:
    """`size` reports: obfuscate(value), as it is returned.

    protocol : its module and class: "grr:GeneralizedRandomizedResponse". settings : the keywords
    that it is made with.
    """

    def __init__(self, protocol: str, settings: Mapping[str, Any]) -> None:
        self.name, self.settings = protocol, dict(settings)

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> list[Any]:
        module, name = self.name.split(":")
        protocols = import_module(f"ldp_toolbox.protocols.frequency.{module}")
        protocol = getattr(protocols, name)(**self.settings)
        _seed(rng)
        return [self.read(protocol, protocol.obfuscate(int(data[0, 0]))) for _ in range(size)]

    def read(self, protocol: Any, report: Any) -> Any:
        """What the audit sees of a report: all of it."""
        return report


class Hashed(Protocol):
    """Of local hashing: the values whose hash is the reported one, which is what the server
    counts.
    """

    def read(self, protocol: Any, report: Any) -> np.ndarray[Any, Any]:
        """A row of 0 and 1."""
        import xxhash

        value, seed = report
        hashes = [xxhash.xxh32(str(v), seed=seed).intdigest() for v in range(protocol.k)]
        return np.array(hashes) % protocol.g == value


class Indices(Protocol):
    """Of thresholding: which values are above the threshold."""

    def read(self, protocol: Any, report: Any) -> np.ndarray[Any, Any]:
        """A row of 0 and 1, 1 at the reported indices."""
        return np.isin(np.arange(protocol.k), report)


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
