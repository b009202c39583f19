"""The excess that an audit would show at worst, and how often audits of five shapes showed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import dpaudit as dp
from dpaudit._core.seeds import below
from dpaudit._core.types import Array
from dpaudit.power import POWER
from reports.make import page
from reports.make.audits.shapes import SHAPES

REPORT = page.REPORTS / "power.md"
SEED = np.random.SeedSequence(2027)
SIZES = (300, 2_000, 20_000)  # draws a side
CLAIMS = ((0.1, 1e-5), (1.0, 1e-5), (3.0, 1e-5))
STOPS = (None, "verdict")
LEVEL = 0.95
HEAD = ("draws a side", "claim", "excess at worst", *SHAPES)


def loss(x: Array) -> Array:
    """The privacy loss of outputs that are the loss itself, (n, 1) → (n,)."""
    return x[:, 0]


KNOWN = dp.scoring.KnownScore(loss, "loss")


@dataclass(frozen=True)
class Setting:
    """Draws a side, an (ε, δ) claim, and how the audit stops, as `dp.audit` takes it."""

    draws: int
    claim: tuple[float, float]
    stop: str | None

    @property
    def excess(self) -> float:
        """The excess at the claim's ε that such an audit says it shows; infinite where none."""
        P, Q = np.random.default_rng(below(SEED, 0)).standard_normal((2, self.draws, 1))
        found = self.audit(P, Q, 0).detectable
        own = found is not None and found["epsilon"] == self.claim[0]
        return found["excess"] if found is not None and own else np.inf

    def audit(self, P: Array, Q: Array, seed: int) -> dp.AuditResult:
        """An audit of draws whose score is the number itself."""
        return dp.audit_samples(
            P, Q, claim=self.claim, classifier=KNOWN, stop=self.stop, level=LEVEL, rng=seed
        )

    def finds(self, shape: str, excess: float, number: int) -> bool:
        """Whether audit `number` of a pair of that shape refutes the claim."""
        key = SIZES.index(self.draws), CLAIMS.index(self.claim), [*SHAPES].index(shape), number
        epsilon, delta = self.claim
        rng = np.random.default_rng(below(SEED, *key))
        P, Q = SHAPES[shape](epsilon, delta + excess)(rng, self.draws)
        return bool(self.audit(P[:, None], Q[:, None], number).verdict == "violated")


def row(setting: Setting, runs: int, n_jobs: int) -> list[str]:
    """Cells: the setting, the excess, and the share of audits of each shape that showed it."""
    epsilon, delta = setting.claim
    excess = setting.excess
    cells = [f"{setting.draws:,}", f"({epsilon:g}, {delta:g})"]
    if not np.isfinite(excess):
        return [*cells, "none", *("" for _ in SHAPES)]
    shares = []
    for shape in SHAPES:
        found: list[bool] = Parallel(n_jobs=n_jobs)(
            delayed(setting.finds)(shape, excess, number) for number in range(runs)
        )
        shares.append(f"{np.mean(found):.0%}")
    return [*cells, f"{excess:.3g}", *shares]


def render(tables: Sequence[Sequence[Sequence[str]]], runs: int) -> str:
    """The page, from the rows of the audits of a fixed size and of those that stop."""
    fixed, early = (page.table(HEAD, rows) for rows in tables)
    return page.render("power.md", fixed=fixed, early=early, runs=runs, power=f"{POWER:g}")


def report(path: Path = REPORT, runs: int = 40, n_jobs: int = 2) -> None:
    """Write the page to `path`."""
    tables = [
        [row(Setting(size, claim, stop), runs, n_jobs) for size in SIZES for claim in CLAIMS]
        for stop in STOPS
    ]
    page.write(path, render(tables, runs))
