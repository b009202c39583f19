"""The progress of a run, visible from outside: a lock while it runs, and a file that it renews."""

from __future__ import annotations

import json
import socket
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from dpaudit._core.files import clear_drafts, replace_file
from dpaudit._core.result_file import RESULT
from dpaudit.run.store.checksums import listed
from dpaudit.run.store.draws import DrawStore
from dpaudit.run.store.lock import Lock
from dpaudit.run.store.search import FOLDER as SEARCH
from dpaudit.sampling import Progress
from dpaudit.verdict.numbers import count

Notice = Callable[[str], None]
PROGRESS, LOCK = "progress.json", "lock"
EVERY = 1.0  # seconds
DRAWING = "drawing"  # how the names of steps that draw begin


class Watch:
    """The `progress` of a run, used inside `with`: it writes `folder`/progress.json and calls
    `shown`.

    scenario : its name. notice : told of draws that are discarded, by default with a warning.
    Raises `InvalidInput` where another process runs in the folder. A failure to write the file is
    ignored, since the run does not depend on it.
    """

    def __init__(
        self,
        folder: Path,
        scenario: str,
        shown: Progress | None = None,
        notice: Notice | None = None,
    ) -> None:
        self.folder, self.scenario, self.shown = folder, scenario, shown
        self.notice, self.left = notice or _warn, 0
        self.lock = Lock(folder / LOCK)
        self.store: DrawStore | None = None
        self.step, self.done, self.wanted, self.made = "", 0, 1, False
        self.drawing_s, self.last, self.written = 0.0, time.monotonic(), 0.0

    def __enter__(self) -> Watch:
        self.made = not self.folder.parent.exists()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock.take()
        self.left = _left(self.folder)
        clear_drafts(self.folder, PROGRESS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None or (self.store is None and not (self.folder / SEARCH).is_dir()):
            (self.folder / PROGRESS).unlink(missing_ok=True)
        else:
            self._write(" ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":"))
        self.lock.release()
        with suppress(OSError):  # not empty
            self.folder.rmdir()
            if self.made:
                self.folder.parent.rmdir()

    def discards(self, resume: bool) -> None:
        """Say, once, that the draws of an interrupted run are about to go, unless it is resumed."""
        if self.left and not resume:
            self.notice(
                f"{count(self.left)} draws of an interrupted run in {self.folder.parent} are "
                "discarded; --resume would continue from them"
            )
        self.left = 0

    def begin(self, store: DrawStore) -> None:
        """Count the draws of `store` from now on: the draws of a search are done."""
        self.store, self.drawing_s, self.last = store, 0.0, time.monotonic()

    def __call__(self, step: str, done: int, wanted: int) -> None:
        now = time.monotonic()
        if step.startswith(DRAWING) and self.step.startswith(DRAWING):
            self.drawing_s += now - self.last
        new = step != self.step
        self.step, self.done, self.wanted, self.last = step, done, wanted, now
        if new or now - self.written >= EVERY:
            self.written = now
            self._write(None)
        if self.shown is not None:
            self.shown(step, done, wanted)

    def _write(self, ended: str | None) -> None:
        with suppress(OSError):
            content = (json.dumps(self._content(ended), indent=1) + "\n").encode()
            replace_file(self.folder / PROGRESS, content, durable=False)

    def _content(self, ended: str | None) -> dict[str, Any]:
        """rate : draws a second, of the draws that this process made; None before the first one."""
        fresh = 0 if self.store is None else self.store.fresh
        return {
            "scenario": self.scenario,
            "host": socket.gethostname(),
            "step": self.step,
            "done": self.done,
            "wanted": self.wanted,
            "rate": fresh / self.drawing_s if fresh and self.drawing_s > 0.0 else None,
            "updated": time.time(),
            "ended": ended,
        }


def _left(folder: Path) -> int:
    """Draws that a run which did not come to its end left; 0 after one that did."""
    if (folder.parent / RESULT).exists() and not (folder / PROGRESS).exists():
        return 0
    return sum(one.draws for place in (folder, folder / SEARCH) for one in listed(place).values())


def _warn(said: str) -> None:
    warnings.warn(said, UserWarning, stacklevel=4)
