"""Running programs and files of databases: none outlives this process, however it ends.

At an orderly end the process removes them itself. A signal may leave it no time for that, and
kill -9 not even a handler. So a second process, the caretaker, waits for the end of this one: it
reads a pipe, which the system closes then. No handler of a signal is touched, threads and worker
processes are served alike, and the process ends as the signal has it.

Where there is no caretaker (Windows) only an orderly end removes them.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO

try:
    import fcntl
except ModuleNotFoundError:  # not a Unix system
    fcntl = None  # type: ignore[assignment]

PREFIX, IN_USE = "dpaudit-private-", "in-use"
MARK = "DPAUDIT_PRIVATE"  # names the folder in the environment of programs
# Its input is a line "+7" when the group 7 of processes starts, "-7" when that has ended. For a
# worker process it also looks, once a second, whether the process that the worker serves is there.
# Where the system shows the environment of processes (Linux), it ends all that have MARK in theirs:
# programs that had started and were not yet reported, and what left the group of a program.
# It is no child of the process that it watches: joblib kills workers with all their children.
CARETAKER = """
import os, select, shutil, signal, sys, time
folder, served = sys.argv[1], int(sys.argv[2])
if os.fork():
    os._exit(0)

def gone():
    try:
        served and os.kill(served, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)

def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""

def kill(how, number):
    try:
        how(number, signal.SIGKILL)
    except OSError:
        pass

groups, rest = set(), b""
while not gone():
    if select.select([0], [], [], 1.0 if served else None)[0]:
        part = os.read(0, 1 << 16)
        if not part:
            break
        *lines, rest = (rest + part).split(b"\\n")
        for line in lines:
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
for group in groups:
    kill(os.killpg, group)
for _ in range(3):
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else []):
        if folder.encode() in environment(pid):
            kill(os.kill, int(pid))
    shutil.rmtree(folder, ignore_errors=True)
    time.sleep(0.1)
"""


class Ended(RuntimeError):
    """This process is ending, so no program may run."""


class Leftovers:
    """What this process has to remove: groups of processes, and a folder with its content.

    folder : for this user alone. It is locked, so that a later process can tell whether it was
    left behind.
    """

    def __init__(self) -> None:
        remove_stale()
        self.owner = os.getpid()
        self.folder, self.held = _private_folder()
        self.groups: set[int] = set()
        self.lock, self.closed = Lock(), False
        self.caretaker = _caretaker(self.folder)
        atexit.register(self.close)

    @contextmanager
    def kept(self, group: int) -> Iterator[None]:
        """While it lasts, the end of this process is that of the group. Raises `Ended`."""
        with self.lock:
            self.groups.add(group)
        try:
            self._tell(f"+{group}")
            if self.closed:
                raise Ended("this process is ending")
            yield
        finally:
            kill_group(group)
            with self.lock:
                self.groups.discard(group)
            self._tell(f"-{group}")

    def environment(self) -> dict[str, str]:
        """That of programs."""
        return {**os.environ, MARK: str(self.folder)}

    def close(self) -> None:
        """Remove everything. A process forked from this one does nothing here."""
        if self.closed or os.getpid() != self.owner:
            return
        self.closed = True
        with self.lock:
            groups = set(self.groups)
        for group in groups:
            kill_group(group)
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            os.close(self.held)
        if self.caretaker is not None:
            self.caretaker.close()

    def _tell(self, line: str) -> None:
        with suppress(OSError, ValueError):  # the caretaker has ended, or was told of the end
            if self.caretaker is not None:
                self.caretaker.write(f"{line}\n".encode())


_LOCK = Lock()
_HERE: list[Leftovers] = []  # that of this process, or of the one that it was forked from


def leftovers() -> Leftovers:
    """Those of this process, made on first use. Raises OSError."""
    with _LOCK:
        if not _HERE or _HERE[0].owner != os.getpid():
            _HERE[:] = [Leftovers()]
        return _HERE[0]


def kill_group(group: int) -> None:
    """Kill the processes of a group; on Windows only the process of that number."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(group, signal.SIGTERM)


def remove_stale() -> None:
    """Remove the folders of processes that ended together with their caretakers.

    Such a folder belongs to this user alone and holds a lock file that no living process has
    locked.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if fcntl is not None and _stale(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _stale(folder: Path) -> bool:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        return False
    file = os.open(folder / IN_USE, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True


def _private_folder() -> tuple[Path, int]:
    """A new folder, and its lock file, which has its name only once it is locked."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    draft = folder / f"{IN_USE}.new"
    held = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):  # a file system without locks: without the name it is never stale
        if fcntl is not None:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.rename(folder / IN_USE)
    return folder, held


def _caretaker(folder: Path) -> IO[bytes] | None:
    """Start the caretaker; returns its input, None where it cannot be started."""
    if not hasattr(os, "fork") or not sys.executable or getattr(sys, "frozen", False):
        return None
    served = 0 if multiprocessing.parent_process() is None else os.getppid()
    argv = [sys.executable, "-I", "-S", "-c", CARETAKER, str(folder), str(served)]
    null = subprocess.DEVNULL
    try:
        starter = subprocess.Popen(
            argv,
            bufsize=0,
            cwd="/",
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=null,
            stderr=null,
        )
    except OSError:
        return None
    with suppress(subprocess.TimeoutExpired):
        starter.wait(10.0)
    return starter.stdin
