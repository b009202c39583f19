"""Files in a folder, and a list of their checksums.

The list grows by a line for each file that is written. Of several lines for one file the last
counts.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpaudit._core.files import append_line, replace_file

PARTS = "parts.jsonl"


@dataclass(frozen=True)
class Part:
    """An entry of the list: the SHA-256 of a file and its number of draws."""

    sha256: str
    draws: int

    def line(self, name: str) -> bytes:
        """The entry as a line of the list."""
        return (
            json.dumps({"part": name, "draws": self.draws, "sha256": self.sha256}) + "\n"
        ).encode()


class Parts:
    """The files of `folder` that are on the list.

    An incomplete last line, left by a killed writer, is removed. Raises OSError when the folder
    cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.listed = listed(folder)
        self._write_list()

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None where it is not listed, is missing, or has another checksum."""
        part = self.listed.get(name)
        if part is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        return content if hashlib.sha256(content).hexdigest() == part.sha256 else None

    def write(self, name: str, content: bytes, draws: int) -> None:
        """Write the file, then its line: a file without a line does not count."""
        replace_file(self.folder / name, content, durable=False)  # the checksum tells
        self.enter(name, hashlib.sha256(content).hexdigest(), draws)

    def enter(self, name: str, sha256: str, draws: int) -> None:
        """Write the line of a file."""
        part = Part(sha256, draws)
        append_line(self.folder / PARTS, part.line(name))
        self.listed[name] = part

    def denies(self, name: str, content: bytes) -> bool:
        """Whether a file that is not there is listed with the checksum of other content."""
        part = self.listed.get(name)
        if part is None or (self.folder / name).exists():
            return False
        return part.sha256 != hashlib.sha256(content).hexdigest()

    def first(self, prefix: str) -> str | None:
        """The first sound file on the list whose name begins with `prefix`; None without one."""
        names = (name for name in self.listed if name.startswith(prefix))
        return next((name for name in names if self.read(name) is not None), None)

    def drop(self, names: Collection[str]) -> None:
        """Take files off the list, and remove them."""
        kept = {name: part for name, part in self.listed.items() if name not in names}
        if len(kept) < len(self.listed):
            self.listed = kept
            self._write_list()
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def _write_list(self) -> None:
        whole = b"".join(part.line(name) for name, part in self.listed.items())
        path = self.folder / PARTS
        if not path.exists() or path.read_bytes() != whole:
            replace_file(path, whole)


def packed(values: np.ndarray) -> bytes:
    """Draws, a row each, as a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()


def checksum(values: np.ndarray) -> str:
    """The SHA-256 of draws as they are written."""
    return hashlib.sha256(packed(values)).hexdigest()


def unpacked(content: bytes) -> np.ndarray:
    """The draws in a .npy file."""
    values: np.ndarray = np.load(io.BytesIO(content), allow_pickle=False)
    return values


class Repeat:
    """The files of `parts` that begin with `prefix`; the first sound one of them is made again.

    A source of draws that gives other bytes than it gave has changed, and its draws must not go
    with the earlier ones. So further draws wait, and are kept once the file has been made again.
    """

    def __init__(self, parts: Parts, prefix: str) -> None:
        self.parts, self.name = parts, parts.first(prefix)
        self.waiting: list[tuple[str, bytes, int]] = []

    def get(self, name: str) -> bytes | None:
        """The content of a file; None for the one that is to be made again."""
        return None if name == self.name else self.parts.read(name)

    def put(self, name: str, content: bytes, draws: int) -> bool:
        """Keep a file of so many draws. False, and nothing is kept, where it should be one that is
        there and is not the same.
        """
        if self.parts.denies(name, content):
            return False
        if self.name is None:
            self.parts.write(name, content, draws)
        elif name != self.name:
            self.waiting.append((name, content, draws))
        elif self.parts.read(name) not in (None, content):  # None: removed meanwhile
            return False
        else:
            self.name = None
            for one in self.waiting:
                self.parts.write(*one)
            self.waiting = []
        return True


def listed(folder: Path) -> dict[str, Part]:
    """The entries of the list in `folder`, in order. Lines that cannot be read are skipped."""
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
