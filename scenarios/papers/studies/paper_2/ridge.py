"""Paper 2, figures 1, 2, 4 and 5: ridge regression with a public second moment, without, and by
gradient descent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit._core.seeds import generator
from dpaudit.papers import DPGD, DPRR, PMTRR, Algorithm, PracticalDPRR
from dpaudit.report.studies.content import Content, Panel, Table
from dpaudit.report.studies.study import Progress, Study
from studies.populations import Model, Population, Rows
from studies.repeats import HEADS, Errors, band, comparison, counted, positive, spread

NOISELESS = 1e12  # a μ at which the noise is nothing
WITH, WITHOUT, DESCENT = (
    "DP-PMTRR (public moments)",
    "DP-RR (private data only)",
    "DP-GD (gradient descent)",
)


@dataclass(frozen=True, eq=False)
class Case:
    """One panel: a population, private sizes n, settings of the mechanisms. descent : (T, c, rate),
    or None.
    """

    population: Population
    sizes: tuple[int, ...]
    public: int
    mu: float
    eta: float
    ridge: float
    descent: tuple[int, float, float] | None = None

    @property
    def title(self) -> str:
        return f"{self.population.title}, μ = {self.mu:g}"

    def cut_alone(self, seed: np.random.SeedSequence) -> str:
        """A sentence on what algorithm 1 costs without any noise, on one database of the largest
        size.
        """
        rng = generator(seed, 0)
        data = self.population.sample(self.public, self.sizes[-1], rng)
        truth = self.population.truth(data[self.public :], self.ridge)
        noiseless = PMTRR(NOISELESS, self.eta, self.ridge, public_rows=self.public)
        error = float(np.linalg.norm(noiseless(data, 1, rng=rng)[0] - truth))
        return f"{self.population.title}: cutting rows as algorithm 1 does, with no noise, is an error of {error:.2g}."

    def methods(self) -> dict[str, Algorithm]:
        """By label; all three are √2·μ-GDP as printed."""
        without: Algorithm = PracticalDPRR(self.mu, self.eta, self.ridge)
        if isinstance(self.population, Model):
            trace, norm = (
                float(np.trace(self.population.moment)),
                float(np.linalg.norm(self.population.coef)),
            )
            without = DPRR(self.mu, trace, norm, self.eta, self.ridge)
        found: dict[str, Algorithm] = {
            WITH: PMTRR(self.mu, self.eta, self.ridge, public_rows=self.public),
            WITHOUT: without,
        }
        if self.descent is not None:
            found[DESCENT] = DPGD(math.sqrt(2.0) * self.mu, *self.descent, ridge=self.ridge)
        return found

    def errors(
        self, size: int, repeats: int, draws: int, descents: int, seed: np.random.SeedSequence
    ) -> Errors:
        """‖estimate − truth‖ by method, (repeats,): `draws` of the noise on each database; fewer of
        the descent.
        """
        found: dict[str, list[Array]] = {label: [] for label in self.methods()}
        for k in range(repeats // draws):
            rng = generator(seed, size, k)
            data = self.population.sample(self.public, size, rng)
            truth = self.population.truth(data[self.public :], self.ridge)
            for label, method in self.methods().items():
                if label != DESCENT or k * draws < descents:
                    rows = data if label == WITH else data[self.public :]
                    found[label].append(
                        np.linalg.norm(method(rows, draws, rng=rng) - truth, axis=1)
                    )
        return {label: np.concatenate(parts) for label, parts in found.items()}


class RidgeErrors(Study):
    """Error against the number of private rows, a panel for each population and μ: subclasses give
    the cases.
    """

    figure: ClassVar[str]

    repeats: int
    draws: int
    descents: int

    def cases(self, seed: np.random.SeedSequence) -> Iterator[Case]:
        raise NotImplementedError

    def remarks(self, cases: list[Case], seed: np.random.SeedSequence) -> list[str]:
        """What was chosen where the paper leaves it open, and what else is seen."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises `InvalidInput`."""
        counted(self.repeats, self.draws)
        check.integer("descents", self.descents, 1)

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        root = np.random.SeedSequence(seed)
        cases = list(self.cases(root))
        panels, rows, sentences = [], list[Any](), list[str]()
        for i, case in enumerate(cases):
            if progress is not None:
                progress(f"figure {self.figure}", i, len(cases))
            below = np.random.SeedSequence(seed, spawn_key=(2, i))
            found = [
                case.errors(n, self.repeats, self.draws, self.descents, below) for n in case.sizes
            ]
            panels.append(_panel(case, found))
            sentences.append(
                comparison(f"{case.title}, n = {case.sizes[-1]:,}", found[-1], WITH, WITHOUT)
            )
            if case.descent is not None:
                sentences.append(_descended(case, found, self.descents))
            rows += [
                (case.title, n, *line)
                for n, one in zip(case.sizes, found, strict=True)
                for line in _lines(one)
            ]
        table = Table("‖estimate − truth‖ over the repeats", ("data, privacy", "n", *HEADS), rows)
        drawn = f"{self.repeats:,} repeats: {self.repeats // self.draws} databases, {self.draws} draws of the noise each"
        return Content(
            title=self.title,
            source=self.source,
            sentences=[
                *sentences,
                f"{drawn}; bands are one standard deviation to each side.",
                *self.remarks(cases, root),
            ],
            figures={f"figure-{self.figure}": panels},
            tables=(table,),
            settings=self.parameters() | {"seed": seed},
        )


