"""Counts of draws that were made and counted elsewhere, kept as the draws would be."""

from __future__ import annotations

import io

import numpy as np

from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import Parts, Repeat
from dpaudit.run.store.manifest import drawn_differently
from dpaudit.sampling import Counted, Counts

PREFIX = "counts-"
FILES = f"{PREFIX}{'[0-9a-f]' * 16}-{'[0-9]' * 6}.npz"


class KeptCounts:
    """The counts with one key among `parts`, an .npz file for each group of blocks.

    The first sound one is made again (`Repeat`). fresh : draws of both sides that were put so far.
    """

    def __init__(self, parts: Parts, key: str) -> None:
        self.prefix = f"{PREFIX}{key}-"
        self.names = [name for name in parts.listed if name.startswith(self.prefix)]
        self.groups, self.fresh = Repeat(parts, self.prefix), 0

    def __bool__(self) -> bool:
        """Whether there were any when the run began."""
        return bool(self.names)

    def get(self, number: int) -> Counted | None:
        """What came of a group; None where there is no sound copy, or where it is made again."""
        content = self.groups.get(self._name(number))
        return None if content is None else _unpacked(content)

    def put(self, number: int, made: Counted) -> None:
        """Keep what came of a group. Raises `InvalidInput` where it is made again and is not the
        same.
        """
        draws = 2 * made.counts.draws
        if not self.groups.put(self._name(number), _packed(made), draws):
            what = f"group {number} of the blocks that are counted"
            raise InvalidInput(drawn_differently(what, self.groups.parts.folder))
        self.fresh += draws

    def _name(self, number: int) -> str:
        return f"{self.prefix}{number:06d}.npz"


def drop_others(parts: Parts, key: str | None) -> None:
    """Remove counts with other keys, which are of a score that is not used any more."""
    own = None if key is None else f"{PREFIX}{key}-"
    counts = [name for name in parts.listed if name.startswith(PREFIX)]
    parts.drop([name for name in counts if own is None or not name.startswith(own)])


def _packed(made: Counted) -> bytes:
    """The same bytes for the same counts: NumPy writes no time into the file."""
    buffer = io.BytesIO()
    counts = made.counts
    arrays = {"cells": counts.cells, "first": counts.first, "undefined": counts.undefined}
    np.savez(buffer, **arrays, sums=made.sums, columns=made.columns)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpacked(content: bytes) -> Counted:
    with np.load(io.BytesIO(content), allow_pickle=False) as found:
        counts = Counts(found["cells"], found["first"], int(found["undefined"]))
        return Counted(counts, found["sums"], found["columns"])
