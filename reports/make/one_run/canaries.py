"""What one run can and cannot show: the papers' algorithms audited by canaries, beside the truth.

Every algorithm claims (ε, δ) = (8, 1e-5), or the μ-GDP that has this point. The data are 500 rows
of 50 features. Beside the ε certified from one run stand the exact ε of the worst pair and that of
one of the canaries; where no law is known, what 2,000 draws a side certify of that canary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import dpaudit as dp
from dpaudit import papers
from dpaudit._core.linalg import symmetric_matrix, upper_triangle
from dpaudit._core.types import Array, Mechanism
from dpaudit.certify.one_run.bound import epsilon_bound
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.readings import gdp_mu
from dpaudit.neighbours import NeighbourPair
from dpaudit.one_run.insertion import Observed, observe
from dpaudit.one_run.scores import Score
from dpaudit.papers.printed import algorithm_1_radius, theorem_4_3_radius
from reports.make import page

EPSILON, DELTA, LEVEL = 8.0, 1e-5, 0.95
ROWS, FEATURES = 500, 50
COUNTS, SEEDS = (100, 1000), 20
DRAWS = 2_000  # a side, of a two-sample audit
PILOT = 50  # runs that choose the canary of such an audit
GRID = np.linspace(0.0, 60.0, 1201)  # ε, nats, of exact curves
HEAD = (
    "algorithm",
    "released",
    "ε of its worst pair",
    "ε of one canary",
    *(f"one run, {count:,} canaries" for count in COUNTS),
)


@dataclass(frozen=True, eq=False)
class Setting:
    """A mechanism, and canaries that suit it.

    score : the rows that are known ↦ what tells which others are in.
    bounds : arguments of `dp.canaries`. worst : the curve of the pair on which it leaks most.
    exact : a pair ↦ its curve, or None where no law is known.
    """

    data: Array
    mechanism: Mechanism
    score: Callable[[Array], Score]
    bounds: dict[str, float | bool]
    relation: str
    worst: dp.Spectrum
    exact: Callable[[NeighbourPair], dp.Spectrum] | None = None

    def canaries(self, count: int, seed: int) -> dp.Canaries:
        """Canaries in orthogonal directions, as long as they may be."""
        return dp.canaries(self.data, count, rng=seed, **self.bounds)  # type: ignore[arg-type]

    def certified(self, count: int, seed: int) -> float:
        """ε at δ from one run, as `dp.audit_canaries` has it, without its verdict."""
        seen = self.seen(self.canaries(count, seed), seed)
        guesses = Guesses.of(seen.scores, seen.included, np.full(count, 0.5))
        return epsilon_bound(guesses, DELTA, 1.0 - LEVEL).value

    def seen(self, canaries: dp.Canaries, seed: int) -> Observed:
        """Scores and coins of one run."""
        score, relation = self.score(self.data), self.relation
        return observe(self.mechanism, self.data, canaries, score, relation=relation, rng=seed)

    def of_one_canary(self, count: int) -> str:
        """The exact ε of one canary where the others are in, or what draws certify of it."""
        canaries = self.canaries(count, 0)
        which = 0 if self.exact is not None else self._loudest(canaries)
        inserted = canaries.inserted(self.data, np.ones(count, dtype=bool))
        change = dp.neighbours.zero_row if self.relation == "zero-out" else dp.neighbours.remove_row
        place = len(self.data) + which
        pair = change(inserted, place)
        if self.exact is not None:
            return page.number(_epsilon(self.exact(pair)), 3)
        score, row = self.score(np.delete(inserted, place, axis=0)), canaries.rows[[which]]
        known = dp.scoring.KnownScore(
            lambda x: np.concatenate([np.asarray(score(draw, row)) for draw in x])
        )
        result = dp.audit(self.mechanism, pair, draws=DRAWS, classifier=known, rng=0)
        return f"at least {page.number(float(result.certified.epsilon_at(DELTA)), 3)}"

    def _loudest(self, canaries: dp.Canaries) -> int:
        """The canary whose scores differ most with its coin, in `PILOT` runs of their own."""
        seen = [self.seen(canaries, SEEDS + run) for run in range(PILOT)]
        scores = np.array([one.scores for one in seen])
        signs = np.where(np.array([one.included for one in seen]), 1.0, -1.0)
        return int(np.argmax(np.mean(signs * scores, axis=0) / scores.std(axis=0)))


@dataclass(frozen=True)
class Scaled:
    """A mechanism of Gaussian noise whose output is divided by the noise of each entry.

    deviation : the noise of each entry, infinite where the entry is to be left out.
    """

    mechanism: Mechanism
    deviation: Array

    def __call__(self, data: Array, size: int, *, rng: np.random.Generator) -> Array:
        """Draws with noise 1."""
        return np.asarray(self.mechanism(data, size, rng=rng) / self.deviation)


def ada_ssp(release: str, count: int, noise: float = 1.0) -> Setting:
    """Paper 3, algorithm 3, corrected. noise : the share of its noise that is added."""
    mechanism = papers.AdaSSP(EPSILON / noise, DELTA, release=release)
    worst = mechanism.joint_spectrum(mechanism.pair(), GRID)
    data, bounds = unit_rows(), {"row_bound": 1.0, "label_bound": 1.0}
    if release == "solution":
        return Setting(data, mechanism, _gradient("squared"), bounds, "add", worst)
    deviation = mechanism.law(data).deviation.copy()
    deviation[0] = np.inf  # λ_min says little of one canary

    def released(rows: Array) -> Array:
        return np.column_stack([np.zeros(len(rows)), moments(rows)]) / deviation

    exact = partial(mechanism.joint_spectrum, epsilon=GRID)
    return _summed(data, mechanism, released, deviation, bounds, worst, exact)


def _summed(
    data: Array,
    mechanism: Mechanism,
    released: Callable[[Array], Array],
    deviation: Array,
    bounds: dict[str, float | bool],
    worst: dp.Spectrum,
    exact: Callable[[NeighbourPair], dp.Spectrum],
) -> Setting:
    """A sum of what is released of each row, in units of its noise; canaries are zeroed."""
    score, scaled = partial(dp.one_run.SumAlignment, released), Scaled(mechanism, deviation)
    return Setting(data, scaled, score, bounds, "zero-out", worst, exact)


def dprr(release: str, count: int) -> Setting:
    """Paper 2, theorem 4.3."""
    n = ROWS + count
    reach = theorem_4_3_radius(float(FEATURES), FEATURES, n, 0.05)
    made = partial(papers.DPRR, _mu(), float(FEATURES), 1.0)
    return _ridge(made, release, n, {"row_bound": reach, "label_bound": reach})


def pmtrr(release: str, count: int) -> Setting:
    """Paper 2, algorithm 2, with public second moments I."""
    n = ROWS + count
    reach = [algorithm_1_radius(size, n, 0.05) for size in (FEATURES, 1)]
    moment = tuple(map(tuple, np.eye(FEATURES + 1).tolist()))
    made = partial(papers.PMTRR, _mu(), public_moment=moment)
    return _ridge(made, release, n, {"row_bound": reach[0], "label_bound": reach[1]})


def _ridge(
    made: Callable[..., papers.DPRR | papers.PMTRR],
    release: str,
    rows: int,
    bounds: dict[str, float | bool],
) -> Setting:
    """An algorithm of paper 2; the number of rows is public, so canaries are zeroed."""
    data, noisy = normal_rows(), made(release="statistics")
    worst = dp.exact.spectrum(noisy, noisy.pair(), GRID)
    if release == "coef":
        return Setting(data, made(release="coef"), _gradient("squared"), bounds, "zero-out", worst)
    deviation = noisy.law(np.vstack([data, np.zeros((rows - len(data), data.shape[1]))])).deviation

    def released(one: Array) -> Array:
        return moments(one) / (rows * deviation)

    exact = partial(dp.exact.spectrum, noisy, epsilon=GRID)
    return _summed(data, noisy, released, deviation, bounds, worst, exact)


def jl_ridge(count: int) -> Setting:
    """Paper 4, algorithm 1, with twice as many rows of the sketch as columns."""
    mechanism = papers.JLRidge(2 * (FEATURES + 1), EPSILON, DELTA)
    data = unit_rows()
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    padding = mechanism.padding * np.eye(FEATURES + 1)

    def released(data: Array, *, rng: np.random.Generator) -> Array:
        return symmetric_matrix(mechanism(data, 1, rng=rng), FEATURES + 1).ravel()

    def products(rows: Array) -> Array:
        return (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)

    def score(known: Array) -> Score:
        return dp.one_run.SumAlignment(products, np.vstack([known, padding]))

    worst = dp.exact.spectrum(mechanism, mechanism.pair(), GRID)
    exact = partial(dp.exact.spectrum, mechanism, epsilon=GRID)
    bounds: dict[str, float | bool] = {"row_bound": 1.0, "label": False}
    return Setting(data, released, score, bounds, "zero-out", worst, exact)  # type: ignore[arg-type]


def objective_perturbation(count: int) -> Setting:
    """Paper 3, algorithm 6, corrected; its worst pair has one feature."""
    mechanism = papers.ObjectivePerturbation(EPSILON, DELTA, variant="corrected")
    zeroed = mechanism.pair()
    worst = dp.exact.spectrum(mechanism, NeighbourPair(zeroed.left, zeroed.right), GRID)
    bounds: dict[str, float | bool] = {"row_bound": 1.0, "label_bound": 1.0}
    score = _gradient("logistic", mechanism.ridge)
    return Setting(unit_rows(signs=True), mechanism, score, bounds, "zero-out", worst)


CASES: tuple[tuple[str, str, Callable[[int], Setting]], ...] = (
    ("AdaSSP", "noisy moments", partial(ada_ssp, "statistics")),
    ("AdaSSP", "coefficients", partial(ada_ssp, "solution")),
    ("AdaSSP, a quarter of its noise", "noisy moments", partial(ada_ssp, "statistics", noise=0.25)),
    ("AdaSSP, a quarter of its noise", "coefficients", partial(ada_ssp, "solution", noise=0.25)),
    ("DPRR", "noisy moments", partial(dprr, "statistics")),
    ("DPRR", "coefficients", partial(dprr, "coef")),
    ("PMTRR", "noisy moments", partial(pmtrr, "statistics")),
    ("PMTRR", "coefficients", partial(pmtrr, "coef")),
    ("JLRidge", "moments of the sketch", jl_ridge),
    ("ObjectivePerturbation, corrected", "coefficients", objective_perturbation),
)


def moments(rows: Array) -> Array:
    """The upper triangle of xxᵀ, and xy, of each row: (m, p(p+1)/2 + p)."""
    x, y = rows[:, :-1], rows[:, -1:]
    return np.column_stack([upper_triangle(x[:, :, None] * x[:, None, :]), x * y])


def unit_rows(signs: bool = False) -> Array:
    """Rows with ‖x‖ = 1 and labels in [−1, 1], or signs."""
    data = normal_rows()
    data[:, :-1] /= np.linalg.norm(data[:, :-1], axis=1, keepdims=True)
    data[:, -1] = np.sign(data[:, -1]) if signs else np.clip(data[:, -1], -1.0, 1.0)
    return data


def normal_rows() -> Array:
    """Independent standard normal features, and a linear label of about unit variance."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, FEATURES))
    return np.column_stack([x, x @ rng.standard_normal(FEATURES) / math.sqrt(FEATURES)])


def _gradient(loss: str, ridge: float | None = None) -> Callable[[Array], Score]:
    return lambda known: dp.one_run.GradientAlignment(loss, known, ridge)


def _mu() -> float:
    """μ of which √2·μ-GDP has the point (`EPSILON`, `DELTA`)."""
    return float(gdp_mu(np.array(EPSILON), np.array(DELTA))) / math.sqrt(2.0)


def _epsilon(spectrum: dp.Spectrum) -> float:
    return float(spectrum.epsilon_at(DELTA))


def canaries_table() -> str:
    """A table of Markdown: medians of `SEEDS` runs, at `LEVEL`."""
    rows = []
    for name, released, make in CASES:
        settings = [make(count) for count in COUNTS]
        certified = [
            float(np.median([setting.certified(count, seed) for seed in range(SEEDS)]))
            for count, setting in zip(COUNTS, settings, strict=True)
        ]
        truth = page.number(_epsilon(settings[0].worst), 3), settings[0].of_one_canary(COUNTS[0])
        rows.append([name, released, *truth, *page.decimals(certified, 2)])
    return page.table(HEAD, rows)
