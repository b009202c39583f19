"""How many draws show an excess over a claim: predicted by `power.draws_to_detect`, and tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import dpaudit as dp
from dpaudit._core.seeds import below
from dpaudit.power import POWER, draws_to_detect, shift_of
from reports.make import page

REPORT = page.REPORTS / "power.md"
SEED = np.random.SeedSequence(2027)
EXCESS = (0.3, 0.1, 0.03, 0.01, 0.001)
MOST = 200_000  # draws a side; where more are predicted nothing is tried
LEAST = 100  # that an audit can split
HEAD = ("claim", "excess", "all draws at once", "rejected there", "in waves", "rejected by then")


@dataclass(frozen=True)
class Setting:
    """A claim and the ε at which the truth exceeds it."""

    name: str
    claim: dp.Claim
    epsilon: float

    @property
    def delta(self) -> float:
        """The claimed δ at that ε."""
        return float(self.claim.delta_at(self.epsilon))


SETTINGS = (
    Setting("(0.1, 0)", dp.Claim(0.1), 0.1),
    Setting("(1, 10⁻⁵)", dp.Claim(1.0, 1e-5), 1.0),
    Setting("(1, 10⁻³)", dp.Claim(1.0, 1e-3), 1.0),
    Setting("1-GDP, at ε = 1", dp.Claim.gdp(1.0), 1.0),
)


def rejects(setting: Setting, excess: float, draws: int, stop: str | None, number: int) -> bool:
    """Whether one audit of a Gaussian shift with δ(ε) = claim + excess rejects the claim.

    draws : a side, at most. stop : as `dp.audit` takes it. number : of the run, its seed.
    """
    mu = shift_of(setting.epsilon, setting.delta + excess)
    rng = np.random.default_rng(below(SEED, SETTINGS.index(setting), EXCESS.index(excess), number))
    P, Q = (rng.standard_normal(draws) + shift for shift in (mu, 0.0))
    result = dp.audit_samples(
        P,
        Q,
        claim=setting.claim,
        epsilon=[setting.epsilon],
        classifier="qda",
        rng=number,
        stop=stop,
    )
    return result.verdict == "violated"


def row(setting: Setting, excess: float, runs: int, n_jobs: int) -> list[str]:
    """Cells: predicted draws and the share that rejected there, for either kind of audit."""
    cells = [setting.name, f"{excess:g}"]
    for stop in (None, "verdict"):
        predicted = draws_to_detect(setting.epsilon, setting.delta, excess, stop=stop)
        draws = int(max(np.ceil(predicted), LEAST)) if predicted <= MOST else 0
        tried: list[bool] = Parallel(n_jobs=n_jobs)(
            delayed(rejects)(setting, excess, draws, stop, number)
            for number in range(runs if draws else 0)
        )
        cells += [f"{_rounded(predicted):,}", f"{np.mean(tried):.0%}" if tried else "not tried"]
    return cells


def _rounded(draws: float) -> int:
    """To three digits."""
    return int(float(f"{draws:.3g}"))


def possible(setting: Setting) -> list[float]:
    """Excesses that leave δ below 1."""
    return [one for one in EXCESS if setting.delta + one < 1.0]


def render(rows: Sequence[Sequence[str]], runs: int) -> str:
    """The page."""
    return page.render("power.md", rows=page.table(HEAD, rows), runs=runs, power=f"{POWER:g}")


def report(path: Path = REPORT, runs: int = 40, n_jobs: int = 2) -> None:
    """Write the page to `path`."""
    rows = [
        row(setting, excess, runs, n_jobs) for setting in SETTINGS for excess in possible(setting)
    ]
    page.write(path, render(rows, runs))
