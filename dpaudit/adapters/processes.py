"""Run a program without a shell and without input, with limits to its time and its output.

A program and the processes that it starts form a group. The group is killed when the program exits,
when it exceeds its time, and when this Python process ends normally or by SIGTERM or SIGHUP. If the
Python process is ended in another way, such as by SIGKILL, its programs run on to their end, and
its private folder is left behind; the next Python process that runs a program removes the folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread, current_thread, main_thread
from types import FrameType

try:
    import fcntl
except ModuleNotFoundError:  # not a Unix system
    fcntl = None  # type: ignore[assignment]

A_DRAW, LEAST, MOST = 1 << 16, 1 << 24, 1 << 30  # limits of output: bytes per draw and per run
TAIL = 2000  # characters of stderr that error messages show
CHUNK = 1 << 16  # bytes read at a time
PATIENCE = 5.0  # seconds to wait for the end of a program that was killed
PREFIX, IN_USE = "dpaudit-private-", "in-use"  # names of private folders and their lock files
# signals, known to this system, that end a process and its programs
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class ProgramFailed(RuntimeError):
    """A program could not be started, took too long, wrote too much or exited with an error."""


def most_bytes(size: int) -> int:
    """The bytes that `size` draws may take as text: 64 KiB each, 16 MiB to 1 GiB in total."""
    return min(max(LEAST, A_DRAW * size), MOST)


def run_program(
    argv: Sequence[str], folder: Path | None, timeout: float | None, most: int
) -> tuple[bytes, str]:
    """Run a program in `folder` until it exits; returns its stdout, and the end of its stderr.

    timeout : in seconds; None for no limit. most : the number of bytes that the program may print.
    A process that has left the program's group is ignored. Raises `ProgramFailed`.
    """
    here, late = this_process(), False
    with _Pipe(most) as out, _Pipe(None) as err:
        try:
            process = subprocess.Popen(
                list(argv),
                cwd=folder,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=out.writing,
                stderr=err.writing,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ProgramFailed(f"cannot be started: {reason}") from None
        try:
            with here.running(process.pid):
                out.begin(process.pid)
                err.begin(process.pid)
                process.wait(timeout)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with suppress(subprocess.TimeoutExpired):  # another user's program cannot be killed
                process.wait(PATIENCE)
    text = " ".join(err.content[-4 * TAIL :].decode("utf-8", "replace").split())
    status, text = process.returncode, text if len(text) <= TAIL else f"...{text[-TAIL:]}"
    if out.over:
        failure = f"printed more than {in_bytes(most)}, which no draws need"
    elif late:
        failure = f"no output within {timeout:g} s"
    elif status is None:
        failure = "could not be ended"
    elif status != 0:
        failure = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
    else:
        return bytes(out.content), text
    raise ProgramFailed(f"{failure}; it said{f': {text}' if text else ' nothing on stderr'}")


def in_bytes(count: float) -> str:
    """A number of bytes as text in MiB or GiB."""
    unit, name = (1 << 30, "GiB") if count >= 1 << 30 else (1 << 20, "MiB")
    return f"{count / unit:.3g} {name}"


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes, no pipe or device, which may never
    end. Raises `ProgramFailed`.
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
        raise ProgramFailed(f"wrote more than {in_bytes(most)} to {{out}}, which no draws need")
    return content


class _Pipe(Thread):
    """A thread that reads a program's output; leaving its `with` block ends the reading.

    A pipe ends only when all processes that have it open are gone, and a program may leave one
    behind. So this process writes a random mark into the pipe when the program has ended, and reads
    up to it.

    most : the number of bytes allowed; the group of a program that writes more is killed. None
    means no limit, and then only the last bytes are kept.
    """

    def __init__(self, most: int | None) -> None:
        super().__init__(daemon=True, name="dpaudit-pipe")
        self.most, self.over = most, False
        self.content, self.mark = bytearray(), os.urandom(16)

    def __enter__(self) -> _Pipe:
        self.reading, self.writing = os.pipe()
        return self

    def begin(self, group: int) -> None:
        self.group = group
        self.start()

    def __exit__(self, *_: object) -> None:
        if self.ident is None:  # the program did not start
            os.close(self.reading)
        else:
            if os.name == "posix":  # the program may have set the shared pipe to non-blocking
                os.set_blocking(self.writing, True)
            with suppress(BrokenPipeError):
                os.write(self.writing, self.mark)
            self.join()
        os.close(self.writing)

    def run(self) -> None:
        try:
            while True:
                seam = max(len(self.content) - len(self.mark), 0)
                self.content += os.read(self.reading, CHUNK)
                end = self.content.find(self.mark, seam)
                if end >= 0:
                    del self.content[end:]
                    return
                if self.most is not None and len(self.content) > self.most + len(self.mark):
                    self.over = True
                    kill_group(self.group)
                if self.most is None or self.over:
                    del self.content[: -4 * TAIL]
        finally:
            os.close(self.reading)


def kill_group(group: int) -> None:
    """Kill the processes of a group; on Windows only the process with this number."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(group, signal.SIGTERM)


