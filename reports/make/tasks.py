"""T1 to T8: pairs of output laws with known privacy loss, on which scores and bands are measured.

T1 to T4 are laws in closed form, T5 is a mechanism on the cancer data, T6 to T8 are mechanisms of
the zoo. ε is in nats.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpaudit import datasets, exact, laws, mechanisms, neighbours
from dpaudit._core.types import Array, Mechanism
from dpaudit.curves import readings
from dpaudit.errors import DataNotFound
from dpaudit.laws import Law
from dpaudit.scoring import Score, Sides
from reports.make import page

Draw = Callable[[np.random.Generator, int], Sides]
Directions = Callable[[Array], tuple[Array, Array]]

SHIFT, SPREAD, REST = 0.5, 0.97 / 0.85, 0.97  # T2: mean and variance of the first number; others'
SHRUNK = 0.8  # T3: the variance of every number of Q
CANCER_ROW = 186  # the worst row of the cancer data for ALS


@dataclass(frozen=True, eq=False)
class Task:
    """A pair of output laws P and Q.

    name : "T1". text : the pair in a few words. formula : the same in full. draw : (rng, size) →
    draws of both laws, (size, k) each. loss : outputs (n, k) → log dP/dQ, (n,), in nats. truth : ε
    ↦ the true δ(ε) of P against Q and of Q against P. pure_epsilon : the largest |log dP/dQ|.
    """

    name: str
    text: str
    formula: str
    draw: Draw
    loss: Score
    truth: Directions
    pure_epsilon: float = np.inf

    @property
    def number(self) -> int:
        """The number in the name."""
        return int(self.name[1:])

    def delta_at(self, epsilon: Array) -> Array:
        """The true δ(ε), the larger direction."""
        return np.maximum(*self.truth(epsilon))

    def epsilon_at(self, delta: Array) -> Array:
        """The true ε at each δ, the larger direction; infinite where the loss is."""
        return readings.epsilon_at(self.delta_at, delta, self.pure_epsilon)


def every_task() -> list[Task]:
    """T1 to T8; T5 is left out where the cancer data are not at hand."""
    tasks = list(TASKS)
    with suppress(DataNotFound):
        tasks.append(_cancer())
    return [
        *tasks,
        _zoo("T6", "one-time RAPPOR, 10 bits", "OneTimeRappor"),
        _zoo("T7", "a flag, a count and a real", "MixedRelease"),
        _zoo("T8", "private quantile on a grid", "PrivateQuantile"),
    ]


def asked(
    command: str, about: str | None, names: Sequence[str], arguments: Sequence[str] | None
) -> Sequence[str]:
    """The tasks that a command's `--tasks` names; none stands for all of `names`."""
    parser = argparse.ArgumentParser(prog=command, description=about)
    parser.add_argument(
        "--tasks",
        nargs="+",
        metavar="NAME",
        default=(),
        choices=names,
        help="measure these alone, as T9, and keep the other rows of the page",
    )
    tasks: Sequence[str] = parser.parse_args(arguments).tasks
    return tasks


def remade_rows(
    path: Path, names: Sequence[str], measured: Iterable[Sequence[str]]
) -> dict[tuple[int, int], str]:
    """The rows of a page by draws a side and number of the task, in that order.

    They are those of `measured`, printed as they come, and, where some `names` alone are measured,
    the other rows of the page at `path`.
    """
    rows = page_rows(path.read_text("utf-8")) if names and path.exists() else {}
    for cells in measured:
        row = page.row(cells)
        rows |= page_rows(row)
        print(row, flush=True)
    return {key: rows[key] for key in sorted(rows)}


def page_rows(text: str) -> dict[tuple[int, int], str]:
    """The rows of a page by draws a side, 0 where a row does not say, and number of the task."""
    rows = {}
    for line in text.splitlines():
        if line.startswith("| T"):
            task, size = line.split(" | ")[:2]
            draws = size.replace(",", "")
            rows[int(draws) if draws.isdigit() else 0, int(task.split()[1][1:])] = line
    return rows


def cancer_pair(rows: int) -> tuple[mechanisms.ALS, neighbours.NeighbourPair]:
    """ALS with so many rows of the sketch, and the cancer data with their worst row zeroed."""
    data = datasets.load("cancer").database
    return mechanisms.ALS(rows=rows), neighbours.zero_row(data, CANCER_ROW)


