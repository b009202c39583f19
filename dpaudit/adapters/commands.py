"""Mechanisms that run a program in any language, which reads a CSV file and prints draws."""

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

RUNS = 64  # per database: several, since the draws of one run may share randomness
MOST_FILES = 4  # data files kept at a time, for the databases that were used last
ARGUMENTS = "a list of arguments (there is no shell), one of them with {data} in it"


@dataclass(frozen=True)
class Command:
    """A mechanism that runs a program; `command` makes it and documents the fields."""

    argv: tuple[str, ...]
    timeout: float | None = None
    folder: Path | None = None
    header: tuple[str, ...] | None = None

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> list[Any]:
        """Make `size` draws: numbers, texts, None, or lists or vectors of these. Raises
        `MechanismError`.
        """
        database, generator = check.matrix("data", data), as_generator(rng)
        if self.header is not None and len(self.header) != database.shape[1]:
            check.fail("header", self.header, f"{database.shape[1]} names, one a column")
        file = data_file(database, self.header)
        if self.most_calls is not None:
            return self._run(database, file, size, generator)
        return [self._run(database, file, 1, generator)[0] for _ in range(size)]

    @property
    def most_calls(self) -> int | None:
        """The largest number of runs on each database in an audit; None if a run makes one draw."""
        return RUNS if any("{size}" in argument for argument in self.argv) else None

    def _run(
        self, database: Array, file: DataFile, size: int, rng: np.random.Generator
    ) -> list[Any]:
        """The draws of one run on the data file. Raises `MechanismError` without the data."""
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
            raise MechanismError(
                f"an error of the command {written}: {text}", raised=raised
            ) from None
        finally:
            out.unlink(missing_ok=True)
        if isinstance(draws, list):
            return draws
        return list(draws) if draws.shape[1] > 1 else list(draws[:, 0].tolist())

    def _draws(self, argv: list[str], size: int, out: Path) -> np.ndarray | list[Any]:
        """Run the program and parse its output. Raises `ProgramFailed` for another number."""
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
        return shlex.join(self.argv)

    @property
    def summary(self) -> str:
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
    """Make a mechanism that runs a program in any language.

    Parameters
    ----------
    argv : sequence of str
        The program and its arguments, which are not interpreted by a shell. In each of them, {data}
        is replaced by the path of a CSV file of the database (one row per line, label last, with a
        header only if `header` is passed), {size} by the number of draws to make, {seed} by an
        integer below 2^31 that depends on the audit's seed, {out} by the path of a file to write,
        and {python} by the path of this Python. Without {size} the program runs once per draw. The
        program must print `size` lines, one draw each, as CSV (any number of numbers, words or
        empty cells per line), or write them to {out}, and exit with status 0. It must not change
        {data}, which is read-only and is checked before and after each run. The output of a run
        may have 64 KiB of text per draw, at least 16 MiB and at most 1 GiB. If it has words, or
        lines of different length, it may have 16,777,216 cells.
    timeout : float, seconds, optional
        The time that a run may take. A run ends when the program exits; its process group is then
        killed, and processes that have left the group are ignored.
    folder : path, optional
        The working directory of the program.
    header : sequence of str, optional
        The names of the columns, for the first line of the CSV file.

    Notes
    -----
    If a run fails, a `MechanismError` reports the arguments, the exit status and the end of stderr.

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
    """The arguments of a command as a tuple. Raises `InvalidInput` if they are invalid."""
    if (
        not isinstance(value, (list, tuple))
        or not all(isinstance(argument, str) and "\0" not in argument for argument in value)
        or not any("{data}" in argument for argument in value)
        or value[0] == ""
    ):
        check.fail(name, value, ARGUMENTS)
    return tuple(value)


def _filled(argv: tuple[str, ...], values: dict[str, str]) -> list[str]:
    """Replace "{name}" in the arguments for the names in `values`; other braces stay unchanged."""
    known = re.compile("|".join(f"{{({name})}}" for name in values))
    return [known.sub(lambda match: values[match[0][1:-1]], argument) for argument in argv]


# --- databases as CSV files, each of which is written once and removed when the process ends


_LOCK = Lock()
_FILES: OrderedDict[bytes, DataFile] = OrderedDict()


class DataFile:
    """A database in a CSV file that only this user may read and nobody may write, with enough
    digits to be read back as the same floats. It is removed together with this object.
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
        """A path in the private folder at which no file exists yet."""
        return this_process().folder / f"{uuid.uuid4().hex}.csv"

    def check(self) -> None:
        """Raises `ProgramFailed` if the content of the file has changed since it was written."""
        if _digest(self.path) != self.digest:
            raise ProgramFailed(
                "the program changed its data file {data}, so that other runs may have read "
                "other data; it must only read the file"
            )


def data_file(data: Array, header: Sequence[str] | None) -> DataFile:
    """The file of a database, which exists as long as the returned object; those of the
    `MOST_FILES` databases used last are kept, unless their content has changed.
    """
    data = np.ascontiguousarray(data, dtype=np.float64)
    key = hashlib.sha256(repr((data.shape, header)).encode() + data.tobytes()).digest()
    with _LOCK:
        file = _FILES.pop(key, None)
        if file is None or _digest(file.path) != file.digest:
            file = DataFile(data, header)
        _FILES[key] = file
        while len(_FILES) > MOST_FILES:
            _FILES.popitem(last=False)
    return file


def _digest(path: Path) -> bytes | None:
    """The SHA-256 digest of a regular file; None if there is no such file or it is unreadable."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                return hashlib.file_digest(file, "sha256").digest()
    return None


def _remove(path: Path, owner: int) -> None:
    """Remove a file if this process wrote it; a forked process has a copy of the object too."""
    if os.getpid() == owner:
        with suppress(OSError):
            path.unlink(missing_ok=True)
