"""Paper 3, figures 2 and 4: the test error of private linear regression against ε."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.papers import AdaSSP, LinearMixing, SheffetOLS, SheffetRenyiOLS
from dpaudit.papers.algorithm import smallest_eigenvalue
from dpaudit.papers.paper_3.sketches import SketchedFit
from dpaudit.report.study import Content, Panel, Progress, Study, Table
from studies.confidence import interval, with_band
from studies.paper_3.designs import SYNTHETIC, Design
from studies.repeats import positive, ranked

MIXING, ADAPTIVE = "LinearMixing (algorithm 2)", "AdaSSP (algorithm 3)"
SHEFFET, RENYI = "Sheffet's (algorithm 4)", "Sheffet's by lemma 1 (algorithm 5)"
BASELINE = "not private"
PRINTED = {name: f"{name}, as printed" for name in (MIXING, SHEFFET, RENYI)}
PENALTY = 1e-6  # of the baseline

Errors = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class RegressionSplit:
    """A training set, reduced to what the algorithms use of it, and its test set.

    root : R of the training data's QR factors. rows : n. eigenvalue : λ_min.
    """

    root: Array
    rows: int
    test: Array
    solver: SketchedFit
    eigenvalue: float

    @classmethod
    def of(cls, train: Array, test: Array) -> RegressionSplit:
        """Make a split of training and test data, whose label is the last column."""
        root = np.asarray(np.linalg.qr(train, mode="r"), dtype=np.float64)
        return cls(root, len(train), test, SketchedFit.of(root), smallest_eigenvalue(root))

    def errors(self, epsilon: float, mixtures: int, draws: int, rng: np.random.Generator) -> Errors:
        """Mean squared test errors by method, (draws,); bounds C_X = C_Y = 1 and δ = 1/n²."""
        delta, found = self.rows**-2.0, dict[str, Array]()
        kinds: dict[str, type[LinearMixing | SheffetOLS | SheffetRenyiOLS]] = {
            MIXING: LinearMixing,
            SHEFFET: SheffetOLS,
            RENYI: SheffetRenyiOLS,
        }
        for variant in ("corrected", "printed"):
            for name, kind in kinds.items():
                algorithm = kind(mixtures, epsilon, delta, variant=variant)
                noise = algorithm.noise(self.eigenvalue, draws, rng)
                label = name if variant == "corrected" else PRINTED[name]
                found[label] = self.mse(self.solver.draw(noise, mixtures, rng))
        ssp = AdaSSP(epsilon, delta)
        statistics = ssp.statistics(self.root).sample(draws, rng)
        return found | {ADAPTIVE: self.mse(ssp.solve(statistics, self.root.shape[1] - 1))}

    def baseline(self) -> float:
        """The error of (XᵀX + 10⁻⁶I)⁻¹XᵀY."""
        x, y = self.root[:, :-1], self.root[:, -1]
        solution = np.linalg.solve(x.T @ x + PENALTY * np.eye(x.shape[1]), x.T @ y)
        return float(self.mse(np.asarray(solution[None], dtype=np.float64))[0])

    def mse(self, solutions: Array) -> Array:
        """Mean squared test errors, (m,), of solutions (m, p)."""
        residual = self.test[:, -1:] - self.test[:, :-1] @ solutions.T
        return np.asarray(np.mean(residual**2, axis=0))


@dataclass(frozen=True)
class MixingRegression(Study):
    """Figures 2 and 4: LinearMixing, AdaSSP and Sheffet's algorithm on synthetic and real data.

    Settings: designs ("gaussian", "neural", "uniform" or data sets by name), epsilons; rows n, dim
    d, rank, tests of the synthetic ones; ratio k/d; splits (training sets), and draws of each
    algorithm on each.
    """

    designs: tuple[str, ...] = ("gaussian", "neural", "uniform", "boston", "tecator_fat")
    epsilons: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 10.0)
    rows: int = 8192
    dim: int = 512
    rank: int = 4
    tests: int = 2048
    ratio: float = 5.0
    splits: int = 4
    draws: int = 10
    title: ClassVar[str] = "Linear regression by Gaussian mixing and its rivals"
    source: ClassVar[str] = "paper 3, figures 2 and 4"

    def __post_init__(self) -> None:
        positive("epsilons", self.epsilons)
        for name in ("rows", "dim", "rank", "tests", "draws"):
            check.integer(name, getattr(self, name), 1)
        check.integer("splits", self.splits, 2)
        check.real("ratio", self.ratio, 1.0)
        if not self.designs:
            check.fail("designs", self.designs, "at least one design or data set")

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """A panel for each design. Raises `DataNotFound`."""
        panels, sentences, rows = [], list[str](), list[Any]()
        for i, name in enumerate(self.designs):
            design = Design(name, self.rows, self.dim, self.rank, self.tests)
            found = self._errors(design, i, seed, progress)
            panels.append(self._panel(design.title, found))
            sentences.append(self._sentence(design.title, found))
            rows += self._cells(design.title, found)
        heads = ("data", "ε", "method", "mean squared test error", "lower", "upper")
        return Content(
            title=self.title,
            source=self.source,
            sentences=[*sentences, *self._remarks()],
            figures={"test-error": panels},
            tables=(Table("Mean squared test errors and 95 % intervals of the mean", heads, rows),),
            settings=self.parameters() | {"seed": seed},
        )

    def _errors(
        self, design: Design, place: int, seed: int, progress: Progress | None
    ) -> dict[str, list[Array]]:
        """For each method, (splits, draws) at each ε."""
        found: dict[str, list[list[Array]]] = {}
        for k in range(self.splits):
            if progress is not None:
                progress(design.title, k, self.splits)
            rng = generator(np.random.SeedSequence(seed), place, k)
            problem = RegressionSplit.of(*design.sample(rng))
            mixtures = math.ceil(self.ratio * (problem.root.shape[1] - 1))
            for j, epsilon in enumerate(self.epsilons):
                errors = dict(problem.errors(epsilon, mixtures, self.draws, rng))
                errors[BASELINE] = np.full(self.draws, problem.baseline())
                for label, values in errors.items():
                    found.setdefault(label, [[] for _ in self.epsilons])[j].append(values)
        return {label: [np.array(one) for one in values] for label, values in found.items()}

    def _panel(self, title: str, found: dict[str, list[Array]]) -> Panel:
        shown = (MIXING, ADAPTIVE, SHEFFET, RENYI, BASELINE)
        lines = [with_band(label, self.epsilons, found[label], positive=True) for label in shown]
        return Panel(title, "ε (nats)", "mean squared test error", lines, y_scale="log")

    def _sentence(self, title: str, found: dict[str, list[Array]]) -> str:
        """The methods at the smallest and the largest ε, in order of their errors."""
        parts = []
        for j in (int(np.argmin(self.epsilons)), int(np.argmax(self.epsilons))):
            means = {
                label: values[j].mean()
                for label, values in found.items()
                if label not in PRINTED.values()
            }
            parts.append(f"ε = {self.epsilons[j]:g}: {ranked(means)}")
        return f"{title}, mean squared test error at {'; at '.join(parts)}."

    def _cells(self, title: str, found: dict[str, list[Array]]) -> list[Any]:
        return [
            (title, epsilon, label, *interval(values[j]))
            for j, epsilon in enumerate(self.epsilons)
            for label, values in found.items()
        ]

    def _remarks(self) -> list[str]:
        synthetic = [SYNTHETIC[name] for name in self.designs if name in SYNTHETIC]
        return [
            f"{self.splits} training sets, {self.draws} draws of each algorithm on each (the "
            f"paper: 250 trials); k = {self.ratio:g}·d, δ = 1/n² and ε are chosen here, for the "
            "text leaves them open.",
            f"Synthetic designs ({len(synthetic)}): n = {self.rows:,}, d = {self.dim:,}, "
            f"{self.tests:,} test rows.",
            "Features are divided by the largest training norm and labels by the largest "
            "training |y|, as section J does: both are read off private data, which no budget "
            "pays for.",
            "Lines have the units put right; the table has the algorithms as printed too, where "
            "LinearMixing takes C² = C_X² + C_Y² = 2 for 1 and saves more noise than lemma 1 "
            "allows once λ_min is large.",
        ]
