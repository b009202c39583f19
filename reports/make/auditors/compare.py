"""Asks every tool what it certifies, beside `dpaudit.audit_samples` on the same draws and level.

N draws a side serve all purposes, training included. A tool's bound holds for one question at a
time, that of an audit for all at once; dpaudit is asked one question at a time, too. Tools that
need a score get two: dpaudit's, fitted on the share of the draws that an audit trains and chooses
on, and a plain one that needs no training, the first number of the output. So the effects of bound
and score can be separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from reports.make import page
from reports.make.auditors.answers import DELTA, EPSILON, GRID, NULL, OURS, SLACK, Answer, truth
from reports.make.auditors.feed import FITTED, Feed, fitted_feed, plain_feed
from reports.make.auditors.report import Found, Rates, render
from reports.make.auditors.tools import PACKAGES, TOOLS, Tool, package
from reports.make.tasks import TASKS, Task
from reports.make.timing import clock

LEVEL = 0.95
RUNS, SLOW_RUNS, RUN_SIZE = 200, 3, 10_000
TARGET = page.REPORTS / "auditors.md"
SIZES, SEEDS = (10_000, 100_000, 1_000_000), 15


def ours(P: Array, Q: Array, seed: int) -> Answer:
    """The audit as a user runs it, the whole curve."""
    with clock() as spent:
        certified = dp.audit_samples(P, Q, epsilon=GRID, level=LEVEL, rng=seed).certified
    found = np.concatenate([certified.delta_at(EPSILON), certified.epsilon_at(DELTA)])
    return Answer(found, spent.wall, spent.cpu)


def ask(tool: Tool, feed: Feed, seed: int) -> Answer:
    """Everything that the tool can answer; the seconds are of one question, ε at δ = 1e-3."""
    with clock() as spent:
        reader = tool.open(feed, seed)
        natural = reader.epsilon(float(DELTA[-1]))
    delta = [reader.delta(float(epsilon)) for epsilon in EPSILON]
    rest = [reader.epsilon(float(one)) for one in DELTA[:-1]]
    return Answer(np.array([*delta, *rest, natural]), spent.wall, spent.cpu)


def compare(task: Task, size: int, seeds: int) -> dict[tuple[str, str, str], Answer]:
    """Medians over seeds by (package, tool, score); slow tools run on the first seed only."""
    found: dict[tuple[str, str, str], list[Answer]] = {}
    for seed in range(1, seeds + 1):
        sides = task.draw(np.random.default_rng([seed, size]), size)
        P, Q = sides.P, sides.Q
        found.setdefault((OURS, "whole curve", FITTED), []).append(ours(P, Q, seed))
        for feed in (fitted_feed(P, Q, seed), plain_feed(P, Q)):
            for tool in TOOLS:
                if seed == 1 or not tool.slow:
                    key = tool.package, tool.name, feed.name
                    found.setdefault(key, []).append(ask(tool, feed, seed))
    return {key: _median(answers) for key, answers in found.items()}


def _median(answers: list[Answer]) -> Answer:
    return Answer(
        np.median([one.found for one in answers], axis=0),
        float(np.median([one.wall for one in answers])),
        float(np.median([one.cpu for one in answers])),
    )


def false_certificates(task: Task, tool: Tool | None, runs: int, size: int = RUN_SIZE) -> Array:
    """Which of READINGS lay above the truth, (runs, 6) booleans, fed the plain score.

    tool : None for dpaudit's own audit of the whole curve.
    """
    true, false = truth(task), np.empty((runs, len(EPSILON) + len(DELTA)), dtype=bool)
    for run in range(runs):
        sides = task.draw(np.random.default_rng([run, size, 7]), size)
        P, Q = sides.P, sides.Q
        answer = ours(P, Q, run) if tool is None else ask(tool, plain_feed(P, Q), run)
        false[run] = answer.found > true + SLACK
    return false


def rates(runs: int = RUNS) -> Rates:
    """`false_certificates` of every tool on T1, T4 and two equal laws; fewer runs of slow ones."""
    tasks = TASKS[0], TASKS[3], NULL
    named = [((OURS, "whole curve"), None), *(((tool.package, tool.name), tool) for tool in TOOLS)]
    return {
        key: {task.name: false_certificates(task, tool, _runs(tool, runs)) for task in tasks}
        for key, tool in named
    }


def _runs(tool: Tool | None, runs: int) -> int:
    return min(runs, SLOW_RUNS) if tool is not None and tool.slow else runs


def report(
    sizes: Sequence[int] = SIZES, seeds: int = SEEDS, runs: int = RUNS, target: Path = TARGET
) -> None:
    """Print the comparison and write it to `target`; a fifth of the seeds from a million draws on.

    A missing package is reported before minutes are spent, and no import is timed.
    """
    for name in PACKAGES:
        package(name)
    warm = TASKS[0].draw(np.random.default_rng(0), 1000)
    ours(warm.P, warm.Q, 0)
    with clock() as spent:
        found: Found = {
            (size, task.name): compare(task, size, seeds if size < 1_000_000 else (seeds + 4) // 5)
            for size in sizes
            for task in TASKS
        }
        false = rates(runs)
    text = render(found, false, seeds, spent.wall)
    print(text)
    page.write(target, text)
