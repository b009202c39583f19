"""Simultaneous bands compared: what each certifies from the true likelihood ratio, and the cost of
simultaneity.

With the truth as the score nothing is trained, so a band gets half of the N draws a side to certify
and a tenth to choose, as an audit's does; cross-fitting gets all N, in folds. Every band holds at
all ε and in both directions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, ndtr, xlogy

from dpaudit._core.check import Array
from dpaudit._core.seeds import generator
from dpaudit.certify.band import Certificate, Region
from dpaudit.certify.binomial import lower, upper
from dpaudit.certify.estimate import certify
from dpaudit.certify.sets import REST_SHARE, Statement, Survey, Tails, plan
from reports.make.audits.coverage import PAIRS
from reports.make.audits.tasks import TASKS, Simulated, Task
from reports.make.page import REPORTS, table, write

SHOWN = np.array([0.0, 0.5, 1.0, 2.0])
GRID = np.linspace(0.0, 4.0, 41)
LEVEL = 0.95
RANKS, TRIALS = 400, 4000  # order statistics of a thinned band; simulations for its critical value
SMALL = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
Band = Callable[[Tails, Tails], Array]


def weighted(choose: Tails, test: Tails) -> Array:
    """The package's band."""
    return certify(choose, test, GRID, LEVEL).certified.delta_at(SHOWN)


def weighted_four(choose: Tails, test: Tails) -> Array:
    """The package's band where only the four ε shown are asked for."""
    return certify(choose, test, SHOWN, LEVEL).low


def _statements(choose: Tails, test: Tails) -> list[Statement]:
    return plan(Survey.of(choose, GRID, min(test.sizes), 1.0 - LEVEL))


def _hits(statements: list[Statement], test: Tails) -> list[tuple[int, int, int, int]]:
    """Of each set, in the order of `region`."""
    (n, m), (x, y) = test.sizes, test.above(np.array([one.threshold for one in statements]))
    pairs = zip(statements, x.tolist(), y.tolist(), strict=True)
    return [(a, n, b, m) if one.forward else (m - b, m, n - a, n) for one, a, b in pairs]


def equal(choose: Tails, test: Tails) -> Array:
    """The same regions, 16 single sets in each direction at equal shares of the level."""
    survey = Survey.of(choose, GRID, min(test.sizes), 1.0 - LEVEL)
    promising = np.flatnonzero(survey.gain(1.0).max(axis=(0, 1)) > 0.0)
    at = GRID[
        np.unique(np.linspace(0, promising[-1] if len(promising) else 0, 16).round().astype(int))
    ]
    sets = [
        (way, float(one), float(e))
        for way in (0, 1)
        for one, e in zip(survey.best_thresholds(at)[way], at, strict=True)
    ]
    statements = [
        Statement(way == 0, threshold, (e,), (1.0 - LEVEL) / len(sets))
        for way, threshold, e in sets
    ]
    counts = test.above(np.array([one.threshold for one in statements]))
    regions = [
        one.region(int(x), test.sizes[0], int(y), test.sizes[1])
        for one, x, y in zip(statements, *counts, strict=True)
    ]
    return Certificate.of(regions, [one.forward for one in statements], LEVEL).delta_at(SHOWN)


def boxes(choose: Tails, test: Tails) -> Array:
    """Clopper–Pearson for P(S) and for Q(S) apart, over the sets and with the shares of `weighted`."""
    statements = _statements(choose, test)
    regions = []
    for one, (x, n, y, m) in zip(statements, _hits(statements, test), strict=True):
        ends = lower(y, m, 1e-9), upper(y, m, 0.5 * one.share)
        regions.append(Region(np.array(ends), np.full(2, lower(x, n, 0.5 * one.share))))
    return Certificate.of(regions, [one.forward for one in statements], LEVEL).delta_at(SHOWN)


