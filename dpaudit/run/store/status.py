"""What can be told of a run from its folder: whether it is done, under way or interrupted, and how
far it is.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.auditing.record import RESULT, load
from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import listed
from dpaudit.run.store.draws import manifest_of
from dpaudit.run.store.lock import held
from dpaudit.run.store.watch import LOCK, PROGRESS

DRAWS = "draws"
RUNNING, INTERRUPTED, DONE = "running", "interrupted", "done"


@dataclass(frozen=True)
class State:
    """state : "running", "interrupted" or "done". folder : of the report.

    made : draws of M(D) and of M(D') that are kept. wanted : of each; `stops` where fewer may do.
    rate : draws a second, either side. left_s : seconds of drawing to go at that rate. updated_s :
    seconds since the run said so. ended : with what an interrupted run ended, where it could still
    say so. verdict : of a run that is done. What is not known is None.
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
    """Of the run in `folder`, or else of those in its folders. Raises `InvalidInput` where there is
    none.
    """
    found = [state for one in (folder, *_below(folder)) if (state := state_of(one)) is not None]
    if not found:
        raise InvalidInput(
            f"{folder} must be the folder of a run (--out of dpaudit run), but there is none in it"
        )
    return found[:1] if found[0].folder == folder else found


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def state_of(folder: Path) -> State | None:
    """Of the run in `folder`; None where there is none. Draws of a run that is done may have been
    kept.
    """
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
    """Draws of either side on the list of parts."""
    count: Counter[str] = Counter()
    for name, part in listed(draws).items():
        count[name[:2]] += part.draws
    return count["0-"], count["1-"]


def _progress(draws: Path) -> dict[str, Any] | None:
    """What the run said last; numbers that are none count as not said."""
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
