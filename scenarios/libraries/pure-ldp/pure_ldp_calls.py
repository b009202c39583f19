"""What a client of pure-ldp reports, as mechanisms to audit: imported when one is called.

The database is one row, the user's value (1, 2, … as its documentation counts them) or the number
of a word in WORDS. A server makes the public hash functions, from a fixed seed, since both sides
know them; the noise is drawn by numpy and random, whose global generators are seeded from the
audit's, so an audit comes again digit by digit. Where a report holds the seed of a hash function,
it is read as the server reads it: which values have the reported hash.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

WORDS = ["000000", "011010", "111111"]
Report = Any


class Client:
    """`size` reports of one client.

    client, settings : its class, and the keywords that it is made with. server : the keywords of
    its server, where the client wants hash functions of it. d : the number of values.
    """

    def __init__(
        self,
        client: str,
        settings: Mapping[str, Any],
        server: Mapping[str, Any] | None = None,
        d: int = 0,
    ) -> None:
        self.name, self.settings, self.server, self.d = client, dict(settings), server, d

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> list[Any]:
        client, value = self.make(), self.value(int(data[0, 0]))
        _seed(int(rng.integers(2**32)))
        return [self.read(client, client.privatise(value)) for _ in range(size)]

    def make(self) -> Any:
        """The client."""
        oracles = import_module("pure_ldp.frequency_oracles")
        settings = dict(self.settings)
        if self.server is not None:
            _seed(0)
            server = getattr(oracles, f"{self.name}Server")(**self.server)
            settings["hash_funcs"] = server.get_hash_funcs()
        return getattr(oracles, f"{self.name}Client")(**settings)

    def value(self, cell: int) -> Any:
        """The user's value."""
        return cell

    def read(self, client: Any, report: Report) -> Any:
        """What the audit sees of a report."""
        return list(report) if isinstance(report, zip) else report


class Hashed(Client):
    """Of local hashing: the values whose hash is the reported one."""

    def read(self, client: Any, report: Report) -> Any:
        """A row of 0 and 1, and the number of the hash function where there are few."""
        return support(client, report, self.d)


class Sketch(Client):
    """SketchResponse with the FastLHClient that it takes by default: the cells of the sketch."""

    def read(self, client: Any, report: Report) -> Any:
        """The cells that have the reported hash, and the number of the sketch's own hash."""
        hashed, row = report
        return [support(client.client, hashed, self.settings["m"]), row]


class Words(Client):
    """A client of heavy hitters; the user's value is a word of WORDS.

    client : of pure_ldp.heavy_hitters.
    """

    def make(self) -> Any:
        """The client, with local hashing unless it wants a sketch."""
        heavy = import_module("pure_ldp.heavy_hitters")
        settings = dict(self.settings)
        if self.server is not None:
            oracles = import_module("pure_ldp.frequency_oracles")
            _seed(0)
            server = oracles.CMSServer(**self.server)
            settings["fo_client"] = oracles.CMSClient(
                settings["epsilon"], server.get_hash_funcs(), self.server["m"]
            )
        return getattr(heavy, f"{self.name}Client")(**settings)

    def value(self, cell: int) -> Any:
        """The word."""
        return WORDS[cell]

    def read(self, client: Any, report: Report) -> Any:
        """Each part of the report: which words of six letters have the reported hash."""
        if self.server is not None:
            return report
        last = report[-1]
        if isinstance(last, tuple):  # TreeHist: a prefix and the word
            return [support(client.client, part, 64) for part in report]
        return [support(client.client, report[0], 64), last]


def support(client: Any, report: Report, d: int) -> np.ndarray[Any, Any]:
    """Which of d values have the reported hash, as the server counts them."""
    import xxhash

    value, seed = report
    hashes = np.array([xxhash.xxh32(str(v), seed=seed).intdigest() for v in range(d)])
    few = hasattr(client, "k")
    return np.append(hashes % client.g == value, [seed] if few else []).astype(float)


def _seed(seed: int) -> None:
    np.random.seed(seed)  # noqa: NPY002 - the package draws from it
    random.seed(seed)
