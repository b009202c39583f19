"""Every mechanism of the zoo audited over many seeds: broken ones are caught, at how many draws,
and sound ones not.

`report()` writes a Markdown table. A broken mechanism's draws are the fewest of `budgets` (a side)
at which ALL seeds say "violated"; a sound one is audited at `sound_budget` with every seed. The
level is 0.999, so that hundreds of audits of sound mechanisms may all be expected to leave them
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from dpaudit import exact
from dpaudit._core.check import Array
from dpaudit.auditing import api
from dpaudit.mechanisms import ZOO, Specimen
from dpaudit.neighbours import NeighbourPair
from reports.make import page

BUDGETS = (1_000, 10_000, 100_000, 1_000_000, 4_000_000)
SOUND_BUDGET = 30_000
LEVEL = 0.999
# of the draws, of many too: an excess may be so faint that fewer do not see where it is
CHOOSE = 0.1
COMMAND = "python -m reports.make zoo"
HEAD = (
    "mechanism",
    "source",
    "claim",
    "true pure ε",
    "true δ at the claim's ε",
    "violated",
    "draws a side needed",
)
Progress = Callable[[str], None]


BITS = ("FloatLaplace",)  # what leaks in the bits of floats is looked for there


@dataclass(frozen=True)
class Sampled:
    """A mechanism known by its draws alone, so that an audit does not work out its exact spectrum
    each time.
    """

    mechanism: Specimen

    def __call__(self, data: Array, size: int, *, rng: Any) -> Array:
        return self.mechanism(data, size, rng=rng)


@dataclass(frozen=True)
class Row:
    """What was found of one mechanism: by budget, how many of so many seeds said "violated"."""

    name: str
    mechanism: Specimen
    pair: NeighbourPair
    tried: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def needed(self) -> int | None:
        """The fewest draws a side at which every seed said "violated"."""
        return next(
            (budget for budget, (caught, seeds) in self.tried.items() if caught == seeds), None
        )

    @property
    def as_it_should(self) -> bool:
        """Caught by every seed if broken, by none if sound."""
        if not self.mechanism.sound:
            return self.needed is not None
        return not any(caught for caught, _ in self.tried.values())

    def line(self) -> str:
        """One row of the table."""
        return page.row(self.cells())

    def cells(self) -> tuple[str, ...]:
        claim, needed = self.mechanism.claim, self.needed
        assert claim is not None
        assert claim.epsilon is not None
        spectrum = exact.spectrum(self.mechanism, self.pair, claim.epsilon)
        last = list(self.tried)[-1]
        caught, seeds = self.tried[last]
        return (
            self.name,
            self.mechanism.source,
            claim.text,
            page.number(spectrum.pure_epsilon),
            f"{float(spectrum.delta):.3g}",
            f"{caught} of {seeds} at {last:,}",
            "sound"
            if self.mechanism.sound
            else (f"{needed:,}" if needed else f"more than {last:,}"),
        )


def report(
    *,
    seeds: int = 20,
    budgets: Iterable[int] = BUDGETS,
    sound_budget: int = SOUND_BUDGET,
    names: Iterable[str] | None = None,
    path: str | Path | None = "reports/zoo.md",
    n_jobs: int = 2,
    progress: Progress = print,
) -> list[Row]:
    """Audit the zoo, write the table to `path` (None: nowhere) and return its rows.

    seeds : audits a mechanism and budget. budgets : draws a side tried on broken ones. sound_budget
    : draws a side for sound ones. names : of `ZOO`, all if None.
    """
    rows = []
    for name in ZOO if names is None else names:
        own = [sound_budget] if ZOO[name].sound else sorted(budgets)
        rows.append(examine(name, own, seeds, n_jobs))
        progress(rows[-1].line())
        if path is not None:
            page.write(Path(path), table(rows, seeds))
    return rows


def examine(name: str, budgets: list[int], seeds: int, n_jobs: int) -> Row:
    """Audit one mechanism at rising budgets until every seed catches it."""
    mechanism = ZOO[name]
    row = Row(name, mechanism, mechanism.pair())
    one = partial(violated, mechanism, row.pair, name in BITS)
    for budget in budgets:
        if budget != budgets[-1] and not one(budget, 0):
            continue  # too few for the first seed, so for all: nothing to count
        caught = Parallel(n_jobs=n_jobs)(delayed(one)(budget, seed) for seed in range(seeds))
        row.tried[budget] = (sum(caught), seeds)
        if all(caught):
            break
    return row


def violated(mechanism: Specimen, pair: NeighbourPair, bits: bool, samples: int, seed: int) -> bool:
    """Whether one audit of the claim, at its own ε, says so."""
    claim = mechanism.claim
    assert claim is not None
    options: dict[str, Any] = {
        "epsilon": claim.epsilon,
        "level": LEVEL,
        "choose_share": CHOOSE,
        "bits": bits,
    }
    result = api.audit(Sampled(mechanism), pair, samples=samples, claim=claim, rng=seed, **options)
    return result.verdict == "violated"


def table(rows: list[Row], seeds: int) -> str:
    """The report: what was asked, the table, and how many were as they should."""
    broken, sound = ([row for row in rows if row.mechanism.sound is kind] for kind in (False, True))
    false = sum(caught for row in sound for caught, _ in row.tried.values())
    audits = sum(count for row in sound for _, count in row.tried.values())
    caught = sum(row.as_it_should for row in broken)
    tight = np.array([row.as_it_should for row in sound], dtype=bool)
    lines = [
        "# The zoo",
        "",
        "Each mechanism of `dpaudit.mechanisms.ZOO` on its own pair of databases, its claim audited at level "
        f"{LEVEL:g} over {seeds} seeds. Draws needed: the fewest a side, of those tried, at which every seed says "
        '"violated". True values are those of the exact spectrum on the pair.',
        "",
        f"Broken: {caught} of {len(broken)} caught. Sound: {int(tight.sum())} of {len(sound)} left alone; "
        f'{false} of {audits} audits of sound mechanisms said "violated".',
        "",
        f"`{COMMAND}`",
        "",
        page.table(HEAD, (row.cells() for row in (*broken, *sound))),
        "",
    ]
    return "\n".join(lines)
