"""What the final model alone shows of DP-SGD: initial weights, canaries, and how many runs.

Logistic regression, full batch, ε = 10 at δ = 10⁻⁵ whatever the steps: 100 images of zeros and ones
of scikit-learn's digits, 20 steps, add or remove one row. Only the weights after the last step are
seen, and of them only the loss on the canary, as in Annamalai & De Cristofaro 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_digits

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.curves.readings import gdp_mu
from dpaudit.neighbours import NeighbourPair
from reports.make import page

EPSILON, DELTA, LEVEL = 10.0, 1e-5, 0.95
ROWS, STEPS, RATE, CLIP = 100, 20, 0.05, 1.0
RUNS, MANY, SEEDS = (100, 1_000), 1_000_000, 5
MARGIN = 30.0  # of the crafted weights against the canary, which twenty steps do not undo
ASCENT, STRIDE = 60, 0.5  # steps of a metagradient, and the length of each
BLOCK = 20_000  # runs trained at once
MU = float(gdp_mu(np.array(EPSILON), np.array(DELTA)))
HEAD = (
    "initial weights",
    "canary",
    *(f"{runs:,} runs a side, Gaussian DP" for runs in RUNS),
    f"{RUNS[-1]:,} runs a side, any curve",
)
POOL, POOL_RUNS = 10, 200


@dataclass(frozen=True, eq=False)
class FullBatch:
    """Full-batch DP-SGD of a logistic model from `initial` weights (p,), many runs at once.

    noise : the noise multiplier σ; √STEPS/μ makes all steps μ-GDP.
    """

    initial: Array
    noise: float = np.sqrt(STEPS) / MU

    def __call__(self, data: Array, size: int, *, rng: np.random.Generator) -> Array:
        """The final weights of `size` runs on `data` (n, p + 1), the label last; (size, p)."""
        blocks = [min(BLOCK, size - start) for start in range(0, size, BLOCK)]
        return np.concatenate([self._train(data, block, rng) for block in blocks])

    def _train(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        features, labels = data[:, :-1].astype(np.float32), data[:, -1].astype(np.float32)
        lengths = np.linalg.norm(features, axis=1)
        weights = np.tile(self.initial.astype(np.float32), (size, 1))
        for _ in range(STEPS):
            residual = expit(weights @ features.T) - labels
            most = CLIP / lengths
            total = np.clip(residual, -most, most) @ features
            if self.noise:
                total += self.noise * CLIP * rng.standard_normal(weights.shape, dtype=np.float32)
            weights -= RATE * total
        return weights.astype(np.float64)


def images() -> tuple[Array, Array]:
    """Zeros and ones, private and public: 64 pixels from 0 to 1, a constant 1, the label."""
    pixels, digits = load_digits(return_X_y=True)
    chosen = digits < 2
    data = np.column_stack([pixels[chosen] / 16.0, np.ones(chosen.sum()), digits[chosen]])
    return data[:ROWS], data[ROWS:]


PRIVATE, PUBLIC = images()
LENGTH = float(np.linalg.norm(PRIVATE[:, :-1], axis=1).mean())
ZERO = np.zeros(PRIVATE.shape[1] - 1)


def pre_trained() -> Array:
    """Weights that fit the public rows, on which the private ones have short gradients."""
    weights = ZERO.copy()
    for _ in range(2_000):
        residual = expit(PUBLIC[:, :-1] @ weights) - PUBLIC[:, -1]
        weights -= 0.05 * residual @ PUBLIC[:, :-1]
    return weights


def against(weights: Array, canaries: Sequence[Array]) -> Array:
    """Weights moved so far against the labels of orthogonal canaries that gradients stay long."""
    for canary in canaries:
        row = canary[:-1]
        wrong = -MARGIN if canary[-1] else MARGIN
        weights = weights + (wrong - row @ weights) * row / (row @ row)
    return weights


def mislabelled(initial: Array) -> Array:
    """The public row on which the initial weights are surest, with the other label."""
    row = PUBLIC[int(np.argmax(np.abs(PUBLIC[:, :-1] @ initial)))].copy()
    row[-1] = 1.0 - row[-1]
    return row


def blank(initial: Array) -> Array:
    """No ink, with the label that the initial weights find less likely."""
    return _labelled(np.append(np.zeros(64), 1.0), initial)


def quiet(initial: Array) -> Array:
    """ClipBKD: in the direction in which the rows vary least, as long as they are in the mean."""
    return several(1, initial)[0]


def several(count: int, initial: Array) -> list[Array]:
    """So many rows in the directions in which the rows vary least, orthogonal to each other."""
    _, directions = np.linalg.eigh(PUBLIC[:, :-1].T @ PUBLIC[:, :-1])
    return [_labelled(LENGTH * directions[:, i], initial) for i in range(count)]


def metagradient(initial: Array) -> Array:
    """A row, no longer than the mean, made by ascent through the training without noise.

    What rises is by how much the row changes its own final score, in units of its length, by
    central differences over its pixels. It starts from the mislabelled row.
    """
    row = mislabelled(initial)
    train, rng = FullBatch(initial, 0.0), np.random.default_rng(0)
    away = train(PRIVATE, 1, rng=rng)[0]

    def gain(pixels: Array) -> float:
        inside = train(np.vstack([PRIVATE, np.append(pixels, row[-1])]), 1, rng=rng)[0]
        return abs(float((inside - away) @ pixels)) / float(np.linalg.norm(pixels))

    pixels = row[:-1].copy()
    for _ in range(ASCENT):
        slope = [gain(pixels + e) - gain(pixels - e) for e in 1e-2 * np.eye(len(pixels))]
        pixels += STRIDE * np.array(slope) / max(float(np.linalg.norm(slope)), 1e-12)
        pixels *= min(1.0, LENGTH / float(np.linalg.norm(pixels)))
    return np.append(pixels, row[-1])


def _labelled(pixels: Array, initial: Array) -> Array:
    return np.append(pixels, float(pixels @ initial <= 0.0))


def score(canary: Array, weights: Array) -> Array:
    """Log-odds of the canary's label, which fall with its loss, (size,), by weights (size, p)."""
    return np.asarray(weights @ canary[:-1] * (1.0 if canary[-1] else -1.0))


