"""Audits that stop: how often a true claim is rejected, and after how many draws a false one is.

Nulls are exactly tight: claim and truth are one curve, or δ is the claim's at its ε. Type I errors
are counted over runs that check after every draw up to a budget. The published numbers are those of
González et al. (2025) and Kutta et al. (2026), means over their runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import dpaudit as dp
from dpaudit import exact
from dpaudit._core.seeds import below
from dpaudit._core.types import Array
from dpaudit.certify.binomial import upper
from dpaudit.mechanisms import broken
from dpaudit.scoring import KnownScore, Score
from reports.make import page

LEVEL = 0.95
SEED = np.random.SeedSequence(2026)
BUDGET = 20_000  # draws a side after which a run that has not rejected is given up
Side = Callable[[np.random.Generator, int], Array]


@dataclass(frozen=True, eq=False)
class Tight:
    """A pair that keeps its claim and no smaller one: draws of both sides, (size, k).

    score : the true privacy loss, which costs less than a learned one; None to learn it.
    """

    name: str
    left: Side
    right: Side
    claim: dp.Claim
    score: Score | None = None


def _laplace(shift: float, rng: np.random.Generator, size: int) -> Array:
    return rng.laplace(shift, 1.0, (size, 1))


def _normal(shift: float, columns: int, rng: np.random.Generator, size: int) -> Array:
    draws = rng.standard_normal((size, columns))
    draws[:, 0] += shift
    return draws


def _response(share: float, rng: np.random.Generator, size: int) -> Array:
    return (rng.random((size, 1)) < share).astype(np.float64)


def _reveal(bit: float, rng: np.random.Generator, size: int) -> Array:
    """Randomised response at ε = 0.5; with probability 0.02 the bit itself, marked."""
    truth = rng.random(size) < np.exp(0.5) / (1.0 + np.exp(0.5))
    coin = np.where(truth, bit, 1.0 - bit)
    return np.where(rng.random(size) < 0.02, 2.0 + bit, coin)[:, None]


def _laplace_loss(shift: float, x: Array) -> Array:
    return np.clip(2.0 * x[:, 0] - shift, -shift, shift)


def _normal_loss(shift: float, x: Array) -> Array:
    return np.asarray(shift * x[:, 0] - 0.5 * shift**2)


def _bit_loss(size: float, x: Array) -> Array:
    """The loss of `_reveal`: ±size for a coin, and nearly infinite for a marked bit (2 or 3)."""
    sign = np.where(x[:, 0] % 2.0 == 1.0, 1.0, -1.0)
    return sign * np.where(x[:, 0] > 1.0, 30.0, size)


_zero, _five = partial(_normal, 0.0, 1), partial(_normal, 0.0, 5)
_shift = partial(_normal, 1.0, 1), _zero
NULLS = (
    Tight("P = Q = N(0, 1), claim (0, 0), learned", _zero, _zero, dp.Claim(0.0)),
    Tight("P = Q = N(0, I₅), claim (0, 0), learned", _five, _five, dp.Claim(0.0)),
    Tight(
        "Laplace shift 1, claim (1, 0), learned",
        partial(_laplace, 1.0),
        partial(_laplace, 0.0),
        dp.Claim(1.0),
    ),
    Tight(
        "Laplace shift 0.1, claim (0.1, 0)",
        partial(_laplace, 0.1),
        partial(_laplace, 0.0),
        dp.Claim(0.1),
        partial(_laplace_loss, 0.1),
    ),
    Tight(
        "randomised response, claim (1, 0)",
        partial(_response, 0.731058),
        partial(_response, 0.268942),
        dp.Claim(1.0),
        partial(_bit_loss, 1.0),
    ),
    Tight(
        "normal shift 1, claim (0.5, its δ)",
        *_shift,
        dp.Claim(0.5, float(exact.gaussian_shift(1.0, 0.5))),
        partial(_normal_loss, 1.0),
    ),
    Tight("normal shift 1, claim 1-GDP", *_shift, dp.Claim.gdp(1.0), partial(_normal_loss, 1.0)),
    Tight(
        "coin and leak, claim (0.5, 0.02)",
        partial(_reveal, 1.0),
        partial(_reveal, 0.0),
        dp.Claim(0.5, 0.02),
        partial(_bit_loss, 0.5),
    ),
)
# Mechanism, ε and mean draws published: by MMD bets, and by the sequential f-DP test that is valid
# asymptotically.
BROKEN: tuple[tuple[type, float, str, str], ...] = (
    (broken.NonDPGaussian1, 0.01, "264", "61"),
    (broken.NonDPLaplace1, 0.01, "331", "81"),
    (broken.NonDPLaplace2, 0.01, "192", "–"),
    (broken.NonDPGaussian2, 0.01, "1139 (85 % rejected)", "–"),
    (broken.NonDPGaussian1, 0.1, "562", "72"),
    (broken.NonDPLaplace1, 0.1, "920", "115"),
    (broken.NonDPLaplace2, 0.1, "770 (95 %)", "–"),
    (broken.NonDPGaussian2, 0.1, "4776 (5 %)", "–"),
)
POWER_HEAD = page.heads(
    "mechanism | ε | rejected | mean | median | 90 % | published: MMD bets | published: f-DP, "
    "asymptotic"
)


def rejects(place: int, number: int, draws: int) -> bool:
    """Whether one run rejects the true claim at this place of `NULLS`."""
    null, rng = NULLS[place], np.random.default_rng(below(SEED, place, number))
    P, Q = null.left(rng, draws), null.right(rng, draws)
    score = "auto" if null.score is None else KnownScore(null.score)
    asked: dict[str, Any] = {"epsilon": [0.0], "level": LEVEL, "rng": number, "stop": "verdict"}
    result = dp.audit_samples(P, Q, claim=null.claim, classifier=score, **asked)
    return result.verdict == "violated"


def draws_needed(kind: type, epsilon: float, number: int) -> float:
    """Draws a side at which one run rejects, infinite if it does not within BUDGET."""
    mechanism: Any = kind(epsilon=epsilon)
    result = dp.audit(
        # as a plain function, since its exact curve is not wanted
        lambda data, size, *, rng: mechanism.run(data, size, rng),
        mechanism.pair(),
        claim=mechanism.claim,
        epsilon=[epsilon],
        draws=BUDGET,
        level=LEVEL,
        rng=below(SEED, 100, number),
        stop="verdict",
    )
    assert result.sequential is not None
    return np.inf if result.sequential.rejected_at is None else float(result.sequential.rejected_at)


def type_one(runs: int, draws: int, n_jobs: int) -> str:
    """Markdown: rejections of true claims with Clopper–Pearson 95 % upper limits of their rate."""
    rows = []
    for place, null in enumerate(NULLS):
        count = sum(
            Parallel(n_jobs=n_jobs)(
                delayed(rejects)(place, number, draws) for number in range(runs)
            )
        )
        rows.append(
            [
                null.name,
                f"{count} of {runs:,}",
                f"{count / runs:.2%}",
                f"{upper(count, runs, 0.05):.2%}",
            ]
        )
    head = [f"true claim, {draws:,} draws a side at most", "rejected", "rate", "upper limit"]
    return page.table(head, rows)


def power_table(runs: int, n_jobs: int) -> str:
    """Markdown: draws a side until each broken mechanism is rejected, beside published means."""
    rows = []
    for kind, epsilon, bets, asymptotic in BROKEN:
        needed = np.array(
            Parallel(n_jobs=n_jobs)(
                delayed(draws_needed)(kind, epsilon, number) for number in range(runs)
            )
        )
        done = needed[np.isfinite(needed)]
        summary = (float(one) for one in (done.mean(), np.median(done), np.quantile(done, 0.9)))
        shown = [f"{len(done) / runs:.0%}", *(f"{value:,.0f}" for value in summary)]
        rows.append([kind.__name__, f"{epsilon:g}", *shown, bets, asymptotic])
    return page.table(POWER_HEAD, rows)


def report(nulls: int = 2000, draws: int = 300, runs: int = 200, n_jobs: int = 2) -> None:
    """Write reports/anytime.md; `nulls` and `runs` are audits of each true and each false claim."""
    tables = {"nulls": type_one(nulls, draws, n_jobs), "broken": power_table(runs, n_jobs)}
    text = page.render("anytime.md", **tables, runs=runs, budget=f"{BUDGET:,}")
    page.write(page.REPORTS / "anytime.md", text)
