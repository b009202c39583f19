"""How often the certified band exceeds the truth: simulated audits on pairs whose spectrum is known.

Scores are simulated as a trained score would give them, true or mis-specified, with ties or without; everything from
the choice of sets to the band is what an audit runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import beta

from dpaudit import exact
from dpaudit._check import Array
from dpaudit._random import generator
from dpaudit.estimate import estimate

EPSILON = np.array([0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
Draw = Callable[[np.random.Generator, int, bool], Array]


@dataclass(frozen=True)
class Pair:
    """Scores of both sides, (rng, size, is P) → (size,), and the true spectrum on EPSILON."""

    name: str
    draw: Draw
    truth: Callable[[], Array]


def _shift(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return rng.standard_normal(size) + (0.5 if is_p else -0.5)


def _blurred(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    """A score that has learned only part of the difference."""
    return _shift(rng, size, is_p) + 2.0 * rng.standard_normal(size)


def _folded(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    """A score that is not monotone in the loss."""
    return np.abs(_shift(rng, size, is_p) - 0.2)


def _rounded(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    """A score with few values: ties everywhere."""
    return np.round(_shift(rng, size, is_p))


def _null(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return rng.standard_normal(size)


def _null_ties(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    return rng.integers(0, 3, size).astype(np.float64)


def _sketch(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    """χ²₃ rows, q = 0.5: the loss is linear in the sum of squares along v."""
    return rng.chisquare(3, size) * (1.0 if is_p else 0.5)


def _als(rng: np.random.Generator, size: int, is_p: bool) -> Array:
    """ALS with one feature, r = 6, h = 0.4, t = 0.2: the score is the true loss."""
    h, t, rows = 0.4, 0.2, 6
    shift, root = np.sqrt(h * t / (1.0 - h)), np.sqrt((1.0 - h) / (1.0 - t))
    x = rng.standard_normal(size) / np.sqrt(rng.chisquare(rows, size))
    x = x if is_p else shift + x / root
    return np.asarray(np.log1p((root * (x - shift)) ** 2) - np.log1p(x**2))


def _largest(curves: tuple[Array, Array]) -> Array:
    return np.maximum(*curves)


def _zero() -> Array:
    return np.zeros_like(EPSILON)


def _gaussian() -> Array:
    return exact.gaussian_shift(1.0, EPSILON)


PAIRS = (
    Pair("Gaussian shift, true score", _shift, _gaussian),
    Pair("Gaussian shift, blurred score", _blurred, _gaussian),
    Pair("Gaussian shift, folded score", _folded, _gaussian),
    Pair("Gaussian shift, rounded score", _rounded, _gaussian),
    Pair("sketch r = 3, q = 0.5", _sketch, lambda: _largest(exact.gaussian_sketch(0.5, 3, EPSILON))),
    Pair("ALS p = 1, r = 6", _als, lambda: _largest(exact.als(0.4, 0.2, 1, 6, EPSILON))),
    Pair("null (P = Q)", _null, _zero),
    Pair("null (P = Q), three values", _null_ties, _zero),
)


def exceedances(pair: Pair, size: int, audits: int, seed: int, n_jobs: int = 2) -> int:
    """In how many of `audits` the band at level 0.95 exceeds the truth at ANY ε; `size` draws a side certify."""
    truth = pair.truth()
    key = PAIRS.index(pair), size
    return int(sum(Parallel(n_jobs=n_jobs)(delayed(_exceeds)(*key, truth, seed, number) for number in range(audits))))


def _exceeds(pair: int, size: int, truth: Array, seed: int, number: int) -> bool:
    rng = generator(np.random.SeedSequence(seed), pair, size, number)
    draw = PAIRS[pair].draw
    choose, test = ((draw(rng, part, True), draw(rng, part, False)) for part in (max(size // 5, 20), size))
    return bool(np.any(estimate(choose, test, EPSILON, 0.95).low > truth))


def upper_95(count: int, audits: int) -> float:
    """Clopper–Pearson 95 % upper limit of the rate."""
    return float(beta.ppf(0.95, count + 1, audits - count))


def table(audits: int = 2000, sizes: tuple[int, ...] = (200, 5_000)) -> str:
    """Markdown: exceedance rate of every pair and size, with its upper limit."""
    lines = [
        f"Share of {audits:,} simulated audits a cell whose band (level 0.95, all ε and both directions) exceeds the",
        "true δ(ε) at any ε; in brackets the 95 % upper limit of that rate. Nominal: at most 5 %.",
        "",
        "| pair | " + " | ".join(f"{size:,} certify" for size in sizes) + " |",
        "| --- |" + " --- |" * len(sizes),
    ]
    for pair in PAIRS:
        cells = [exceedances(pair, size, audits, seed=2026) for size in sizes]
        shown = [f"{count / audits:.2%} [{upper_95(count, audits):.2%}]" for count in cells]
        lines.append(f"| {pair.name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)
