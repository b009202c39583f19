"""Run a program without a shell and without input, with limits to its time and its output.

The processes that a program starts form a group, which is killed when the program exits, when it is
late, and when this process ends in order or by SIGTERM or SIGHUP. A process that is ended in
another way, as by SIGKILL, leaves behind its programs, which run to their end, and its private
folder, which the next process removes that runs a program.
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

A_DRAW, LEAST, MOST = 1 << 16, 1 << 24, 1 << 30  # bytes of output: a draw, and of any run
TAIL = 2000  # characters of stderr that error messages show
CHUNK = 1 << 16  # bytes read at a time
PATIENCE = 5.0  # seconds for a program that was killed
PREFIX, IN_USE = "dpaudit-private-", "in-use"  # of private folders, and their lock files


class ProgramFailed(RuntimeError):
    """A program could not be started, took too long, wrote too much or did not exit with 0."""


def most_bytes(size: int) -> int:
    """How many bytes `size` draws may take as text: 64 KiB a draw, at least 16 MiB, at most 1 GiB.

    64 KiB hold some 3000 numbers with all their digits.
    """
    return min(max(LEAST, A_DRAW * size), MOST)


def run_program(
    argv: Sequence[str], folder: Path | None, timeout: float | None, most: int
) -> tuple[bytes, str]:
    """Run a program in `folder` until it exits; its stdout until then, and the end of its stderr.

    A process that leaves the program's group is not waited for, even if it has the program's output
    open. timeout : seconds, None for no limit. most : bytes that it may print. Raises
    `ProgramFailed`.
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
            with suppress(subprocess.TimeoutExpired):  # one of another user cannot be killed
                process.wait(PATIENCE)
    status, text = process.returncode, _tail(err.content)
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
    """A number of bytes for people."""
    unit, name = (1 << 30, "GiB") if count >= 1 << 30 else (1 << 20, "MiB")
    return f"{count / unit:.3g} {name}"


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
        raise ProgramFailed(f"wrote more than {in_bytes(most)} to {{out}}, which no draws need")
    return content


class _Pipe(Thread):
    """Reads what a program writes until it ends; used inside `with`, which ends the reading.

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
        if self.ident is None:  # the program did not start
            os.close(self.reading)
        else:
            if os.name == "posix":  # the program may have changed what it shares with this process
                os.set_blocking(self.writing, True)
            with suppress(BrokenPipeError):
                os.write(self.writing, self.mark)
            self.join()
        os.close(self.writing)

    def run(self) -> None:
        """Read up to the mark, and keep what there is room for."""
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


def _tail(content: bytes | bytearray) -> str:
    text = " ".join(content[-4 * TAIL :].decode("utf-8", "replace").split())
    return text if len(text) <= TAIL else f"...{text[-TAIL:]}"


def kill_group(group: int) -> None:
    """Kill the processes of a group; on Windows only the process of that number."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(group, signal.SIGTERM)


class ThisProcess:
    """What this process removes when it ends: groups of processes, and a private folder.

    folder : only this user may enter it. Its lock file is locked as long as this process lives, so
    that a later process can tell whether the folder was left behind.
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
        """Kill the group at the end, or when this process ends before. Raises `ProgramFailed`."""
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
        """Kill the programs and remove the folder. A process forked from this one does nothing."""
        if self.ending or os.getpid() != self.owner:
            return
        self.ending = True
        for group in list(self.groups):  # no lock: a signal may have come while this thread had it
            kill_group(group)
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            os.close(self.lock_file)


_LOCK = Lock()
_PROCESSES: list[ThisProcess] = []  # this process, or the one that it was forked from


def this_process() -> ThisProcess:
    """This process, whose private folder is made on first use. Raises OSError."""
    end_in_order()
    with _LOCK:
        if not _PROCESSES or _PROCESSES[0].owner != os.getpid():
            _PROCESSES[:] = [ThisProcess()]
        return _PROCESSES[0]


def end_in_order() -> None:
    """Let SIGTERM and SIGHUP end programs too, where nobody else handles these signals.

    Python can set a handler in the main thread alone; in others this does nothing.
    """

    def end(number: int, frame: FrameType | None) -> None:
        """End the programs, and then this process by the same signal, as without a handler."""
        for process in _PROCESSES:
            process.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if current_thread() is main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, end)


def remove_stale_folders() -> None:
    """Remove the private folders of processes that were killed.

    Such a folder belongs to this user alone and holds a lock file that no living process has
    locked.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if fcntl is not None else ():
        with suppress(OSError):  # of which BlockingIOError says that the lock file is locked
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
    """A new folder and its open lock file, which gets its name only once it is locked."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    draft = folder / f"{IN_USE}.new"
    lock_file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):  # on a file system without locks the folder is never stale
        if fcntl is not None:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.rename(folder / IN_USE)
    return folder, lock_file
