"""Asks every tool what it certifies, beside `dpaudit.audit_samples` on the same draws and level.

N draws a side serve all purposes, training included. A tool's bound holds for one question at a
time, that of an audit for all at once; dpaudit is asked one question at a time, too. Tools that
need a score get two: dpaudit's, fitted on the share of the draws that an audit trains and chooses
on, and a plain one that needs no training, the first number of the output. So the effects of bound
and score can be separated.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version

import numpy as np
from scipy.stats import binom

import dpaudit as dp
from dpaudit._core.types import Array
from reports.make import page
from reports.make.auditors import tools
from reports.make.auditors.tools import (
    FITTED,
    OURS,
    PACKAGES,
    PLAIN,
    READINGS,
    SLACK,
    TOOLS,
    Answer,
    Feed,
    Tool,
    truth,
)
from reports.make.tasks import TASKS, Task
from reports.make.timing import clock

LEVEL = 0.95
RUNS, SLOW_RUNS, RUN_SIZE = 200, 3, 10_000
SIZES, SEEDS = (10_000, 100_000, 1_000_000), 15
MARK = "†"
NOMINAL = 0.05
CAUGHT = 1e-3  # a p-value below it: more false certificates than chance gives
Key = tuple[str, str, str]  # package, tool, score
Answers = Mapping[tuple[int, str], Mapping[Key, Answer]]  # by draws a side and task
# by (package, tool) and task: (runs, 6) booleans
Rates = Mapping[tuple[str, str], Mapping[str, Array]]


def ours(P: Array, Q: Array, seed: int) -> Answer:
    """The audit as a user runs it, the whole curve."""
    with clock() as spent:
        certified = dp.audit_samples(P, Q, epsilon=tools.GRID, level=LEVEL, rng=seed).certified
    values = [certified.delta_at(tools.EPSILON), certified.epsilon_at(tools.DELTA)]
    return Answer(np.concatenate(values), spent.wall, spent.cpu)


def ask(tool: Tool, feed: Feed, seed: int) -> Answer:
    """Everything that the tool can answer; the seconds are of one question, ε at δ = 1e-3."""
    with clock() as spent:
        reader = tool.open(feed, seed)
        natural = reader.epsilon(float(tools.DELTA[-1]))
    delta = [reader.delta(float(epsilon)) for epsilon in tools.EPSILON]
    rest = [reader.epsilon(float(one)) for one in tools.DELTA[:-1]]
    return Answer(np.array([*delta, *rest, natural]), spent.wall, spent.cpu)


def compare(task: Task, size: int, seeds: int) -> dict[Key, Answer]:
    """Medians over seeds by (package, tool, score); slow tools run on the first seed only."""
    answers: dict[Key, list[Answer]] = {}
    for seed in range(1, seeds + 1):
        P, Q = _drawn(task, [seed, size], size)
        answers.setdefault((OURS, "whole curve", FITTED), []).append(ours(P, Q, seed))
        for feed in (tools.fitted_feed(P, Q, seed), tools.plain_feed(P, Q)):
            for tool in TOOLS:
                if seed == 1 or not tool.slow:
                    key = tool.package, tool.name, feed.name
                    answers.setdefault(key, []).append(ask(tool, feed, seed))
    return {
        key: Answer(
            np.median([one.found for one in each], axis=0),
            float(np.median([one.wall for one in each])),
            float(np.median([one.cpu for one in each])),
        )
        for key, each in answers.items()
    }


def _drawn(task: Task, seed: list[int], size: int) -> tuple[Array, Array]:
    sides = task.draw(np.random.default_rng(seed), size)
    return sides.P, sides.Q


def false_certificates(task: Task, tool: Tool | None, runs: int, size: int = RUN_SIZE) -> Array:
    """Which of READINGS lay above the truth, (runs, 6) booleans, fed the plain score.

    tool : None for dpaudit's own audit of the whole curve.
    """
    limit, false = truth(task) + SLACK, np.empty((runs, len(READINGS)), dtype=bool)
    for run in range(runs):
        P, Q = _drawn(task, [run, size, 7], size)
        answer = ours(P, Q, run) if tool is None else ask(tool, tools.plain_feed(P, Q), run)
        false[run] = answer.found > limit
    return false


def rates(runs: int) -> Rates:
    """`false_certificates` of every tool on T1, T4 and two equal laws; fewer runs of slow ones."""
    named: dict[tuple[str, str], Tool | None] = {(OURS, "whole curve"): None}
    named |= {(tool.package, tool.name): tool for tool in TOOLS}
    return {
        key: {
            task.name: false_certificates(
                task, tool, min(runs, SLOW_RUNS) if tool is not None and tool.slow else runs
            )
            for task in (TASKS[0], TASKS[3], tools.NULL)
        }
        for key, tool in named.items()
    }


def report() -> None:
    """Print the comparison and write reports/auditors.md.

    A million draws a side have a fifth of the seeds. A missing package is reported before minutes
    are spent, and no import is timed.
    """
    for name in PACKAGES:
        tools.package(name)
    ours(*_drawn(TASKS[0], [0], 1000), 0)
    with clock() as spent:
        answers: Answers = {
            (size, task.name): compare(task, size, SEEDS if size < 1_000_000 else SEEDS // 5)
            for size in SIZES
            for task in TASKS
        }
        false = rates(RUNS)
    text = render(answers, false, SEEDS, spent.wall)
    print(text)
    page.write(page.REPORTS / "auditors.md", text)


# The page


def render(answers: Answers, rates: Rates, seeds: int, seconds: float) -> str:
    """The whole page."""
    formulas = {task.name: f"{task.name}: {task.formula}" for task in TASKS}
    truths = {task.name: truth(task) for task in TASKS}
    best: list[list[str]] = []
    for (size, name), by_tool in answers.items():
        best.append([f"{size:,}", name, "truth", *_cells(truths[name], truths[name]), ""])
        for who, values, cpu in _contestants(by_tool, truths[name], unsound(rates)):
            best.append(["", "", who, *_cells(values, truths[name]), cpu])
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
        best=page.table(["N", "task", "who", *READINGS, "CPU s"], best),
        false_rates=_false_rates(rates, shaped=False),
        shaped_rates=_false_rates(rates, shaped=True),
        every={
            f"{formulas[name]}, {size:,} draws a side": _every_answer(by_tool, truths[name])
            for (size, name), by_tool in answers.items()
        },
    )


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


def _contestants(
    answers: Mapping[Key, Answer], true: Array, out: set[tuple[str, str]]
) -> Iterable[tuple[str, Array, str]]:
    """dpaudit, and the largest answer of any tool that is not in `out`: name, values, CPU s."""
    for key, answer in answers.items():
        if key[0] == OURS:
            yield f"dpaudit, {key[1]}, {key[2]} score", answer.found, f"{answer.cpu:.2f}"
    for score in (PLAIN, FITTED):
        sound = [
            answer
            for key, answer in answers.items()
            if key[0] != OURS and key[2] == score and key[:2] not in out
        ]
        values = [np.where(one.found <= true + SLACK, one.found, np.nan) for one in sound]
        spent = [one.cpu for one in sound]
        cpu = f"{min(spent):.3f} to {max(spent):.3f}"
        yield f"best tool, {score} score", np.nanmax(values, axis=0), cpu


def _false_rates(rates: Rates, shaped: bool) -> str:
    """Shares of runs with a false certificate, of the bounds that take a shape for granted or of
    the others."""
    assumed = {(tool.package, tool.name) for tool in TOOLS if tool.assumes}
    rows = []
    for key, by_task in rates.items():
        if (key in assumed) != shaped:
            continue
        shares = [
            f"{each.mean(axis=0).max():.1%} ({each.any(axis=1).mean():.1%})"
            for each in by_task.values()
        ]
        runs = len(next(iter(by_task.values())))
        rows.append([", ".join(key), *shares, str(runs)])
    tasks = next(iter(rates.values()))
    return page.table(["tool", *tasks, "runs"], rows)


def _every_answer(answers: Mapping[Key, Answer], true: Array) -> str:
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
