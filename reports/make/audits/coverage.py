"""How often the certified band exceeds the truth: simulated audits on pairs whose spectrum is
known.

Scores are simulated as a trained score would give them, true or mis-specified, with ties or
without, and with sets that are hard on a band; everything from the choice of sets to the band is
what an audit runs. The choosing scores are drawn; the certifying counts come straight from their
multinomial law, so that 2,000 audits of 10⁶ draws are cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtr, stdtr
from scipy.stats import beta

from dpaudit import exact
from dpaudit._core.check import Array
from dpaudit._core.seeds import generator
from dpaudit.certify.band import Certificate
from dpaudit.certify.sets import Survey, Tails, plan
from dpaudit.curves import readings
from reports.make import page
from reports.make.audits.tasks import TASKS, Simulated, Task

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])  # planned for; the band is checked on DENSE
DENSE = np.unique(np.concatenate([EPSILON, np.linspace(0.0, 6.0, 121), [8.0, 10.0, 14.0]]))
SIZES = (200, 5_000, 100_000, 1_000_000)
CHOOSING = 5_000  # at most; a fifth of the certifying draws where that is less
UNLIKELY = 1.2  # standard errors; a p-value of 0.11
READINGS = ("the band at any ε", "forward", "backward", "ε at δ = 0", "Gaussian μ")


def _shift(is_p: bool) -> float:
    return 0.5 if is_p else -0.5


def _blurred_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return _shift(is_p) + np.sqrt(5.0) * rng.standard_normal(size)


def _blurred_tail(threshold: Array, is_p: bool) -> Array:
    return np.asarray(ndtr((_shift(is_p) - threshold) / np.sqrt(5.0)))


def _folded_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return np.abs(rng.standard_normal(size) + _shift(is_p) - 0.2)


def _folded_tail(threshold: Array, is_p: bool) -> Array:
    mean = _shift(is_p) - 0.2
    return np.where(threshold < 0.0, 1.0, ndtr(mean - threshold) + ndtr(-mean - threshold))


def _rounded_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return np.round(rng.standard_normal(size) + _shift(is_p))


def _rounded_tail(threshold: Array, is_p: bool) -> Array:
    return np.asarray(ndtr(_shift(is_p) - np.floor(threshold) - 0.5))


def _null_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return rng.standard_normal(size)


def _null_tail(threshold: Array, is_p: bool) -> Array:
    return np.asarray(ndtr(-threshold))


def _sketch_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return rng.chisquare(3, size) * (1.0 if is_p else 0.5)


def _sketch_tail(threshold: Array, is_p: bool) -> Array:
    from scipy.special import chdtrc

    return np.asarray(chdtrc(3, np.maximum(threshold, 0.0) / (1.0 if is_p else 0.5)))


_H, _T, _ROWS = 0.4, 0.2, 6
_AT, _ROOT = np.sqrt(_H * _T / (1.0 - _H)), np.sqrt((1.0 - _H) / (1.0 - _T))


def _als_draw(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    x = rng.standard_normal(size) / np.sqrt(rng.chisquare(_ROWS, size))
    x = x if is_p else _AT + x / _ROOT
    return np.asarray(np.log1p((_ROOT * (x - _AT)) ** 2) - np.log1p(x**2))


def _als_tail(threshold: Array, is_p: bool) -> Array:
    """The loss exceeds τ where 1 + ρ²(x − s)² > e^τ (1 + x²): outside or between the roots of a
    quadratic.
    """
    square, half = _ROOT**2 - np.exp(threshold), _ROOT**2 * _AT
    inside = half**2 - square * (1.0 + half * _AT - np.exp(threshold))
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.sort(
            (half + np.array([[-1.0], [1.0]]) * np.sqrt(np.maximum(inside, 0.0))) / square, axis=0
        )
    x = roots if is_p else (roots - _AT) * _ROOT
    between = np.where(inside > 0.0, np.diff(stdtr(_ROWS, x * np.sqrt(_ROWS)), axis=0)[0], 0.0)
    return np.where(square > 0.0, 1.0 - between, between)


def _discrete(name: str, p: tuple[float, ...], q: tuple[float, ...]) -> Task:
    """Outcomes 0, 1, … with these probabilities, each its own score."""
    laws = {True: np.array(p), False: np.array(q)}

    def tail(threshold: Array, is_p: bool) -> Array:
        above = np.append(np.cumsum(laws[is_p][::-1])[::-1], 0.0)
        return np.asarray(above[np.clip(np.floor(threshold) + 1.0, 0, len(above) - 1).astype(int)])

    def truth(epsilon: Array) -> tuple[Array, Array]:
        gamma = np.exp(epsilon)[:, None]
        gains = laws[True] - gamma * laws[False], laws[False] - gamma * laws[True]
        forward, backward = (np.clip(gain, 0.0, None).sum(axis=1) for gain in gains)
        return forward, backward

    return Task(
        name,
        lambda rng, size, is_p: rng.choice(len(p), size, p=laws[is_p]).astype(float),
        tail,
        truth,
    )


def _zero(epsilon: Array) -> tuple[Array, Array]:
    return np.zeros_like(epsilon), np.zeros_like(epsilon)


def _sketch_truth(epsilon: Array) -> tuple[Array, Array]:
    return exact.gaussian_sketch(0.5, 3, epsilon)


def _als_truth(epsilon: Array) -> tuple[Array, Array]:
    return exact.als(_H, _T, 1, _ROWS, epsilon)


_COIN = 1.0 / (1.0 + np.e)
PAIRS = (
    Task("Gaussian shift, true score", TASKS[0].draw, TASKS[0].tail, TASKS[0].truth),
    Task("Gaussian shift, blurred score", _blurred_draw, _blurred_tail, TASKS[0].truth),
    Task("Gaussian shift, folded score", _folded_draw, _folded_tail, TASKS[0].truth),
    Task("Gaussian shift, rounded score (ties)", _rounded_draw, _rounded_tail, TASKS[0].truth),
    Task("sketch r = 3, q = 0.5", _sketch_draw, _sketch_tail, _sketch_truth),
    Task("ALS p = 1, r = 6", _als_draw, _als_tail, _als_truth),
    TASKS[1],
    Task("Laplace, shift 1 (atoms)", TASKS[3].draw, TASKS[3].tail, TASKS[3].truth),
    _discrete("randomised response, ε = 1", (_COIN, 1.0 - _COIN), (1.0 - _COIN, _COIN)),
    _discrete("infinite loss of mass 0.01", (0.5, 0.49, 0.01), (0.5, 0.5, 0.0)),
    _discrete("rare in Q: 0.02 against 1e-5", (0.98, 0.02), (1.0 - 1e-5, 1e-5)),
    Task("null (P = Q)", _null_draw, _null_tail, _zero),
    _discrete("null (P = Q), three values", (1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3)),
    _discrete("null (P = Q), rare value", (1.0 - 1e-4, 1e-4), (1.0 - 1e-4, 1e-4)),
)


@dataclass(frozen=True)
class Truth:
    """What a band on one pair must not exceed: both δ(ε) on DENSE, the pure ε and the largest μ's
    Gaussian curve.
    """

    forward: Array
    backward: Array
    pure: float
    gaussian: Array

    @classmethod
    def of(cls, pair: Task) -> Truth:
        forward, backward = (np.asarray(one) for one in pair.truth(DENSE))
        largest = np.maximum(forward, backward)
        mu = float(np.max(readings.gdp_mu(DENSE, largest)))
        return cls(
            forward,
            backward,
            _pure(pair),
            exact.gaussian_shift(mu, DENSE) if mu > 0.0 else 0.0 * DENSE,
        )


def _pure(pair: Task) -> float:
    """The least ε of a fine ladder with δ = 0 to 1e-13: beyond it is out of reach of any number of
    draws here.
    """
    ladder = np.linspace(0.0, 40.0, 40_001)
    gone = pair.delta(ladder) <= 1e-13
    return float(ladder[np.argmax(gone)]) if gone.any() else np.inf


def exceedances(pair: Task, size: int, audits: int, seed: int, n_jobs: int = 2) -> np.ndarray:
    """In how many of `audits` each of READINGS at level 0.95 exceeds the truth; `size` draws a side
    certify; (5,).
    """
    truth, key = Truth.of(pair), (PAIRS.index(pair), size)
    wrong = Parallel(n_jobs=n_jobs)(
        delayed(_exceeds)(*key, truth, seed, number) for number in range(audits)
    )
    return np.sum(wrong, axis=0)


def _exceeds(pair: int, size: int, truth: Truth, seed: int, number: int) -> list[bool]:
    """The band is read between and beyond the ε that it was planned for, too."""
    rng = generator(np.random.SeedSequence(seed), pair, size, number)
    task = PAIRS[pair]
    choose = Tails.of(*task.sides(rng, max(min(size // 5, CHOOSING), 20)))
    band = _band(task, choose, Simulated(task, size, rng))
    forward, backward = (band.direction(way).delta_at(DENSE) for way in (True, False))
    low, slack = np.maximum(forward, backward), 1e-12
    largest = np.maximum(truth.forward, truth.backward)
    return [
        bool(np.any(low > largest + slack)),
        bool(np.any(forward > truth.forward + slack)),
        bool(np.any(backward > truth.backward + slack)),
        float(band.epsilon_at(0.0)) > truth.pure + 1e-3,
        bool(
            np.any(low > truth.gaussian + slack)
        ),  # then, and only then, is the band's μ larger than the truth's
    ]


def _band(task: Task, choose: Tails, test: Simulated, unlikely: float = UNLIKELY) -> Certificate:
    """What `estimate.certify` certifies, less the regions that cannot exceed the truth.

    A region exceeds it only if it misses the true (P(S), Q(S)), which it cannot where P̂(S) −
    γQ̂(S) is above the truth by less than `unlikely` of its standard errors at every γ: the p-value
    is then above any statement's share.
    """
    statements = plan(Survey.of(choose, EPSILON, min(test.sizes), 0.05))
    threshold = np.array([one.threshold for one in statements])
    (n, m), (x, y) = test.sizes, test.above(threshold)
    p, q = task.tail(threshold, True), task.tail(threshold, False)
    error_p, error_q = np.sqrt(p * (1.0 - p) / n), np.sqrt(q * (1.0 - q) / m)
    off = np.stack([x / n - p, q - y / m])
    gamma = np.exp(np.linspace(-12.0, 12.0, 97))[:, None]  # of either direction, and of ratios
    above = np.max(
        (off[0] + gamma * off[1]) / np.maximum(np.hypot(error_p, gamma * error_q), 1e-300), axis=0
    )
    kept = np.flatnonzero(above >= unlikely)
    regions = [statements[i].region(int(x[i]), n, int(y[i]), m) for i in kept]
    return Certificate.of(regions, [statements[i].forward for i in kept], 0.95)


def upper_95(count: int, audits: int) -> float:
    """Clopper–Pearson 95 % upper limit of the rate."""
    return float(beta.ppf(0.95, count + 1, audits - count)) if count < audits else 1.0


def _worth(pair: Task, size: int) -> bool:
    """A score far from the truth never comes near the limit, and no less so with more draws."""
    return size <= 5_000 or not any(
        word in pair.name for word in ("blurred", "folded", "ALS", "T2")
    )


def _rate(count: int, audits: int) -> str:
    return f"{count / audits:.2%} [{upper_95(count, audits):.2%}]" if count >= 0 else ""


def table(audits: int = 2000, sizes: tuple[int, ...] = SIZES) -> str:
    """Markdown: exceedance rate of every pair and size with its upper limit, and each reading's
    largest rate.
    """
    counts = np.array(
        [
            [
                exceedances(pair, size, audits, seed=2026)
                if _worth(pair, size)
                else [-1] * len(READINGS)
                for size in sizes
            ]
            for pair in PAIRS
        ]
    )
    heads = [f"{size:,} certify" for size in sizes]
    rows = [
        [pair.name, *(_rate(count, audits) for count in row)]
        for pair, row in zip(PAIRS, counts[..., 0], strict=True)
    ]
    worst = [
        [reading, *(f"{one / audits:.2%}" for one in counts[:, :, number].max(axis=0))]
        for number, reading in enumerate(READINGS)
    ]
    lines = [
        f"Share of {audits:,} simulated audits a cell whose band (level 0.95, all ε, both directions) exceeds the true",
        "δ(ε) at any ε; in brackets the 95 % upper limit of that rate. Nominal: at most 5 %.",
        "",
        page.table(["pair", *heads], rows),
        "",
        "The largest rate over the pairs, for each thing read off the band:",
        "",
        page.table(["reading", *heads], worst),
    ]
    return "\n".join(lines)


def report() -> None:
    """Print the tables and write reports/coverage.md."""
    text = f"# Coverage of the certified band\n\nPrinted by `python -m reports.make coverage`.\n\n{table()}"
    print(text)
    page.write(page.REPORTS / "coverage.md", text)
