"""What auditing tools that pip installs certify, beside `dpaudit.audit_samples` on the same draws
at the same level.

N draws a side serve all purposes, training included. A tool's bound holds for one question at a
time, that of an audit for all at once; dpaudit is asked one question at a time, too. Tools that
need a score get two: dpaudit's, fitted on the share of the draws that an audit trains and chooses
on, and a plain one that needs no training, the first number of the output; so bound and score can
be told apart.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dpaudit._core.check import Array
from dpaudit.auditing import api
from reports.make.auditors import table
from reports.make.auditors.feed import FITTED, Feed, fitted_feed, plain_feed
from reports.make.auditors.tasks import DELTA, EPSILON, GRID, NULL, OURS, SLACK, TASKS, Answer, Task
from reports.make.auditors.tools import PACKAGES, TOOLS, Tool, package
from reports.make.page import REPORTS, write

LEVEL = 0.95
RUNS, SLOW_RUNS, RUN_SIZE = 200, 3, 10_000
TARGET = REPORTS / "auditors.md"


@dataclass
class Clock:
    """Wall and CPU seconds; CPU is this process's and its ended children's, all threads, user and
    system.
    """

    wall: float = 0.0
    cpu: float = 0.0
    _start: float = field(default_factory=time.perf_counter, repr=False)

    @staticmethod
    def used() -> float:
        parts = [
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        ]
        return sum(part.ru_utime + part.ru_stime for part in parts)


@contextmanager
def clock() -> Iterator[Clock]:
    """A `Clock` that is set when the block ends."""
    result, cpu = Clock(), Clock.used()
    yield result
    result.wall, result.cpu = time.perf_counter() - result._start, Clock.used() - cpu


def ours(P: Array, Q: Array, seed: int) -> Answer:
    """The audit as a user runs it, the whole curve."""
    with clock() as spent:
        certified = api.audit_samples(P, Q, epsilon=GRID, level=LEVEL, rng=seed).certified
    return Answer(
        np.concatenate([certified.delta_at(EPSILON), certified.epsilon_at(DELTA)]),
        spent.wall,
        spent.cpu,
    )


def ask(tool: Tool, feed: Feed, seed: int) -> Answer:
    """Everything the tool can answer; the seconds are those of its natural question, ε at δ = 1e-3."""
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
        P, Q = task.draw(np.random.default_rng([seed, size]), size)
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
    """(runs, 6) booleans: which of READINGS lay above the truth, the plain score fed; dpaudit's
    audit for None.
    """
    truth, false = task.truth(), np.empty((runs, len(EPSILON) + len(DELTA)), dtype=bool)
    for run in range(runs):
        P, Q = task.draw(np.random.default_rng([run, size, 7]), size)
        answer = ours(P, Q, run) if tool is None else ask(tool, plain_feed(P, Q), run)
        false[run] = answer.found > truth + SLACK
    return false


def rates(runs: int = RUNS) -> dict[tuple[str, str], dict[str, Array]]:
    """`false_certificates` of every tool on T1, T4 and two equal laws; slow tools make SLOW_RUNS."""
    tasks = TASKS[0], TASKS[3], NULL
    named = [((OURS, "whole curve"), None), *(((tool.package, tool.name), tool) for tool in TOOLS)]
    return {
        key: {task.name: false_certificates(task, tool, _runs(tool, runs)) for task in tasks}
        for key, tool in named
    }


def _runs(tool: Tool | None, runs: int) -> int:
    return min(runs, SLOW_RUNS) if tool is not None and tool.slow else runs


def report(
    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000),
    seeds: int = 15,
    runs: int = RUNS,
    target: Path = TARGET,
) -> None:
    """Print the comparison as Markdown and write it to `target`; a fifth of the seeds from a
    million draws on.
    """
    for (
        name
    ) in PACKAGES:  # imports are not timed, and a missing extra is said before minutes are spent
        package(name)
    ours(*TASKS[0].draw(np.random.default_rng(0), 1000), 0)
    start = time.perf_counter()
    found = {
        (size, task.name): compare(task, size, seeds if size < 1_000_000 else (seeds + 4) // 5)
        for size in sizes
        for task in TASKS
    }
    text = table.page(found, rates(runs), seeds, time.perf_counter() - start)
    print(text)
    write(target, text)
