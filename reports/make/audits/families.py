"""What `auto` certifies as a share of what the true loss certifies, on outputs as people release
them (`reports.make.families`)."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.optimize import brentq

import dpaudit as dp
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.scoring import KnownScore
from reports.make import page
from reports.make.families import FAMILIES, Family
from reports.make.timing import clock

EPSILON = np.array([0.0, 0.5, 1.0])
SEEDS = {5_000: 9, 30_000: 3}  # by draws a side
FLOOR = 0.05  # certified δ by the true loss from which a share means something
SMALL = 0.01  # the δ at whose ε the estimate is compared with the true curve
TRUTH = 200_000  # draws of P that give the true curve
HEAD = page.heads(
    "outputs | draws a side | by the true loss | share of it | δ̂ | of counts | CPU s | score"
)


def report() -> None:
    """Measure, print each row as it comes, and write reports/families.md."""
    rows = []
    for size in SEEDS:
        for number, (name, family) in enumerate(FAMILIES.items()):
            cells = measured(name, number, family, size)
            rows.append(cells)
            print(page.row(cells), flush=True)
    seeds = " and ".join(f"{number} seeds with {size:,} draws" for size, number in SEEDS.items())
    text = page.render("families.md", rows=page.table(HEAD, rows), seeds=seeds, floor=FLOOR)
    page.write(page.REPORTS / "families.md", text)


def measured(name: str, number: int, family: Family, size: int) -> list[str]:
    """A row of the page: medians over the seeds."""
    losses = [loss for _, loss in family(generator(np.random.SeedSequence(9), number), TRUTH)]
    where = brentq(lambda epsilon: hockey_stick(losses[0], epsilon) - SMALL, 0.0, 20.0)
    p, q = (float(np.mean(loss > where)) for loss in losses)
    chance = np.sqrt((p * (1.0 - p) + np.exp(2.0 * where) * q * (1.0 - q)) / size) / SMALL
    known, auto, error, cpu, chosen = [], [], [], [], []
    for seed in range(SEEDS[size]):
        rng = generator(np.random.SeedSequence(seed), number, size)
        (P, loss_p), (Q, loss_q) = family(rng, size)
        with clock() as spent:
            result = dp.audit_samples(P, Q, epsilon=[*EPSILON, where], rng=seed)
        score = KnownScore(lambda x: x[:, 0])
        share = result.sizes.train / size
        best = dp.audit_samples(
            loss_p, loss_q, epsilon=EPSILON, classifier=score, train_share=share, rng=seed
        )
        known.append(np.asarray(best.spectrum.low))
        at = np.searchsorted(result.spectrum.epsilon, EPSILON)
        auto.append(np.asarray(result.spectrum.low)[at])
        last = int(np.searchsorted(result.spectrum.epsilon, where))
        error.append(float(np.asarray(result.spectrum.forward)[last]) / SMALL - 1.0)
        cpu.append(spent.cpu)
        chosen.append(result.fitted.name)
    most = np.median(known, axis=0)
    shares = np.median(np.array(auto) / np.maximum(known, 1e-12), axis=0)
    return [
        name,
        f"{size:,}",
        " ".join(page.decimals(most, 3)),
        " ".join(f"{s:.2f}" if k >= FLOOR else "–" for s, k in zip(shares, most, strict=True)),
        f"{np.median(error):+.2f}",
        f"{chance:.2f}",
        f"{np.median(cpu):.1f}",
        Counter(chosen).most_common(1)[0][0],
    ]


def hockey_stick(loss: Array, epsilon: float) -> float:
    """The δ(ε) of P against Q, from losses of draws of P: E max(0, 1 − e^(ε − loss))."""
    return float(-np.expm1(np.minimum(epsilon - loss, 0.0)).mean())
