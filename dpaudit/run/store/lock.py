"""A file that one process holds for as long as it lives, however it ends.

Where the system has no `fcntl` (Windows) nothing is locked, and a warning says so.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # not a Unix system
    fcntl = None  # type: ignore[assignment]

from dpaudit.errors import InvalidInput

TRIES, PAUSE = (20, 0.05)  # attempts, and seconds between them: `held` takes the lock briefly
UNLOCKED = (
    "this system has no fcntl: another run in the same folder would not be noticed, and "
    "`dpaudit status` cannot tell a running audit from an interrupted one"
)


class Lock:
    """Held from `take` to `release` or the end of the process, even by kill -9."""

    def __init__(self, path: Path, place: Path | None = None, tries: int = TRIES) -> None:
        """place : what an error names; if not given, the folder above the one of the file.

        tries : attempts, `PAUSE` apart.
        """
        self.path, self.file, self.tries = path, -1, tries
        self.place = place or path.parent.parent

    def take(self) -> None:
        """Raises `InvalidInput` where another run holds it, OSError where the file cannot be
        written.
        """
        if fcntl is None:
            warnings.warn(UNLOCKED, RuntimeWarning, stacklevel=2)
        for _ in range(self.tries):
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            if _locked(self.file, exclusive=True) and _same(self.file, self.path):
                os.ftruncate(self.file, 0)
                os.write(self.file, f"{os.getpid()}\n".encode())
                return
            os.close(self.file)
            time.sleep(PAUSE)
        raise InvalidInput(
            f"another run is under way in {self.place} "
            f"(process {_holder(self.path)}); give this one a folder of its own, or wait"
        )

    def release(self) -> None:
        """Let go, and remove the file: first, so that nobody takes a lock that is about to go. On
        Windows an open file cannot be removed.
        """
        if fcntl is None:
            os.close(self.file)
            self.path.unlink(missing_ok=True)
        else:
            self.path.unlink(missing_ok=True)
            os.close(self.file)


def held(path: Path) -> int | None:
    """The process that holds the lock, None where none does."""
    try:
        file = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return None if _locked(file, exclusive=False) else _holder(path)
    finally:
        os.close(file)


def _locked(file: int, *, exclusive: bool) -> bool:
    """Whether the file could be locked; True on a system without file locks."""
    if fcntl is None:
        return True
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same(file: int, path: Path) -> bool:
    """Whether the file that was opened is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> int:
    """The process that the lock file names; 0 where it cannot be read."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0
