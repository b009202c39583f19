"""The draws of a run and of its search, kept until the run is done."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.run.store.folder import Repeated, StoreFolder, packed, unpacked
from dpaudit.sampling import SIDES, Counted, Counts

MARKED, DISTINCT = 64, 16  # draws of a mark, and how many of them must differ


class DrawStore(StoreFolder):
    """The blocks of draws of one run, a .npy file each, and the counts of draws that workers made.

    all_draws : keep the draws even where counts would do. The rest as in `StoreFolder`.

    A block that is damaged, or of another run, counts as missing. On resuming, so does the first
    sound block of each side, and `put` compares the new draws with it (`Repeated`).
    """

    def __init__(
        self,
        path: Path,
        made_by: Mapping[str, Any],
        *,
        resume: bool = False,
        all_draws: bool = False,
    ) -> None:
        super().__init__(path, made_by, resume=resume)
        self.all_draws, self.drawn = all_draws, 0
        self.counted: CountFiles | None = None
        self.sides = [Repeated(self, f"{side}-") for side in range(len(SIDES))]

    def get(self, side: int, block: int) -> np.ndarray | None:
        """The draws of a block; None where there is no sound copy, or where it is drawn again."""
        content = self.sides[side].get(_block_name(side, block))
        return None if content is None else unpacked(content)

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        """Keep a block. Raises `InvalidInput` where it is drawn again and is not the same."""
        what = f"block {block} of {SIDES[side]}"
        self.sides[side].put(_block_name(side, block), packed(values), len(values), what)
        self.drawn += len(values)

    def mark(self, side: int) -> str | None:
        """A hash of the first draws of a side, by which draws that come again are known.

        None where too few of them differ, so that another run could have the same ones by chance.
        """
        block = self.get(side, 0)
        rows = [] if block is None else [row.tobytes() for row in block[:MARKED]]
        if len(set(rows)) < DISTINCT:
            return None
        return hashlib.sha256(b"".join(rows)).hexdigest()

    def counts(self, key: str) -> CountFiles | None:
        """The counts with a key; None where all draws are kept.

        Counts with other keys are of a score that is not used any more; they are removed.
        """
        current = None if self.all_draws else f"counts-{key}-"
        names = [name for name in self.parts if name.startswith("counts-")]
        self.drop([name for name in names if current is None or not name.startswith(current)])
        self.counted = None if current is None else CountFiles(self, current)
        return self.counted

    @property
    def fresh(self) -> int:
        """Draws of both sides that were put so far."""
        return self.drawn + (0 if self.counted is None else self.counted.fresh)


class CountFiles:
    """Counts of groups of blocks that workers drew and counted, an .npz file each.

    The first sound group is made again on resuming (`Repeated`).
    fresh : draws of both sides that were put so far.
    """

    def __init__(self, folder: StoreFolder, prefix: str) -> None:
        self.prefix, self.fresh = prefix, 0
        self.resumed = any(name.startswith(prefix) for name in folder.parts)
        self.groups = Repeated(folder, prefix)

    def __bool__(self) -> bool:
        """Whether there were any when the run began."""
        return self.resumed

    def get(self, number: int) -> Counted | None:
        """The counts of a group; None where there is no sound copy, or it is made again."""
        content = self.groups.get(f"{self.prefix}{number:06d}.npz")
        if content is None:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            counts = Counts(arrays["cells"], arrays["first"], int(arrays["undefined"]))
            return Counted(counts, arrays["sums"], arrays["columns"])

    def put(self, number: int, counted: Counted) -> None:
        """Keep the counts of a group.

        Equal counts have equal bytes: NumPy writes no time into the file. Raises `InvalidInput`
        where the group is made again and is not the same.
        """
        counts, buffer = counted.counts, io.BytesIO()
        arrays = {"cells": counts.cells, "first": counts.first, "undefined": counts.undefined}
        arrays |= {"sums": counted.sums, "columns": counted.columns}
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        what = f"group {number} of the blocks that are counted"
        name, draws = f"{self.prefix}{number:06d}.npz", 2 * counts.draws
        self.groups.put(name, buffer.getvalue(), draws, what)
        self.fresh += draws


class SearchStore(StoreFolder):
    """The draws of M(D) of a search, and what it has found on each neighbour, a JSON file each.

    On resuming, the first draws of M(D) are made again; what was found on neighbours is not.
    Neighbours on which the mechanism failed are not kept, so these are audited again.
    """

    def __init__(self, path: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        super().__init__(path, made_by, resume=resume)
        self.draws = Repeated(self, "drawn-")

    def outcome(self, key: str) -> Any:
        """The outcome of a neighbour in a round, in JSON types; None where there is none."""
        content = self.read(_outcome_name(key))
        return None if content is None else json.loads(content)

    def put_outcome(self, key: str, value: Any) -> None:
        """Keep an outcome."""
        self.write(_outcome_name(key), json.dumps(value).encode(), 0)

    def drawn(self, key: str) -> np.ndarray | None:
        """Draws of M(D); None where there is no sound copy, or where they are made again."""
        content = self.draws.get(f"drawn-{key}.npy")
        return None if content is None else unpacked(content)

    def put_drawn(self, key: str, values: np.ndarray) -> None:
        """Keep draws of M(D). Raises `InvalidInput` where they are made again, and not the same."""
        what = f"M(D), {len(values):,} times,"
        self.draws.put(f"drawn-{key}.npy", packed(values), len(values), what)


def digest_of(values: Array) -> str:
    """SHA-256 of an array's shape and bytes."""
    digest = hashlib.sha256(repr(values.shape).encode())
    digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def _block_name(side: int, block: int) -> str:
    return f"{side}-{block:06d}.npy"


def _outcome_name(key: str) -> str:
    return f"outcome-{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
