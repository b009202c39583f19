"""The output of `dpaudit status`, `compare` and `ledger`, as text, as a line and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dpaudit.cli.table import named
from dpaudit.errors import InvalidInput
from dpaudit.report.comparison import Comparison
from dpaudit.run.ledger import Standing
from dpaudit.run.store.progress import DONE, RUNNING, State
from dpaudit.verdict.numbers import count, label, number

WIDTH = 100


# --- status


def states_text(states: Sequence[State]) -> str:
    return "\n\n".join(
        named([(name, label(value, WIDTH)) for name, value in _run_lines(run)]) for run in states
    )


def states_line(states: Sequence[State]) -> str:
    return "\n".join(f"{run.scenario or run.folder}: {_state(run)}" for run in states)


def states_json(states: Sequence[State]) -> list[dict[str, Any]]:
    return [asdict(run) for run in states]


def _run_lines(run: State) -> list[tuple[str, str]]:
    named_run = f"{run.scenario} in {run.folder}" if run.scenario else str(run.folder)
    lines = [("Run", named_run), ("State", _state(run))]
    if run.state == DONE:
        return lines
    if run.step is not None:
        lines.append(("Step", run.step))
    at_most = "at most " if run.stops else ""  # a run that may stop at its verdict may need fewer
    for side, drawn in zip(("M(D)", "M(D')"), run.made, strict=True):
        text = count(drawn)
        if run.wanted is not None:
            text += f" of {at_most}{count(run.wanted)} ({100 * drawn // run.wanted} %)"
        lines.append((f"Draws of {side}", text))
    if run.rate is not None:
        lines.append(("Rate", f"{number(run.rate, 3)} draws per second"))
    if run.left_s is not None:
        left = f"{tqdm.format_interval(run.left_s)} of drawing"
        lines.append(("Time left", at_most + left))
    return lines


def _state(run: State) -> str:
    if run.state == DONE:
        return f"done: {run.verdict}"
    ago = ""
    if run.updated_s is not None:
        ago = f", last progress {tqdm.format_interval(run.updated_s)} ago"
    if run.state == RUNNING:
        return f"running, process {run.process}{ago}"
    cause = "" if run.ended is None else f" by {run.ended}"
    return f"interrupted{cause}{ago}; --resume continues from these draws"


# --- compare


def two_names(names: str | None, first: Path, second: Path) -> tuple[str, str]:
    """The two names in `names`, "A,B"; for None those of the folders, or their paths if these are
    equal.
    """
    if names is None:
        own = first.name, second.name
        return own if own[0] != own[1] else (str(first), str(second))
    parts = [part.strip() for part in names.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InvalidInput(f"--names must be two names with a comma between them, got {names!r}")
    return parts[0], parts[1]


def comparison_line(comparison: Comparison) -> str:
    return "\n".join(map(str, comparison.moved)) or "nothing moved"


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "names": comparison.names,
        "verdicts": [record["verdict"] for record in comparison.records],
        "moved": [asdict(move) for move in comparison.moved],
    }


# --- ledger


def ledger_text(standings: Sequence[Standing]) -> str:
    lines = [f"{_judgement(standing)}\n  {standing.text}" for standing in standings]
    return "\n".join(lines) or "The ledger is empty."


def ledger_line(standings: Sequence[Standing]) -> str:
    return "\n".join(map(_judgement, standings)) or "The ledger is empty."


def ledger_json(standings: Sequence[Standing]) -> list[dict[str, Any]]:
    runs = [(standing.entries[-1], standing.to_dict()) for standing in standings]
    return [{"name": last.name, "claim": last.claim, **content} for last, content in runs]


def _judgement(standing: Standing) -> str:
    last = standing.entries[-1]
    return f"{last.name}, {last.claim}: {'VIOLATED' if standing.violated else 'not violated'}"
