"""What a search has found so far, kept on disk while it is under way, so that an interrupted one
goes on where it was.

The folder holds `manifest.json`, which says what determines the search, a .npy file for what was
drawn of M(D), and `outcomes.jsonl`, which grows by a line a neighbour with the SHA-256 of what it
says. A line that is torn or damaged does not count, nor does one on which the mechanism failed:
that neighbour is audited again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.files import append_line, replace_file
from dpaudit.run.store.checksums import PARTS, Parts
from dpaudit.run.store.draws import MANIFEST, begin

OUTCOMES, DRAWN = "outcomes.jsonl", "drawn-*.npy"
OURS = (MANIFEST, PARTS, OUTCOMES, DRAWN)
FOLDER = "search"  # in that of the draws


class SearchStore:
    """The `search.Memory` of one run in `folder`; made_by, resume and errors as of `DrawStore`."""

    def __init__(self, folder: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        begin(folder, made_by, OURS, resume)
        self.parts, self.found = Parts(folder), _read(folder / OUTCOMES)
        whole = b"".join(_line(key, value) for key, value in self.found.items())
        replace_file(folder / OUTCOMES, whole)  # without what a killed writer has torn

    def outcome(self, key: str) -> Any:
        """What was found of a neighbour on a rung, in JSON types; None where nothing was."""
        return self.found.get(key)

    def put_outcome(self, key: str, value: Any) -> None:
        """Keep it; a whole line or none."""
        append_line(self.folder / OUTCOMES, _line(key, value))
        self.found[key] = value

    def drawn(self, key: str) -> np.ndarray | None:
        """Draws of M(D) as they were put, or None where there is no sound copy."""
        return self.parts.read_draws(_name(key))

    def put_drawn(self, key: str, values: np.ndarray) -> None:
        """Keep them; whole or not at all."""
        self.parts.write_draws(_name(key), values)


def _name(key: str) -> str:
    return DRAWN.replace("*", key)


def _sum(key: str, value: Any) -> str:
    return hashlib.sha256(json.dumps([key, value]).encode()).hexdigest()


def _line(key: str, value: Any) -> bytes:
    return (json.dumps({"key": key, "value": value, "sha256": _sum(key, value)}) + "\n").encode()


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with suppress(FileNotFoundError):
        for line in path.read_bytes().splitlines():
            with suppress(ValueError, TypeError, KeyError):
                entry = json.loads(line)
                if entry["sha256"] == _sum(entry["key"], entry["value"]):
                    found[entry["key"]] = entry["value"]
    return found
