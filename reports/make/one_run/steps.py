"""DP-SGD with its usual bugs: which audit sees which, and how soon.

Step by step: a logistic model in numpy, 200 steps, Poisson rate 0.1, noise multiplier 1, clip norm
1. Canaries are rows that alone have a feature of their own, so that their gradients are orthogonal;
or one row in the direction in which the rows of the diabetes data vary least; or one of these rows
with the wrong label.

By two samples: all that `dp.audit` sees is what is released after one step, with and without one
row, at rate 0.25. The claim is the accountant's whole curve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.curves import SampledGaussian, epsilon_at
from dpaudit.mechanisms import BROKEN_DPSGD, DPSGD
from dpaudit.mechanisms.dp_sgd import Step
from dpaudit.neighbours import NeighbourPair
from dpaudit.one_run.step_result import Certified
from reports.make import page

LEVEL, RATE, SIGMA, STEPS, DELTA = 0.99, 0.1, 1.0, 200, 1e-5
ROWS, FEATURES, LENGTH, QUIET_LENGTH = 1_000, 5, 10.0, 16.0
PAIR_RATE, DRAWS = 0.25, 5_000  # draws a side
HEAD = page.heads(
    "bug | one canary | five canaries | the same, rest unknown | a quiet row, rest unknown "
    "| a real row | the same, rest unknown | two samples of one step"
)


@dataclass(frozen=True)
class Watched:
    """A table with canaries, and how they are watched. known : whether the rest of the batch is."""

    data: Array
    canaries: tuple[int, ...]
    known: bool = True

    def audit(
        self, mechanism: DPSGD, seed: Any, level: float = LEVEL, extra: tuple[str, ...] = ()
    ) -> dp.StepAudit:
        """One run, watched until the last step. extra : of "shift" and "noise", what is passed."""
        audit = dp.StepAudit(sample_rate=RATE, noise_multiplier=SIGMA, level=level, orthogonal=True)
        names = ("projection", "included", *(("known",) if self.known else ()), *extra)

        def watch(step: Step) -> None:
            seen = step.canary(self.canaries)
            audit.update(**{name: seen[name] for name in names})

        mechanism.train(self.data, rng=seed, watch=watch)
        return audit


def made_up(canaries: int, features: int = FEATURES) -> Watched:
    """A table in which the first rows are canaries, each with a feature of its own."""
    rng = np.random.default_rng(18)
    data = np.zeros((ROWS, features + canaries + 1))
    data[:, :features] = rng.standard_normal((ROWS, features))
    chance = 1.0 / (1.0 + np.exp(-data[:, :features] @ rng.standard_normal(features)))
    data[:, -1] = rng.random(ROWS) < chance
    first = np.arange(canaries)
    data[first, :features], data[first, features + first], data[first, -1] = 0.0, LENGTH, 1.0
    return Watched(data, tuple(range(canaries)))


def diabetes() -> Array:
    """Is the target above its median? Features of mean 0 and deviation 1, and a constant."""
    features, target = dp.datasets.load("diabetes")
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    scaled[:, spread == 0.0] = 1.0
    return np.column_stack([scaled, target > np.median(target)])


def real(known: bool) -> Watched:
    """Diabetes; the longest row has the wrong label."""
    data = diabetes()
    row = int(np.argmax(np.linalg.norm(data[:, :-1], axis=1)))
    data[row, -1] = 1.0 - data[row, -1]
    return Watched(data, (row,), known)


def quiet() -> Watched:
    """Diabetes; the first row lies in the direction in which the rows vary least."""
    data = diabetes()
    _, directions = np.linalg.eigh(data[:, :-1].T @ data[:, :-1])
    data[0] = np.append(QUIET_LENGTH * directions[:, 0], 1.0)
    return Watched(data, (0,), known=False)


SETTINGS: tuple[Callable[[], Watched], ...] = (
    lambda: made_up(1),
    lambda: made_up(5),
    lambda: replace(made_up(5), known=False),
    quiet,
    lambda: real(True),
    lambda: real(False),
)


def _crafted(others: float, rows: int) -> NeighbourPair:
    """A row at 100 with label 1 among rows at `others` with label 0, of one feature, removed."""
    data = np.zeros((rows, 2))
    data[0], data[1:, 0] = (100.0, 1.0), others
    return dp.neighbours.remove_row(data, 0)


# 39 rows without a gradient; and rows with the opposite gradient, 39 and 3 of them
PAIRS = {
    "39 blank": _crafted(0.0, 40),
    "39 against": _crafted(10.0, 40),
    "3 against": _crafted(10.0, 4),
}


@cache
def accountant() -> dp.Claim:
    """The accountant's curve of one sound step on a pair, as a claim."""
    curve = SampledGaussian(PAIR_RATE, SIGMA, 1)
    return dp.Claim.from_function(lambda epsilon: np.maximum(*curve.delta(epsilon)))


