"""Mechanisms that are programs in any language: they read a CSV file and print draws."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.seeds import as_generator
from dpaudit._core.shown.raised import Raised
from dpaudit._core.shown.redacted import redacted
from dpaudit._core.types import Array, ArrayLike, RngLike
from dpaudit.adapters.draw_files.separated import draws_in, text_of
from dpaudit.adapters.programs.datafile import FILES, DataChanged, DataFile
from dpaudit.adapters.programs.process import ProgramFailed, most_bytes, read_regular, run_program
from dpaudit.adapters.waiting import seconds
from dpaudit.errors import MechanismError

LARGEST_SEED = 2**31 - 1
RUNS = 64  # a side, which show what the draws of a run share; each takes a while to start
ARGUMENTS = "a list of arguments (there is no shell), one of them with {data} in it"


@dataclass(frozen=True)
class Command:
    """A mechanism that is a program; see `command`.

    Parameters
    ----------
    argv : tuple of str
        The program and its arguments.
    timeout : float or None, seconds
        A run; None for no limit.
    folder : Path or None
        Where it runs, None for the current one.
    header : tuple of str or None
        Names of the columns, the first line of the CSV file.
    """

    argv: tuple[str, ...]
    timeout: float | None = None
    folder: Path | None = None
    header: tuple[str, ...] | None = None

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> list[Any]:
        """`size` draws: numbers, texts, None, and lists or vectors of these.

        Raises `MechanismError`.
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
        return RUNS if any("{size}" in one for one in self.argv) else None

    def _run(
        self, database: Array, file: DataFile, size: int, rng: np.random.Generator
    ) -> list[Any]:
        seed, out = int(rng.integers(LARGEST_SEED)), file.new_path()
        shown = {"size": str(size), "seed": str(seed)}
        paths = {"data": str(file.path), "out": str(out), "python": sys.executable}
        try:
            file.check()
            draws = self._draws(_filled(self.argv, {**shown, **paths}), size, out)
            file.check()
        except (ProgramFailed, DataChanged, ValueError) as error:
            FILES.forget(file)  # whatever it left of the data, a later audit reads its own
            written = shlex.join(_filled(self.argv, shown))
            said = redacted(str(error), database)
            raised = Raised(__name__, type(error).__name__, "RuntimeError", said)
            raise MechanismError(f"the command {written}: {said}", raised=raised) from None
        finally:
            out.unlink(missing_ok=True)
        if isinstance(draws, list):
            return draws
        return list(draws) if draws.shape[1] > 1 else list(draws[:, 0].tolist())

    def _draws(self, argv: list[str], size: int, out: Path) -> np.ndarray | list[Any]:
        """Run the program once. Raises `ProgramFailed`, and ValueError where it prints no CSV."""
        most = most_bytes(size)
        printed = run_program(argv, self.folder, self.timeout, most)
        writes = any("{out}" in one for one in self.argv)
        draws = draws_in(text_of(read_regular(out, most) if writes else printed.out), size)
        if len(draws) != size:
            said = f"; it said: {printed.err}" if printed.err else ""
            raise ProgramFailed(f"gave {len(draws)} draws, {size} were asked for{said}")
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
        """The header, if there is one."""
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

    Returns
    -------
    Command

    Raises
    ------
    InvalidInput
        When an argument is not as described.

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
    limit = None if timeout is None else seconds("timeout", timeout)
    place = None if folder is None else Path(folder)
    return Command(
        arguments("argv", argv), limit, place, None if header is None else tuple(map(str, header))
    )


def arguments(name: str, value: object) -> tuple[str, ...]:
    """The arguments of a command, checked. Raises `InvalidInput`."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        check.fail(name, value, ARGUMENTS)
    program = bool(value) and value[0] != ""
    if not program or any("\0" in one for one in value):
        check.fail(name, value, ARGUMENTS)
    if not any("{data}" in one for one in value):
        check.fail(name, value, ARGUMENTS)
    return tuple(value)


def _filled(argv: tuple[str, ...], values: dict[str, str]) -> list[str]:
    """Each argument with the known words in braces replaced, at their first occurrence.

    Other words in braces, as in awk '{print}', stay.
    """
    return [_fill(one, values) for one in argv]


def _fill(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        before, found, after = text.partition(f"{{{name}}}")
        if found:
            return _fill(before, values) + value + _fill(after, values)
    return text
