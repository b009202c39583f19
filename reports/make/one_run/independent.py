"""Independent canaries: what the median run certifies, beside published bounds and a ceiling."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from dpaudit.certify.one_run import independent
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.certify.one_run.independent import GAUSSIAN, Family, log_odds
from reports.make import page

ALPHA, DELTA, RUNS = 0.05, 1e-5, 1_001
SAMPLED = Family(0.2, 1)
# family, μ, canaries, and the ε of Xiang et al. 2025 (arXiv 2501.17750)
CASES = (
    (GAUSSIAN, 0.5, 1_000, 1.469),
    (GAUSSIAN, 1.0, 1_000, 3.756),
    (GAUSSIAN, 2.0, 1_000, 9.004),
    (GAUSSIAN, 0.5, 10_000, 1.828),
    (GAUSSIAN, 1.0, 10_000, 4.179),
    (GAUSSIAN, 2.0, 10_000, 9.688),
    (SAMPLED, 2.0, 1_000, 4.62),
    (SAMPLED, 2.0, 10_000, 6.70),
)
HEAD = page.heads("family | μ | true ε | canaries | certified | published | no bound is above")


def run(
    rng: np.random.Generator,
    count: int,
    mu: float,
    family: Family = GAUSSIAN,
    inclusion: float = 0.5,
) -> Guesses:
    """Guesses of one run whose scores are the log likelihood ratios of the family's outputs."""
    coins, rate = rng.random(count) < inclusion, family.sample_rate
    scores = np.zeros(count)
    for _ in range(family.steps):
        x = rng.normal(size=count) + mu * (coins & (rng.random(count) < rate))
        scores += np.log1p(rate * np.expm1(mu * x - 0.5 * mu**2)) if rate < 1.0 else x
    chance = np.full(count, inclusion)
    if rate == 1.0:
        return Guesses.of(scores, coins, chance)
    return Guesses.of(log_odds(scores, inclusion, family), coins, chance, 0.0)


def median(family: Family, mu: float, count: int, runs: int = RUNS) -> float:
    """The median of the certified μ over runs: the bound grows with the weighted right guesses."""
    rng, cell = np.random.default_rng(5), independent.sizes(count)
    guesses = [run(rng, count, mu, family) for _ in range(runs)]
    weight = np.repeat(independent.weights(count, family), cell)
    order = np.argsort([weight @ one.right for one in guesses])
    return independent.bound(guesses[order[runs // 2]], family, ALPHA)


def ceiling(mu: float, count: int) -> float:
    """The largest possible median of a valid lower limit of μ, by Neyman and Pearson.

    Scores are known to be N(±μ/2, 1): the best test of a smaller μ is by their mean, its sign
    reversed where the canary is out.
    """
    return float(mu + 2.0 * ndtri(ALPHA) / np.sqrt(count))


def independent_table() -> str:
    """A table of Markdown with a row for each of `CASES`."""
    rows = []
    for family, mu, count, published in CASES:
        values = [
            family.epsilon_at(mu, DELTA),
            family.epsilon_at(median(family, mu, count), DELTA),
            published,
        ]
        most = family.epsilon_at(ceiling(mu, count), DELTA) if family == GAUSSIAN else None
        true, ours, theirs, above = (page.number(value, 4) for value in (*values, most))
        rows.append([family.text, f"{mu:g}", true, f"{count:,}", ours, theirs, above])
    return page.table(HEAD, rows)
