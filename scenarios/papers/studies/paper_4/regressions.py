"""Paper 4, figures 1 to 6: regressions from private second moments, their error against n."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.report.study import Content, Line, Panel, Progress, Study, Table
from dpaudit.verdict.numbers import number
from studies.paper_4.databases import BlockwiseData, SeveralLabels, SingleLabel
from studies.paper_4.estimators import FIGURES, Moments, Setting
from studies.repeats import positive, ranked

DELTA = math.exp(-9.0)
USELESS = 1.0  # an error as large as the coefficient itself

# By estimator, then by (n, ε) or (n, m): an error for each repeat.
Errors = dict[str, dict[tuple[int, Any], Array]]


@dataclass(frozen=True)
class SingleRegression(Study):
    """Figures 1 to 4: one regression with an intercept; ‖β̃ − β‖ against n for each ε.

    Settings: figures (of 1 to 4), log_sizes (log₂ n), epsilons, delta, repeats, features p,
    variance of the labels' noise, and bound (B² = bound·d).
    """

    figures: tuple[int, ...] = (1, 2, 3, 4)
    log_sizes: tuple[int, ...] = tuple(range(12, 21))
    epsilons: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.25, 0.5)
    delta: float = DELTA
    repeats: int = 15
    features: int = 20
    variance: float = 0.5
    bound: float = 2.5
    title: ClassVar[str] = "One regression from private second moments"
    source: ClassVar[str] = "paper 4, figures 1 to 4"

    def __post_init__(self) -> None:
        _check_common(self)
        positive("epsilons", self.epsilons)
        if not self.figures or any(figure not in FIGURES or figure > 4 for figure in self.figures):
            fail("figures", self.figures, "a list of numbers from 1 to 4")

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """A figure for each number in `figures`, a panel for each ε."""
        rng = generator(np.random.SeedSequence(seed), 0)
        data = SingleLabel(
            2.0 * rng.random(self.features + 1) - 1.0, math.sqrt(self.variance), self.bound
        )
        found: dict[int, Errors] = {figure: {} for figure in self.figures}
        for repeat, n, moments in _moments(data, self.log_sizes, self.repeats, seed, progress):
            for (i, epsilon), figure in product(enumerate(self.epsilons), self.figures):
                setting = Setting(epsilon, self.delta, data.row_bound)
                rng = generator(np.random.SeedSequence(seed), 2, repeat, n, i, figure)
                estimates = FIGURES[figure](moments, setting, rng)
                errors = _distances(estimates, data.coef)
                _keep(found[figure], (n, epsilon), errors, repeat, self.repeats)
        norm = float(np.linalg.norm(data.coef))
        return Content(
            title=self.title,
            source=self.source,
            sentences=[
                *(
                    line
                    for figure in self.figures
                    for line in _ranking(found[figure], f"figure {figure}", "ε", norm)
                ),
                *self._remarks(data),
            ],
            figures={
                f"figure-{figure}": self._panels(found[figure], norm) for figure in self.figures
            },
            tables=[
                _table(found[figure], f"Figure {figure}: ‖β̃ − β‖", "ε") for figure in self.figures
            ],
            settings=self.parameters() | {"seed": seed},
        )

    def _panels(self, errors: Errors, norm: float) -> list[Panel]:
        return [_panel(errors, epsilon, f"ε = {epsilon:g}", norm) for epsilon in self.epsilons]

    def _remarks(self, data: SingleLabel) -> list[str]:
        return [
            f"‖β‖ = {number(float(np.linalg.norm(data.coef)), 3)} (the paper: 2.786); d = "
            f"{data.dim}, B = {number(data.row_bound, 3)}, to which {data.shrunk_share:.1%} of "
            f"the rows are shrunk; {self.repeats} repeats, each with its own data, of which "
            "smaller n are the first rows.",
            f"n goes to 2^{max(self.log_sizes)} (the paper: 2^25, from what it writes as 2^14 = "
            "4,096, which is 2^12).",
            "The paper calls N(0, 0.5) the noise of the labels here and σ = 0.5 that of its "
            "second experiment; 0.5 is taken for a variance here.",
            "Algorithms 2 and 5 are known by their descriptions only; how their budgets are "
            "split is chosen here. Analyze Gauss has the noise that the paper prints, ε for ε², "
            "and once more the noise that (ε, δ) takes.",
        ]


@dataclass(frozen=True)
class SeveralRegressions(Study):
    """Figures 5 and 6: p labels, linear in the features; m of them are used as regressors.

    Settings: extras (m), log_sizes (log₂ n), epsilon, delta, repeats, features p, noise (the
    deviation of the labels' noise), and bound (B² = bound·d).
    """

    extras: tuple[int, ...] = (0, 1, 5, 10)
    log_sizes: tuple[int, ...] = tuple(range(12, 21))
    epsilon: float = 0.1
    delta: float = DELTA
    repeats: int = 15
    features: int = 20
    noise: float = 0.5
    bound: float = 2.5
    title: ClassVar[str] = "Regressions on redundant features from private second moments"
    source: ClassVar[str] = "paper 4, figures 5 and 6"

    def __post_init__(self) -> None:
        _check_common(self)
        check.real("epsilon", self.epsilon, 0.0, open_=True)
        if not self.extras or any(
            check.integer("extras", extra, 0) >= self.features for extra in self.extras
        ):
            fail("extras", self.extras, f"numbers from 0 to {self.features - 1}")

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """Figures 5 (means) and 6 (deviations), a panel for each m."""
        rng = generator(np.random.SeedSequence(seed), 0)
        data = SeveralLabels(
            2.0 * rng.random((self.features + 1, self.features)) - 1.0, self.noise, self.bound
        )
        setting, errors = Setting(self.epsilon, self.delta, data.row_bound), Errors()
        for repeat, n, moments in _moments(data, self.log_sizes, self.repeats, seed, progress):
            rng = generator(np.random.SeedSequence(seed), 2, repeat, n)
            matrices = FIGURES[5](moments, setting, rng)
            for extra in self.extras:
                coefs = {
                    name: _regression(matrix, data.columns(extra))
                    for name, matrix in matrices.items()
                }
                _keep(
                    errors, (n, extra), _distances(coefs, data.truth(extra)), repeat, self.repeats
                )
        norm = float(np.linalg.norm(data.truth(0)))
        means = [_panel(errors, extra, f"m = {extra}", norm) for extra in self.extras]
        spreads = [_panel(errors, extra, f"m = {extra}", None) for extra in self.extras]
        return Content(
            title=self.title,
            source=self.source,
            sentences=[*_ranking(errors, "figure 5", "m", norm), *self._remarks(data, norm)],
            figures={"figure-5": means, "figure-6": spreads},
            tables=[_table(errors, "‖β̃ − β‖", "m")],
            settings=self.parameters() | {"seed": seed},
        )

    def _remarks(self, data: SeveralLabels, norm: float) -> list[str]:
        return [
            f"‖β‖ = {number(norm, 3)} (the paper: about 3.2); d = {data.dim}, B = "
            f"{number(data.row_bound, 3)}, ε = {self.epsilon:g}; n goes to "
            f"2^{max(self.log_sizes)} (the paper: 2^27); {self.repeats} repeats.",
            f"With B² = {self.bound:g}·d {data.shrunk_share:.0%} of the rows are shrunk to norm "
            "B, which keeps the linear relation row by row.",
        ]


def _check_common(study: SingleRegression | SeveralRegressions) -> None:
    """Raises `InvalidInput` for a setting that both studies have."""
    positive("log_sizes", study.log_sizes, whole=True)
    for name in ("repeats", "features"):
        check.integer(name, getattr(study, name), 2)
    check.real("delta", study.delta, 0.0, math.exp(-1.0), open_=True)
    check.real("bound", study.bound, 0.0, open_=True)


def _moments(
    data: BlockwiseData, logs: Sequence[int], repeats: int, seed: int, progress: Progress | None
) -> Iterator[tuple[int, int, Moments]]:
    """(repeat, n, moments of the first n rows) for every size, repeat by repeat."""
    for repeat in range(repeats):
        if progress is not None:
            progress("repeats", repeat, repeats)
        rng = generator(np.random.SeedSequence(seed), 1, repeat)
        for n, gram in data.grams(sorted(2**log for log in logs), rng):
            yield repeat, n, Moments(gram, n)


def _distances(estimates: Mapping[str, Array], truth: Array) -> dict[str, float]:
    return {name: float(np.linalg.norm(estimate - truth)) for name, estimate in estimates.items()}


def _regression(matrix: Array, columns: np.ndarray) -> Array:
    """Regress the last of these columns on the others, from a (d, d) matrix of second moments."""
    part = matrix[np.ix_(columns, columns)]
    return np.asarray(np.linalg.solve(part[:-1, :-1], part[:-1, -1]))


def _keep(
    errors: Errors, key: tuple[int, Any], found: Mapping[str, float], repeat: int, repeats: int
) -> None:
    for name, value in found.items():
        errors.setdefault(name, {}).setdefault(key, np.empty(repeats))[repeat] = value


def _panel(errors: Errors, setting: Any, title: str, norm: float | None) -> Panel:
    """Means with one standard deviation, up to 4‖β‖, ‖β‖ = `norm`; without it, the deviations."""
    lines = []
    for name, by_key in errors.items():
        at = sorted(n for n, other in by_key if other == setting)
        values = np.array([by_key[n, setting] for n in at])
        mean, deviation = values.mean(axis=1), values.std(axis=1, ddof=1)
        if norm is None:
            lines.append(Line(name, at, deviation.tolist()))
            continue
        low = np.maximum(mean - deviation, values.min(axis=1))
        lines.append(
            Line(name, at, mean.tolist(), low.tolist(), (mean + deviation).tolist(), role="band")
        )
    label = "‖β̃ − β‖" if norm is not None else "standard deviation of ‖β̃ − β‖"
    limits = None if norm is None else (min(min(line.y) for line in lines) / 2.0, 4.0 * norm)
    return Panel(title, "rows n", label, lines, x_scale="log", y_scale="log", y_limits=limits)


def _ranking(errors: Errors, figure: str, symbol: str, norm: float) -> list[str]:
    """The estimators in order of their error, for the first and last setting at the largest n.

    Also how many have an error beyond ‖β‖ = `norm`.
    """
    keys = sorted({key for by_key in errors.values() for key in by_key})
    most = max(n for n, _ in keys)
    settings = sorted({setting for _, setting in keys})
    sentences = []
    for setting in dict.fromkeys((settings[0], settings[-1])):
        means = {name: float(by_key[most, setting].mean()) for name, by_key in errors.items()}
        useless = sum(mean > USELESS * norm for mean in means.values())
        tail = f"; {useless} of {len(means)} are beyond ‖β‖" if useless else ""
        where = f"{figure}, mean ‖β̃ − β‖ at n = {most:,} and {symbol} = {setting:g}"
        sentences.append(f"{where}: {ranked(means)}{tail}.")
    return sentences


def _table(errors: Errors, caption: str, symbol: str) -> Table:
    rows = [
        (name, n, setting, float(values.mean()), float(values.std(ddof=1)))
        for name, by_key in errors.items()
        for (n, setting), values in by_key.items()
    ]
    return Table(caption, ("estimator", "n", symbol, "mean", "standard deviation"), rows)
