"""The state of a run, read from its folder: done, running or interrupted, and its progress."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit._core.result_file import RESULT, load
from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import listed
from dpaudit.run.store.counts import PREFIX
from dpaudit.run.store.lock import held
from dpaudit.run.store.manifest import manifest_of
from dpaudit.run.store.watch import LOCK, PROGRESS

DRAWS = "draws"
RUNNING, INTERRUPTED, DONE = "running", "interrupted", "done"


@dataclass(frozen=True)
class State:
    """The state of one run. What is not known is None.

    state : "running", "interrupted" or "done". folder : of the report.
    made : draws of M(D) and of M(D') that are kept. wanted : of each side.
    stops : whether the audit may stop before all are drawn.
    rate : draws a second. left_s : seconds of drawing that remain at that rate.
    updated_s : seconds since the run last reported. ended : the error that interrupted the run.
    verdict : of a run that is done.
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
    """The state of the run in `folder`, or of those in its sub-folders. Raises `InvalidInput`."""
    found = [state for one in (folder, *_below(folder)) if (state := state_of(one)) is not None]
    if not found:
        raise InvalidInput(
            f"{folder} must be the folder of a run (--out of dpaudit run), but there is none in it"
        )
    return found[:1] if found[0].folder == folder else found


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def state_of(folder: Path) -> State | None:
    """The state of the run in `folder`; None where there is none."""
    draws = folder / DRAWS
    process, progress, made_by = held(draws / LOCK), _progress(draws), manifest_of(draws)
    if process is None and progress is None and (folder / RESULT).exists():
        record = load(folder)
        return State(folder, DONE, record["scenario"], verdict=record["verdict"])
    if process is None and progress is None and made_by is None:
        return None
    return _under_way(folder, process, progress or {}, made_by or {})


def _under_way(
    folder: Path, process: int | None, progress: dict[str, Any], made_by: dict[str, Any]
) -> State:
    made, rate = _made(folder / DRAWS), progress.get("rate")
    wanted = made_by["samples"] if isinstance(made_by.get("samples"), int) else None
    left = None if wanted is None or not rate else max(0, 2 * wanted - sum(made)) / rate
    return State(
        folder,
        INTERRUPTED if process is None else RUNNING,
        progress.get("scenario"),
        process,
        progress.get("step"),
        made,
        wanted,
        made_by.get("stop") is not None,
        rate,
        left,
        None if "updated" not in progress else max(0.0, time.time() - progress["updated"]),
        progress.get("ended"),
    )


def _made(draws: Path) -> tuple[int, int]:
    """Draws of each side on the list of files; a file of counts has as many of both."""
    count: Counter[str] = Counter()
    for name, part in listed(draws).items():
        count[name.partition("-")[0]] += part.draws
    both = count[PREFIX.rstrip("-")] // 2
    return count["0"] + both, count["1"] + both


def _progress(draws: Path) -> dict[str, Any] | None:
    """What the run reported last, without values of a wrong type."""
    try:
        content = json.loads((draws / PROGRESS).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    if not isinstance(content, dict):
        return None
    texts = {
        key: content[key]
        for key in ("scenario", "step", "ended")
        if isinstance(content.get(key), str)
    }
    return texts | {key: content[key] for key in ("rate", "updated") if _number(content.get(key))}


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
