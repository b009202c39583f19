"""Simultaneous bands compared: what each certifies from the true loss, and what simultaneity costs.

With the true loss as the score nothing is trained, so a band gets half of the N draws a side to
certify and a tenth to choose, as an audit's does; cross-fitting gets all N, in folds. Every band
holds at all ε and in both directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.binomial import lower, upper
from dpaudit.certify.constants import REST_SHARE
from dpaudit.certify.estimate import certify
from dpaudit.certify.scores import SortedScores
from reports.make import page
from reports.make.band.rival_bands import BANDS, CROSS_FITTED, LEVEL, RANKS, SHOWN, TRIALS
from reports.make.band.score_laws import PAIRS, SCORE_LAWS, T1, ScoreLaw, SimulatedCounts
from reports.make.timing import clock

SIZES, REPLICATIONS = (10_000, 100_000, 1_000_000), 11
SMALL = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # true δ that are hard to certify
SMALL_SIZES = (1_000_000, 10_000_000)
POINTWISE = 0.025  # error of each of two Clopper–Pearson limits
HEAD = ("band", "task", "ε = 0", "0.5", "1", "2", "CPU s")


def oracle(law: ScoreLaw, samples: int) -> Array:
    """What half of `samples` certify one ε at a time, in the better direction, the best set known.

    The set is best by the true laws, its counts are their means, with two limits at POINTWISE.
    """
    rng, n = np.random.default_rng(0), samples // 2
    at = np.quantile(np.concatenate(law.sides(rng, 100_000)), np.linspace(0.0, 1.0, 2001)[1:-1])
    p, q = law.tail(at - 1e-9, True), law.tail(at - 1e-9, False)
    low = np.zeros(len(SHOWN))
    for have, most in ((p, q), (1.0 - q, 1.0 - p)):
        for i, gamma in enumerate(np.exp(SHOWN)):
            k = int(np.argmax(have - gamma * most))
            x, y = round(n * have[k]), round(n * most[k])
            low[i] = max(low[i], lower(x, n, POINTWISE) - gamma * upper(y, n, POINTWISE))
    return low


@dataclass(frozen=True)
class Row:
    """Medians over replications: the certified share of the true δ on SHOWN, and CPU seconds."""

    name: str
    share: Array
    seconds: float


def compare(law: ScoreLaw, samples: int, replications: int, seed: int = 1) -> list[Row]:
    """Every band on the same draws."""
    found: dict[str, list[tuple[Array, float]]] = {}
    for number in range(replications):
        rng = generator(np.random.SeedSequence(seed), samples, number)
        for name, low, spent in _each_band(*law.sides(rng, samples)):
            found.setdefault(name, []).append((low, spent))
    truth = law.delta(SHOWN)
    scale = np.where(truth > 0.0, truth, np.inf if np.any(truth > 0.0) else 1.0)
    rows = [
        Row(name, np.median([low for low, _ in runs], axis=0) / scale, _median_time(runs))
        for name, runs in found.items()
    ]
    best = np.maximum(oracle(law, samples), 0.0) / scale
    return [*rows, Row("(g) pointwise, one direction, best set known", best, 0.0)]


def _each_band(p: Array, q: Array) -> list[tuple[str, Array, float]]:
    """(name, certified δ on SHOWN, CPU seconds) of every band on these scores."""
    cut, end = len(p) // 10, len(p) // 10 + len(p) // 2
    choose, certifying = (p[:cut], q[:cut]), (p[cut:end], q[cut:end])
    found = []
    for name, band in BANDS.items():
        parts = SortedScores.of(*choose), SortedScores.of(*certifying)
        with clock() as spent:
            low = band(*parts)
        found.append((name, low, spent.cpu))
    for name, crossed in CROSS_FITTED.items():
        with clock() as spent:
            low = crossed(p, q)
        found.append((name, low, spent.cpu))
    return found


def _median_time(runs: Sequence[tuple[Array, float]]) -> float:
    return float(np.median([spent for _, spent in runs]))


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


def small_delta(samples: Sequence[int] = SMALL_SIZES, replications: int = 11) -> SmallDelta:
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


def small_table(found: SmallDelta) -> str:
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


def render(tables: Mapping[int, Sequence[Sequence[str]]], small: str) -> str:
    """The page: rows of cells by draws a side, and the table of small δ."""
    return page.render(
        "bands.md",
        level=LEVEL,
        other_direction=f"{REST_SHARE:.0%}",
        ranks=RANKS,
        trials=f"{TRIALS:,}",
        tables={f"{size:,}": page.table(HEAD, rows) for size, rows in tables.items()},
        small=small,
    )


def cells(law: ScoreLaw, row: Row) -> list[str]:
    """A row of the tables."""
    return [row.name, law.name, *page.decimals([*row.share, row.seconds], 3)]


def measure(sizes: Sequence[int] = SIZES, replications: int = REPLICATIONS) -> str:
    """Compare the bands on T1 to T4 and on two equal laws; the page."""
    null = replace(next(pair for pair in PAIRS if pair.name == "null (P = Q)"), name="null")
    tables = {
        size: [
            cells(law, row)
            for law in (*SCORE_LAWS, null)
            for row in compare(law, size, replications)
        ]
        for size in sizes
    }
    return render(tables, small_table(small_delta()))


def report() -> None:
    """Print the comparison and write reports/bands.md."""
    text = measure()
    print(text)
    page.write(page.REPORTS / "bands.md", text)
