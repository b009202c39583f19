"""The excess that an audit would show at worst, and how often audits of five shapes showed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.special import ndtr

import dpaudit as dp
from dpaudit._core.seeds import below
from dpaudit._core.types import Array
from dpaudit.curves.gaussian_shift import shift_delta
from dpaudit.power import POWER
from reports.make import page

SEED = np.random.SeedSequence(2027)
SIZES = (300, 2_000, 20_000)  # draws a side
CLAIMS = ((0.1, 1e-5), (1.0, 1e-5), (3.0, 1e-5))
STOPS = (None, "verdict")
LEVEL = 0.95
Draws = Callable[[np.random.Generator, int], tuple[Array, Array]]
FAR = 40.0  # nats, which stand for an infinite loss
RATE = (0.1, 1.5, 0.97)  # of the subsampled Gaussian: at least, times δ(ε), at most


# Pairs of laws of five shapes whose δ at one ε has a given value, drawn as their privacy loss


def gaussian(epsilon: float, delta: float) -> Draws:
    """N(μ, 1) against N(0, 1)."""
    mu = shift_of(epsilon, delta)

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P, Q = (mu * (rng.standard_normal(size) + mean) - 0.5 * mu**2 for mean in (mu, 0.0))
        return P, Q

    return draws


def shift_of(epsilon: float, delta: float) -> float:
    """μ of the Gaussian shift with δ(ε) = delta in (0, 1), to a relative 1e-6; ε in nats."""
    at = np.asarray(epsilon, dtype=np.float64)

    def gap(mu: float) -> float:
        return float(shift_delta(mu, at)) - delta

    return float(brentq(gap, 1e-13, 1e4, xtol=1e-15, rtol=1e-6))


def laplace(epsilon: float, delta: float) -> Draws:
    """Laplace noise against the same moved by 1; its δ(ε) is 1 − e^{(ε − ε₀)/2}, ε₀ = 1/scale."""
    pure = epsilon - 2.0 * np.log1p(-delta)

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P, Q = (rng.laplace(mean, 1.0 / pure, size) for mean in (0.0, 1.0))
        return pure * np.clip(1.0 - 2.0 * P, -1.0, 1.0), pure * np.clip(1.0 - 2.0 * Q, -1.0, 1.0)

    return draws


def coin(epsilon: float, delta: float) -> Draws:
    """Randomised response."""
    yes = (delta + np.exp(epsilon)) / (1.0 + np.exp(epsilon))
    loss = np.log(yes / (1.0 - yes))

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P, Q = (np.where(rng.random(size) < p, loss, -loss) for p in (yes, 1.0 - yes))
        return P, Q

    return draws


def rare_value(epsilon: float, delta: float) -> Draws:
    """A value of probability δ that gives M(D) away; all else has one law, whatever ε is."""

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        rest = np.log1p(-delta)
        return np.where(rng.random(size) < delta, FAR, rest), np.full(size, rest)

    return draws


def subsampled_gaussian(epsilon: float, delta: float) -> Draws:
    """(1 − r) N(0, 1) + r N(μ, 1) against N(0, 1), with the rate r a little above δ(ε)."""
    least, factor, most = RATE
    rate, gamma = min(max(least, factor * delta), most), np.exp(epsilon)

    def gap(mu: float) -> float:
        start = (np.log((gamma - 1.0 + rate) / rate) + 0.5 * mu**2) / mu  # loss above ε from here
        return float((1.0 - rate - gamma) * ndtr(-start) + rate * ndtr(mu - start)) - delta

    mu = float(brentq(gap, 1e-6, FAR))

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P = rng.standard_normal(size) + mu * (rng.random(size) < rate)
        Q = rng.standard_normal(size)
        P, Q = (np.logaddexp(np.log1p(-rate), np.log(rate) + mu * x - 0.5 * mu**2) for x in (P, Q))
        return P, Q

    return draws


SHAPES: dict[str, Callable[[float, float], Draws]] = {
    "Gaussian": gaussian,
    "Laplace": laplace,
    "coin": coin,
    "rare value": rare_value,
    "subsampled Gaussian": subsampled_gaussian,
}


# The audits

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
        shown = self.audit(P, Q, 0).detectable
        own = shown is not None and shown["epsilon"] == self.claim[0]
        return shown["excess"] if shown is not None and own else np.inf

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


def report(runs: int = 40, n_jobs: int = 2) -> None:
    """Write reports/power.md."""
    tables = [
        [row(Setting(size, claim, stop), runs, n_jobs) for size in SIZES for claim in CLAIMS]
        for stop in STOPS
    ]
    page.write(page.REPORTS / "power.md", render(tables, runs))
