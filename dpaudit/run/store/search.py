"""What a search has found so far, kept on disk so that an interrupted search can continue.

The folder holds a manifest, which records what determines the search, .npy files with the
draws of M(D), and `outcomes.jsonl`, which grows by a line for each neighbour, with a SHA-256 of its
content. Incomplete and damaged lines are skipped, and so are neighbours on which the mechanism
failed: these are audited again.
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
from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import Parts, Repeat, packed, unpacked
from dpaudit.run.store.manifest import begin, clear, drawn_differently

OUTCOMES, DRAWN = "outcomes.jsonl", "drawn-"
OURS = (f"{DRAWN}*.npy", OUTCOMES)
FOLDER = "search"  # inside the folder of the draws


class SearchStore:
    """The checkpoint of a search in `folder`; made_by, resume and errors as in `DrawStore`.

    On resuming, the first draws of M(D) are made again. What was found on neighbours is not.
    """

    def __init__(self, folder: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        begin(folder, made_by, OURS, resume)
        self.draws, self.found = Repeat(Parts(folder), DRAWN), _read(folder / OUTCOMES)
        whole = b"".join(_line(key, value) for key, value in self.found.items())
        replace_file(folder / OUTCOMES, whole)  # without the incomplete line of a killed writer

    def outcome(self, key: str) -> Any:
        """The outcome of a neighbour in a round, in JSON types; None where there is none."""
        return self.found.get(key)

    def put_outcome(self, key: str, value: Any) -> None:
        """Keep an outcome."""
        append_line(self.folder / OUTCOMES, _line(key, value))
        self.found[key] = value

    def drawn(self, key: str) -> np.ndarray | None:
        """Draws of M(D); None where there is no sound copy, or where they are made again."""
        content = self.draws.get(_name(key))
        return None if content is None else unpacked(content)

    def put_drawn(self, key: str, values: np.ndarray) -> None:
        """Keep draws of M(D). Raises `InvalidInput` where they are made again, and not the same."""
        if not self.draws.put(_name(key), packed(values), len(values)):
            raise InvalidInput(drawn_differently(f"M(D), {len(values):,} times,", self.folder))

    def remove(self) -> None:
        """Remove what a store has written, and the folder if it is then empty."""
        clear(self.folder, OURS)


def searched(draws: Path) -> bool:
    """Whether the folder of a run's draws has an outcome of a search."""
    with suppress(OSError):
        return (draws / FOLDER / OUTCOMES).stat().st_size > 0
    return False


def _name(key: str) -> str:
    return f"{DRAWN}{key}.npy"


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
