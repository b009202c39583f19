"""The error of the estimated δ(ε) on T1 to T8, beside counts in the true loss's own sets and paper
1's estimator on the same draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.scoring import Sides, evaluate
from reports.make import page
from reports.make.tasks import Task, every_task

SIZE, SEEDS, FIRST = 100_000, 20, 7_000  # no seed from 7,000 on was used to set a constant
GRID = np.round(np.arange(41) / 10.0, 1)
SMOOTH, SMALL = ("T1", "T2", "T3", "T5"), np.array([1e-2, 1e-3, 1e-4])
SHOWN = np.array([0.0, 0.5, 1.0, 2.0])
# Eureka looks up 10√n neighbours of each draw: outputs of several numbers have fewer draws
FEW, FEW_SEEDS = 4_000, 3
HEADS = {
    "small": ("task", "root mean square", "mean", "median", "of counts"),
    "large": ("task", "error", "at ε", "bias", "bias of counts", "error of counts", "its largest"),
    "other": ("task", "draws a side", "seeds", "true δ", "dpaudit", "Eureka"),
}


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of estimates, (seeds, m), of a task at m values of ε with this true δ, (m,).

    ours : our errors, in the larger direction.
    counts : those of counts in the true loss's own set with all draws.
    """

    task: Task
    epsilon: Array
    truth: Array
    ours: Array
    counts: Array

    @classmethod
    def of(cls, task: Task, epsilon: Array, size: int, seeds: Sequence[int]) -> Errors:
        """Measure them."""
        truth = task.delta_at(epsilon)
        errors = []
        for seed in seeds:
            sides = drawn(task, size, seed)
            ours = dp.audit_samples(sides.P, sides.Q, epsilon=epsilon, rng=seed).spectrum.delta
            errors.append((ours - truth, counted(task, sides, epsilon) - truth))
        return cls(task, epsilon, truth, *map(np.array, zip(*errors, strict=True)))

    def at(self, position: np.ndarray) -> Errors:
        """The errors at some positions of ε only."""
        parts = (self.epsilon, self.truth, self.ours, self.counts)
        return Errors(self.task, *(part[..., position] for part in parts))


def drawn(task: Task, size: int, seed: int) -> Sides:
    """Draws of both sides; the direction of the larger δ comes first."""
    sides = task.drawn(size, seed)
    return sides if _forward(task) else Sides(sides.Q, sides.P)


def _forward(task: Task) -> bool:
    forward, backward = task.truth(SHOWN)
    return bool(forward.sum() >= backward.sum())


def counted(task: Task, sides: Sides, epsilon: Array) -> Array:
    """P(S) − e^ε Q(S) by counts, S the outputs whose true loss exceeds ε; at least 0, (m,)."""
    sign = 1.0 if _forward(task) else -1.0
    loss = [np.sort(sign * evaluate(task.loss, side)) for side in (sides.P, sides.Q)]
    p, q = (1.0 - np.searchsorted(one, epsilon, side="right") / len(one) for one in loss)
    return np.maximum(p - np.exp(epsilon) * q, 0.0)


def eureka(task: Task, size: int, seeds: Sequence[int]) -> Array:
    """Errors of paper 1's own estimator at SHOWN, (seeds, 4)."""
    both = [(seed, drawn(task, size, seed)) for seed in seeds]
    estimates = [dp.eureka(sides.P, sides.Q, SHOWN, rng=seed).delta for seed, sides in both]
    return np.array(estimates) - task.delta_at(SHOWN)


def report(seeds: int = SEEDS, few: int = FEW_SEEDS, size: int = SIZE) -> None:
    """Print the tables and write reports/estimate.md."""
    rows: dict[str, list[list[str]]] = {name: [] for name in HEADS}
    for task in every_task():
        smooth = task.name in SMOOTH
        at = task.epsilon_at(SMALL) if smooth else np.zeros(0)
        epsilon = np.union1d(GRID, at)
        errors = Errors.of(task, epsilon, size, range(FIRST, FIRST + seeds))
        if smooth:
            rows["small"].append(_small_cells(errors.at(np.searchsorted(epsilon, at))))
        else:
            rows["large"].append(_large_cells(errors.at(np.searchsorted(epsilon, GRID))))
        shown = errors.at(np.searchsorted(epsilon, SHOWN))
        rows["other"].append(_eureka_cells(shown, few, size))
    text = page.render(
        "estimate.md",
        **{name: page.table(HEADS[name], rows[name]) for name in HEADS},
        seeds=seeds,
        few=few,
        size=f"{size:,}",
        fewer=f"{FEW:,}",
    )
    print(text)
    page.write(page.REPORTS / "estimate.md", text)


def _title(task: Task) -> str:
    return f"{task.name} {task.text}"


def _square(errors: Array) -> Array:
    """Root mean squares over the seeds, (m,)."""
    return np.asarray(np.sqrt(np.mean(errors**2, axis=0)))


def _small_cells(errors: Errors) -> list[str]:
    ours, counts = errors.ours / errors.truth, errors.counts / errors.truth
    columns = (_square(ours), ours.mean(axis=0), np.median(np.abs(ours), axis=0), _square(counts))
    return [_title(errors.task), *(" ".join(page.decimals(one, 2)) for one in columns)]


def _large_cells(errors: Errors) -> list[str]:
    ours, counts = _square(errors.ours), _square(errors.counts)
    worst = int(np.argmax(ours))
    biases = (errors.ours.mean(axis=0)[worst], errors.counts.mean(axis=0)[worst])
    numbers = page.decimals((*biases, counts[worst], counts.max()))
    return [_title(errors.task), f"{ours[worst]:.4f}", f"{errors.epsilon[worst]:g}", *numbers]


def _eureka_cells(shown: Errors, few: int, size: int) -> list[str]:
    """Both estimates, with all draws where outputs are one number, else with fewer draws."""
    task, (seeds, _) = shown.task, shown.ours.shape
    if drawn(task, 1, FIRST).P.shape[1] > 1:
        size, seeds = FEW, few
        shown = Errors.of(task, SHOWN, size, range(FIRST, FIRST + seeds))
    errors = _square(shown.ours), _square(eureka(task, size, range(FIRST, FIRST + seeds)))
    columns = (" ".join(page.decimals(one)) for one in (shown.truth, *errors))
    return [_title(task), f"{size:,}", str(seeds), *columns]
