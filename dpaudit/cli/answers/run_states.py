"""How far runs are, on the terminal or as JSON: the answer of `dpaudit status`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from tqdm import tqdm

from dpaudit._core.result_file import plain
from dpaudit.cli.table import named
from dpaudit.run.store import DONE, INTERRUPTED, RUNNING, State
from dpaudit.verdict.numbers import count, label, number

WIDTH = 100


def as_json(states: Sequence[State]) -> str:
    """A list with an object for each run, with all numbers."""
    return json.dumps(
        [plain(dataclasses.asdict(one)) for one in states],
        indent=1,
        allow_nan=False,
        ensure_ascii=False,
    )


def as_text(states: Sequence[State]) -> str:
    """A block of lines for each run."""
    return "\n\n".join(
        named([(name, label(value, WIDTH)) for name, value in _lines(one)]) for one in states
    )


def as_line(states: Sequence[State]) -> str:
    """A line for each run."""
    return "\n".join(f"{one.scenario or one.folder}: {_state(one)}" for one in states)


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
        known.append(("Rate", f"{number(one.rate, 3)} draws per second"))
    if one.left_s is not None:
        left = f"{tqdm.format_interval(one.left_s)} of drawing"
        known.append(("Time left", _at_most(one) + left))
    return known


def _at_most(one: State) -> str:
    """A run that may stop at its verdict may need fewer draws."""
    return "at most " if one.stops else ""


def _state(one: State) -> str:
    if one.state == DONE:
        return f"done: {one.verdict}"
    if one.state == RUNNING:
        return f"running, process {one.process}{_ago(one)}"
    cause = "" if one.ended is None else f" by {one.ended}"
    return f"interrupted{cause}{_ago(one)}; --resume continues from these draws"


def _ago(one: State) -> str:
    if one.updated_s is None:
        return ""
    return f", last progress {tqdm.format_interval(one.updated_s)} ago"


def _draws(one: State, made: int) -> str:
    if one.wanted is None:
        return count(made)
    share = 100 * made // one.wanted
    return f"{count(made)} of {_at_most(one)}{count(one.wanted)} ({share} %)"


def interrupted(states: Sequence[State]) -> bool:
    """Whether any run ended before it was done."""
    return any(one.state == INTERRUPTED for one in states)
