"""The search for the worst neighbour against theory and against chance, with the exact spectrum
switched off.

Each mechanism is wrapped in a plain function: the search sees draws and data, nothing else. What it
chose is then judged by the exact spectrum. The uniform search has the same draws and the same
halving, but takes rows at random, as many as there are draws for.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import datasets, exact, mechanisms, neighbours, search
from dpaudit._core.check import Array
from dpaudit.auditing import api
from dpaudit.mechanisms.base import LawMechanism
from dpaudit.search.halving import FEWEST
from reports.make.page import REPORTS, table, write

COMMAND = "python -m reports.make search"
SAMPLES, EPSILON, BUDGET = 20_000, 0.5, 10.0
UNIFORM = 512  # rows of the uniform search
NEAR = 0.95  # share of the worst row's δ that counts as found
# ALS, RP
ROWS = {
    "cancer": (200, 10),
    "diabetes": (400, 50),
    "wine_white": (200, 10),
    "ccpp": (20_000, 5_000),
}


@dataclass(frozen=True, eq=False)
class Case:
    """One mechanism on one data set, and the largest exact δ(0.5) over all zeroed rows."""

    name: str
    data: Array
    mechanism: LawMechanism
    worst: int
    delta: float

    @property
    def blind(self) -> Callable[..., Array]:
        """The mechanism as any user's function."""
        mechanism = self.mechanism

        def release(data: Array, size: int, *, rng: Any) -> Array:
            return mechanism(data, size, rng=rng)

        return release

    def share(self, row: int | None) -> float:
        """Exact δ of a row zeroed, as a share of the worst one's."""
        assert row is not None
        found = exact.spectrum(self.mechanism, neighbours.zero_row(self.data, row), [EPSILON])
        return float(found.delta[0]) / self.delta


def cases(name: str) -> list[Case]:
    """ALS, Gaussian least squares (σ twice the largest displacement), and random projection on a
    data set.
    """
    data = datasets.load(name).database
    als, projection = ROWS[name]
    sigma = 2.0 * float(neighbours.row_statistics(data).displacement.max())
    made: list[LawMechanism] = [
        mechanisms.ALS(rows=als),
        mechanisms.GaussianLS(sigma=sigma),
        mechanisms.RandomProjection(rows=projection, release="gram"),
    ]
    found = []
    for mechanism in made:
        worst = exact.worst_case(mechanism, data, [EPSILON])
        assert worst.index is not None
        found.append(Case(name, data, mechanism, int(worst.index[0]), float(worst.delta[0])))
    return found


PAGE = """# The worst neighbour found without theory

δ(ε) at ε = {epsilon:g} over all zeroed rows. One audit is {samples:,} draws a side; search and final audit together may
spend {budget:g} of them. The search sees a plain function; the worst row, and a found row's δ as a share of the worst
one's, are exact. The uniform search takes rows at random through the same halving, with the same draws, as many as
{fewest} draws a row allow. Seeds {seeds}; the final audit and the uniform search are of the first alone. CPU seconds:
of one search, of the final audit, of the uniform search. `{command}`

{table}

Within 5 % of the worst row's δ: {near} of {searches} searches, the least share {least:.3f}; of the uniform ones
{lucky} of {cases}; {better} of them found a worse row than the search of that seed. {spent:.0f} CPU seconds.

{note}
"""
HEAD = (
    "data",
    "mechanism",
    "worst row",
    "exact δ",
    "rows found",
    "shares of its δ",
    "audits' draws",
    "certified δ",
    "uniform: rows tried",
    "its share",
    "CPU s",
)


def report(
    names: tuple[str, ...] = tuple(ROWS), seeds: tuple[int, ...] = (1, 2, 3), samples: int = SAMPLES
) -> None:
    """Print the table and write reports/search.md."""
    begin = time.process_time()
    found = [_searched(case, seeds, samples) for name in names for case in cases(name)]
    shares = [share for one in found for share in one.shares]
    text = PAGE.format(
        epsilon=EPSILON,
        samples=samples,
        budget=BUDGET,
        fewest=FEWEST,
        seeds=", ".join(map(str, seeds)),
        command=COMMAND,
        table=table(HEAD, [one.row for one in found]),
        near=sum(share >= NEAR for share in shares),
        searches=len(shares),
        least=min(shares),
        lucky=sum(one.uniform >= NEAR for one in found),
        cases=len(found),
        better=sum(one.uniform > one.shares[0] for one in found),
        spent=time.process_time() - begin,
        note=textwrap.fill(f"What this does not show: {search.NOTE}", 120),
    )
    print(text)
    write(REPORTS / "search.md", text)


@dataclass(frozen=True)
class _Found:
    """row : of the table. shares : of the worst row's δ, a seed each. uniform : the uniform
    search's, first seed.
    """

    row: list[str]
    shares: list[float]
    uniform: float


def _searched(case: Case, seeds: tuple[int, ...], samples: int) -> _Found:
    clock = [time.process_time()]
    options: dict[str, Any] = {"at": EPSILON, "samples": samples, "budget": BUDGET}
    found = [search.select(case.blind, case.data, rng=seed, **options) for seed in seeds]
    clock.append(time.process_time())
    pair = found[0].best.change.pair(case.data)
    # as `search_neighbours` does
    final = api.audit(case.blind, pair, samples=samples, rng=seeds[0])
    clock.append(time.process_time())
    chance = search.select(
        case.blind, case.data, rank="random", shortlist=UNIFORM, rng=seeds[0], **options
    )
    clock.append(time.process_time())
    steps = np.diff(clock) / [len(seeds), 1, 1]
    shares = [case.share(one.best.change.index) for one in found]
    uniform = case.share(chance.best.change.index)
    row = [
        case.name,
        _named(case.mechanism),
        str(case.worst),
        f"{case.delta:.4f}",
        " ".join(str(one.best.change.index) for one in found),
        " ".join(f"{share:.3f}" for share in shares),
        f"{max(one.draws for one in found) / (2 * samples) + 1.0:.2f}",
        f"{float(final.certified.delta_at(EPSILON)):.4f}",
        str(chance.audited),
        f"{uniform:.3f}",
        ", ".join(f"{step:.0f}" for step in steps),
    ]
    print(*row, sep="  ", flush=True)
    return _Found(row, shares, uniform)


def _named(mechanism: LawMechanism) -> str:
    values = mechanism.parameters()
    return f"{mechanism.name}, " + (
        f"σ = {values['sigma']:.3g}" if "sigma" in values else f"r = {values['rows']:,}"
    )
