"""Programs in any language: they read a CSV file and print draws."""

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
from dpaudit.adapters.datafile import FILES, DataFile
from dpaudit.adapters.process import ProgramFailed, finished
from dpaudit.adapters.separated import draws_in
from dpaudit.adapters.waiting import seconds
from dpaudit.errors import MechanismError

LARGEST_SEED = 2**31 - 1
ARGUMENTS = "a list of arguments (there is no shell), one of them with {data} in it"


@dataclass(frozen=True)
class Command:
    """A mechanism that is a program; see `command`.

    argv : the program and its arguments. timeout : seconds a run, or None. folder : where it runs,
        None for here.
    header : names of the columns, written above the data.
    """

    argv: tuple[str, ...]
    timeout: float | None = None
    folder: Path | None = None
    header: tuple[str, ...] | None = None

    def __call__(self, data: Any, size: int, *, rng: Any = None) -> list[Any]:
        """`size` draws: numbers, texts, None, and lists of these. Raises `MechanismError`."""
        data, rng = check.matrix("data", data), as_generator(rng)
        if self.header is not None and len(self.header) != data.shape[1]:
            check.fail("header", self.header, f"{data.shape[1]} names, one a column")
        file = FILES.of(data, self.header)
        if any("{size}" in one for one in self.argv):
            return self._run(file, size, rng)
        return [self._run(file, 1, rng)[0] for _ in range(size)]

    def _run(self, file: DataFile, size: int, rng: np.random.Generator) -> list[Any]:
        seed, out = int(rng.integers(LARGEST_SEED)), file.beside()
        shown = {"size": str(size), "seed": str(seed)}
        argv = _filled(
            self.argv, {**shown, "data": str(file.path), "out": str(out), "python": sys.executable}
        )
        try:
            printed = finished(argv, self.folder, self.timeout)
            text = self._text(printed.out, out)
            draws = draws_in(text, size)
            if len(draws) != size:
                said = f"; it said: {printed.err}" if printed.err else ""
                raise ProgramFailed(f"gave {len(draws)} draws, {size} were asked for{said}")
        except (ProgramFailed, ValueError) as error:
            written = shlex.join(_filled(self.argv, shown))
            raise MechanismError(f"the command {written}: {error}") from None
        finally:
            out.unlink(missing_ok=True)
        return (
            draws
            if isinstance(draws, list)
            else (draws if draws.shape[1] > 1 else draws[:, 0]).tolist()
        )

    def _text(self, printed: bytes, out: Path) -> str:
        writes = any("{out}" in one for one in self.argv)
        if writes and not out.exists():
            raise ProgramFailed("wrote no file at {out}")
        return (out.read_bytes() if writes else printed).decode("utf-8-sig")

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
    """A mechanism that is a program in any language.

    argv : the program and its arguments, started as they are: no shell reads them. In each, {data}
    is replaced by the path of a CSV file of the database (label last, a row a line, no header
    unless given), {size} by how many draws are wanted, {seed} by an integer below 2^31 that depends
    on the audit's seed, {out} by the path of a file to write, and {python} by this Python. Without
    {size} the program runs once a draw. The program prints `size` lines, a draw each, as CSV:
    numbers, words, nothing, as many a line as it likes; or writes them to {out}. It exits with
    status 0.
    timeout : seconds a run may take. folder : where it runs. header : names of the columns.

    `MechanismError` of a draw has the arguments, the exit status and the end of stderr. Raises
    `InvalidInput`.

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


def arguments(name: str, value: Any) -> tuple[str, ...]:
    """The arguments of a command, checked. Raises `InvalidInput`."""
    if (
        not isinstance(value, (list, tuple))
        or not value
        or not all(isinstance(one, str) for one in value)
    ):
        check.fail(name, value, ARGUMENTS)
    if (
        not value[0]
        or any("\0" in one for one in value)
        or not any("{data}" in one for one in value)
    ):
        check.fail(name, value, ARGUMENTS)
    return tuple(value)


def _filled(argv: tuple[str, ...], values: dict[str, str]) -> list[str]:
    """Only the known words in braces are replaced, so that others, as in awk '{print}', stay; each
    once.
    """
    return [_fill(one, values) for one in argv]


def _fill(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        before, found, after = text.partition(f"{{{name}}}")
        if found:
            return _fill(before, values) + value + _fill(after, values)
    return text
