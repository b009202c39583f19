"""What `auto` certifies as a share of what the true likelihood ratio certifies, on T1 to T14.

The shares are to the same band fed with the true loss on the same draws; those that train `auto`
certify nothing here either. For T1 to T4 they are also to the oracle that other tools are measured
against: the true loss, a threshold fixed in advance, half of the draws, Clopper–Pearson limits at
97.5 + 97.5 %, one ε at a time and in the better direction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.certify.binomial import lower, upper
from dpaudit.scoring import KnownScore, Sides, evaluate
from reports.make import page
from reports.make.tasks import TASKS, Task, every_task, structured_tasks
from reports.make.timing import clock

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])
FLOOR = 0.005  # certified δ of the oracle from which a share means something
POINTWISE = 0.025
SIZES, SEEDS = (10_000, 100_000, 1_000_000), 5
MANY, FEWER = 1_000_000, 3  # from so many draws on there are fewer seeds
STRUCTURED = 100_000  # draws a side of the tasks with structure
HEAD = page.heads(
    "task | draws a side | true δ | certified | of the same band's | of the pointwise | CPU s "
    "| wall s | score"
)


@dataclass(frozen=True)
class Run:
    """Certified δ on EPSILON of one audit, and the seconds of `auto`.

    auto : by the score `auto`. same : by the true loss in the same band. pointwise : by the true
    loss, one ε and one direction at a time. chosen : what `auto` chose.
    """

    auto: Array
    same: Array
    pointwise: Array
    cpu: float
    wall: float
    chosen: str


def run(task: Task, size: int, seed: int) -> Run:
    """One audit on the four ε."""
    sides = task.drawn(size, seed)
    with clock() as spent:
        auto = dp.audit_samples(sides.P, sides.Q, epsilon=EPSILON, rng=seed)
    share, known = auto.sizes.train / size, KnownScore(task.loss)
    same = dp.audit_samples(
        sides.P, sides.Q, epsilon=EPSILON, classifier=known, train_share=share, rng=seed
    )
    return Run(
        np.asarray(auto.spectrum.low),
        np.asarray(same.spectrum.low),
        pointwise(task, sides),
        spent.cpu,
        spent.wall,
        auto.fitted.name,
    )


def pointwise(task: Task, sides: Sides) -> Array:
    """Certified δ on EPSILON, one ε at a time, by half of the draws.

    The direction is that of the larger truth.
    """
    half = len(sides.P) // 2
    p, q = (evaluate(task.loss, side[half:]) for side in (sides.P, sides.Q))
    towards, back = task.truth(EPSILON)
    forward = bool(np.sum(towards) >= np.sum(back))
    return np.array([_pointwise(p, q, epsilon, forward) for epsilon in EPSILON])


def _pointwise(p: Array, q: Array, epsilon: float, forward: bool) -> float:
    hits, misses = ((p > epsilon), (q > epsilon)) if forward else ((q < -epsilon), (p < -epsilon))
    least = lower(int(np.sum(hits)), len(hits), POINTWISE)
    most = upper(int(np.sum(misses)), len(misses), POINTWISE)
    return max(0.0, least - float(np.exp(epsilon)) * most)


def report() -> None:
    """Measure, print each row as it comes, and write reports/oracle.md."""
    rows = []
    for size in SIZES:
        for task in every_task() + (structured_tasks() if size == STRUCTURED else []):
            seeds = range(SEEDS if size < MANY else FEWER)
            rows.append(cells(task, size, [run(task, size, seed) for seed in seeds]))
            print(page.row(rows[-1]), flush=True)
    text = page.render(
        "oracle.md", rows=page.table(HEAD, rows), seeds=SEEDS, fewer=FEWER, floor=f"{FLOOR:g}"
    )
    page.write(page.REPORTS / "oracle.md", text)


def cells(task: Task, size: int, runs: Sequence[Run]) -> list[str]:
    """A row of the table: medians over the runs."""
    auto, same, alone = (
        np.array([getattr(one, name) for one in runs]) for name in ("auto", "same", "pointwise")
    )
    return [
        f"{task.name} {task.text}",
        f"{size:,}",
        " ".join(page.decimals(task.delta_at(EPSILON))),
        " ".join(page.decimals(np.median(auto, axis=0))),
        _shares(auto, same),
        _shares(auto, alone) if task in TASKS else "",
        f"{np.median([one.cpu for one in runs]):.1f}",
        f"{np.median([one.wall for one in runs]):.1f}",
        Counter(one.chosen for one in runs).most_common(1)[0][0],
    ]


def _shares(certified: Array, oracle: Array) -> str:
    """Medians of the shares, seed by seed; "–" where the oracle's median is below FLOOR."""
    share = np.divide(certified, oracle, out=np.full_like(oracle, np.nan), where=oracle >= FLOOR)
    shown = np.median(oracle, axis=0) >= FLOOR
    return " ".join(
        f"{np.nanmedian(one):.3f}" if ok else "–" for one, ok in zip(share.T, shown, strict=True)
    )
