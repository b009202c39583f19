"""Mechanisms that are programs in any language: they read a CSV file and print draws."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import stat
import sys
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.raised import Raised, redacted
from dpaudit._core.seeds import as_generator
from dpaudit._core.types import Array, ArrayLike, RngLike
from dpaudit.adapters.draw_files import draws_in, text_of
from dpaudit.adapters.functions import LARGEST_SEED, seconds
from dpaudit.adapters.processes import (
    ProgramFailed,
    end_in_order,
    most_bytes,
    read_regular,
    run_program,
    this_process,
)
from dpaudit.errors import MechanismError

RUNS = 64  # a side, which show what the draws of a run share; each takes a while to start
MOST_FILES = 4  # data files at a time, of the databases used last
ARGUMENTS = "a list of arguments (there is no shell), one of them with {data} in it"


@dataclass(frozen=True)
class Command:
    """A mechanism that is a program; `command` checks its arguments and says what they mean."""

    argv: tuple[str, ...]
    timeout: float | None = None
    folder: Path | None = None
    header: tuple[str, ...] | None = None

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> list[Any]:
        """`size` draws: numbers, texts, None, and lists or vectors of these. Raises
        `MechanismError`.
        """
        database, generator = check.matrix("data", data), as_generator(rng)
        if self.header is not None and len(self.header) != database.shape[1]:
            check.fail("header", self.header, f"{database.shape[1]} names, one a column")
        file = FILES.of(database, self.header)
        if self.most_calls is not None:
            return self._run(database, file, size, generator)
        return [self._run(database, file, 1, generator)[0] for _ in range(size)]

    @property
    def most_calls(self) -> int | None:
        """Runs on each database in an audit, at most; None where a run makes one draw."""
        return RUNS if any("{size}" in argument for argument in self.argv) else None

    def _run(
        self, database: Array, file: DataFile, size: int, rng: np.random.Generator
    ) -> list[Any]:
        seed, out = int(rng.integers(LARGEST_SEED)), DataFile.new_path()
        words = {"size": str(size), "seed": str(seed)}
        paths = {"data": str(file.path), "out": str(out), "python": sys.executable}
        try:
            draws = self._draws(_filled(self.argv, {**words, **paths}), size, out)
            file.check()
        except (ProgramFailed, ValueError) as error:
            written = shlex.join(_filled(self.argv, words))
            text = redacted(str(error), database)
            raised = Raised(__name__, type(error).__name__, "RuntimeError", text)
            raise MechanismError(f"the command {written}: {text}", raised=raised) from None
        finally:
            out.unlink(missing_ok=True)
        if isinstance(draws, list):
            return draws
        return list(draws) if draws.shape[1] > 1 else list(draws[:, 0].tolist())

    def _draws(self, argv: list[str], size: int, out: Path) -> np.ndarray | list[Any]:
        most = most_bytes(size)
        content, errors = run_program(argv, self.folder, self.timeout, most)
        if any("{out}" in argument for argument in self.argv):
            content = read_regular(out, most)
        draws = draws_in(text_of(content), size)
        if len(draws) != size:
            stderr = f"; it said: {errors}" if errors else ""
            raise ProgramFailed(f"gave {len(draws)} draws, {size} were asked for{stderr}")
        return draws

    @property
    def name(self) -> str:
        """The command as a shell would take it."""
        return shlex.join(self.argv)

    @property
    def summary(self) -> str:
        """One line for reports."""
        return "a program that reads the data as a CSV file"

    def parameters(self) -> dict[str, Any]:
        return {} if self.header is None else {"header": list(self.header)}


def command(
    argv: Sequence[str],
    *,
    timeout: float | None = None,
    folder: str | Path | None = None,
    header: Sequence[str] | None = None,
) -> Command:
    """A mechanism that is a program in any language.

    Parameters
    ----------
    argv : sequence of str
        The program and its arguments, started as they are: no shell reads them. In each, {data} is
        replaced by the path of a CSV file of the database (label last, a row a line, no header
        unless given), {size} by how many draws are wanted, {seed} by an integer below 2^31 that
        depends on the audit's seed, {out} by the path of a file to write, and {python} by this
        Python. Without {size} the program runs once a draw. The program prints `size` lines, a draw
        each, as CSV (numbers, words or empty cells, any number of them a line), or writes them to
        {out}. It exits with status 0. It must not change {data}, which is read-only and is checked
        before and after each run. A draw may take 64 KiB of text, and a run 16 MiB in any case, but
        no more than 1 GiB. With words, or lines of different length, a run may have 16,777,216
        cells.
    timeout : float, seconds, optional
        Time that a run may take. A run ends when the program exits: its process group is killed
        then, and a process that has left the group is not waited for.
    folder : path, optional
        Where it runs.
    header : sequence of str, optional
        Names of the columns.

    Notes
    -----
    A draw that fails raises a `MechanismError` with the arguments, the exit status and the end of
    stderr.

    Examples
    --------
    >>> import numpy as np
    >>> program = "import sys; print('1\\\\n' * int(sys.argv[2]))"
    >>> mechanism = command(["{python}", "-c", program, "{data}", "{size}"])
    >>> mechanism(np.ones((3, 2)), 4, rng=1)
    [1.0, 1.0, 1.0, 1.0]
    """
    end_in_order()
    return Command(
        arguments("argv", argv),
        None if timeout is None else seconds("timeout", timeout),
        None if folder is None else Path(folder),
        None if header is None else tuple(map(str, header)),
    )


def arguments(name: str, value: object) -> tuple[str, ...]:
    """Check the arguments of a command. Raises `InvalidInput`."""
    if (
        not isinstance(value, (list, tuple))
        or not all(isinstance(argument, str) and "\0" not in argument for argument in value)
        or not any("{data}" in argument for argument in value)
        or value[0] == ""
    ):
        check.fail(name, value, ARGUMENTS)
    return tuple(value)


def _filled(argv: tuple[str, ...], values: dict[str, str]) -> list[str]:
    """The arguments with the known words in braces replaced; others, as in awk '{print}', stay."""
    known = re.compile("|".join(f"{{({name})}}" for name in values))
    return [known.sub(lambda match: values[match[0][1:-1]], argument) for argument in argv]


# --- databases as CSV files: written once, removed when the process ends


class DataFile:
    """A database as a CSV file that only this user may read, and nobody may write.

    It lies in the private folder of this process, and is removed with this object. Its digits give
    the same floats when they are read.
    """

    def __init__(self, data: Array, header: Sequence[str] | None) -> None:
        self.path = self.new_path()
        weakref.finalize(self, _remove, self.path, os.getpid())
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            names = "" if header is None else ",".join(header)
            np.savetxt(file, data, delimiter=",", fmt="%.17g", header=names, comments="")
            if os.name == "posix":  # elsewhere a read-only file cannot be removed
                os.fchmod(handle, 0o400)
        self.digest = _digest(self.path)

    @staticmethod
    def new_path() -> Path:
        """The path of a file in the private folder that does not exist yet."""
        return this_process().folder / f"{uuid.uuid4().hex}.csv"

    def check(self) -> None:
        """Raises `ProgramFailed` where the file is no longer what was written, whoever did that."""
        if _digest(self.path) != self.digest:
            raise ProgramFailed(
                "the program changed its data file {data}, so that other runs may have read "
                "other data; it must only read the file"
            )


class DataFiles:
    """The files of the databases used last."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.files: OrderedDict[bytes, DataFile] = OrderedDict()

    def of(self, data: Array, header: Sequence[str] | None) -> DataFile:
        """The file of a database, which lasts as long as the object that is returned.

        A file that is no longer as it was written is replaced by a new one.
        """
        data = np.ascontiguousarray(data, dtype=np.float64)
        key = hashlib.sha256(repr((data.shape, header)).encode() + data.tobytes()).digest()
        with self.lock:
            file = self.files.pop(key, None)
            if file is None or _digest(file.path) != file.digest:
                file = DataFile(data, header)
            self.files[key] = file
            while len(self.files) > MOST_FILES:
                self.files.popitem(last=False)
        return file


def _digest(path: Path) -> bytes | None:
    """SHA-256 of a regular file; None where there is none that can be read."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                return hashlib.file_digest(file, "sha256").digest()
    return None


def _remove(path: Path, owner: int) -> None:
    """Remove a file, but only in the process that wrote it: a fork has the object too."""
    if os.getpid() == owner:
        with suppress(OSError):
            path.unlink(missing_ok=True)


FILES = DataFiles()
