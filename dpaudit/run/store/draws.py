"""Draws kept on disk during a run, so that an interrupted run can continue.

The folder holds a .npy file for each block of draws, `manifest.json`, which records what determines
the draws, and `parts.jsonl`, the list of files with their SHA-256. A block counts only if its line
is complete and its bytes have that checksum. So a run may be killed, or the disk may be full, at
any moment.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.files import clear_drafts, replace_file
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import PARTS, Parts

MANIFEST = "manifest.json"
BLOCK = "[01]-[0-9][0-9][0-9][0-9][0-9][0-9]*.npy"
OURS = (MANIFEST, PARTS, BLOCK)  # only these files and their drafts are ever removed


class DrawStore:
    """The `BlockStore` of one run in `folder`.

    made_by : JSON content by name; two runs with equal content draw the same bytes.
    resume : use the draws that are there; raises `InvalidInput` if they were made otherwise.
        Without it they are removed.

    A block that is damaged, or of another run, counts as missing. fresh : draws put so far.
    Raises OSError when the folder cannot be written.
    """

    def __init__(self, folder: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        begin(folder, made_by, OURS, resume)
        self.parts, self.fresh = Parts(folder), 0

    def get(self, side: int, block: int) -> np.ndarray | None:
        """The draws of a block; None where there is no sound copy."""
        return self.parts.read_draws(_name(side, block))

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        """Keep a block."""
        self.parts.write_draws(_name(side, block), values)
        self.fresh += len(values)

    def remove(self) -> None:
        """Remove what a store has written, and the folder if it is then empty."""
        clear(self.folder, OURS)


def begin(folder: Path, made_by: Mapping[str, Any], ours: Sequence[str], resume: bool) -> None:
    """Prepare `folder` for files with names in `ours`, the manifest among them; see `DrawStore`."""
    manifest = json.dumps(made_by, indent=1, sort_keys=True, allow_nan=False)
    kept = manifest_of(folder) if resume else None
    if kept is not None and kept != json.loads(manifest):
        raise InvalidInput(_differs(folder, kept, json.loads(manifest)))
    if kept is None:
        clear(folder, ours)
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / MANIFEST, f"{manifest}\n".encode())
    for pattern in ours:
        clear_drafts(folder, pattern)


def clear(folder: Path, ours: Sequence[str]) -> None:
    """Remove the files with these names, in this order, and the folder if it is then empty."""
    for pattern in ours:
        clear_drafts(folder, pattern)
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def manifest_of(folder: Path) -> dict[str, Any] | None:
    """The manifest in `folder`; None where there is none that can be read."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def digest_of(values: Array) -> str:
    """SHA-256 of an array's shape and bytes."""
    found = hashlib.sha256(repr(values.shape).encode())
    found.update(np.ascontiguousarray(values).data)
    return found.hexdigest()


def _name(side: int, block: int) -> str:
    return f"{side}-{block:06d}.npy"


def _differs(folder: Path, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    names = [name for name in {**wanted, **kept} if kept.get(name) != wanted.get(name)]
    changes = "; ".join(
        f"{name} {_short(kept.get(name))}, now {_short(wanted.get(name))}" for name in names
    )
    return (
        f"the draws kept in {folder} were made with other settings ({changes}); "
        "run without --resume to start afresh"
    )


def _short(value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."