def _ranks(n: int) -> np.ndarray:
    """Thinned: each order statistic near both ends, then in geometric steps, and even ones between."""
    ends = np.unique(np.geomspace(1, n / 2, RANKS // 3).astype(int))
    return np.unique(
        np.concatenate([ends, n + 1 - ends, np.linspace(1, n, RANKS // 3).astype(int)])
    )


@lru_cache
def _critical(n: int, kind: str) -> float:
    """Of the largest deviation of the thinned order statistics of n uniforms, at error (1 −
    LEVEL)/2.

    Their joint law is exact (sums of exponentials), the quantile simulated: two of its standard
    errors are added to its rank.
    """
    rank, rng = _ranks(n), np.random.default_rng(7)
    steps = np.diff(np.concatenate([[0], rank, [n + 1]]))
    sums = np.cumsum(rng.gamma(steps, size=(TRIALS, len(steps))), axis=1)
    uniform = sums[:, :-1] / sums[:, -1:]
    if kind == "Berk–Jones":
        worst = np.max(_divergence(rank / n, uniform), axis=1)
    else:
        below = betainc(rank, n + 1.0 - rank, uniform)
        worst = -np.min(np.minimum(below, 1.0 - below), axis=1)
    error = 0.5 * (1.0 - LEVEL)
    keep = TRIALS * (1.0 - error) + 2.0 * np.sqrt(TRIALS * error)
    return float(np.sort(worst)[int(keep)])


def _divergence(p: Array, q: Array) -> Array:
    """KL of Bernoulli(p) from Bernoulli(q)."""
    return np.asarray(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p) - xlogy(p, q) - xlogy(1.0 - p, 1.0 - q))


@lru_cache
def _limits(n: int, kind: str) -> tuple[Array, Array]:
    """Lower and upper limit of the cdf at each thinned order statistic."""
    rank, critical = _ranks(n), _critical(n, kind)
    if kind != "Berk–Jones":
        return betaincinv(rank, n + 1.0 - rank, -critical), betaincinv(
            rank, n + 1.0 - rank, 1.0 + critical
        )
    centre, ends = rank / n, []
    for end in (0.0, 1.0):
        inner, outer = centre.copy(), np.full_like(centre, end)
        for _ in range(60):
            middle = 0.5 * (inner + outer)
            with np.errstate(divide="ignore", invalid="ignore"):
                near = _divergence(centre, middle) <= critical
            inner, outer = np.where(near, middle, inner), np.where(near, outer, middle)
        ends.append(outer)
    return ends[0], ends[1]


def _order_band(kind: str) -> Band:
    def band(choose: Tails, test: Tails) -> Array:
        return np.maximum(
            _order_low(test.p, test.q, kind), _order_low(-test.q[::-1], -test.p[::-1], kind)
        )

    return band


def _order_low(p: Array, q: Array, kind: str) -> Array:
    """Sets {score ≥ the i-th of the sorted p}, all thinned i at once."""
    rank_p, rank_q = _ranks(len(p)), _ranks(len(q))
    at = p[rank_p - 1]
    have = 1.0 - _limits(len(p), kind)[1]
    # thinned q's below `at`
    last = np.searchsorted(rank_q, np.searchsorted(q, at, side="left"), side="right")
    most = 1.0 - np.concatenate([[0.0], _limits(len(q), kind)[0]])[last]
    return np.clip(np.max(have - np.exp(SHOWN)[:, None] * most, axis=1), 0.0, 1.0)


def dkw(choose: Tails, test: Tails) -> Array:
    """Dvoretzky–Kiefer–Wolfowitz with Massart's constant on both error curves."""
    n, m = test.sizes
    at = np.quantile(np.concatenate([test.p, test.q]), np.linspace(0.0, 1.0, 2000), method="lower")
    p, q = (count / size for count, size in zip(test.above(at), (n, m), strict=True))
    wide_p, wide_q = (np.sqrt(np.log(4.0 / (1.0 - LEVEL)) / (2.0 * size)) for size in (n, m))
    gamma = np.exp(SHOWN)[:, None]
    forward = np.max(p - wide_p - gamma * (q + wide_q), axis=1)
    backward = np.max(1.0 - q - wide_q - gamma * (1.0 - p + wide_p), axis=1)
    return np.clip(np.maximum(forward, backward), 0.0, 1.0)


BANDS: dict[str, Band] = {
    "(b) weighted joint inversion, 41 ε (the default)": weighted,
    "(b) the same, 4 ε": weighted_four,
    "(a) joint inversion at equal shares, 41 ε": equal,
    "(c) Clopper–Pearson boxes, the sets of (b)": boxes,
    "(d) beta bands of equal local level": _order_band("beta"),
    "(d) Berk–Jones": _order_band("Berk–Jones"),
    "(e) DKW": dkw,
}


def crossfit(folds: int, average: bool) -> Callable[[Array, Array], Array]:
    """Each fold certifies with sets that the others chose; 4 ε. Bonferroni over folds, or twice the
    mean p-value.

    One fold: no crossing, a quarter chooses and three quarters certify.

    Counts pooled over folds would be no binomials: each fold's draws shape the sets in which the
    others are counted. P-values of the mean are normal ones, for the comparison only; 8 statements
    share the level.
    """

    def band(p: Array, q: Array) -> Array:
        if folds == 1:
            cut = len(p) // 4
            return certify(Tails.of(p[:cut], q[:cut]), Tails.of(p[cut:], q[cut:]), SHOWN, LEVEL).low
        parts = [(np.array_split(p, folds)[k], np.array_split(q, folds)[k]) for k in range(folds)]
        lows, sides = [], []
        for k, test in enumerate(parts):
            rest = [
                np.concatenate([one[side] for i, one in enumerate(parts) if i != k])
                for side in (0, 1)
            ]
            choose, held = Tails.of(rest[0], rest[1]), Tails.of(*test)
            if average:
                sides.append(_normal(choose, held))
            else:
                lows.append(certify(choose, held, SHOWN, 1.0 - (1.0 - LEVEL) / folds).low)
        return _twice_the_mean(np.array(sides)) if average else np.max(lows, axis=0)

    return band


def _normal(choose: Tails, test: Tails) -> Array:
    """Estimates and standard errors, (2 numbers, 2 directions, 4 ε)."""
    survey = Survey.of(choose, SHOWN, min(test.sizes), 1.0 - LEVEL)
    p, q = (
        count / size
        for count, size in zip(test.above(survey.best_thresholds(SHOWN)), test.sizes, strict=True)
    )
    p, q = np.stack([p[0], 1.0 - q[1]]), np.stack([q[0], 1.0 - p[1]])
    gamma, n = np.exp(SHOWN), min(test.sizes)
    return np.array([p - gamma * q, np.sqrt((p * (1 - p) + gamma**2 * q * (1 - q)) / n + 1e-18)])


def _twice_the_mean(sides: Array) -> Array:
    low = np.zeros((2, len(SHOWN)))
    for place in np.ndindex(low.shape):
        value, error = (sides[:, number, *place] for number in (0, 1))

        def lack(d0: float, value: Array = value, error: Array = error) -> float:
            return float(2.0 * np.mean(ndtr((d0 - value) / error)) - (1.0 - LEVEL) / 8.0)

        low[place] = brentq(lack, float(np.min(value - 9.0 * error)), 1.0)
    return np.clip(low.max(axis=0), 0.0, 1.0)


CROSSFIT = {
    "(b) weighted joint inversion on 3/4 of N, 4 ε": crossfit(1, average=False),
    "(f) cross-fitting, 2 folds, Bonferroni, 4 ε": crossfit(2, average=False),
    "(f) cross-fitting, 5 folds, Bonferroni, 4 ε": crossfit(5, average=False),
    "(f) cross-fitting, 2 folds, 2 × mean p, 4 ε": crossfit(2, average=True),
    "(f) cross-fitting, 5 folds, 2 × mean p, 4 ε": crossfit(5, average=True),
}


def oracle(task: Task, samples: int) -> Array:
    """Pointwise, the better direction: the best set by the true laws, its mean counts, two limits
    at 97.5 %.
    """
    rng, n = np.random.default_rng(0), samples // 2
    at = np.quantile(np.concatenate(task.sides(rng, 100_000)), np.linspace(0.0, 1.0, 2001)[1:-1])
    p, q = task.tail(at - 1e-9, True), task.tail(at - 1e-9, False)
    low = np.zeros(len(SHOWN))
    for have, most in ((p, q), (1.0 - q, 1.0 - p)):
        for i, gamma in enumerate(np.exp(SHOWN)):
            k = int(np.argmax(have - gamma * most))
            x, y = round(n * have[k]), round(n * most[k])
            low[i] = max(low[i], lower(x, n, 0.025) - gamma * upper(y, n, 0.025))
    return low


@dataclass(frozen=True)
class Row:
    """Medians over replications: share of the true δ at SHOWN, CPU seconds."""

    name: str
    share: Array
    seconds: float


def compare(task: Task, samples: int, replications: int, seed: int = 1) -> list[Row]:
    """Every band on the same draws."""
    found: dict[str, list[tuple[Array, float]]] = {}
    for number in range(replications):
        rng = generator(np.random.SeedSequence(seed), samples, number)
        p, q = task.sides(rng, samples)
        cut, end = samples // 10, samples // 10 + samples // 2
        halves = (p[:cut], q[:cut]), (p[cut:end], q[cut:end])
        for name, band in BANDS.items():
            found.setdefault(name, []).append(
                _timed(partial(band, Tails.of(*halves[0]), Tails.of(*halves[1])))
            )
        for name, whole in CROSSFIT.items():
            found.setdefault(name, []).append(_timed(partial(whole, p, q)))
    truth = task.delta(SHOWN)
    scale = np.where(truth > 0.0, truth, np.inf if np.any(truth > 0.0) else 1.0)
    rows = [
        Row(
            name,
            np.median([low for low, _ in runs], axis=0) / scale,
            float(np.median([s for _, s in runs])),
        )
        for name, runs in found.items()
    ]
    return [
        *rows,
        Row(
            "(g) pointwise, one direction, best set known",
            np.maximum(oracle(task, samples), 0.0) / scale,
            0.0,
        ),
    ]


def _timed(work: Callable[[], Array]) -> tuple[Array, float]:
    begin = time.process_time()
    low = work()
    return low, time.process_time() - begin


def small_delta(samples: tuple[int, ...] = (1_000_000, 10_000_000), replications: int = 11) -> str:
    """Markdown: T1 where the true δ is 1e-2 … 1e-6, half of the draws certifying: the median
    certified share.
    """
    task = TASKS[0]
    at = np.array(
        [
            brentq(lambda e, d=d: float(task.delta(np.array([e]))[0]) / d - 1.0, 0.0, 8.0)
            for d in SMALL
        ]
    )
    grid = np.unique(np.concatenate([np.linspace(0.0, 4.0, 41), at]))
    have, most = ndtr(0.5 - at), ndtr(-0.5 - at)  # of the best set at each ε
    needed = 9.0 * (have + np.exp(2.0 * at) * most) / np.array(SMALL) ** 2
    each = [
        head
        for size in samples
        for head in (f"N = {size:.0e}: share of δ", "ε certified at this δ")
    ]
    cells = []
    for size in samples:
        bands = []
        for number in range(replications):
            rng = generator(np.random.SeedSequence(3), size, number)
            choose = Tails.of(*task.sides(rng, size // 10))
            bands.append(certify(choose, Simulated(task, size // 2, rng), grid, LEVEL).certified)
        share = np.median([band.delta_at(at) for band in bands], axis=0) / SMALL
        reach = np.median([band.epsilon_at(np.array(SMALL)) for band in bands], axis=0)
        cells.append((share, reach))
    rows = []
    for i, delta in enumerate(SMALL):
        shown = [f"{one[i]:.3f}" for pair in cells for one in pair]
        rows.append([f"{delta:.0e}", f"{at[i]:.3f}", f"{needed[i]:.1e}", *shown])
    return table(["true δ", "ε", "n with 3 σ = δ", *each], rows)


INTRODUCTION = f"""# Bands compared

Printed by `python -m reports.make bands`. Certified δ as a share of the true δ at ε = 0, 0.5, 1, 2, medians over
replications, and CPU seconds; N draws a side in all, the true likelihood ratio as the score, level {LEVEL}, every band
simultaneous over all ε and both directions but (g). Null: the certified δ itself.

* (a), (b), (c) hold at every ε; (b) gives most of the level to the direction that promises more, unequal shares to
  stretches of ε, and {REST_SHARE:.0%} to the other direction.
* (d) bounds both error curves at {RANKS} thinned order statistics; the exact finite-sample critical value of those is
  simulated from {TRIALS:,} draws of their joint law and raised by two standard errors. Being two bands, one for each
  law, it pays for P(S) and for Q(S) apart.
* (f) uses all N to choose and to certify, in folds. Pooled counts would be no binomials, since each fold's draws shape
  the sets in which the others are counted. Valid are Bonferroni over folds, which takes the larger of the folds' bounds
  and so gains by chance more than half the level costs (0.56 against 0.23 standard errors at two folds), and twice the
  mean p-value. Both train a score for each fold; one split of which 3/4 certify has the smaller margin by a fifth.
* (g) is not a band: the best set is known, one ε, one direction, two Clopper–Pearson limits at 97.5 % on N/2 draws.
"""


def page(sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000), replications: int = 11) -> str:
    """All tables in Markdown."""
    null = replace(next(pair for pair in PAIRS if pair.name == "null (P = Q)"), name="null")
    parts = [INTRODUCTION]
    for size in sizes:
        rows = [
            [row.name, task.name, *(f"{share:.3f}" for share in row.share), f"{row.seconds:.3f}"]
            for task in (*TASKS, null)
            for row in compare(task, size, replications)
        ]
        parts.append(
            f"\n## N = {size:,}\n\n"
            + table(["band", "task", "ε = 0", "0.5", "1", "2", "CPU s"], rows)
        )
    parts += ["\n## Small δ: N(0, 1) against N(1, 1)\n", small_delta(), _SMALL_NOTE]
    return "\n".join(parts)


_SMALL_NOTE = """
A share of 0 means that nothing is certified there: the best set's P(S) − e^ε Q(S) is then within three of its standard
errors of 0, and so it stays, with any band, until the certifying draws are the n of the third column.
"""


def report(folder: Path = REPORTS) -> None:
    """Write bands.md."""
    text = page()
    write(folder / "bands.md", text)
    print(text)
