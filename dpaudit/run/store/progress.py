"""The progress of a run, for other processes: a lock, and a file that the run keeps rewriting."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from dpaudit._core.files import clear_drafts, replace_file
from dpaudit._core.result_file import RESULT, load
from dpaudit.errors import InvalidInput
from dpaudit.run.store.draws import DrawStore
from dpaudit.run.store.folder import OUTCOMES, listed_parts, manifest_of
from dpaudit.sampling import Progress
from dpaudit.verdict.numbers import count

Notice = Callable[[str], None]
DRAWS, SEARCH = "draws", "search"  # folder of draws in a run's folder; folder of a search in DRAWS
LOCK, PROGRESS = "lock", "progress.json"
EVERY = 1.0  # least seconds between two writes of the progress file within one step
PATIENCE = 1.0  # seconds that a run waits for the lock, which `dpaudit status` takes for a moment
DRAWING = "drawing"  # the names of all steps that draw begin with this word
RUNNING, INTERRUPTED, DONE = "running", "interrupted", "done"


class RunLock:
    """The lock on a run's folder of draws. It is released when the process ends in any way."""

    def __init__(self, draws: Path) -> None:
        self.draws, self.lock = draws, FileLock(draws / LOCK)

    def take(self) -> None:
        """Take the lock. Raises `InvalidInput` if another run has it, OSError on a failed write."""
        try:
            self.lock.acquire(timeout=PATIENCE)
        except Timeout:
            raise InvalidInput(
                f"another run is under way in {self.draws.parent} (process "
                f"{read_progress(self.draws).get('process', 'unknown')}); give this one a folder "
                "of its own, or wait"
            ) from None

    def release(self) -> None:
        """Remove the file, then release the lock: no process may lock a file that is removed."""
        with suppress(OSError):  # Windows does not remove a file that is open
            (self.draws / LOCK).unlink()
        self.lock.release()

    def is_taken(self) -> bool:
        """Whether a run has the lock; True also where this process may not open the file."""
        if not (self.draws / LOCK).exists():
            return False
        try:
            with self.lock.acquire(timeout=0):
                return False
        except (Timeout, PermissionError):
            return True


class Watch:
    """The progress of a run, used inside `with`: it writes progress.json, if it can, and calls
    `progress`. notice : called with a sentence when draws are discarded; by default a warning.
    Raises `InvalidInput` where another run uses the folder.
    """

    def __init__(
        self,
        folder: Path,
        scenario: str,
        progress: Progress | None = None,
        notice: Notice | None = None,
    ) -> None:
        self.folder, self.scenario, self.progress = folder, scenario, progress
        self.notice, self.left = notice or _warn, 0
        self.lock = RunLock(folder)
        self.store: DrawStore | None = None
        self.step, self.done, self.wanted, self.is_new = "", 0, 1, False
        self.drawing_s, self.last, self.written = 0.0, time.monotonic(), 0.0

    def __enter__(self) -> Watch:
        self.is_new = not self.folder.parent.exists()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock.take()
        self.left = _draws_left(self.folder)
        clear_drafts(self.folder, PROGRESS)
        self._write(None)
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
            if self.is_new:
                self.folder.parent.rmdir()

    def discards(self, resume: bool) -> None:
        """Call `notice`, once, if the draws of an interrupted run will be removed."""
        if self.left and not resume:
            self.notice(
                f"{count(self.left)} draws of an interrupted run in {self.folder.parent} are "
                "discarded; --resume would continue from them"
            )
        self.left = 0

    def begin(self, store: DrawStore) -> None:
        """Measure the rate of drawing by the draws of `store` from now on, after any search."""
        self.store, self.drawing_s, self.last = store, 0.0, time.monotonic()

    def __call__(self, step: str, done: int, wanted: int) -> None:
        now = time.monotonic()
        if step.startswith(DRAWING) and self.step.startswith(DRAWING):
            self.drawing_s += now - self.last
        is_new_step = step != self.step
        self.step, self.done, self.wanted, self.last = step, done, wanted, now
        if is_new_step or now - self.written >= EVERY:
            self.written = now
            self._write(None)
        if self.progress is not None:
            self.progress(step, done, wanted)

    def _write(self, ended: str | None) -> None:
        """Write progress.json. ended : the error that ends the run, None while it runs. rate :
        draws per second of this process.
        """
        fresh = 0 if self.store is None else self.store.fresh
        content = {
            "scenario": self.scenario,
            "process": os.getpid(),
            "step": self.step,
            "done": self.done,
            "wanted": self.wanted,
            "rate": fresh / self.drawing_s if fresh and self.drawing_s > 0.0 else None,
            "updated": time.time(),
            "ended": ended,
        }
        text = json.dumps(content, indent=1) + "\n"
        with suppress(OSError):
            replace_file(self.folder / PROGRESS, text, durable=False)