def _sampler(left: Law, right: Law) -> Draw:
    return lambda rng, size: Sides(left.sample(size, rng), right.sample(size, rng))


def normal_task(name: str, text: str, formula: str, mean: Array, variance: Array) -> Task:
    """N(0, I) against N(mean, diag(variance))."""
    size = len(mean)
    p = laws.Gaussian(np.zeros(size), np.eye(size))
    q = laws.Gaussian(mean, np.asarray(np.linalg.cholesky(np.linalg.inv(np.diag(variance)))).T)

    def truth(epsilon: Array) -> tuple[Array, Array]:
        if np.all(variance == 1.0):
            delta = exact.gaussian_shift(float(np.linalg.norm(mean)), epsilon)
            return delta, delta
        return exact.gaussian_pair(np.zeros(size), np.eye(size), mean, np.diag(variance), epsilon)

    def loss(x: Array) -> Array:
        return laws.log_ratio(p, q, x)

    equal = np.all(mean == 0.0) and np.all(variance == 1.0)
    pure_epsilon = 0.0 if equal else np.inf
    return Task(name, text, formula, _sampler(p, q), loss, truth, pure_epsilon)


def laplace_loss(x: Array) -> Array:
    """log dP/dQ of Laplace(1) against itself shifted by 1: |x − 1| − |x|, (n,).

    Written as a clipped line: the difference of absolute values has ties at ±1 that rounding would
    split.
    """
    return np.clip(1.0 - 2.0 * x, -1.0, 1.0)


def laplace_truth(epsilon: Array) -> tuple[Array, Array]:
    """δ(ε) = 1 − e^{(ε−1)/2} for ε ≤ 1, in both directions.

    The loss is 1 on a half line, −1 on another and 1 − 2u between, of density e^{−u}/2.
    """
    delta = np.maximum(-np.expm1(0.5 * (epsilon - 1.0)), 0.0)
    return delta, delta


def _cancer() -> Task:
    mechanism, pair = cancer_pair(rows=50)
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)

    def loss(x: Array) -> Array:
        return laws.log_ratio(left, right, x)

    text = "ALS, cancer, r = 50, 12 numbers"
    return Task("T5", text, text, _sampler(left, right), loss, *_truth(mechanism, pair))


def _zoo(name: str, text: str, specimen: str) -> Task:
    mechanism = mechanisms.ZOO[specimen]
    pair = mechanism.pair()
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    sides = [mechanism.prepare(data) for data in (pair.left, pair.right)]

    def draw(rng: np.random.Generator, size: int) -> Sides:
        return Sides(*(side(size, rng) for side in sides))

    def loss(x: Array) -> Array:
        return laws.log_ratio(left, right, mechanism.view(x))

    return Task(name, text, text, draw, loss, *_truth(mechanism, pair))


def _truth(mechanism: Mechanism, pair: neighbours.NeighbourPair) -> tuple[Directions, float]:
    """The exact curves of a mechanism, and its pure ε."""

    def truth(epsilon: Array) -> tuple[Array, Array]:
        spectrum = exact.spectrum(mechanism, pair, epsilon)
        return np.asarray(spectrum.forward), np.asarray(spectrum.backward)

    return truth, exact.spectrum(mechanism, pair, 0.0).pure_epsilon


TASKS = (
    normal_task("T1", "N(0, 1) against N(1, 1)", "N(0, 1) against N(1, 1)", np.ones(1), np.ones(1)),
    normal_task(
        "T2",
        "11 numbers, one shifted and spread",
        "11 numbers, N(0, I) against N(0.5e₁, 0.97·diag(1/0.85, 1, …, 1))",
        np.r_[SHIFT, np.zeros(10)],
        np.r_[SPREAD, np.full(10, REST)],
    ),
    normal_task(
        "T3",
        "30 numbers, N(0, I) against N(0, 0.8 I)",
        "30 numbers, N(0, I) against N(0, 0.8·I)",
        np.zeros(30),
        np.full(30, SHRUNK),
    ),
    Task(
        "T4",
        "Laplace(1) against itself shifted by 1",
        "Laplace(1) against the same moved by 1",
        lambda rng, size: Sides(*(rng.laplace(mean, 1.0, (size, 1)) for mean in (0.0, 1.0))),
        lambda x: laplace_loss(x[:, 0]),
        laplace_truth,
        pure_epsilon=1.0,
    ),
)
