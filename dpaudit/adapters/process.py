"""Run a program without a shell and without input, with limits to its time and its output."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

LARGEST = 1 << 30  # bytes that a program may print
TAIL = 2000  # characters of stderr that error messages show
CHUNK = 1 << 16  # bytes read at a time


class ProgramFailed(RuntimeError):
    """A program could not be started, took too long, wrote too much or did not exit with 0."""


@dataclass(frozen=True)
class Printed:
    """What a program printed. out : all of stdout. err : the end of stderr, on one line."""

    out: bytes
    err: str


def run_program(argv: Sequence[str], folder: Path | None, timeout: float | None) -> Printed:
    """Run a program in `folder` until it exits, and return what it printed.

    Its processes form a group, which is killed when the program exits. timeout : seconds, None for
    no limit. Raises `ProgramFailed`.
    """
    process = _start(argv, folder)
    out, err = _Reader(process, process.stdout, LARGEST), _Reader(process, process.stderr, LARGEST)
    late = False
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        late = True
    finally:  # on an interrupt, too
        _end(process)
        out.join()
        err.join()
    return _checked(process.returncode, late, timeout, out, err)


def _start(argv: Sequence[str], folder: Path | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(argv),
            cwd=folder,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ProgramFailed(f"cannot be started: {reason}") from None


def _checked(status: int, late: bool, timeout: float | None, out: _Reader, err: _Reader) -> Printed:
    printed = Printed(out.content(), _tail(err.content()))
    said = f"; it said: {printed.err}" if printed.err else "; it said nothing on stderr"
    if late:
        raise ProgramFailed(f"no output within {timeout:g} s{said}")
    if out.over or err.over:
        raise ProgramFailed(f"printed more than {LARGEST >> 30} GiB{said}")
    if status < 0:
        raise ProgramFailed(f"ended by signal {-status}{said}")
    if status > 0:
        raise ProgramFailed(f"exit status {status}{said}")
    return printed


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the processes that are left in the program's group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Reader(Thread):
    """Reads a pipe to its end; kills a program that writes more than `limit` bytes."""

    def __init__(
        self, process: subprocess.Popen[bytes], pipe: IO[bytes] | None, limit: int
    ) -> None:
        assert pipe is not None
        super().__init__(daemon=True, name="dpaudit-pipe")
        self.process, self.pipe, self.left = process, pipe, limit
        self.over = False
        self.parts: list[bytes] = []
        self.start()

    def run(self) -> None:
        with self.pipe:
            while part := self.pipe.read1(CHUNK):  # type: ignore[attr-defined]
                self.left -= len(part)
                if self.left < 0 and not self.over:
                    self.over = True
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(self.process.pid, signal.SIGKILL)
                if not self.over:
                    self.parts.append(part)

    def content(self) -> bytes:
        return b"".join(self.parts)


def _tail(content: bytes) -> str:
    text = " ".join(content[-4 * TAIL :].decode("utf-8", "replace").split())
    return text if len(text) <= TAIL else f"...{text[-TAIL:]}"
