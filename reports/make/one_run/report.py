"""The page on audits of one run; what one run certifies for scores N(±μ/2, 1)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from scipy.stats import binomtest

from dpaudit._core.types import Array
from dpaudit.certify.one_run.bound import epsilon_bound, gdp_bound
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import gdp_mu
from reports.make import extras, page
from reports.make.one_run import steinke
from reports.make.one_run.canaries import canaries_table
from reports.make.one_run.false import RUNS, false_table
from reports.make.one_run.independent import RUNS as MEDIANS
from reports.make.one_run.independent import independent_table
from reports.make.one_run.steps import HEAD as STEPS_HEAD
from reports.make.one_run.steps import false_alarms, zoo_table

DELTA, LEVEL, SEEDS = 1e-5, 0.95, 20
COUNTS, EPSILON = (100, 1_000, 10_000), (2.0, 4.0, 8.0, 16.0)
RESPONSE, RESPONSES = (1.0, 4.0), 1_000  # randomised response: ε, and coins
HEAD = page.heads("canaries | true ε | assumption | dpaudit | Steinke et al. | f-DP | jax-privacy")


def _guesses(scores: Array, coins: np.ndarray) -> Guesses:
    return Guesses.of(scores, coins, np.full(len(scores), 0.5))


def certified(count: int, mu: float, seed: int) -> list[float]:
    """The numbers of two rows, in the order of HEAD, for scores N(±μ/2, 1) of fair coins.

    Those without an assumption are by "auto", Steinke, the recursion and jax-privacy; those of
    Gaussian DP are from μ, and by jax-privacy; the last is for independent canaries, too.
    """
    rng, alpha = np.random.default_rng([seed, count]), 1.0 - LEVEL
    coins = rng.random(count) < 0.5
    scores = rng.normal(size=count) + mu * (coins - 0.5)
    guesses = _guesses(scores, coins)
    ours = [epsilon_bound(guesses, DELTA, alpha, method).value for method in ("auto", "f-dp")]
    ours.insert(1, steinke.epsilon_bound(guesses, DELTA, alpha))
    package = extras.package("jax_privacy.auditing", "auditors")
    auditor = package.CanaryScoreAuditor(scores[coins], scores[~coins])
    one_run = float(auditor.epsilon_one_run(alpha, DELTA))
    from_mu = float(Claim.gdp(gdp_bound(guesses, alpha)).epsilon_at(DELTA))
    theirs = float(auditor.epsilon_one_run_fdp(alpha, DELTA))
    return [*ours, one_run, from_mu, theirs, independent(guesses)]


def independent(guesses: Guesses) -> float:
    """ε from μ of Gaussian scores that are assumed to be independent."""
    return float(Claim.gdp(gdp_bound(guesses, 1.0 - LEVEL, "independent")).epsilon_at(DELTA))


def bounds_table() -> str:
    """Medians over the seeds."""
    rows = []
    for count in COUNTS:
        for epsilon in EPSILON:
            mu = float(gdp_mu(np.array(epsilon), np.array(DELTA)))
            medians = np.median([certified(count, mu, seed) for seed in range(SEEDS)], axis=0)
            setting, cells = [f"{count:,}", f"{epsilon:g}"], [page.number(x, 3) for x in medians]
            *free, ours, theirs, alone = cells
            rows.append([*setting, "none", *free])
            rows.append([*setting, "Gaussian DP", ours, "–", "–", theirs])
            rows.append([*setting, "Gaussian, independent", alone, "–", "–", "–"])
    return page.table(HEAD, rows)


def response_table() -> str:
    """Randomised response: medians of ε, and as a share of Clopper–Pearson's for that many hits."""
    rows = []
    for epsilon in RESPONSE:
        pairs = [responded(epsilon, seed) for seed in range(SEEDS)]
        ours, theirs = np.median(pairs, axis=0)
        share = np.median([one / other for one, other in pairs])
        cells = (page.number(value, 3) for value in (ours, theirs, share))
        rows.append([f"{epsilon:g}", *cells])
    return page.table(("true ε", "certified", "Clopper–Pearson", "share"), rows)


def responded(epsilon: float, seed: int) -> tuple[float, float]:
    """ε certified of a run of randomised response, and the lower limit by its right answers."""
    rng = np.random.default_rng([seed, 1])
    coins = rng.random(RESPONSES) < 0.5
    right = rng.random(RESPONSES) < expit(epsilon)
    guesses = _guesses(np.where(right == coins, 1.0, -1.0), coins)
    share = binomtest(int(right.sum()), RESPONSES, alternative="greater")
    limit = share.proportion_ci(LEVEL).low
    epsilon_certified = epsilon_bound(guesses, 0.0, 1.0 - LEVEL).value
    return epsilon_certified, float(np.log(limit / (1.0 - limit)))


SOUND_RUNS = 1_000


def report() -> None:
    """Measure all of it, and write the page."""
    text = page.render(
        "one-run.md",
        level=LEVEL,
        seeds=SEEDS,
        runs=f"{RUNS:,}",
        bounds=bounds_table(),
        response=response_table(),
        independent=independent_table(),
        medians=f"{MEDIANS:,}",
        zoo=page.table(STEPS_HEAD, zoo_table()),
        alarms=false_alarms(SOUND_RUNS),
        sound_runs=f"{SOUND_RUNS:,}",
        canaries=canaries_table(),
        rates=false_table(),
    )
    print(page.write(page.REPORTS / "one-run.md", text))
