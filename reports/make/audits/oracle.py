"""What `auto` certifies as a share of what the true likelihood ratio does, on eight tasks
(reports/oracle.md).

The shares are to the same band fed with the true loss on the same draws (those that train `auto`
certify nothing here either); for T1–T4 also to the oracle that peers are measured against: the true
loss, a threshold fixed in advance, half of the draws, Clopper–Pearson at 97.5 + 97.5 %, pointwise
in ε and in the better direction.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dpaudit import datasets, exact, laws, mechanisms, neighbours
from dpaudit._core.check import Array
from dpaudit._core.seeds import generator
from dpaudit.auditing import api
from dpaudit.certify.binomial import lower, upper
from dpaudit.errors import DataNotFound
from dpaudit.laws import Law
from dpaudit.scoring import KnownScore, Score, Sides, evaluate
from reports.make.page import REPORTS, table, write

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])
FLOOR = 0.005  # certified δ of the oracle from which a share means something
POINTWISE = 0.025
MANY, FEWER = 1_000_000, 3
COMMAND = "python -m reports.make oracle"


@dataclass(frozen=True)
class Task:
    """draw: (rng, size) → draws of both sides. loss: rows → the true privacy loss. truth: the two
    δ(ε) on EPSILON.
    """

    name: str
    what: str
    draw: Callable[[np.random.Generator, int], Sides]
    loss: Score
    truth: tuple[Array, Array]


def tasks() -> list[Task]:
    """T1–T8; T5 is left out where the cancer data are not at hand."""
    one = np.eye(11)[0]
    spread = 0.97 * np.diag(np.where(one > 0.0, 1.0 / 0.85, 1.0))
    found = [
        _gaussian(
            "T1", "N(0, 1) against N(1, 1)", (np.zeros(1), np.eye(1)), (np.ones(1), np.eye(1))
        ),
        _gaussian(
            "T2",
            "11 numbers, one shifted and spread",
            (np.zeros(11), np.eye(11)),
            (0.5 * one, spread),
        ),
        _gaussian(
            "T3",
            "30 numbers, N(0, I) against N(0, 0.8 I)",
            (np.zeros(30), np.eye(30)),
            (np.zeros(30), 0.8 * np.eye(30)),
        ),
        _laplace(),
        _of("T6", "one-time RAPPOR, 10 bits", mechanisms.ZOO["OneTimeRappor"]),
        _of("T7", "a flag, a count and a real", mechanisms.ZOO["MixedRelease"]),
        _of("T8", "private quantile on a grid", mechanisms.ZOO["PrivateQuantile"]),
    ]
    with suppress(DataNotFound):
        found.insert(4, _als())
    return found


def _gaussian(name: str, what: str, left: tuple[Array, Array], right: tuple[Array, Array]) -> Task:
    p, q = (
        laws.Gaussian(mean, np.linalg.cholesky(np.linalg.inv(cov)).T) for mean, cov in (left, right)
    )
    return _pair(name, what, p, q, exact.gaussian_pair(*left, *right, EPSILON))


def _pair(name: str, what: str, left: Law, right: Law, truth: tuple[Array, Array]) -> Task:
    def draw(rng: np.random.Generator, size: int) -> Sides:
        return Sides(left.sample(size, rng), right.sample(size, rng))

    return Task(name, what, draw, lambda x: laws.log_ratio(left, right, x), truth)


def _laplace() -> Task:
    """The loss is clipped, not |x − 1| − |x|: that has ties at ±1 which rounding splits by the
    floats' grids.
    """

    def draw(rng: np.random.Generator, size: int) -> Sides:
        return Sides(rng.laplace(0.0, 1.0, (size, 1)), rng.laplace(1.0, 1.0, (size, 1)))

    delta = np.maximum(-np.expm1(0.5 * (EPSILON - 1.0)), 0.0)
    return Task(
        "T4",
        "Laplace(1) against itself shifted by 1",
        draw,
        lambda x: np.clip(1.0 - 2.0 * x[:, 0], -1.0, 1.0),
        (delta, delta),
    )


def _als() -> Task:
    data = datasets.load("cancer").database
    mechanism, pair = mechanisms.ALS(rows=50), neighbours.zero_row(data, 186)
    spectrum = exact.spectrum(mechanism, pair, EPSILON)
    return _pair(
        "T5",
        "ALS, cancer, r = 50, 12 numbers",
        mechanism.law(pair.left),
        mechanism.law(pair.right),
        (np.asarray(spectrum.forward), np.asarray(spectrum.backward)),
    )


def _of(name: str, what: str, mechanism: mechanisms.Specimen) -> Task:
    pair = mechanism.pair()
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    sides = [mechanism.prepare(data) for data in (pair.left, pair.right)]
    spectrum = exact.spectrum(mechanism, pair, EPSILON)

    def draw(rng: np.random.Generator, size: int) -> Sides:
        return Sides(*(side(size, rng) for side in sides))

    truth = np.asarray(spectrum.forward), np.asarray(spectrum.backward)
    return Task(name, what, draw, lambda x: laws.log_ratio(left, right, mechanism.view(x)), truth)


@dataclass(frozen=True)
class Run:
    """Certified δ on EPSILON by `auto`, by the truth in the same band and pointwise; CPU and wall
    seconds of `auto`.
    """

    auto: Array
    same: Array
    pointwise: Array
    cpu: float
    wall: float
    chosen: str


def run(task: Task, size: int, seed: int) -> Run:
    """One audit on the four ε."""
    sides = task.draw(generator(np.random.SeedSequence(seed), int(task.name[1:]), size), size)
    cpu, wall = time.process_time(), time.perf_counter()
    auto = api.audit_samples(sides.P, sides.Q, epsilon=EPSILON, rng=seed)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    train, loss = auto.plan.sizes.train / size, KnownScore(task.loss)
    same = api.audit_samples(
        sides.P, sides.Q, epsilon=EPSILON, classifier=loss, train_share=train, rng=seed
    )
    return Run(
        np.asarray(auto.spectrum.low),
        np.asarray(same.spectrum.low),
        pointwise(task, sides),
        cpu,
        wall,
        auto.fitted.name,
    )


def pointwise(task: Task, sides: Sides) -> Array:
    """The oracle of one ε and one direction at a time, on half of the draws."""
    half = len(sides.P) // 2
    p, q = (evaluate(task.loss, side[half:]) for side in (sides.P, sides.Q))
    forward = bool(np.sum(task.truth[0]) >= np.sum(task.truth[1]))
    return np.array([_pointwise(p, q, epsilon, forward) for epsilon in EPSILON])


def _pointwise(p: Array, q: Array, epsilon: float, forward: bool) -> float:
    hit, miss = ((p > epsilon), (q > epsilon)) if forward else ((q < -epsilon), (p < -epsilon))
    counts = (int(np.sum(hit)), len(hit)), (int(np.sum(miss)), len(miss))
    return max(
        0.0, lower(*counts[0], POINTWISE) - float(np.exp(epsilon)) * upper(*counts[1], POINTWISE)
    )


def report(sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000), seeds: int = 5) -> None:
    """Print the table and write reports/oracle.md."""
    rows = []
    for size in sizes:
        repeats = seeds if size < MANY else min(seeds, FEWER)
        rows += [
            _row(task, size, [run(task, size, seed) for seed in range(repeats)]) for task in tasks()
        ]
    head = [
        "task",
        "draws a side",
        "true δ",
        "certified",
        "of the same band's",
        "of the pointwise",
        "CPU s",
        "wall s",
        "score",
    ]
    text = "\n".join(
        [
            "# `auto` against the true likelihood ratio",
            "",
            "Certified δ at ε = 0, 0.5, 1, 2, level 0.95, all ε and both directions at once; medians of "
            f"{seeds} seeds ({FEWER} at 1,000,000).",
            f"Shares where the oracle certifies ≥ {FLOOR:g}. CPU and wall seconds: score and band of the whole audit.",
            f"`{COMMAND}`",
            "",
            table(head, rows),
        ]
    )
    print(text)
    write(REPORTS / "oracle.md", text)


def _row(task: Task, size: int, runs: list[Run]) -> list[str]:
    auto, same, alone = (
        np.array([getattr(one, name) for one in runs]) for name in ("auto", "same", "pointwise")
    )
    return [
        f"{task.name} {task.what}",
        f"{size:,}",
        _numbers(np.maximum(*task.truth)),
        _numbers(np.median(auto, axis=0)),
        _shares(auto, same),
        _shares(auto, alone) if task.name in ("T1", "T2", "T3", "T4") else "",
        f"{np.median([one.cpu for one in runs]):.1f}",
        f"{np.median([one.wall for one in runs]):.1f}",
        max({one.chosen for one in runs}, key=[one.chosen for one in runs].count),
    ]


def _numbers(values: Array) -> str:
    return " ".join(f"{value:.4f}" for value in values)


def _shares(found: Array, oracle: Array) -> str:
    """Medians of the shares, seed by seed; "–" where the oracle's median is below FLOOR."""
    share = np.divide(found, oracle, out=np.full_like(found, np.nan), where=oracle >= FLOOR)
    shown = np.median(oracle, axis=0) >= FLOOR
    return " ".join(
        f"{np.nanmedian(one):.3f}" if ok else "–" for one, ok in zip(share.T, shown, strict=True)
    )
