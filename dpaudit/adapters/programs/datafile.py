"""Databases as CSV files for other programs: written once, removed when the process ends."""

from __future__ import annotations

import hashlib
import os
import stat
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np

from dpaudit._core.types import Array
from dpaudit.adapters.programs.leftovers import leftovers

KEPT = 4  # files that are kept, of the databases used last


class DataChanged(RuntimeError):
    """A file of a database is no longer what was written."""


class DataFile:
    """A database as a CSV file that only this user may read, and nobody may write.

    It lies in the private folder of this process, and is removed with this object.
    """

    def __init__(self, data: Array, header: Sequence[str] | None) -> None:
        self.path = self.new_path()
        weakref.finalize(self, _remove, self.path, os.getpid())
        write_data(self.path, data, header)
        self.digest = _digest(self.path)

    def new_path(self) -> Path:
        """The path of a file in the private folder that does not exist yet."""
        return leftovers().folder / f"{uuid.uuid4().hex}.csv"

    def check(self) -> None:
        """Raises `DataChanged` where the file is no longer what was written.

        The owner of a file can make it writable again, and root can write it as it is.
        """
        if _digest(self.path) != self.digest:
            raise DataChanged(
                "the program changed its data file {data}, so that other runs may have read "
                "other data; it must only read the file"
            )


class DataFiles:
    """The files of the databases used last."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.files: OrderedDict[bytes, DataFile] = OrderedDict()

    def of(self, data: Array, header: Sequence[str] | None) -> DataFile:
        """The file of a database; hold it while it is read."""
        data = np.ascontiguousarray(data, dtype=np.float64)
        key = hashlib.sha256(repr((data.shape, header)).encode() + data.tobytes()).digest()
        with self.lock:
            if key not in self.files:
                self.files[key] = DataFile(data, header)
            self.files.move_to_end(key)
            found = self.files[key]
            while len(self.files) > KEPT:
                self.files.popitem(last=False)
        return found

    def forget(self, file: DataFile) -> None:
        """Write that database afresh the next time."""
        with self.lock:
            self.files = OrderedDict(
                (key, one) for key, one in self.files.items() if one is not file
            )


def write_data(path: Path, data: Array, header: Sequence[str] | None = None) -> None:
    """Write (n, d) numbers as CSV, with the digits that give the same floats when read.

    The file is new, and read-only from then on.
    """
    names = "" if header is None else ",".join(header)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8", newline="\n") as file:
        np.savetxt(file, data, delimiter=",", fmt="%.17g", header=names, comments="")
        if os.name == "posix":  # elsewhere a read-only file cannot be removed
            os.fchmod(handle, 0o400)


def _digest(path: Path) -> bytes | None:
    """SHA-256 of a regular file; None where there is none that can be read."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                return hashlib.file_digest(file, "sha256").digest()
    return None


def _remove(path: Path, owner: int) -> None:
    """Remove a file, in the process that wrote it: a fork has the object too."""
    if os.getpid() == owner:
        with suppress(OSError):
            path.unlink(missing_ok=True)


FILES = DataFiles()
