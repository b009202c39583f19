"""Ledgers: false alarms over whole histories, and nights until a small excess is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.certify.betting import Hits, Null, log_mean
from dpaudit.run.ledger import Standing
from dpaudit.verdict.numbers import count
from reports.make import page

EPSILON, DELTA = 1.0, 1e-3  # the claim
NULL = Null.of(np.array([EPSILON]), np.array([DELTA]))
HISTORIES, NIGHTS, EXCESS = 2000, 30, 1e-3
SIZES = 0.0, 0.003, 0.01, 0.05, 0.2  # probability of the set under the other database
DRAWS = 100_000, 1_000_000  # certifying draws a side and night
VERSIONS = 1, 3, 10  # of the code over the nights
HEADS = page.heads(
    "P(S) under M(D') | draws a side and night | true claim rejected: 1 version | 3 versions "
    "| 10 versions | excess 0.001 found after 1 night | after 10 | after 30 | median night"
)
WHOLE, SMALL = 400, 300  # histories of whole audits, draws a side of each


def report() -> None:
    """Write reports/ledger.md."""
    rows = [list(_row(size, draws)) for size in SIZES for draws in DRAWS]
    content = page.render(
        "ledger.md",
        table=page.table(HEADS, rows),
        alarms=sum(map(_history_rejected, range(WHOLE))),
        total=count(WHOLE),
        nights=NIGHTS,
        draws=count(SMALL),
        histories=count(HISTORIES),
    )
    print(page.write(page.REPORTS / "ledger.md", content))


def _row(size: float, draws: int) -> Iterator[str]:
    sound, leaky = _histories(size, 0.0, draws), _histories(size, EXCESS, draws)
    yield page.number(size)
    yield count(draws)
    for versions in VERSIONS:
        yield _percent(_rejected(sound, versions).any(axis=1))
    caught = _rejected(leaky, 1)
    for night in (1, 10, 30):
        yield _percent(caught[:, :night].any(axis=1))
    when = np.where(caught.any(axis=1), caught.argmax(axis=1) + 1.0, np.inf)
    middle = float(np.median(when))
    yield f"{middle:.0f}" if np.isfinite(middle) else f"> {NIGHTS}"


def _histories(size: float, excess: float, draws: int) -> Array:
    """log e of each night and width, (HISTORIES, NIGHTS, k), from the counts of its draws."""
    chance = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(draws, int(1e6 * size))))
    p = DELTA + np.exp(EPSILON) * size + excess
    ahead, behind = (chance.binomial(draws, rate, (HISTORIES, NIGHTS, 1)) for rate in (p, size))
    paid = [Hits(True, EPSILON, *hits).log_e(NULL) for hits in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    return np.asarray(ahead * paid[0] + behind * paid[1] + draws * paid[2])


def _rejected(log_e: Array, versions: int) -> Array:
    """Whether the claim is rejected after each night, (HISTORIES, NIGHTS)."""
    parts = np.split(log_e, versions, axis=1)
    needed = [np.log(Standing(k, [], 0.0, 0.0).needed) for k in range(1, versions + 1)]
    over = [
        log_mean(np.cumsum(part, axis=1)) >= least
        for part, least in zip(parts, needed, strict=True)
    ]
    return np.concatenate(over, axis=1)


def _percent(happened: Any) -> str:
    return f"{100.0 * np.mean(happened):.2f} %"


def _history_rejected(number: int) -> bool:
    """One history of audits as users run them, of a mechanism whose δ is the claimed one."""
    pair = dp.neighbours.replace_row(np.array([[0.0], [1.0], [1.0]]), 0, [1.0])

    def tight(data: Array, size: int, *, rng: np.random.Generator) -> Array:
        return np.asarray(data.sum() + rng.laplace(size=(size, 1)))

    nights = []
    for night in range(NIGHTS):
        seed = np.random.SeedSequence(1, spawn_key=(number, night))
        evidence = dp.audit(tight, pair, claim=(1.0, 0.0), draws=SMALL, rng=seed).evidence
        assert evidence is not None
        nights.append(evidence.log_e)
    return bool(log_mean(np.cumsum(nights, axis=0)).max() >= np.log(Standing(1, [], 0, 0).needed))
