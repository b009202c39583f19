"""Draws kept on disk during a run, so that an interrupted run can continue.

The folder holds a .npy file for each block of draws, a manifest, which records what determines the
draws, and `parts.jsonl`, the list of files with their SHA-256. A block counts only if its line
is complete and its bytes have that checksum. So a run may be killed, or the disk may be full, at
any moment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import Parts, Repeat
from dpaudit.run.store.manifest import AFRESH, begin, clear
from dpaudit.sampling import SIDES

# only these files, what tells of them, and their drafts are ever removed
BLOCKS = ("[01]-[0-9][0-9][0-9][0-9][0-9][0-9]*.npy",)


class DrawStore:
    """The `BlockStore` of one run in `folder`.

    made_by : JSON content by name; two runs with equal content draw the same bytes.
    resume : use the draws that are there; raises `InvalidInput` if they were made otherwise, or if
        there is no manifest that tells. Without it they are removed.

    A block that is damaged, or of another run, counts as missing. On resuming, so does the first
    sound block of each side, and `put` compares the new draws with it: not all that draws depend on
    can be listed. fresh : draws put so far. Raises OSError when the folder cannot be written.
    """

    def __init__(self, folder: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        begin(folder, made_by, BLOCKS, resume)
        self.parts, self.fresh = Parts(folder), 0
        self.sides = [Repeat(self.parts, f"{side}-") for side in range(len(SIDES))]

    def get(self, side: int, block: int) -> np.ndarray | None:
        """The draws of a block; None where there is no sound copy, or where it is drawn again."""
        return self.sides[side].get(_name(side, block))

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        """Keep a block. Raises `InvalidInput` where it is drawn again and is not the same."""
        if not self.sides[side].put(_name(side, block), values):
            raise InvalidInput(drawn_differently(f"block {block} of {SIDES[side]}", self.folder))
        self.fresh += len(values)

    def remove(self) -> None:
        """Remove what a store has written, and the folder if it is then empty."""
        clear(self.folder, BLOCKS)


def drawn_differently(what: str, folder: Path) -> str:
    """The error of a resumed run that draws otherwise than the run that it goes on with."""
    return (
        f"{what} is drawn differently now than when it was kept in {folder}: something that the "
        "run depends on has changed (an environment variable, a file, a program?), or the "
        f"mechanism draws from something else than rng; {AFRESH}"
    )


def digest_of(values: Array) -> str:
    """SHA-256 of an array's shape and bytes."""
    found = hashlib.sha256(repr(values.shape).encode())
    found.update(np.ascontiguousarray(values).data)
    return found.hexdigest()


def _name(side: int, block: int) -> str:
    return f"{side}-{block:06d}.npy"