def violated(kind: type[DPSGD], seed: int) -> list[str]:
    """The names of `PAIRS` on which two samples of one step refute the claim, at `LEVEL` in all."""
    names = []
    for name, pair in PAIRS.items():
        rows = len(pair.left)
        mechanism = kind(steps=1, sample_rate=PAIR_RATE, noise_multiplier=SIGMA, rows=rows)

        def drawn(data: Array, size: int, *, rng: Any, train: DPSGD = mechanism) -> Array:
            return train(data, size, rng=rng)

        result = dp.audit(
            drawn,
            pair,
            draws=DRAWS,
            claim=accountant(),
            level=1.0 - (1.0 - LEVEL) / len(PAIRS),
            rng=[20, seed],
        )
        if result.verdict == "violated":
            names.append(name)
    return names


def zoo_table(seeds: int = 20, audits: int = 3) -> list[tuple[str, ...]]:
    """Rows of text under `HEAD`, one for each bug and one for the sound mechanism.

    A cell: in how many of `seeds` runs it was refuted at `LEVEL`, at which step in the median, and
    by which bets; or by how many of `audits` audits of two samples, and on which pair.
    """
    watched = [make() for make in SETTINGS]
    kinds: tuple[type[DPSGD], ...] = (*BROKEN_DPSGD, DPSGD)
    rows = []
    for kind in kinds:
        mechanism = kind(steps=STEPS, sample_rate=RATE, noise_multiplier=SIGMA)
        cells = (cell([one.audit(mechanism, [18, s]) for s in range(seeds)]) for one in watched)
        samples = pair_cell([violated(kind, seed) for seed in range(audits)])
        rows.append((kind.summary if not kind.sound else "none (sound)", *cells, samples))
    return rows


def cell(audits: Sequence[dp.StepAudit]) -> str:
    """ "20 of 20, step 3, noise"."""
    caught = [audit for audit in audits if audit.violated_at is not None]
    if not caught:
        return f"0 of {len(audits)}"
    step = int(np.median([audit.violated_at or 0 for audit in caught]))
    by = Counter(max(audit.e_values, key=lambda name: audit.e_values[name]) for audit in caught)
    return f"{len(caught)} of {len(audits)}, step {step}, {by.most_common(1)[0][0]}"


def pair_cell(found: Sequence[Sequence[str]]) -> str:
    """ "3 of 3, 39 blank", from the pairs on which each audit refuted the claim."""
    count = f"{sum(map(bool, found))} of {len(found)}"
    pairs = Counter(name for names in found for name in names)
    return f"{count}, {pairs.most_common(1)[0][0]}" if pairs else count


def false_alarms(runs: int = 1_000) -> int:
    """The runs in which the sound mechanism, with five canaries, is refuted at `LEVEL`."""
    watched, mechanism = made_up(5), DPSGD(steps=STEPS, sample_rate=RATE, noise_multiplier=SIGMA)
    return sum(watched.audit(mechanism, [19, run]).violated_at is not None for run in range(runs))


def claimed_epsilon() -> float:
    """ε at `DELTA` of the sound mechanism by the accountant's curve, nats."""
    curve = SampledGaussian(RATE, SIGMA, STEPS)
    return float(epsilon_at(lambda epsilon: np.maximum(*curve.delta(epsilon)), DELTA))


SEEN = (  # canaries, and what is passed beside their projections
    (1, ("shift", "noise")),
    (5, ("shift",)),
    (1, ()),
    (60, ()),
)


def report(seeds: int = 20) -> None:
    """Print what steps of the sound mechanism certify at level 0.95: medians of μ, and their ε."""
    mechanism, rows = DPSGD(steps=STEPS, sample_rate=RATE, noise_multiplier=SIGMA), []
    for canaries, extra in SEEN:
        watched = made_up(canaries, 20)
        bounds = [watched.audit(mechanism, [20, run], 0.95, extra).mu for run in range(seeds)]
        mu = float(np.median(bounds))
        epsilon = Certified(mu, RATE, STEPS).epsilon_at(DELTA)
        share = page.number(epsilon / claimed_epsilon(), 3)
        cells = page.number(mu, 3), page.number(epsilon, 3), share
        rows.append([str(canaries), " and ".join(extra) or "–", *cells])
    heads = ("canaries", "passed", "certified μ", "certified ε", "of 9.97")
    print(page.table(heads, rows))
