"""How far runs are, on the terminal."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from tqdm import tqdm

from dpaudit.auditing.record import plain
from dpaudit.cli.table import named
from dpaudit.report.text import label, number
from dpaudit.run.store.status import DONE, INTERRUPTED, RUNNING, State

WIDTH = 100


def as_json(states: Sequence[State]) -> str:
    """Every number, a run an object."""
    return json.dumps(
        [plain(dataclasses.asdict(one)) for one in states],
        indent=1,
        allow_nan=False,
        ensure_ascii=False,
    )


def as_text(states: Sequence[State]) -> str:
    """A block a run."""
    return "\n\n".join(
        named([(name, label(value, WIDTH)) for name, value in _lines(one)]) for one in states
    )


def _lines(one: State) -> list[tuple[str, str]]:
    known = [("Run", f"{one.scenario or '?'} in {one.folder}"), ("State", _state(one))]
    if one.state == DONE:
        return known
    if one.step is not None:
        known.append(("Step", one.step))
    known += [
        (f"Draws of {side}", _draws(one, made))
        for side, made in zip(("M(D)", "M(D')"), one.made, strict=True)
    ]
    if one.rate is not None:
        known.append(("Rate", f"{number(one.rate, 3)} draws a second"))
    if one.left_s is not None:
        known.append(
            (
                "Time left",
                f"{'at most ' if one.stops else ''}{tqdm.format_interval(one.left_s)} of drawing",
            )
        )
    return known


def _state(one: State) -> str:
    if one.state == DONE:
        return f"done: {one.verdict}"
    if one.state == RUNNING:
        return f"running, process {one.process}{_ago(one)}"
    return f"interrupted{_ago(one)}{'' if one.ended is None else f' by {one.ended}'}; --resume goes on from these draws"


def _ago(one: State) -> str:
    return "" if one.updated_s is None else f", heard of {tqdm.format_interval(one.updated_s)} ago"


def _draws(one: State, made: int) -> str:
    if one.wanted is None:
        return f"{made:,}"
    share = 100 * made // one.wanted
    return f"{made:,} of {'at most ' if one.stops else ''}{one.wanted:,} ({share} %)"


def interrupted(states: Sequence[State]) -> bool:
    """Whether a run ended before it was done."""
    return any(one.state == INTERRUPTED for one in states)
