"""A network trained for one ε at a time, as DP-Auditorium trains them, beside `auto` on T9 to T14.

Draws of the side that is weighed down by e^ε in δ(ε) = sup P(S) − e^ε Q(S) have that weight in the
loss, so the best network is positive where the privacy loss exceeds ε. What it certifies is read
off at this ε alone, from the band of `audit_samples` at all of EPSILON, with the network as a known
score: as many draws train, choose and certify as those of `auto`, at the same level. The network is
told the direction in which the true δ is larger.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dpaudit as dp
from dpaudit._core.seeds import generator
from dpaudit._core.threads import one_thread
from dpaudit._core.types import Array
from dpaudit.certify.split import Split
from dpaudit.scoring import KnownScore, Sides
from dpaudit.scoring.base import Score
from dpaudit.scoring.models.networks.network import Network, weights_of
from reports.make import page
from reports.make.structured import structured_tasks
from reports.make.tasks import Task
from reports.make.timing import clock

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])
SIZE = 100_000  # draws a side
HIDDEN, BATCH, RATE = (64, 64), 500, 3e-3  # as those of `auto`
PASSES, PATIENCE = 30, 6  # over the training draws; passes without a lower loss
HEAD = ("task", "true δ", "auto certifies", "a network per ε", "CPU s", "CPU s of the networks")


@dataclass(frozen=True)
class Found:
    """Certified δ on EPSILON and CPU seconds, of `auto` and of a network per ε."""

    auto: Array
    networks: Array
    auto_cpu: float
    networks_cpu: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a row for each task; 0."""
    parser = argparse.ArgumentParser(prog=page.command("networks"), description=main.__doc__)
    parser.add_argument("--tasks", nargs="+", metavar="NAME", default=(), help="these alone, as T9")
    parser.add_argument("--seeds", type=int, default=1, help="audits of each task (default 1)")
    given = parser.parse_args(arguments)
    print(page.table(HEAD, []))
    for task in structured_tasks():
        if not given.tasks or task.name in given.tasks:
            runs = [found(task, seed, SIZE) for seed in range(given.seeds)]
            print(page.row(cells(task, runs)), flush=True)
    return 0


def cells(task: Task, runs: Sequence[Found]) -> list[str]:
    """A row of the table: medians over the runs."""

    def medians(name: str) -> Array:
        return np.asarray(np.median([getattr(one, name) for one in runs], axis=0))

    deltas = (task.delta_at(EPSILON), medians("auto"), medians("networks"))
    seconds = (medians("auto_cpu"), medians("networks_cpu"))
    return [
        f"{task.name} {task.text}",
        *(" ".join(page.decimals(values)) for values in deltas),
        *(f"{value:.0f}" for value in seconds),
    ]


def found(task: Task, seed: int, size: int) -> Found:
    """Both on the same draws."""
    sides = task.draw(generator(np.random.SeedSequence(seed), int(task.name[1:]), size), size)
    with clock() as ours:
        auto = dp.audit_samples(sides.P, sides.Q, epsilon=EPSILON, rng=seed)
    towards, back = task.truth(EPSILON)
    thresholds = np.where(towards >= back, EPSILON, -EPSILON)
    with clock() as theirs:
        bounds = [certified(sides, auto.sizes, float(one), seed) for one in thresholds]
    return Found(np.asarray(auto.spectrum.low), np.array(bounds), ours.cpu, theirs.cpu)


def certified(sides: Sides, sizes: Split, threshold: float, seed: int) -> float:
    """δ at ε = |threshold| that a network for this ε certifies, in the direction of the sign."""
    train, choose, _ = zip(*(sizes.parts(side) for side in (sides.P, sides.Q)), strict=True)
    score = network(Sides(*train), Sides(*choose), threshold, seed)
    audit = dp.audit_samples(
        sides.P,
        sides.Q,
        epsilon=EPSILON,
        classifier=KnownScore(score),
        train_share=sizes.train / sizes.total,
        rng=seed,
    )
    return float(np.asarray(audit.spectrum.low)[abs(threshold) == EPSILON][0])


def network(train: Sides, choose: Sides, threshold: float, seed: int) -> Score:
    """A score that is positive where the privacy loss exceeds `threshold`.

    Q's draws weigh e^threshold in the loss if that is above 1, else P's e^−threshold. The network
    is kept as it was after the pass with the least weighted loss on the choosing draws.
    """
    from sklearn.neural_network import MLPClassifier

    scaled = Scaled.of(train)
    x, label = Sides(scaled(train.P), scaled(train.Q)).stacked()
    checked = Sides(scaled(choose.P), scaled(choose.Q))
    weights = np.exp([max(threshold, 0.0), max(-threshold, 0.0)])  # of Q's and of P's draws
    model = MLPClassifier(HIDDEN, batch_size=BATCH, learning_rate_init=RATE, random_state=seed)
    best, least, since = Network(()), np.inf, 0
    with one_thread():
        for _ in range(PASSES):
            if since > PATIENCE:
                break
            model.partial_fit(x, label, classes=[0, 1], sample_weight=weights[label])
            now = weights_of(model)
            p, q = (np.logaddexp(0.0, odds) for odds in (-now(checked.P), now(checked.Q)))
            loss = float(weights[1] * p.mean() + weights[0] * q.mean())
            best, least, since = (now, loss, 0) if loss < least else (best, least, since + 1)
    return lambda x: best(scaled(x))


@dataclass(frozen=True)
class Scaled:
    """Rows (m, k) → columns of mean 0 and standard deviation 1."""

    centre: Array
    scale: Array

    @classmethod
    def of(cls, train: Sides) -> Scaled:
        """By the training draws."""
        x = train.stacked()[0]
        scale = x.std(axis=0)
        return cls(x.mean(axis=0), np.where(scale > 0.0, scale, 1.0))

    def __call__(self, x: Array) -> Array:
        """The scaled rows."""
        return np.asarray((x - self.centre) / self.scale)
