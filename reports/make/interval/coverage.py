"""How often the two-sided interval holds what the sets of a score show, at all ε at once.

Each audit's choosing and certifying draws are multinomials of the law of a fitted score
(`reports.make.interval.laws`); from the counts on everything is what an audit runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.candidates import CandidateSets
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.interval import cells_interval
from reports.make import page
from reports.make.interval.laws import FineLaw, fine_laws
from reports.make.tasks import Task, every_task

EPSILON = np.linspace(0.0, 4.0, 41)
SHOWN = (0, 10, 20)  # of EPSILON: 0, 1, 2
SIZES, AUDITS = (1_000, 10_000, 100_000, 1_000_000), 2_000
SCORES, DRAWS = 3, 2_000_000  # fitted scores of each cell; draws a side that count their laws
FEWER, MORE = 2, 5_000_000  # the same at the largest size
CHOICES = 20  # audits that share their choosing draws
ERROR, SLACK = 0.05, 1e-12  # rounding
SEED = 2026
HEAD = (
    "task",
    "draws a side",
    "covered",
    "lower end above",
    "upper end below",
    "width at ε = 0, 1, 2",
    "shown there",
)


@dataclass(frozen=True)
class Coverage:
    """Of simulated audits.

    low, high : how many had a lower end above θ, an upper end below θ, at any ε. missed : either.
    width : median, (3,), at SHOWN. shown : the mean of θ there.
    """

    audits: int
    low: int
    high: int
    missed: int
    width: Array
    shown: Array


def simulate(laws: Sequence[FineLaw], key: tuple[int, ...], audits: int) -> Coverage:
    """`audits` audits in all, by each score in turn."""
    groups = -(-audits // CHOICES)
    parts = [_audits(laws[group % len(laws)], (*key, group)) for group in range(groups)]
    truth, low, high = (np.concatenate(part)[:audits] for part in zip(*parts, strict=True))
    above, below = (np.any(wrong, axis=1) for wrong in (truth < low - SLACK, truth > high + SLACK))
    return Coverage(
        audits,
        int(above.sum()),
        int(below.sum()),
        int((above | below).sum()),
        np.median((high - low)[:, SHOWN], axis=0),
        truth[:, SHOWN].mean(axis=0),
    )


def _audits(law: FineLaw, key: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """θ, lower and upper end of CHOICES audits with the same choosing draws, (CHOICES, 41) each."""
    rng = generator(np.random.SeedSequence(SEED), *key)
    threshold = CandidateSets.of(law.chosen(rng), EPSILON[:1], law.certify, ERROR).threshold
    tails = law.tail(threshold, True), law.tail(threshold, False)
    counts = (_counts(tail, law.certify, rng) for tail in tails)
    found = [
        cells_interval(ScoreCells(threshold, *one), EPSILON, ERROR)
        for one in zip(*counts, strict=True)
    ]
    low, high = np.swapaxes(found, 0, 1)
    return np.tile(shown(*tails), (CHOICES, 1)), low, high


def _counts(tail: Array, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draws in each cell, (CHOICES, c + 1)."""
    cells = np.maximum(-np.diff(np.concatenate([[1.0], tail, [0.0]])), 0.0)
    return rng.multinomial(size, cells / cells.sum(), size=CHOICES)


def shown(p: Array, q: Array) -> Array:
    """θ(ε), (41,): the largest over sets of probabilities p and q, (c,), and their complements."""
    gamma = np.exp(EPSILON)[:, None]
    forward, backward = p - gamma * q, (1.0 - q) - gamma * (1.0 - p)
    return np.maximum(np.max(np.maximum(forward, backward), axis=1), 0.0)


def cell(task: Task, size: int, audits: int) -> Coverage:
    """One task at one size."""
    scores, draws = (FEWER, MORE) if size == max(SIZES) else (SCORES, DRAWS)
    laws = fine_laws(task, size, range(scores), draws)
    return simulate(laws, (int(task.name[1:]), size), audits)


def render(tasks: Sequence[Task], sizes: Sequence[int], found: Sequence[Coverage]) -> str:
    """The page. found : of each task and size, the sizes of a task together."""
    cells = [(task, size) for task in tasks for size in sizes]
    rows = [_row(*one, result) for one, result in zip(cells, found, strict=True)]
    shares = [1.0 - one.missed / one.audits for one in found]
    return page.render(
        "interval.md",
        audits=f"{found[0].audits:,}",
        least=f"{min(shares):.1%}",
        most=f"{max(shares):.1%}",
        scores=SCORES,
        fewer=FEWER,
        largest=f"{max(SIZES):,}",
        rows=page.table(HEAD, rows),
    )


def _row(task: Task, size: int, found: Coverage) -> list[str]:
    return [
        f"{task.name} {task.text}",
        f"{size:,}",
        *(f"{part / found.audits:.1%}" for part in (found.audits - found.missed,)),
        f"{found.low / found.audits:.1%}",
        f"{found.high / found.audits:.1%}",
        " ".join(page.number(float(one), 2) for one in found.width),
        " ".join(page.number(float(one), 2) for one in found.shown),
    ]


def report(audits: int = AUDITS, sizes: Sequence[int] = SIZES, n_jobs: int = 2) -> None:
    """Print the table and write reports/interval.md."""
    tasks = every_task()
    work = [(place, size) for place in range(len(tasks)) for size in sizes]
    found = Parallel(n_jobs=n_jobs)(delayed(_made)(*one, audits) for one in work)
    text = render(tasks, sizes, found)
    print(text)
    page.write(page.REPORTS / "interval.md", text)


def _made(place: int, size: int, audits: int) -> Coverage:
    """By the task's place: a task holds functions, which other processes cannot be sent."""
    return cell(every_task()[place], size, audits)
