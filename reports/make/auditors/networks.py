"""A network trained for one ε at a time, as DP-Auditorium trains them, beside `auto` on T9 to T14.

Draws of the side that is weighed down by e^ε in δ(ε) = sup P(S) − e^ε Q(S) have that weight in the
loss, so the best network is positive where the privacy loss exceeds ε. What it certifies is read
off at this ε alone, from the band of `audit_samples` at all of EPSILON, with the network as a known
score: as many draws train, choose and certify as those of `auto`, at the same level. The network is
told the direction in which the true δ is larger, and none is trained where that is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dpaudit as dp
from dpaudit._core.linalg import one_thread
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.split import Split
from dpaudit.scoring import KnownScore, Sides
from dpaudit.scoring.base import Score
from dpaudit.scoring.models.network import Network, weights_of
from reports.make import page
from reports.make.tasks import Task, asked, page_rows, remade_rows, structured_tasks
from reports.make.timing import clock

NAMES = [f"T{number}" for number in range(9, 15)]
EPSILON = np.array([0.0, 0.5, 1.0, 2.0])
SIZE, SEEDS = 100_000, 3  # draws a side; audits of each task
HIDDEN, BATCH, RATE = (64, 64), 500, 3e-3  # as those of `auto`
PASSES, PATIENCE = 30, 6  # over the training draws; passes without a lower loss
HEAD = page.heads(
    "task | true δ | the true loss certifies | `auto` | a network per ε | CPU s of `auto` | "
    "CPU s of the networks"
)


@dataclass(frozen=True)
class Run:
    """Certified δ on EPSILON of the true loss, of `auto` and of a network per ε; CPU seconds."""

    same: Array
    auto: Array
    networks: Array
    auto_cpu: float
    networks_cpu: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print each row as it comes, and put the rows into reports/networks.md; 0."""
    names = asked(page.command("networks"), main.__doc__, NAMES, arguments)
    path = page.REPORTS / "networks.md"
    rows = remade_rows(
        path,
        names,
        (
            cells(task, [run(task, seed, SIZE) for seed in range(SEEDS)])
            for task in structured_tasks()
            if not names or task.name in names
        ),
    )
    page.write(path, render(list(rows.values())))
    return 0


def render(rows: Sequence[str]) -> str:
    """The page."""
    table = "\n".join([page.table(HEAD, []), *rows])
    missing = [name for name in NAMES if (0, int(name[1:])) not in page_rows(table)]
    measured = {"seeds": SEEDS, "size": f"{SIZE:,}", "passes": PASSES}
    below = [text for row in rows for text in behind(row)]
    return page.render("networks.md", rows=table, missing=missing, below=below, **measured)


def behind(row: str) -> list[str]:
    """The task and the ε at which `auto` certifies less than the networks do; "T9 at ε = 0, 1"."""
    name, _, _, ours, theirs, *_ = row.removeprefix("| ").split(" | ")
    deltas = (np.array(cell.split(), dtype=float) for cell in (ours, theirs))
    less = ", ".join(f"{epsilon:g}" for epsilon in EPSILON[np.less(*deltas)])
    return [f"{name.split()[0]} at ε = {less}"] if less else []


def cells(task: Task, runs: Sequence[Run]) -> list[str]:
    """A row of the table: medians over the runs."""

    def medians(name: str) -> Array:
        return np.asarray(np.median([getattr(one, name) for one in runs], axis=0))

    deltas = (task.delta_at(EPSILON), *map(medians, ("same", "auto", "networks")))
    seconds = (medians("auto_cpu"), medians("networks_cpu"))
    return [
        f"{task.name} {task.text}",
        *(" ".join(page.decimals(values)) for values in deltas),
        *(f"{value:.0f}" for value in seconds),
    ]


def run(task: Task, seed: int, size: int) -> Run:
    """All three on the same draws."""
    sides = task.draw(generator(np.random.SeedSequence(seed), task.number, size), size)
    with clock() as ours:
        auto = dp.audit_samples(sides.P, sides.Q, epsilon=EPSILON, rng=seed)
    with clock() as theirs:
        bounds = networks(task, sides, auto.sizes, seed)
    same = certified(sides, auto.sizes, task.loss, seed)
    return Run(same, np.asarray(auto.spectrum.low), bounds, ours.cpu, theirs.cpu)


def networks(task: Task, sides: Sides, sizes: Split, seed: int) -> Array:
    """Certified δ on EPSILON, each by a network for this ε in the direction of the larger truth."""
    train, choose, _ = zip(*(sizes.parts(side) for side in (sides.P, sides.Q)), strict=True)
    bounds = np.zeros(len(EPSILON))
    for i, (towards, back) in enumerate(zip(*task.truth(EPSILON), strict=True)):
        if max(towards, back) > 0.0:
            threshold = EPSILON[i] if towards >= back else -EPSILON[i]
            score = network(Sides(*train), Sides(*choose), float(threshold), seed)
            bounds[i] = certified(sides, sizes, score, seed)[i]
    return bounds


def certified(sides: Sides, sizes: Split, score: Score, seed: int) -> Array:
    """δ on EPSILON that a score certifies which was known before the certifying draws."""
    share, known = sizes.train / sizes.total, KnownScore(score)
    audit = dp.audit_samples(
        sides.P, sides.Q, epsilon=EPSILON, classifier=known, train_share=share, rng=seed
    )
    return np.asarray(audit.spectrum.low)


def network(train: Sides, choose: Sides, threshold: float, seed: int) -> Score:
    """A score that is positive where the privacy loss exceeds `threshold`.

    Q's draws weigh e^threshold in the loss if that is above 1, else P's e^−threshold. The network
    is kept as it was after the pass with the least weighted loss on the choosing draws.
    """
    from sklearn.neural_network import MLPClassifier

    x, label = train.stacked()
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)

    def scaled(rows: Array) -> Array:
        return np.asarray((rows - centre) / spread)

    x = scaled(x).astype(np.float32)  # halves the time, as in `auto`
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
