"""Run a program without a shell and without input, with limits to its time and its output."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from dpaudit.adapters.programs.leftovers import Ended, kill_group, leftovers

A_DRAW, LEAST, MOST = 1 << 16, 1 << 24, 1 << 30  # bytes of output: a draw, and of any run
TAIL = 2000  # characters of stderr that error messages show
CHUNK = 1 << 16  # bytes read at a time
PATIENCE = 5.0  # seconds for a program that was killed


class ProgramFailed(RuntimeError):
    """A program could not be started, took too long, wrote too much or did not exit with 0."""


@dataclass(frozen=True, repr=False)
class Printed:
    """What a program printed. out : all of stdout. err : the end of stderr, on one line."""

    out: bytes
    err: str


def most_bytes(size: int) -> int:
    """How many bytes `size` draws may take as text: 64 KiB a draw, at least 16 MiB, at most 1 GiB.

    64 KiB hold some 3000 numbers with all their digits.
    """
    return min(max(LEAST, A_DRAW * size), MOST)


def run_program(
    argv: Sequence[str], folder: Path | None, timeout: float | None, most: int
) -> Printed:
    """Run a program in `folder` until it exits, and return what it printed until then.

    Its processes form a group, which is killed when the program exits, or this process does. One
    that leaves the group is not waited for, even if it has the program's output open.
    timeout : seconds, None for no limit. most : bytes that it may print. Raises `ProgramFailed`.
    """
    here = leftovers()
    with _Pipe(most) as out, _Pipe(None) as err:
        process = _start(argv, folder, here.environment(), out, err)
        try:
            with here.kept(process.pid):
                out.begin(process.pid)
                err.begin(process.pid)
                late = not _in_time(process, timeout)
        except Ended as error:
            raise ProgramFailed(str(error)) from None
        finally:
            with suppress(subprocess.TimeoutExpired):  # one of another user cannot be killed
                process.wait(PATIENCE)
    return _checked(process.returncode, late, timeout, out, err)


def _start(
    argv: Sequence[str],
    folder: Path | None,
    environment: dict[str, str],
    out: _Pipe,
    err: _Pipe,
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(argv),
            cwd=folder,
            env=environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=out.writing,
            stderr=err.writing,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ProgramFailed(f"cannot be started: {reason}") from None


def _in_time(process: subprocess.Popen[bytes], timeout: float | None) -> bool:
    """Whether the program ended in time."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    return True


def _checked(
    status: int | None, late: bool, timeout: float | None, out: _Pipe, err: _Pipe
) -> Printed:
    printed = Printed(bytes(out.content), _tail(err.content))
    said = f"; it said: {printed.err}" if printed.err else "; it said nothing on stderr"
    if out.most is not None and out.over:
        raise ProgramFailed(f"printed more than {shown(out.most)}, which no draws need{said}")
    if late:
        raise ProgramFailed(f"no output within {timeout:g} s{said}")
    if status is None:
        raise ProgramFailed(f"could not be ended{said}")
    if status < 0:
        raise ProgramFailed(f"ended by signal {-status}{said}")
    if status > 0:
        raise ProgramFailed(f"exit status {status}{said}")
    return printed


def shown(count: float) -> str:
    """A number of bytes for people."""
    unit = 1 << 30 if count >= 1 << 30 else 1 << 20
    return f"{count / unit:.3g} {'GiB' if unit == 1 << 30 else 'MiB'}"


def read_regular(path: Path, most: int) -> bytes:
    """The content of a file of at most so many bytes. Raises `ProgramFailed`.

    A pipe or a device, which may have no end, is refused.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise ProgramFailed(f"wrote no file at {{out}}: {error.strerror}") from None
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ProgramFailed("wrote no regular file at {out}")
        content = file.read(most + 1) if status.st_size <= most else None
    if content is None or len(content) > most:
        raise ProgramFailed(f"wrote more than {shown(most)} to {{out}}, which no draws need")
    return content


class _Pipe(Thread):
    """What a program writes until it ends; used inside `with`, which ends the reading.

    The end of a pipe comes once all processes that have it open are gone, and a program may leave
    one behind that stays. So this process writes a mark when the program has ended, and reads up
    to it: nothing that the program wrote is lost, and nothing is waited for.

    most : bytes; the group of a program that writes more is killed. None for no limit, where only
    the last bytes are kept.
    """

    def __init__(self, most: int | None) -> None:
        super().__init__(daemon=True, name="dpaudit-pipe")
        self.most, self.over = most, False
        self.content, self.mark = bytearray(), os.urandom(16)

    def __enter__(self) -> _Pipe:
        self.reading, self.writing = os.pipe()
        return self

    def begin(self, group: int) -> None:
        """Read what processes of the group write."""
        self.group = group
        self.start()

    def __exit__(self, *_: object) -> None:
        if self.ident is None:  # it was not begun
            os.close(self.reading)
        else:
            self._write_mark()
        os.close(self.writing)

    def _write_mark(self) -> None:
        if os.name == "posix":  # the program may have changed what it shares with this process
            os.set_blocking(self.writing, True)
        with suppress(BrokenPipeError):
            os.write(self.writing, self.mark)
        self.join()

    def run(self) -> None:
        """Read up to the mark, and keep what there is room for."""
        try:
            while not self._marked(os.read(self.reading, CHUNK)):
                self._limit()
        finally:
            os.close(self.reading)

    def _marked(self, part: bytes) -> bool:
        seam = max(len(self.content) - len(self.mark), 0)
        self.content += part
        found = self.content.find(self.mark, seam)
        if found >= 0:
            del self.content[found:]
        return found >= 0

    def _limit(self) -> None:
        if self.most is not None and len(self.content) > self.most + len(self.mark):
            self.over = True
            kill_group(self.group)
        if self.most is None or self.over:
            del self.content[: -4 * TAIL]


def _tail(content: bytes | bytearray) -> str:
    text = " ".join(content[-4 * TAIL :].decode("utf-8", "replace").split())
    return text if len(text) <= TAIL else f"...{text[-TAIL:]}"