class ThisProcess:
    """The process groups and the private folder that this Python process removes when it ends.

    folder : a folder that only this user may enter. Its lock file is locked as long as this process
    lives, so that a later process can recognise a folder that was left behind.
    """

    def __init__(self) -> None:
        remove_stale_folders()
        self.owner = os.getpid()
        self.folder, self.lock_file = _private_folder()
        self.groups: set[int] = set()
        self.lock, self.ending = Lock(), False
        atexit.register(self.end)

    @contextmanager
    def running(self, group: int) -> Iterator[None]:
        """Kill the group when the `with` block or this process ends. Raises `ProgramFailed`."""
        with self.lock:
            self.groups.add(group)
        try:
            if self.ending:
                raise ProgramFailed("this process is ending")
            yield
        finally:
            kill_group(group)
            with self.lock:
                self.groups.discard(group)

    def end(self) -> None:
        """Kill the programs and remove the folder; in a forked process this does nothing."""
        if self.ending or os.getpid() != self.owner:
            return
        self.ending = True
        for group in list(self.groups):  # no lock: this thread may hold it while a signal arrives
            kill_group(group)
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            os.close(self.lock_file)


_LOCK = Lock()
_PROCESSES: list[ThisProcess] = []  # one entry: this process, or the process that it is a fork of


def this_process() -> ThisProcess:
    """The `ThisProcess` of this process, which is made on first use. Raises OSError."""
    end_in_order()
    with _LOCK:
        if not _PROCESSES or _PROCESSES[0].owner != os.getpid():
            _PROCESSES[:] = [ThisProcess()]
        return _PROCESSES[0]


def end_in_order() -> None:
    """Make SIGTERM and SIGHUP end the programs too, unless these signals have other handlers. This
    works in the main thread alone.
    """
    if current_thread() is main_thread():
        for number in ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    """End the programs, then end this process by the same signal with its default action."""
    for process in _PROCESSES:
        process.end()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _end_in_fork() -> None:
    """Give a forked process the default actions: it has no programs to end, and one that waits for
    a lock would not act on a Python handler.
    """
    for number in ENDING:
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_end_in_fork)


def remove_stale_folders() -> None:
    """Remove this user's private folders whose lock file no living process has locked."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if fcntl is not None else ():
        with suppress(OSError):  # BlockingIOError, a subclass, means that the lock file is locked
            status = folder.lstat()
            if stat.S_IMODE(status.st_mode) & 0o077 or not stat.S_ISDIR(status.st_mode):
                continue
            if status.st_uid == os.getuid():
                file = os.open(folder / IN_USE, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(file)


def _private_folder() -> tuple[Path, int]:
    """Make a folder and its lock file, which gets its final name only when it is locked."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    draft = folder / f"{IN_USE}.new"
    lock_file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):  # on a file system without locks the folder is never stale
        if fcntl is not None:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.rename(folder / IN_USE)
    return folder, lock_file
