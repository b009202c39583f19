"""Stores of the draws of a run and of its search, which are removed when the run is done."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.files import append_line, replace_file
from dpaudit._core.types import Array
from dpaudit.run.store.folder import OUTCOMES, Repeated, StoreFolder, packed, unpacked
from dpaudit.sampling import SIDES, Counts, GroupCounts

MARKED, DISTINCT = 64, 16  # draws that `DrawStore.mark` hashes, and how many of them must differ


class DrawStore(StoreFolder):
    """The blocks of draws of one run, one .npy file each, and counts of draws that workers made.

    all_draws : store the draws even where counts suffice. Other parameters as in `StoreFolder`.

    A damaged block counts as missing. When a run resumes, so does the first sound block of each
    side: it is drawn again, and `put` compares the new draws with the stored ones (`Repeated`).
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
        content = self.sides[side].get(_block_name(side, block))
        return None if content is None else unpacked(content)

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        what = f"block {block} of {SIDES[side]}"
        self.sides[side].put(_block_name(side, block), packed(values), len(values), what)
        self.drawn += len(values)

    def mark(self, side: int) -> str | None:
        """A hash of the first draws of a side, by which a ledger recognizes repeated draws. None
        where so few of them differ that another run could have the same ones by chance.
        """
        block = self.get(side, 0)
        rows = [] if block is None else [row.tobytes() for row in block[:MARKED]]
        if len(set(rows)) < DISTINCT:
            return None
        return hashlib.sha256(b"".join(rows)).hexdigest()

    def counts(self, key: str) -> CountFiles | None:
        """The store of counts for the score with this key; None where all draws are stored. Removes
        the counts of other scores.
        """
        current = None if self.all_draws else f"counts-{key}-"
        names = [name for name in self.parts if name.startswith("counts-")]
        self.drop([name for name in names if current is None or not name.startswith(current)])
        self.counted = None if current is None else CountFiles(self, current)
        return self.counted

    @property
    def fresh(self) -> int:
        return self.drawn + (0 if self.counted is None else self.counted.fresh)


class CountFiles:
    """Counts of groups of blocks that workers drew and counted, one .npz file for each group.

    fresh : number of draws of both sides whose counts this process has stored so far.
    """

    def __init__(self, folder: StoreFolder, prefix: str) -> None:
        self.prefix, self.fresh = prefix, 0
        self.resumed = any(name.startswith(prefix) for name in folder.parts)
        self.groups = Repeated(folder, prefix)

    def __bool__(self) -> bool:
        return self.resumed

    def get(self, number: int) -> GroupCounts | None:
        content = self.groups.get(f"{self.prefix}{number:06d}.npz")
        if content is None:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            counts = Counts(arrays["cells"], arrays["first"], int(arrays["undefined"]))
            return GroupCounts(counts, arrays["sums"], arrays["columns"])

    def put(self, number: int, counted: GroupCounts) -> None:
        """Store the counts of a group; equal counts have equal bytes, since NumPy writes no time
        into the file. Raises `InvalidInput` where they differ from those stored before.
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
    """The draws of M(D) in a search, and `outcomes.jsonl`, a line for each neighbour and stage.

    A line has the SHA-256 of its text, a JSON list of the key and the outcome; other lines do not
    count. When a search resumes, it makes the first draws of M(D) again, but uses the stored
    outcomes. An error of the mechanism on a neighbour is not stored, so that neighbour is audited
    again.
    """

    def __init__(self, path: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        super().__init__(path, made_by, resume=resume)
        self.draws = Repeated(self, "drawn-")
        self.outcomes: dict[str, Any] = {}
        file, sound = path / OUTCOMES, []
        for line in file.read_bytes().splitlines(keepends=True) if file.exists() else ():
            digest, _, text = line.partition(b" ")
            if hashlib.sha256(text).hexdigest().encode() == digest:
                key, self.outcomes[key] = json.loads(text)
                sound.append(line)
        if file.exists():
            replace_file(file, b"".join(sound))

    def outcome(self, key: str) -> Any:
        return self.outcomes.get(key)

    def put_outcome(self, key: str, value: Any) -> None:
        text = json.dumps([key, value]).encode() + b"\n"
        append_line(self.path / OUTCOMES, hashlib.sha256(text).hexdigest().encode() + b" " + text)

    def drawn(self, key: str) -> np.ndarray | None:
        content = self.draws.get(f"drawn-{key}.npy")
        return None if content is None else unpacked(content)

    def put_drawn(self, key: str, values: np.ndarray) -> None:
        what = f"M(D), {len(values):,} times,"
        self.draws.put(f"drawn-{key}.npy", packed(values), len(values), what)


def digest_of(values: Array) -> str:
    digest = hashlib.sha256(repr(values.shape).encode())
    digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def _block_name(side: int, block: int) -> str:
    return f"{side}-{block:06d}.npy"
