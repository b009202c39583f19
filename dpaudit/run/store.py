"""Draws kept on disk while a run is under way, so that an interrupted one goes on where it was."""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._check import Array
from dpaudit.errors import InvalidInput

MANIFEST = "manifest.json"
OURS = (MANIFEST, "[01]-[0-9][0-9][0-9][0-9][0-9][0-9]*.npy", ".draft-*")  # nothing else in the folder is ever removed
DIGEST = 16  # bytes of BLAKE2b after the array: np.load reads such a file all the same


class DrawStore:
    """The `BlockStore` of one run in `folder`: a file a block, and a manifest of what determines the draws.

    made_by : JSON content by name; two runs with equal content draw the same bytes.
    resume : use what is there, or raise `InvalidInput` saying in what it differs; else what is there is removed.

    A block that is truncated or altered counts as not there. Raises OSError when the folder cannot be written.
    """

    def __init__(self, folder: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        manifest = json.dumps(made_by, indent=1, sort_keys=True, allow_nan=False)
        kept = self._kept() if resume else None
        if kept is not None and kept != json.loads(manifest):
            raise InvalidInput(_differs(folder, kept, json.loads(manifest)))
        if kept is None:
            self.remove()
            folder.mkdir(parents=True, exist_ok=True)
            self._write(MANIFEST, f"{manifest}\n".encode())

    def get(self, side: int, block: int) -> Array | None:
        """The block's draws, (size, k), or None where there is no sound copy."""
        try:
            content = (self.folder / _name(side, block)).read_bytes()
        except FileNotFoundError:
            return None
        array, digest = content[:-DIGEST], content[-DIGEST:]
        return np.load(io.BytesIO(array), allow_pickle=False) if _digest(array) == digest else None

    def put(self, side: int, block: int, values: Array) -> None:
        """Keep a block; whole or not at all."""
        buffer = io.BytesIO()
        np.save(buffer, values, allow_pickle=False)
        self._write(_name(side, block), buffer.getvalue() + _digest(buffer.getvalue()))

    def remove(self) -> None:
        """Remove what a store has written, and the folder if nothing else is in it."""
        for pattern in OURS:
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _kept(self) -> dict[str, Any] | None:
        """The manifest, None where there is none that can be read."""
        try:
            content = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def _write(self, name: str, content: bytes) -> None:
        draft = self.folder / f".draft-{os.getpid()}-{threading.get_ident()}"
        draft.write_bytes(content)
        os.replace(draft, self.folder / name)


def digest_of(values: Array) -> str:
    """SHA-256 of an array's shape and bytes."""
    found = hashlib.sha256(repr(values.shape).encode())
    found.update(np.ascontiguousarray(values).data)
    return found.hexdigest()


def _name(side: int, block: int) -> str:
    return f"{side}-{block:06d}.npy"


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST).digest()


def _differs(folder: Path, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    names = [name for name in {**wanted, **kept} if kept.get(name) != wanted.get(name)]
    changes = "; ".join(f"{name} {_short(kept.get(name))}, now {_short(wanted.get(name))}" for name in names)
    return f"the draws kept in {folder} were made with other settings ({changes}); run without --resume to start afresh"


def _short(value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."
