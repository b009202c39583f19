"""The search for the worst neighbour against theory and against chance, with the exact spectrum switched off.

Each mechanism is wrapped in a plain function: the search sees draws and data, nothing else. What it chose is then
judged by the exact spectrum. The uniform search has the same draws and the same halving, but takes rows at random, as
many as 200 draws a row allow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import datasets, exact, mechanisms, neighbours, search
from dpaudit._check import Array
from dpaudit.bench.page import REPORTS, table, write
from dpaudit.mechanisms.base import LawMechanism

COMMAND = "python -m dpaudit.bench search"
SAMPLES, EPSILON, BUDGET = 20_000, 0.5, 10.0
UNIFORM = 512  # rows of the uniform search
NEAR = 0.95  # share of the worst row's δ that counts as found
ROWS = {"cancer": (200, 10), "diabetes": (400, 50), "wine_white": (200, 10), "ccpp": (20_000, 5_000)}  # ALS, RP


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
    """ALS, Gaussian least squares (σ twice the largest displacement), and random projection on a data set."""
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


def report(names: tuple[str, ...] = tuple(ROWS), seeds: tuple[int, ...] = (1,), samples: int = SAMPLES) -> None:
    """Print the table and write reports/search.md."""
    head = ["data", "mechanism", "worst row", "exact δ", "found", "share of its δ", "draws, in audits", "certified δ"]
    begin = time.process_time()
    rows = [_row(case, seeds, samples) for name in names for case in cases(name)]
    spent = time.process_time() - begin
    shares = np.array([[float(cell) for cell in row[5].split()] for row in rows])
    chance = np.array([[float(cell) for cell in row[8].split()] for row in rows])
    lines = [
        "# The worst neighbour found without theory",
        "",
        f"δ(ε) at ε = {EPSILON:g} over all zeroed rows. One audit is {samples:,} draws a side; search and final audit",
        f"together may spend {BUDGET:g} of them. The search sees a plain function; `worst row` and shares of δ are",
        "exact. The uniform search takes rows at random through the same halving, with the same draws. CPU seconds of",
        f"search and final audit, then of the uniform search. Seeds {', '.join(map(str, seeds))}. `{COMMAND}`",
        "",
        table([*head, "uniform's share", "CPU s"], rows),
        "",
        f"Within 5 % of the worst row: {np.sum(shares >= NEAR)} of {shares.size} searches, "
        f"{np.sum(chance >= NEAR)} of {chance.size} uniform ones; the uniform search found a worse row in "
        f"{np.sum(chance > shares)}. {spent:.0f} CPU seconds in all.",
        "",
        "What this does not show: " + search.NOTE,
    ]
    text = "\n".join(lines)
    print(text)
    write(REPORTS / "search.md", text)


def _row(case: Case, seeds: tuple[int, ...], samples: int) -> list[str]:
    """Numbers of several seeds in one cell, apart by spaces."""
    begin = time.process_time()
    found = [_search(case, seed, samples) for seed in seeds]
    middle = time.process_time()
    chance = [_uniform(case, seed, samples) for seed in seeds]
    end = time.process_time()
    row = [
        case.name,
        f"{case.mechanism.name}({case.mechanism.parameters().get('rows', 'σ')})",
        str(case.worst),
        f"{case.delta:.4f}",
        " ".join(str(one.selection.best.change.index) for one in found),
        " ".join(f"{case.share(one.selection.best.change.index):.3f}" for one in found),
        " ".join(f"{one.draws / (2 * samples):.2f}" for one in found),
        " ".join(f"{float(one.audit.certified.delta_at(EPSILON)):.4f}" for one in found),
        " ".join(f"{share:.3f}" for share in chance),
        f"{middle - begin:.1f}, {end - middle:.1f}",
    ]
    print(*row, sep="  ", flush=True)
    return row


def _search(case: Case, seed: int, samples: int) -> search.SearchResult:
    return search.search_neighbours(case.blind, case.data, at=EPSILON, samples=samples, budget=BUDGET, rng=seed)


def _uniform(case: Case, seed: int, samples: int) -> float:
    options = {"at": EPSILON, "samples": samples, "budget": BUDGET, "rng": seed}
    found = search.select(case.blind, case.data, rank="random", shortlist=UNIFORM, **options)  # type: ignore[arg-type]
    return case.share(found.best.change.index)
