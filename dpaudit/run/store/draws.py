"""Draws kept on disk during a run, so that an interrupted run can continue.

The folder holds a .npy file for each block of draws, an .npz file for each group of blocks that was
counted by the worker that drew it, a manifest, which records what determines the draws, and
`parts.jsonl`, the list of files with their SHA-256. A file counts only if its line is complete and
its bytes have that checksum. So a run may be killed, or the disk may be full, at any moment. A line
without a file is of draws that workers kept: they are drawn again, to the same checksum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import Parts, Repeat, checksum, packed, unpacked
from dpaudit.run.store.counts import FILES, KeptCounts, drop_others
from dpaudit.run.store.manifest import begin, clear, drawn_differently
from dpaudit.sampling import SIDES

# only these files, what tells of them, and their drafts are ever removed
BLOCKS = ("[01]-[0-9][0-9][0-9][0-9][0-9][0-9]*.npy", FILES)

MARKED, DISTINCT = (64, 16)  # draws of a mark, and how many of them must differ


class DrawStore:
    """The `BlockStore` of one run in `folder`, its `CountStore` and its `ChecksumStore`.

    made_by : JSON content by name; two runs with equal content draw the same bytes.
    resume : use the draws that are there; raises `InvalidInput` if they were made otherwise, or if
        there is no manifest that tells. Without it they are removed.

    all_draws : keep the draws even where counts would do.

    A block that is damaged, or of another run, counts as missing. On resuming, so does the first
    sound block of each side, and `put` compares the new draws with it: not all that draws depend on
    can be listed. Raises OSError when the folder cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        made_by: Mapping[str, Any],
        *,
        resume: bool = False,
        all_draws: bool = False,
    ) -> None:
        self.folder, self.all_draws = folder, all_draws
        begin(folder, made_by, BLOCKS, resume)
        self.parts, self.drawn = Parts(folder), 0
        self.counted: KeptCounts | None = None
        self.sides = [Repeat(self.parts, f"{side}-") for side in range(len(SIDES))]

    def get(self, side: int, block: int) -> np.ndarray | None:
        """The draws of a block; None where there is no sound copy, or where it is drawn again."""
        content = self.sides[side].get(_name(side, block))
        return None if content is None else unpacked(content)

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        """Keep a block. Raises `InvalidInput` where it is drawn again and is not the same."""
        if not self.sides[side].put(_name(side, block), packed(values), len(values)):
            raise InvalidInput(drawn_differently(f"block {block} of {SIDES[side]}", self.folder))
        self.drawn += len(values)

    def mark(self, side: int) -> str | None:
        """A hash of the first draws of a side; None where too few are here that differ, so that
        another run could have the same ones by chance.
        """
        first = self.get(side, 0)
        rows = [] if first is None else [one.tobytes() for one in first[:MARKED]]
        if len(set(rows)) < DISTINCT:
            return None
        return hashlib.sha256(b"".join(rows)).hexdigest()

    @property
    def checksum(self) -> Callable[[np.ndarray], str] | None:
        """Of draws that workers keep, to be drawn again on resuming; None where draws are kept."""
        kept = self.all_draws or any(side.name is not None for side in self.sides)
        return None if kept else checksum

    def note(self, side: int, block: int, checksum: str, draws: int) -> None:
        """Keep the checksum of a block that is elsewhere. Raises `InvalidInput` where it was drawn
        before and is not the same.
        """
        name = _name(side, block)
        if name not in self.parts.listed:
            self.parts.enter(name, checksum, draws)
            self.drawn += draws
        elif self.parts.listed[name].sha256 != checksum:
            raise InvalidInput(drawn_differently(f"block {block} of {SIDES[side]}", self.folder))

    def counts(self, key: str) -> KeptCounts | None:
        """The counts with a key; None where all draws are kept. Counts with other keys go."""
        drop_others(self.parts, None if self.all_draws else key)
        self.counted = None if self.all_draws else KeptCounts(self.parts, key)
        return self.counted

    @property
    def fresh(self) -> int:
        """Draws of both sides that were put so far."""
        return self.drawn + (0 if self.counted is None else self.counted.fresh)

    def remove(self) -> None:
        """Remove what a store has written, and the folder if it is then empty."""
        clear(self.folder, BLOCKS)


def digest_of(values: Array) -> str:
    """SHA-256 of an array's shape and bytes."""
    found = hashlib.sha256(repr(values.shape).encode())
    found.update(np.ascontiguousarray(values).data)
    return found.hexdigest()


def _name(side: int, block: int) -> str:
    return f"{side}-{block:06d}.npy"