def audited(initial: Array, canary: Array, draws: int, seed: int) -> dp.AuditResult:
    """Two samples of final models, with and without the canary."""
    pair = NeighbourPair(np.vstack([PRIVATE, canary]), PRIVATE)
    return dp.audit(
        FullBatch(initial),
        pair,
        draws=draws,
        claim=dp.Claim.gdp(MU),
        classifier=dp.scoring.KnownScore(partial(score, canary)),
        level=LEVEL,
        rng=seed,
    )


def pooled(count: int, runs: int, seed: int) -> float:
    """The ε of the certified μ of `runs` runs, in each of which `count` canaries have coins.

    All coins are independent, so the runs together are one run of a mechanism that claims the same
    of each canary.
    """
    rng, canaries = np.random.default_rng(seed), several(count, pre_trained())
    train = FullBatch(against(pre_trained(), canaries))
    coins = rng.random((runs, count)) < 0.5
    scores = []
    for coin in coins:
        inserted = [row for row, inside in zip(canaries, coin, strict=True) if inside]
        weights = train(np.vstack([PRIVATE, *inserted]), 1, rng=rng)
        scores.append([float(score(row, weights)[0]) for row in canaries])
    result = dp.audit_one_run(np.ravel(scores), coins.ravel(), level=LEVEL, delta=DELTA)
    return epsilon_of(result.gdp_mu)


def epsilon_of(mu: float) -> float:
    """ε at `DELTA` of μ-Gaussian DP, nats."""
    return float(dp.Claim.gdp(mu).epsilon_at(DELTA)) if mu > 0.0 else 0.0


KINDS: dict[str, Callable[[Array], Array]] = {
    "a real row, wrong label": mislabelled,
    "blank": blank,
    "ClipBKD": quiet,
    "metagradient": metagradient,
}


def settings() -> list[tuple[str, str, Array, Array]]:
    """Initial weights and canary, in words and as arrays."""
    fitted = pre_trained()
    named = (("zero", ZERO), ("fit to other rows", fitted))
    each = [(name, kind, at, KINDS[kind](at)) for name, at in named for kind in KINDS]
    canary = quiet(fitted)
    return [*each, ("the same, against the canary", "ClipBKD", against(fitted, [canary]), canary)]


def final_table(seeds: int = SEEDS) -> list[tuple[str, ...]]:
    """Rows of text under `HEAD`: medians of ε at `DELTA` over the seeds, certified at `LEVEL`.

    With "Gaussian DP" it is the ε of the certified μ, as the paper has it; with "any curve" it is
    what the band certifies without that assumption.
    """
    rows = []
    for name, kind, initial, canary in settings():
        few, many = (
            [audited(initial, canary, runs, seed).certified for seed in range(seeds)]
            for runs in RUNS
        )
        certified = [np.median([epsilon_of(one.gdp_mu) for one in found]) for found in (few, many)]
        certified.append(np.median([float(one.epsilon_at(DELTA)) for one in many]))
        rows.append((name, kind, *page.decimals(certified, 2)))
    return rows


def report() -> None:
    """Print the table; what several canaries in each run show; and what a million runs show."""
    print(page.table(HEAD, final_table()))
    shown = np.median([pooled(POOL, POOL_RUNS, seed) for seed in range(SEEDS)])
    print(f"{POOL} canaries at once, {POOL_RUNS} runs, Gaussian DP: {shown:.2f}")
    *_, initial, canary = settings()[-1]
    most = audited(initial, canary, MANY, 0).certified
    either = float(most.epsilon_at(DELTA)), epsilon_of(most.gdp_mu)
    print(f"{MANY:,} runs a side: any curve {either[0]:.2f}, Gaussian DP {either[1]:.2f}")
