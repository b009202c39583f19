"""What 20 to 500 draws a side certify: by the audit of few draws, and by the one of more draws;
and how often the audit of few draws certifies what is false.

The audit of more draws is had by giving the share of the draws that choose. Beside them stands what
peers do with few scores: Clopper–Pearson limits at 97.5 + 97.5 % of a threshold fixed in advance,
here the one that is best on other draws of the same laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.binomial import lower, upper
from dpaudit.errors import InvalidInput
from dpaudit.scoring import ClassifierLike, KnownScore, Sides
from reports.make import page
from reports.make.band import dependence, few_coverage
from reports.make.tasks import TASKS, Task, normal_task
from reports.make.timing import clock

EPSILON = np.array([0.0, 0.5, 1.0])
DELTA = 1e-5
SEEDS, FIRST_SEED = 40, 17_000
AUDITS = 2_000  # simulated, of each cell of the table of false certificates
POINTWISE = 0.025
THRESHOLDS = np.linspace(-1.0, 3.0, 21)  # of Clopper–Pearson
OTHER_SEED, OTHERS = 1_000, 200  # of the draws that choose among them
EIGHT = 1.66603  # μ of the Gaussian pair that is exactly (8, 1e-5)-DP
FAR = normal_task("N3", "N(0, 1) against N(3, 1)", "", np.full(1, 3.0), np.ones(1))
SCORES = normal_task("G8", f"N(0, 1) against N({EIGHT}, 1)", "", np.full(1, EIGHT), np.ones(1))
# task, draws of P, draws of Q
SETTINGS = (
    *((task, 300, 300) for task in TASKS),
    (FAR, 50, 50),
    (SCORES, 20, 20),
    (SCORES, 50, 50),
    (SCORES, 25, 500),
)
HEAD = page.heads(
    "task | draws | audit | δ(0) | δ(0.5) | δ(1) | ε at δ = 10⁻⁵ | δ(0) of the known score's "
    "| CPU s"
)


@dataclass(frozen=True)
class Kind:
    """A way to audit. known : by the true loss. share : of the draws that choose, if given."""

    name: str
    known: bool
    share: float | None


KINDS = (
    Kind("few draws, `auto`", False, None),
    Kind("few draws, true loss", True, None),
    Kind("more draws, `auto`", False, 0.1),
    Kind("more draws, true loss", True, 0.1),
)


def drawn(task: Task, n: int, m: int, seed: int) -> Sides:
    """Draws that no constant of dpaudit was tuned on."""
    sides = task.draw(generator(np.random.SeedSequence(FIRST_SEED + seed), max(n, m)), max(n, m))
    return Sides(sides.P[:n], sides.Q[:m])


def certified(task: Task, kind: Kind, sides: Sides, seed: int) -> Array | None:
    """δ at EPSILON and ε at DELTA, (4,); None where the draws are too few."""
    classifier: ClassifierLike = KnownScore(task.loss) if kind.known else "auto"
    options: dict[str, Any] = {"classifier": classifier, "choose_share": kind.share, "rng": seed}
    try:
        found = dp.audit_samples(sides.P, sides.Q, **options).certified
    except InvalidInput:
        return None
    return np.append(found.delta_at(EPSILON), found.epsilon_at(DELTA))


def two_limits(task: Task, n: int, m: int, every: Sequence[Sides]) -> Array:
    """Medians of δ at EPSILON and ε at DELTA by Clopper–Pearson, each at the threshold that is best
    on OTHERS other draws.
    """
    others = [drawn(task, n, m, OTHER_SEED + seed) for seed in range(OTHERS)]
    best = np.argmax(np.mean(_at_thresholds(task, others), axis=0), axis=0)
    medians = np.median(_at_thresholds(task, every), axis=0)
    return np.asarray(medians[best, np.arange(len(best))])


def _at_thresholds(task: Task, every: Sequence[Sides]) -> Array:
    """(draws, thresholds, numbers)."""
    return np.array([[_two_limits(task, sides, one) for one in THRESHOLDS] for sides in every])


def _two_limits(task: Task, sides: Sides, threshold: float) -> Array:
    p, q = (task.loss(side) > threshold for side in (sides.P, sides.Q))
    least = lower(int(p.sum()), len(p), POINTWISE)
    most = upper(int(q.sum()), len(q), POINTWISE)
    ratio = np.log(max((least - DELTA) / most, 1.0))
    return np.append(np.maximum(least - np.exp(EPSILON) * most, 0.0), ratio)


def rows_of(task: Task, n: int, m: int, seeds: int) -> list[list[str]]:
    """Rows of the table: medians over the seeds."""
    every = [drawn(task, n, m, seed) for seed in range(seeds)]
    draws = f"{n}" if n == m else f"{n}, {m}"
    medians: dict[str, tuple[Array, float]] = {}
    for kind in KINDS:
        with clock() as spent:
            bounds = [certified(task, kind, sides, seed) for seed, sides in enumerate(every)]
        kept = [one for one in bounds if one is not None]
        if len(kept) == seeds:
            medians[kind.name] = np.median(kept, axis=0), spent.cpu / seeds
    rows = [
        [task.name, draws, name, *page.decimals(values), _share(name, medians), f"{cpu:.2f}"]
        for name, (values, cpu) in medians.items()
    ]
    if task in (FAR, SCORES):
        values = two_limits(task, n, m, every)
        rows.append([task.name, draws, "Clopper–Pearson", *page.decimals(values), "", ""])
    truth = np.append(task.delta_at(EPSILON), task.epsilon_at(np.array([DELTA])))
    return [[task.name, draws, "truth", *page.decimals(truth), "", ""], *rows]


def _share(name: str, medians: dict[str, tuple[Array, float]]) -> str:
    """Certified δ(0) of `auto` as a share of what the same audit certifies by the true loss."""
    if not name.endswith("`auto`"):
        return ""
    oracle = medians[name.replace("`auto`", "true loss")][0][0]
    return f"{medians[name][0][0] / oracle:.2f}" if oracle > 0.0 else ""


def report(seeds: int = SEEDS, audits: int = AUDITS) -> None:
    """Print the tables and write reports/few.md."""
    rows = [row for setting in SETTINGS for row in rows_of(*setting, seeds)]
    tasks = {task.name: task.text for task, _, _ in SETTINGS}
    text = page.render(
        "few.md",
        rows=page.table(HEAD, rows),
        tasks=page.table(("task", "pair"), [list(one) for one in tasks.items()]),
        seeds=seeds,
        audits=f"{audits:,}",
        fitted=f"{audits // few_coverage.FITTED:,}",
        coverage=few_coverage.table(audits),
        shared=dependence.table(),
        shared_audits=dependence.AUDITS,
    )
    print(text)
    page.write(page.REPORTS / "few.md", text)
