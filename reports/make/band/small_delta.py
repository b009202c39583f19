"""What the certified band shows of small δ, on N(0, 1) against N(1, 1) with the true loss as score.

With a known score nothing is trained, so half of the draws certify and a tenth chooses, as in an
audit. The certifying counts come straight from their law.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.estimate import certify
from dpaudit.certify.scores import SortedScores
from reports.make import page
from reports.make.band.score_laws import T1, SimulatedCounts

LEVEL, REPLICATIONS = 0.95, 11
SMALL = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # true δ that are hard to certify
SIZES = (1_000_000, 10_000_000)  # draws a side


@dataclass(frozen=True)
class SmallDelta:
    """T1 where its true δ is each of SMALL, half of the draws certifying; medians.

    epsilon : where the true δ is that. needed : certifying draws at which three standard errors of
    the best set's estimate are δ. share, reach : by draws a side, the certified δ there as a share
    of the true one, and the ε certified at that δ.
    """

    epsilon: Array
    needed: Array
    share: Mapping[int, Array]
    reach: Mapping[int, Array]


def small_delta(samples: Sequence[int] = SIZES, replications: int = REPLICATIONS) -> SmallDelta:
    """What is certified of each δ in SMALL."""
    at = np.array([_epsilon_of(delta) for delta in SMALL])
    have, most = ndtr(0.5 - at), ndtr(-0.5 - at)  # of the best set at each ε
    needed = 9.0 * (have + np.exp(2.0 * at) * most) / np.array(SMALL) ** 2
    grid = np.unique(np.concatenate([np.linspace(0.0, 4.0, 41), at]))
    share, reach = {}, {}
    for size in samples:
        bands = []
        for number in range(replications):
            rng = generator(np.random.SeedSequence(3), size, number)
            choose = SortedScores.of(*T1.sides(rng, size // 10))
            counts = SimulatedCounts(T1, size // 2, rng)
            bands.append(certify(choose, counts, grid, 1.0 - LEVEL).certified)
        share[size] = np.median([band.delta_at(at) for band in bands], axis=0) / SMALL
        reach[size] = np.median([band.epsilon_at(np.array(SMALL)) for band in bands], axis=0)
    return SmallDelta(at, needed, share, reach)


def _epsilon_of(delta: float) -> float:
    """The ε at which T1's true δ is this."""
    return float(brentq(lambda e: float(T1.delta(np.array([e]))[0]) / delta - 1.0, 0.0, 8.0))


def table(found: SmallDelta) -> str:
    """`small_delta` as a table."""
    each = [
        head
        for size in found.share
        for head in (f"N = {size:.0e}: share of δ", "ε certified at this δ")
    ]
    rows = []
    for i, delta in enumerate(SMALL):
        shown = [
            f"{one[size][i]:.3f}" for size in found.share for one in (found.share, found.reach)
        ]
        first = f"{delta:.0e}", f"{found.epsilon[i]:.3f}", f"{found.needed[i]:.1e}"
        rows.append([*first, *shown])
    return page.table(["true δ", "ε", "n with 3 σ = δ", *each], rows)


def report() -> None:
    """Print the table and write reports/small-delta.md."""
    text = page.render(
        "small-delta.md", level=LEVEL, replications=REPLICATIONS, rows=table(small_delta())
    )
    print(text)
    page.write(page.REPORTS / "small-delta.md", text)