@dataclass(frozen=True)
class State:
    """The state of one run. An unknown field is None.

    folder : the folder of the report. state : "running", "interrupted" or "done". process : the id
    of the running process. step : the step that the run reported last. made : stored draws of M(D)
    and of M(D'). wanted : draws of each side that the scenario asks for. stops : whether the audit
    may stop with fewer. rate : draws per second. left_s : seconds of drawing that remain at that
    rate. updated_s : seconds since the last report. ended : the error that interrupted the run.
    verdict : the verdict of a run that is done.
    """

    folder: Path
    state: str
    scenario: str | None = None
    process: int | None = None
    step: str | None = None
    made: tuple[int, int] = (0, 0)
    wanted: int | None = None
    stops: bool = False
    rate: float | None = None
    left_s: float | None = None
    updated_s: float | None = None
    ended: str | None = None
    verdict: str | None = None


def states(folder: Path) -> list[State]:
    """The states of the run in `folder`, or of those in its subfolders. Raises `InvalidInput`
    without one.
    """
    own = state_of(folder)
    if own is not None:
        return [own]
    below = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    runs = [state for path in below if (state := state_of(path)) is not None]
    if not runs:
        raise InvalidInput(
            f"{folder} must be the folder of a run (--out of dpaudit run), but there is none in it"
        )
    return runs


def state_of(folder: Path) -> State | None:
    draws = folder / DRAWS
    running, progress, manifest = (
        RunLock(draws).is_taken(),
        read_progress(draws),
        manifest_of(draws),
    )
    if not running and not progress:
        if (folder / RESULT).exists():
            record = load(folder)
            return State(folder, DONE, record.get("scenario"), verdict=record["verdict"])
        if manifest is None:
            return None
    manifest = manifest or {}
    stored, rate = _draws_made(draws), progress.get("rate")
    target = manifest["samples"] if isinstance(manifest.get("samples"), int) else None
    return State(
        folder,
        RUNNING if running else INTERRUPTED,
        progress.get("scenario"),
        progress.get("process") if running else None,
        progress.get("step"),
        stored,
        target,
        manifest.get("stop") is not None,
        rate,
        None if target is None or not rate else max(0, 2 * target - sum(stored)) / rate,
        None if "updated" not in progress else max(0.0, time.time() - progress["updated"]),
        progress.get("ended"),
    )


def has_search(draws: Path) -> bool:
    return (draws / SEARCH / OUTCOMES).exists()


def read_progress(draws: Path) -> dict[str, Any]:
    try:
        content = json.loads((draws / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _draws_made(draws: Path) -> tuple[int, int]:
    """Stored draws of M(D) and of M(D'); a file of counts has equally many of both."""
    draws_of: Counter[str] = Counter()
    for name, part in listed_parts(draws).items():
        draws_of[name.partition("-")[0]] += part["draws"]
    both = draws_of["counts"] // 2
    return draws_of["0"] + both, draws_of["1"] + both


def _draws_left(folder: Path) -> int:
    if (folder.parent / RESULT).exists() and not (folder / PROGRESS).exists():
        return 0
    places = (folder, folder / SEARCH)
    return sum(part["draws"] for place in places for part in listed_parts(place).values())


def _warn(sentence: str) -> None:
    warnings.warn(sentence, UserWarning, stacklevel=4)
