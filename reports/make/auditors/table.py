"""The comparison of auditing tools as a page of Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version

import numpy as np
from scipy.stats import binom

from dpaudit._core.check import Array
from reports.make.auditors.feed import FITTED, PLAIN
from reports.make.auditors.tasks import OURS, READINGS, SLACK, TASKS, Answer, Task
from reports.make.auditors.tools import PACKAGES, TOOLS
from reports.make.page import row

Key = tuple[str, str, str]  # package, tool, score
Found = Mapping[tuple[int, str], Mapping[Key, Answer]]  # by draws a side and task
# by (package, tool) and task: (runs, 6) booleans
Rates = Mapping[tuple[str, str], Mapping[str, Array]]
MARK = "†"
NOMINAL = 0.05
COMMAND = "python -m reports.make auditors"

INTRODUCTION = """# Auditing tools that pip installs

Printed by `{command}` (extra `auditors`) on Python {python} with {versions}, {cores} cores: {minutes:.0f} minutes.

N draws a side serve all purposes, training included; level 95 %. Medians of {seeds} seeds, of a fifth of them from a
million draws on, and of one for tools that take tens of seconds. Truth and bounds are the larger of the two directions.
dpaudit's whole curve holds for 81 ε from 0 to 4 and both directions at once (its ε are points of that grid); other
bounds hold for one question at a time. “One question” is dpaudit on the same scores as the tools: an audit of each ε by
itself, and one with `focus="pure"` for ε at δ = 0 (its ε at δ = 1e-3 is read off the whole curve of these scores). A
tool that bounds ε at δ is asked for δ(ε) by finding the largest δ at which its bound is above ε. {mark} marks what lies
above the truth; – where a tool has no answer.

Scores: “{fitted}” is fitted by an audit's own portfolio on the share of the draws that an audit trains and chooses on
(0.3 of outputs of one number, else half); only the choosing ones of these serve again, to choose a threshold. “{plain}”
is that of the output, which needs no training, so that all draws certify: who uses it knows beforehand that it is the
best score there is on T1 and T4, and all but the best on T2; the whole curve is not told. A fixed threshold is chosen
on a tenth of the draws, for each question its own. CPU is user and system time of the process, all its threads: of one
question, ε at δ = 1e-3, for a tool (without what its score cost), of the whole curve and its score for dpaudit.
"""


def page(found: Found, rates: Rates, seeds: int, seconds: float) -> str:
    """Everything."""
    versions = ", ".join(f"{name} {version(name)}" for name in (*PACKAGES, "numpy", "scipy"))
    head = INTRODUCTION.format(
        command=COMMAND,
        python=platform.python_version(),
        versions=versions,
        cores=os.cpu_count(),
        minutes=seconds / 60.0,
        seeds=seeds,
        mark=MARK,
        fitted=FITTED,
        plain=PLAIN,
    )
    parts = [head, *_against_best(found, unsound(rates)), *_false(rates), *_all(found)]
    return "\n".join(parts) + "\n"


def _truths() -> dict[str, Array]:
    return {task.name: task.truth() for task in TASKS}


def unsound(rates: Rates) -> set[tuple[str, str]]:
    """Tools that take a shape for granted, or whose false certificates at 5 % nominal are no chance
    (p < 1e-3).
    """
    shaped = {(tool.package, tool.name) for tool in TOOLS if tool.assumes}
    seen = {
        key
        for key, by_task in rates.items()
        for each in by_task.values()
        if binom.sf(each.sum(axis=0).max() - 1, len(each), NOMINAL) < 1e-3
    }
    return shaped | seen


def _against_best(found: Found, out: set[tuple[str, str]]) -> list[str]:
    """dpaudit beside the largest answer of any sound tool."""
    lines = [
        "## dpaudit against the best of the tools",
        "",
        "The best answer, question by question, of any tool that takes no shape for granted, was not caught below with",
        "more false certificates than it should have, and here is not above the truth.",
        "",
        row(["N", "task", "who", *READINGS, "CPU s"]),
        row(["---"] * (len(READINGS) + 4)),
    ]
    truths = _truths()
    for (size, name), answers in found.items():
        truth = truths[name]
        lines.append(row([f"{size:,}", name, "truth", *_cells(truth, truth), ""]))
        lines += [
            row(["", "", who, *_cells(values, truth), cpu])
            for who, values, cpu in _contestants(answers, truth, out)
        ]
    return [*lines, ""]


def _contestants(
    answers: Mapping[Key, Answer], truth: Array, out: set[tuple[str, str]]
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
        values = np.array(
            [np.where(one.found <= truth + SLACK, one.found, np.nan) for one in sound]
        )
        spent = [one.cpu for one in sound]
        yield (
            f"best tool, {score} score",
            np.nanmax(values, axis=0),
            f"{min(spent):.3f} to {max(spent):.3f}",
        )


def _false(rates: Rates) -> list[str]:
    tasks = list(next(iter(rates.values())))
    lines = [
        "## How often a certificate is false",
        "",
        "Share of runs on fresh draws, 10,000 a side, whose bound lies above the truth, at nominal 5 %: for the worst",
        "of the six questions, and in brackets for any of them (only dpaudit's whole curve promises 5 % there). Tools",
        "are fed the first number of the output; “null” is N(0, 1) against itself.",
        "",
        row(["tool", "takes for granted", *tasks, "runs"]),
        row(["---"] * (len(tasks) + 3)),
    ]
    assumed = {(tool.package, tool.name): tool.assumes for tool in TOOLS}
    for key, by_task in rates.items():
        cells = [
            f"{each.mean(axis=0).max():.1%} ({each.any(axis=1).mean():.1%})"
            for each in by_task.values()
        ]
        runs = len(next(iter(by_task.values())))
        lines.append(row([", ".join(key), assumed.get(key, ""), *cells, str(runs)]))
    return [*lines, ""]


def _all(found: Found) -> list[str]:
    truths, lines = _truths(), ["## All figures", ""]
    for (size, name), answers in found.items():
        truth = truths[name]
        lines += [f"### {_text(name)}, {size:,} draws a side", ""]
        lines += [
            row(["tool", "score", *READINGS, "wall s", "CPU s"]),
            row(["---"] * (len(READINGS) + 4)),
        ]
        lines.append(row(["truth", "", *_cells(truth, truth), "", ""]))
        for (package, tool, score), answer in answers.items():
            spent = [f"{answer.wall:.3f}", f"{answer.cpu:.3f}"]
            lines.append(row([f"{package}, {tool}", score, *_cells(answer.found, truth), *spent]))
        lines.append("")
    return lines


def _text(name: str) -> str:
    task: Task = next(task for task in TASKS if task.name == name)
    return f"{task.name}: {task.text}"


def _cells(values: Array, truth: Array) -> list[str]:
    return [_cell(value, value > true + SLACK) for value, true in zip(values, truth, strict=True)]


def _cell(value: float, false: bool) -> str:
    if np.isnan(value):
        return "–"
    shown = "∞" if np.isinf(value) else "0" if value < 5e-6 else f"{value:.4f}"
    return f"{shown} {MARK}" if false else shown
