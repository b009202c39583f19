"""A folder in which an interrupted run leaves its draws, so that a later run can continue.

The folder holds files of draws, `manifest.json`, which says what determines the draws, and
`parts.jsonl`, with a line for each file: its name, its number of draws and its SHA-256. A file
counts only if its line is complete and its bytes have that checksum, so a run may be killed, or the
disk may be full, at any moment. If a file has several lines, the last one counts.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.files import append_line, clear_drafts, replace_file
from dpaudit.errors import InvalidInput

MANIFEST, PARTS, OUTCOMES = "manifest.json", "parts.jsonl", "outcomes.jsonl"
# Only these files, the list, the manifest and their drafts are ever removed. Earlier versions left
# an outcome-*.json for each outcome of a search.
CONTENT = ("[01]-*.npy", "counts-*.npz", "drawn-*.npy", OUTCOMES, "outcome-*.json")
AFRESH = "run without --resume to start afresh"
GROUPS = {"files": "{}", "packages": "package {}", "programs": "program {}"}


class StoreFolder:
    """The folder with the files of one run, or of one search.

    made_by : what determines the draws, in JSON types; two runs with equal content draw the same
        bytes.
    resume : whether to use the files in the folder; without it they are removed. Raises
        `InvalidInput`, and changes nothing, where the manifest differs or cannot be read.

    Raises OSError when the folder cannot be read or written.
    """

    def __init__(self, path: Path, made_by: Mapping[str, Any], *, resume: bool = False) -> None:
        self.path = path
        manifest = f"{json.dumps(made_by, indent=1, sort_keys=True, allow_nan=False)}\n"
        if resume:
            self._check_manifest(json.loads(manifest))
        else:
            remove_store(path)
        path.mkdir(parents=True, exist_ok=True)
        for pattern in (*CONTENT, PARTS, MANIFEST):
            clear_drafts(path, pattern)
        if manifest_of(path) is None:
            replace_file(path / MANIFEST, manifest.encode())
        self.parts = listed_parts(path)
        self._write_list()  # without the incomplete last line of a process that was killed

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None where it is not listed, is missing, or has another checksum."""
        part = self.parts.get(name)
        if part is None:
            return None
        try:
            content = (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        return content if hashlib.sha256(content).hexdigest() == part["sha256"] else None

    def write(self, name: str, content: bytes, draws: int) -> None:
        """Write the file, then its line in the list, without which the file does not count."""
        replace_file(self.path / name, content, durable=False)  # the checksum detects a loss
        part = {"part": name, "draws": draws, "sha256": hashlib.sha256(content).hexdigest()}
        append_line(self.path / PARTS, _line(part))
        self.parts[name] = part

    def drop(self, names: Collection[str]) -> None:
        self.parts = {name: part for name, part in self.parts.items() if name not in names}
        self._write_list()
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def remove(self) -> None:
        remove_store(self.path)

    def changed(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"{what} is drawn differently now than when it was kept in {self.path}: something that "
            "the run depends on has changed (an environment variable, a file, a program?), or the "
            f"mechanism draws from something else than rng; {AFRESH}"
        )

    def _check_manifest(self, expected: Mapping[str, Any]) -> None:
        previous = manifest_of(self.path)
        if previous is None:
            draws = [path for pattern in CONTENT for path in self.path.glob(pattern)]
            if draws:
                raise InvalidInput(
                    f"{self.path} holds draws (files: {len(draws)}), but {MANIFEST} cannot be "
                    "read, so it is not known what they were made with; put it back, or run "
                    "without --resume to remove the draws and start afresh"
                )
        elif previous != expected:
            raise InvalidInput(
                f"the draws kept in {self.path} were made with other settings "
                f"({'; '.join(_changes(previous, expected))}); {AFRESH}"
            )

    def _write_list(self) -> None:
        whole = b"".join(map(_line, self.parts.values()))
        path = self.path / PARTS
        if not path.exists() or path.read_bytes() != whole:
            replace_file(path, whole)


class Repeated:
    """The files of a folder whose names begin with `prefix`, and a check of the first sound one.

    A manifest cannot list everything on which draws depend. If a source of draws returns other
    bytes than before, it has changed, and its draws must not be mixed with the earlier ones. So the
    first sound file must be made again, and new files wait in memory until it turns out the same.
    """

    def __init__(self, folder: StoreFolder, prefix: str) -> None:
        self.folder = folder
        names = (name for name in folder.parts if name.startswith(prefix))
        self.first = next((name for name in names if folder.read(name) is not None), None)
        self.waiting: list[tuple[str, bytes, int]] = []

    def get(self, name: str) -> bytes | None:
        """The content of a file; None if it is missing, damaged, or must be made again."""
        return None if name == self.first else self.folder.read(name)

    def put(self, name: str, content: bytes, draws: int, what: str) -> None:
        """Store a file, whose content an error calls `what`. Raises `InvalidInput` where it was
        stored before with other content.
        """
        part = self.folder.parts.get(name)
        is_lost = part is not None and not (self.folder.path / name).exists()
        if part and is_lost and part["sha256"] != hashlib.sha256(content).hexdigest():
            raise self.folder.changed(what)
        if self.first is None:
            self.folder.write(name, content, draws)
        elif name != self.first:
            self.waiting.append((name, content, draws))
        elif self.folder.read(name) not in (None, content):  # None: removed meanwhile
            raise self.folder.changed(what)
        else:
            self.first = None
            for waiting in self.waiting:
                self.folder.write(*waiting)
            self.waiting = []


def remove_store(folder: Path) -> None:
    """Remove all files, the manifest last, so that no draws are ever left without it, and the
    folder if it is then empty.
    """
    for pattern in (*CONTENT, PARTS, MANIFEST):
        clear_drafts(folder, pattern)
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def manifest_of(folder: Path) -> dict[str, Any] | None:
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def listed_parts(folder: Path) -> dict[str, dict[str, Any]]:
    """The entries of `parts.jsonl` in `folder` by file name; skips lines that cannot be read."""
    try:
        lines = (folder / PARTS).read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    parts: dict[str, dict[str, Any]] = {}
    for line in lines:
        with suppress(ValueError, TypeError, KeyError):
            entry = json.loads(line)
            name, draws, sha256 = str(entry["part"]), int(entry["draws"]), str(entry["sha256"])
            parts[name] = {"part": name, "draws": draws, "sha256": sha256}
    return parts


def _line(part: Mapping[str, Any]) -> bytes:
    return (json.dumps(part) + "\n").encode()


def packed(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()


def unpacked(content: bytes) -> np.ndarray:
    values: np.ndarray = np.load(io.BytesIO(content), allow_pickle=False)
    return values


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """A phrase for each difference between two manifests, with the file, program or package that
    changed.
    """
    for name in [name for name in {**new, **old} if old.get(name) != new.get(name)]:
        before, now = old.get(name), new.get(name)
        if not (name in GROUPS and isinstance(before, dict) and isinstance(now, dict)):
            yield f"{name} {_short(before)}, now {_short(now)}"
            continue
        for item in [item for item in {**now, **before} if before.get(item) != now.get(item)]:
            label = GROUPS[name].format(item)
            if item not in before:
                yield f"{label} was not used"
            elif item not in now:
                yield f"{label} is no longer used"
            elif name == "packages":
                yield f"{label} {_short(before[item])}, now {_short(now[item])}"
            else:
                yield f"{label} has changed"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
