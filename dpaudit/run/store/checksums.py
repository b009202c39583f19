"""Files of a folder with a list of their checksums that only grows: a line a file, the last one of
a file counts.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpaudit._core.files import append_line, replace_file

PARTS = "parts.jsonl"


@dataclass(frozen=True)
class Part:
    """What the list says of a file."""

    sha256: str
    draws: int

    def line(self, name: str) -> bytes:
        return (
            json.dumps({"part": name, "draws": self.draws, "sha256": self.sha256}) + "\n"
        ).encode()


class Parts:
    """The files of `folder` that are on the list. A torn last line, left by a killed writer, is
    taken off.

    Raises OSError when the folder cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.listed = listed(folder)
        whole = b"".join(part.line(name) for name, part in self.listed.items())
        path = folder / PARTS
        if not path.exists() or path.read_bytes() != whole:
            replace_file(path, whole)

    def read(self, name: str) -> bytes | None:
        """The file's bytes, None where it is not listed, not there or not what was listed."""
        part = self.listed.get(name)
        if part is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        return content if hashlib.sha256(content).hexdigest() == part.sha256 else None

    def write(self, name: str, content: bytes, draws: int) -> None:
        """The file first, on disk before it counts; then its line."""
        part = Part(hashlib.sha256(content).hexdigest(), draws)
        replace_file(self.folder / name, content)
        append_line(self.folder / PARTS, part.line(name))
        self.listed[name] = part

    def read_draws(self, name: str) -> np.ndarray | None:
        """The draws of a .npy file as they were put, None as of `read`."""
        content = self.read(name)
        return None if content is None else np.load(io.BytesIO(content), allow_pickle=False)

    def write_draws(self, name: str, values: np.ndarray) -> None:
        """Draws, a row each; whole or not at all."""
        buffer = io.BytesIO()
        np.save(buffer, values, allow_pickle=False)
        self.write(name, buffer.getvalue(), len(values))


def listed(folder: Path) -> dict[str, Part]:
    """The files on the list of `folder`, in their order; lines that cannot be read count for none."""
    try:
        lines = (folder / PARTS).read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found: dict[str, Part] = {}
    for line in lines:
        try:
            entry = json.loads(line)
            found[str(entry["part"])] = Part(str(entry["sha256"]), int(entry["draws"]))
        except (ValueError, TypeError, KeyError):
            continue
    return found