def _panel(case: Case, found: list[Errors]) -> Panel:
    lines = [band(label, case.sizes, [one[label] for one in found]) for label in found[0]]
    return Panel(case.title, "private rows n", "‖estimate − truth‖", lines, y_scale="log")


def _descended(case: Case, found: list[Errors], descents: int) -> str:
    few, many = spread(found[0][DESCENT]), spread(found[-1][DESCENT])
    return (
        f"{case.title}: the error of DP-GD {few} at n = {case.sizes[0]:,} and {many} at n = "
        f"{case.sizes[-1]:,}, in {descents} repeats; its noise is what Avella-Medina, Bradshaw & "
        "Loh print for √2·μ-GDP, the others' claim."
    )


def _lines(found: Errors) -> list[tuple[Any, ...]]:
    return [(label, error.mean(), error.std(), np.median(error)) for label, error in found.items()]


def _coef(dim: int, seed: np.random.SeedSequence) -> Array:
    return generator(seed, 1).standard_normal(dim)


@dataclass(frozen=True)
class SimulatedRidge(RidgeErrors):
    """Figure 1: y = Xβ + 0.05·N(0, 1), d = 10, β ~ N(0, I), without a penalty.

    Settings: sizes n, mus, public n_B, eta, ridge λ; steps, clip, rate of the gradient descent (0
    steps leave it out); center, correlations of the features; repeats, draws of the noise on each
    database, descents (repeats of DP-GD).
    """

    sizes: tuple[int, ...] = (5000, 10_000, 20_000, 50_000)
    mus: tuple[float, ...] = (3.0,)
    public: int = 200
    eta: float = 0.05
    ridge: float = 0.0
    steps: int = 1000
    clip: float = 1.0
    rate: float = 0.09
    dim: int = 10
    noise: float = 0.05
    center: float = 0.5
    correlations: tuple[float, ...] = (0.5, 0.95)
    repeats: int = 300
    draws: int = 5
    descents: int = 10
    title: ClassVar[str] = "Ridge regression with public moments, simulated"
    source: ClassVar[str] = "paper 2, section 6.1.1, figure 1"
    figure: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        self.check()
        positive("sizes", self.sizes, whole=True)
        positive("mus", self.mus)
        for one in self.correlations:
            check.real("correlations", one, -1.0, 1.0, open_=True)
        check.integer("steps", self.steps, 0)

    def cases(self, seed: np.random.SeedSequence) -> Iterator[Case]:
        descent = (self.steps, self.clip, self.rate) if self.steps else None
        for correlation in self.correlations:
            title = f"simulated, correlation {correlation:g}"
            model = Model(_coef(self.dim, seed), self.center, correlation, self.noise, title)
            for mu in self.mus:
                yield Case(model, self.sizes, self.public, mu, self.eta, self.ridge, descent)

    def remarks(self, cases: list[Case], seed: np.random.SeedSequence) -> list[str]:
        return [
            f"The text leaves the features' law and μ open: here N({self.center:g}·1, Ψ), Ψ_ij = "
            "correlation^|i−j|, and one β for all repeats.",
            "The strong correlation was set after a weak one had been seen: the paper's order of "
            "the methods needs it.",
            "DP-RR is given the true Tr(Σ) and ‖β‖ (theorem 4.3).",
        ]


