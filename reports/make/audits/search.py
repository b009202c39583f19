"""The search for the worst neighbour, against the exact worst row and against rows at random.

Each mechanism is wrapped in a plain function: the search sees draws and data, nothing else. What it
chose is then judged by the exact spectrum. The uniform search has the same draws and the same
halving; it takes rows at random, as many as there are draws for.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dpaudit as dp
from dpaudit import datasets, exact, mechanisms, neighbours, search
from dpaudit._core.types import Array, RngLike
from dpaudit.mechanisms.base import LawMechanism
from dpaudit.search.halving import FEWEST
from reports.make import page
from reports.make.timing import clock

SAMPLES, EPSILON, BUDGET = 20_000, 0.5, 10.0
UNIFORM = 512  # rows of the uniform search
NEAR = 0.95  # share of the worst row's δ that counts as found
ROWS = {  # of the sketches: ALS, random projection
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

        def release(data: Array, size: int, *, rng: RngLike) -> Array:
            return mechanism(data, size, rng=rng)

        return release

    def share(self, row: int | None) -> float:
        """Exact δ of a row zeroed, as a share of the worst one's."""
        assert row is not None
        pair = neighbours.zero_row(self.data, row)
        return float(exact.spectrum(self.mechanism, pair, [EPSILON]).delta[0]) / self.delta


def cases(name: str) -> list[Case]:
    """ALS, Gaussian least squares and random projection on a data set.

    σ of the noise is twice the largest displacement of the solution by a zeroed row.
    """
    data = datasets.load(name).database
    als, projection = ROWS[name]
    sigma = 2.0 * float(neighbours.row_statistics(data).displacement.max())
    three: list[LawMechanism] = [
        mechanisms.ALS(rows=als),
        mechanisms.GaussianLS(sigma=sigma),
        mechanisms.RandomProjection(rows=projection, release="gram"),
    ]
    cases = []
    for mechanism in three:
        worst = exact.worst_case(mechanism, data, [EPSILON])
        assert worst.index is not None
        cases.append(Case(name, data, mechanism, int(worst.index[0]), float(worst.delta[0])))
    return cases


HEAD = page.heads(
    "data | mechanism | worst row | exact δ | rows found | shares of its δ | audits' draws | "
    "certified δ | uniform: rows tried | its share | CPU s"
)


def report(
    names: tuple[str, ...] = tuple(ROWS), seeds: tuple[int, ...] = (1, 2, 3), samples: int = SAMPLES
) -> None:
    """Print the table and write reports/search.md."""
    with clock() as spent:
        found = [_searched(case, seeds, samples) for name in names for case in cases(name)]
    text = render(found, seeds, samples, spent.cpu)
    print(text)
    page.write(page.REPORTS / "search.md", text)


@dataclass(frozen=True)
class Found:
    """What the searches of one case came to.

    row : its cells in the table. shares : δ as a share of the worst row's, one for each seed.
    uniform : the share that the uniform search finds with the first seed.
    """

    row: list[str]
    shares: list[float]
    uniform: float


def render(found: Sequence[Found], seeds: Sequence[int], samples: int, seconds: float) -> str:
    """The page; `seconds` of CPU time were spent in all."""
    shares = [share for one in found for share in one.shares]
    return page.render(
        "search.md",
        epsilon=f"{EPSILON:g}",
        samples=f"{samples:,}",
        budget=f"{BUDGET:g}",
        fewest=FEWEST,
        seeds=", ".join(map(str, seeds)),
        rows=page.table(HEAD, [one.row for one in found]),
        near=sum(share >= NEAR for share in shares),
        searches=len(shares),
        least=f"{min(shares):.3f}",
        uniform_near=sum(one.uniform >= NEAR for one in found),
        cases=len(found),
        worse=sum(one.uniform > one.shares[0] for one in found),
        spent=f"{seconds:.0f}",
        note=textwrap.fill(f"What this does not show: {search.NOTE}", 120),
    )


def _searched(case: Case, seeds: Sequence[int], samples: int) -> Found:
    """Search with every seed, audit the first one's neighbour, and search at random."""
    options: dict[str, Any] = {"at": EPSILON, "draws": samples, "budget": BUDGET}
    with clock() as searching:
        selections = [search.select(case.blind, case.data, rng=seed, **options) for seed in seeds]
    pair = selections[0].best.change.pair(case.data)
    with clock() as auditing:  # as `search_neighbours` does
        final = dp.audit(case.blind, pair, draws=samples, rng=seeds[0])
    options |= {"rank": "random", "shortlist": UNIFORM}
    with clock() as guessing:
        chance = search.select(case.blind, case.data, rng=seeds[0], **options)
    spent = searching.cpu / len(seeds), auditing.cpu, guessing.cpu
    shares = [case.share(one.best.change.index) for one in selections]
    uniform = case.share(chance.best.change.index)
    row = [
        case.name,
        _named(case.mechanism),
        str(case.worst),
        f"{case.delta:.4f}",
        " ".join(str(one.best.change.index) for one in selections),
        " ".join(page.decimals(shares, 3)),
        f"{max(one.draws for one in selections) / (2 * samples) + 1.0:.2f}",
        f"{float(final.certified.delta_at(EPSILON)):.4f}",
        str(chance.audited),
        f"{uniform:.3f}",
        ", ".join(page.decimals(spent, 0)),
    ]
    print(*row, sep="  ", flush=True)
    return Found(row, shares, uniform)


def _named(mechanism: LawMechanism) -> str:
    values = mechanism.parameters()
    size = f"σ = {values['sigma']:.3g}" if "sigma" in values else f"r = {values['rows']:,}"
    return f"{mechanism.name}, {size}"
