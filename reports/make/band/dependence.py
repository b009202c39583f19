"""How often an audit accuses a mechanism whose draws share noise within a call; the claim is true.

Both sides are N(0, 1), and a share of the variance is drawn once a call. A call of b draws has a
mean of 1 + (b − 1)·share times the variance that independent draws would give it. Where that is
large the draws are refused, and where it is near 1 it does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.sampling import call_size
from reports.make import page

PAIR = dp.neighbours.zero_row([[1.0], [0.0]], 0)
INFLATIONS = (1.5, 2.0, 3.0, 5.0, np.inf)  # of the variance of a call's mean; as far as it can be
AUDITS = 100
HEAD = ("audit", "draws", "draws a call", "accused, by share", "refused, by share", "accused")


class Sharing:
    """N(0, 1), of whose variance `share` is drawn once a call."""

    def __init__(self, share: float) -> None:
        self.share = share

    def __call__(self, data: Array, size: int, *, rng: np.random.Generator) -> Array:
        """`size` draws, (size, 1)."""
        own, common = rng.standard_normal((size, 1)), rng.standard_normal()
        return np.sqrt(1.0 - self.share) * own + np.sqrt(self.share) * common


class SharingProgram(Sharing):
    """The same, drawn as a program is that makes many draws a run."""

    most_calls = 64


def output(rows: Array) -> Array:
    """The output itself, a known score."""
    return np.asarray(rows[:, 0])


@dataclass(frozen=True)
class Way:
    """A kind of audit, the sizes at which it is tried, and its options."""

    name: str
    sizes: tuple[int, ...]
    options: dict[str, Any]
    mechanism: Callable[[float], Sharing] = Sharing

    def shares(self, draws: int) -> list[float]:
        """Shares with the `INFLATIONS`; one alone where a call makes a single draw."""
        others = self.draws_a_call(draws) - 1
        if others == 0:
            return [1.0]
        return sorted({min((one - 1.0) / others, 1.0) for one in INFLATIONS})

    def draws_a_call(self, draws: int) -> int:
        """Draws of each call in the end."""
        return call_size(self.mechanism(0.0), draws) or draws

    def outcomes(self, draws: int, share: float, audits: int) -> tuple[int, int]:
        """How many audits accuse, and how many are refused."""
        accused = refused = 0
        options = {"classifier": output, **self.options}
        for seed in range(audits):
            try:
                found = dp.audit(self.mechanism(share), PAIR, draws=draws, rng=seed, **options)
            except dp.MechanismError:
                refused += 1
            else:
                accused += found.verdict == "violated"
        return accused, refused


LOOSE = {"claim": (0.1, 0.0)}
WAYS = (
    Way("all draws, claim (0.1, 0)", (20, 50, 100, 256, 257, 400, 500, 1000, 5000, 20_000), LOOSE),
    Way(
        '`stop="verdict"`, claim (0.1, 0)',
        (100, 256, 500, 1000, 5000),
        {**LOOSE, "stop": "verdict"},
    ),
    Way("`auto`, claim (0.1, 0)", (100, 300, 1000), {**LOOSE, "classifier": "auto"}),
    Way("a program, claim (0.1, 0)", (50, 100, 256, 500, 5000), LOOSE, SharingProgram),
    Way(
        "all draws, the claim δ(0) = 0",
        (256, 500, 1000, 5000, 20_000),
        {"claim": (0.0, 0.0), "epsilon": [0.0]},
    ),
)


def rows_of(way: Way, draws: int, audits: int) -> list[str]:
    """A row of the table."""
    shares = way.shares(draws)
    found = [way.outcomes(draws, share, audits) for share in shares]
    by_share = [
        ", ".join(f"{share:.2g}: {count}" for share, count in zip(shares, counts, strict=True))
        for counts in zip(*found, strict=True)
    ]
    worst = max(accused for accused, _ in found) / audits
    return [way.name, f"{draws:,}", f"{way.draws_a_call(draws)}", *by_share, f"{worst:.0%}"]


def table(audits: int = AUDITS) -> str:
    """A row for each kind of audit and size."""
    rows = [rows_of(way, draws, audits) for way in WAYS for draws in way.sizes]
    return page.table(HEAD, rows)