@dataclass(frozen=True)
class SimulatedRidgePrivacy(SimulatedRidge):
    """Figure 2: as figure 1 with fewer public rows and a penalty, for several μ. Settings: as of
    figure 1.
    """

    mus: tuple[float, ...] = (1.0, 3.0, 5.0)
    public: int = 20
    ridge: float = 0.01
    correlations: tuple[float, ...] = (0.5, 0.9)
    steps: int = 0
    source: ClassVar[str] = "paper 2, section 6.1.1, figure 2"
    figure: ClassVar[str] = "2"


@dataclass(frozen=True)
class RealRidge(RidgeErrors):
    """Figure 4: white wine and power plant, errors against the fit without noise to the same
    private rows.

    Settings by data set, in its order: public n_B, mus (a list for each), clips, rates of the
    gradient descent; shares of the private rows that are used; eta, ridge λ, steps (0 leaves the
    descent out), repeats, draws, descents.
    """

    data: tuple[str, ...] = ("wine_white", "ccpp")
    public: tuple[int, ...] = (245, 192)
    mus: tuple[tuple[float, ...], ...] = ((20.0,), (3.0,))
    shares: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    eta: float = 1e-3
    ridge: float = 0.0
    steps: int = 1000
    clips: tuple[float, ...] = (3.0, 2.0)
    rates: tuple[float, ...] = (0.5, 0.04)
    repeats: int = 300
    draws: int = 5
    descents: int = 10
    title: ClassVar[str] = "Ridge regression with public moments, real data"
    source: ClassVar[str] = "paper 2, section 6.1.2, figure 4"
    figure: ClassVar[str] = "4"

    def __post_init__(self) -> None:
        self.check()
        object.__setattr__(self, "mus", tuple(tuple(one) for one in self.mus))
        positive("shares", self.shares)
        for name in ("public", "mus", "clips", "rates"):
            if len(getattr(self, name)) != len(self.data):
                check.fail(
                    name, getattr(self, name), f"one for each of the {len(self.data)} data sets"
                )
        for one in self.mus:
            positive("mus", one)
        check.integer("steps", self.steps, 0)

    def cases(self, seed: np.random.SeedSequence) -> Iterator[Case]:
        settings = zip(self.data, self.public, self.mus, self.clips, self.rates, strict=True)
        for name, public, mus, clip, rate in settings:
            rows = Rows.load(name, logistic=False, constant=False)
            sizes = tuple(round(share * (len(rows.data) - public)) for share in self.shares)
            descent = (self.steps, clip, rate) if self.steps else None
            for mu in mus:
                yield Case(rows, sizes, public, mu, self.eta, self.ridge, descent)

    def remarks(self, cases: list[Case], seed: np.random.SeedSequence) -> list[str]:
        return [
            "Features and label have mean 0 and deviation 1, without an intercept; public rows "
            "are drawn anew for each database. The text does not say how columns are scaled.",
            "DP-RR is remark 4.4 as printed: moments read off the private data, no 2/μ in σ₂.",
            *(one.cut_alone(seed) for one in {one.population.title: one for one in cases}.values()),
        ]


@dataclass(frozen=True)
class RealRidgePrivacy(RealRidge):
    """Figure 5: as figure 4 for several μ. Settings: as of figure 4."""

    mus: tuple[tuple[float, ...], ...] = ((5.0, 10.0, 20.0), (1.0, 3.0, 5.0))
    steps: int = 0
    source: ClassVar[str] = "paper 2, section 6.1.2, figure 5"
    figure: ClassVar[str] = "5"
