"""The comparison of auditing tools as a page."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version

import numpy as np
from scipy.stats import binom

from dpaudit._core.types import Array
from reports.make import page
from reports.make.auditors.answers import OURS, READINGS, SLACK, Answer, truth
from reports.make.auditors.feed import FITTED, PLAIN
from reports.make.auditors.tools import PACKAGES, TOOLS
from reports.make.tasks import TASKS

Key = tuple[str, str, str]  # package, tool, score
Found = Mapping[tuple[int, str], Mapping[Key, Answer]]  # by draws a side and task
# by (package, tool) and task: (runs, 6) booleans
Rates = Mapping[tuple[str, str], Mapping[str, Array]]
MARK = "†"
NOMINAL = 0.05
CAUGHT = 1e-3  # a p-value below it: more false certificates than chance gives


def render(found: Found, rates: Rates, seeds: int, seconds: float) -> str:
    """The whole page."""
    return page.render(
        "auditors.md",
        python=platform.python_version(),
        versions=", ".join(f"{name} {version(name)}" for name in (*PACKAGES, "numpy", "scipy")),
        cores=os.cpu_count(),
        minutes=f"{seconds / 60.0:.0f}",
        seeds=seeds,
        mark=MARK,
        fitted=FITTED,
        plain=PLAIN,
        best=_against_best(found, unsound(rates)),
        false_rates=_false_rates(rates),
        every=_every(found),
    )


def _truths() -> dict[str, Array]:
    return {task.name: truth(task) for task in TASKS}


def unsound(rates: Rates) -> set[tuple[str, str]]:
    """Tools that take a shape for granted, or give more false certificates than chance does."""
    shaped = {(tool.package, tool.name) for tool in TOOLS if tool.assumes}
    seen = {
        key
        for key, by_task in rates.items()
        for each in by_task.values()
        if binom.sf(each.sum(axis=0).max() - 1, len(each), NOMINAL) < CAUGHT
    }
    return shaped | seen


def _against_best(found: Found, out: set[tuple[str, str]]) -> str:
    """dpaudit beside the largest answer of any tool that is not in `out`."""
    truths, rows = _truths(), []
    for (size, name), answers in found.items():
        true = truths[name]
        rows.append([f"{size:,}", name, "truth", *_cells(true, true), ""])
        rows += [
            ["", "", who, *_cells(values, true), cpu]
            for who, values, cpu in _contestants(answers, true, out)
        ]
    return page.table(["N", "task", "who", *READINGS, "CPU s"], rows)


def _contestants(
    answers: Mapping[Key, Answer], true: Array, out: set[tuple[str, str]]
) -> Iterable[tuple[str, Array, str]]:
    for key, answer in answers.items():
        if key[0] == OURS:
            yield f"dpaudit, {key[1]}, {key[2]} score", answer.found, f"{answer.cpu:.2f}"
    for score in (PLAIN, FITTED):
        sound = [
            answer
            for key, answer in answers.items()
            if key[0] != OURS and key[2] == score and key[:2] not in out
        ]
        values = np.array([np.where(one.found <= true + SLACK, one.found, np.nan) for one in sound])
        spent = [one.cpu for one in sound]
        yield (
            f"best tool, {score} score",
            np.nanmax(values, axis=0),
            f"{min(spent):.3f} to {max(spent):.3f}",
        )


def _false_rates(rates: Rates) -> str:
    """Shares of runs with a false certificate."""
    tasks = list(next(iter(rates.values())))
    assumed = {(tool.package, tool.name): tool.assumes for tool in TOOLS}
    rows = [
        [
            ", ".join(key),
            assumed.get(key, ""),
            *(
                f"{each.mean(axis=0).max():.1%} ({each.any(axis=1).mean():.1%})"
                for each in by_task.values()
            ),
            str(len(next(iter(by_task.values())))),
        ]
        for key, by_task in rates.items()
    ]
    return page.table(["tool", "takes for granted", *tasks, "runs"], rows)


def _every(found: Found) -> dict[str, str]:
    """A table for each task and number of draws, by its title."""
    truths, formulas = _truths(), {task.name: f"{task.name}: {task.formula}" for task in TASKS}
    return {
        f"{formulas[name]}, {size:,} draws a side": _figures(answers, truths[name])
        for (size, name), answers in found.items()
    }


def _figures(answers: Mapping[Key, Answer], true: Array) -> str:
    rows = [["truth", "", *_cells(true, true), "", ""]]
    for (package, tool, score), one in answers.items():
        spent = page.decimals([one.wall, one.cpu], 3)
        rows.append([f"{package}, {tool}", score, *_cells(one.found, true), *spent])
    return page.table(["tool", "score", *READINGS, "wall s", "CPU s"], rows)


def _cells(values: Array, true: Array) -> list[str]:
    return [_cell(value, value > known + SLACK) for value, known in zip(values, true, strict=True)]


def _cell(value: float, false: bool) -> str:
    if np.isnan(value):
        return "–"
    shown = "∞" if np.isinf(value) else "0" if value < 5e-6 else f"{value:.4f}"
    return f"{shown} {MARK}" if false else shown
