"""Databases as CSV files for other programs: written once, removed when the process ends."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from dpaudit._core.types import Array

KEPT = 4  # files that are kept, of the databases used last


class DataFile:
    """A database as a CSV file, in a folder that only this user may read.

    The folder is removed with this object.
    """

    def __init__(self, data: Array, header: Sequence[str] | None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dpaudit-"))
        self.path = self.folder / "data.csv"
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        write_data(self.path, data, header)

    def new_path(self) -> Path:
        """The path of a file in the same folder that does not exist yet."""
        handle, name = tempfile.mkstemp(suffix=".csv", dir=self.folder)
        os.close(handle)
        Path(name).unlink()
        return Path(name)


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


def write_data(path: Path, data: Array, header: Sequence[str] | None = None) -> None:
    """Write (n, d) numbers as CSV, with the digits that give the same floats when read."""
    names = "" if header is None else ",".join(header)
    np.savetxt(path, data, delimiter=",", fmt="%.17g", header=names, comments="", encoding="utf-8")


FILES = DataFiles()
