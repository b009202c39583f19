"""Every mechanism of the zoo audited over many seeds: broken ones are caught, sound ones are not.

The draws that a broken mechanism takes are the fewest of `budgets` (a side) at which ALL seeds say
"violated". A sound one is audited at `sound_budget` with every seed. At level 0.999 hundreds of
audits of sound mechanisms can be expected to have no false verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from joblib import Parallel, delayed

import dpaudit as dp
from dpaudit import exact
from dpaudit._core.types import Array, RngLike
from dpaudit.mechanisms import ZOO, ExampleMechanism
from dpaudit.neighbours import NeighbourPair
from reports.make import page

BUDGETS = (1_000, 10_000, 100_000, 1_000_000, 4_000_000)
SOUND_BUDGET = 30_000
LEVEL = 0.999
CHOOSE = 0.1  # share of the draws; fewer may not find the set where a small excess shows
BITS = ("FloatLaplace",)  # audited with bits=True: it leaks in the bits of its floats
HEAD = page.heads(
    "mechanism | source | claim | true pure ε | true δ at the claim's ε | violated | draws a "
    "side needed"
)


@dataclass(frozen=True)
class Sampled:
    """A mechanism by its draws alone: an audit does not compute its exact spectrum each time."""

    mechanism: ExampleMechanism

    def __call__(self, data: Array, size: int, *, rng: RngLike) -> Array:
        return self.mechanism(data, size, rng=rng)


@dataclass(frozen=True)
class Row:
    """What was found of one mechanism: by budget, how many of so many seeds said "violated"."""

    name: str
    mechanism: ExampleMechanism
    pair: NeighbourPair
    tried: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def needed(self) -> int | None:
        """The fewest draws a side at which every seed said "violated"."""
        return next(
            (budget for budget, (caught, seeds) in self.tried.items() if caught == seeds), None
        )

    @property
    def rightly_judged(self) -> bool:
        """Caught by every seed if broken, by none if sound."""
        if not self.mechanism.sound:
            return self.needed is not None
        return not any(caught for caught, _ in self.tried.values())

    def cells(self) -> tuple[str, ...]:
        """Its cells in the table, in the order of HEAD."""
        claim, needed = self.mechanism.claim, self.needed
        assert claim is not None
        assert claim.epsilon is not None
        last, (caught, seeds) = list(self.tried.items())[-1]
        fewest = f"{needed:,}" if needed else f"more than {last:,}"
        return (
            self.name,
            self.mechanism.source,
            claim.text,
            *_truth(self.mechanism, self.pair, claim.epsilon),
            f"{caught} of {seeds} at {last:,}",
            "sound" if self.mechanism.sound else fewest,
        )


def _truth(mechanism: ExampleMechanism, pair: NeighbourPair, epsilon: float) -> tuple[str, str]:
    """The exact pure ε and the exact δ(epsilon); dashes where no exact spectrum is known."""
    try:
        spectrum = exact.spectrum(mechanism, pair, epsilon)
    except dp.NoExactSpectrum:
        return page.NONE, page.NONE
    return page.number(spectrum.pure_epsilon), f"{float(spectrum.delta):.3g}"


def report(
    names: Sequence[str] = tuple(ZOO),
    budgets: Sequence[int] = BUDGETS,
    sound_budget: int = SOUND_BUDGET,
    seeds: int = 20,
) -> list[Row]:
    """Audit mechanisms of the zoo, print and write their rows, and return them.

    seeds : audits of a mechanism at each budget. budgets : draws a side tried on broken ones.
    sound_budget : draws a side for sound ones.
    """
    rows = []
    for name in names:
        own = [sound_budget] if ZOO[name].sound else sorted(budgets)
        rows.append(examine(name, own, seeds))
        print(page.row(rows[-1].cells()), flush=True)
        page.write(page.REPORTS / "zoo.md", render(rows, seeds))
    return rows


def examine(name: str, budgets: list[int], seeds: int) -> Row:
    """Audit one mechanism at rising budgets until every seed catches it."""
    mechanism = ZOO[name]
    row = Row(name, mechanism, mechanism.pair())
    one = partial(violated, mechanism, row.pair, name in BITS)
    for budget in budgets:
        if budget != budgets[-1] and not one(budget, 0):
            continue  # too few for the first seed
        caught = Parallel(n_jobs=2)(delayed(one)(budget, seed) for seed in range(seeds))
        row.tried[budget] = (sum(caught), seeds)
        if all(caught):
            break
    return row


def violated(
    mechanism: ExampleMechanism, pair: NeighbourPair, bits: bool, draws: int, seed: int
) -> bool:
    """Whether one audit of the claim, at its own ε, finds it violated."""
    claim = mechanism.claim
    assert claim is not None
    result = dp.audit(
        Sampled(mechanism),
        pair,
        draws=draws,
        claim=claim,
        rng=seed,
        epsilon=claim.epsilon,
        level=LEVEL,
        choose_share=CHOOSE,
        bits=bits,
    )
    return result.verdict == "violated"


def render(rows: Sequence[Row], seeds: int) -> str:
    """The page: what was asked, how many mechanisms were judged rightly, the table."""
    broken, sound = ([row for row in rows if row.mechanism.sound is kind] for kind in (False, True))
    tried = [found for row in sound for found in row.tried.values()]
    return page.render(
        "zoo.md",
        level=f"{LEVEL:g}",
        seeds=seeds,
        caught=sum(row.rightly_judged for row in broken),
        broken=len(broken),
        passed=sum(row.rightly_judged for row in sound),
        sound=len(sound),
        false_verdicts=sum(caught for caught, _ in tried),
        audits=sum(audits for _, audits in tried),
        rows=page.table(HEAD, (row.cells() for row in (*broken, *sound))),
    )
