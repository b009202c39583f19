"""Paper 2, figures 1, 2, 4 and 5: ridge regression with public moments and without.

Also by noisy gradient descent, in figures 1 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.papers import DPGD, DPRR, PMTRR, Algorithm, PracticalDPRR
from dpaudit.report.study import Panel
from studies.paper_2.errors import (
    NOISELESS,
    ErrorCase,
    ErrorStudy,
    Found,
    first_of_each_population,
)
from studies.populations import Rows, SimulatedModel
from studies.repeats import (
    Errors,
    band,
    cells,
    check_one_for_each,
    check_repeats,
    comparison,
    positive,
    spread,
)

WITH, WITHOUT, DESCENT = (
    "DP-PMTRR (public moments)",
    "DP-RR (private data only)",
    "DP-GD (gradient descent)",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class RidgeCase(ErrorCase):
    """One panel: private sizes n. descent : (T, c, rate) of the gradient descent, or None."""

    sizes: tuple[int, ...]
    descent: tuple[int, float, float] | None = None

    def cut_alone(self, seed: np.random.SeedSequence) -> str:
        """A sentence on what algorithm 1 costs without any noise, on the largest size."""
        rng = generator(seed, 0)
        data, truth = self.database(self.sizes[-1], rng)
        noiseless = PMTRR(NOISELESS, self.eta, self.ridge, public_rows=self.public)
        error = float(np.linalg.norm(noiseless(data, 1, rng=rng)[0] - truth))
        return (
            f"{self.population.title}: cutting rows as algorithm 1 does, with no noise, "
            f"is an error of {error:.2g}."
        )

    def methods(self) -> dict[str, Algorithm]:
        """By label; all are √2·μ-GDP as printed."""
        found: dict[str, Algorithm] = {
            WITH: PMTRR(self.mu, self.eta, self.ridge, public_rows=self.public),
            WITHOUT: self._without(),
        }
        if self.descent is not None:
            found[DESCENT] = DPGD(math.sqrt(2.0) * self.mu, *self.descent, ridge=self.ridge)
        return found

    def _without(self) -> Algorithm:
        """Theorem 4.3 for a model, whose moments are known, and remark 4.4 for real data."""
        if not isinstance(self.population, SimulatedModel):
            return PracticalDPRR(self.mu, self.eta, self.ridge)
        trace = float(np.trace(self.population.moment))
        norm = float(np.linalg.norm(self.population.coef))
        return DPRR(self.mu, trace, norm, self.eta, self.ridge)

    def errors(
        self, size: int, repeats: int, draws: int, descents: int, seed: np.random.SeedSequence
    ) -> Errors:
        """‖estimate − truth‖ by method, (repeats,): `draws` of the noise on each database.

        The gradient descent has `descents` repeats only.
        """
        found: dict[str, list[Array]] = {label: [] for label in self.methods()}
        for k in range(repeats // draws):
            rng = generator(seed, size, k)
            data, truth = self.database(size, rng)
            for label, method in self.methods().items():
                if label != DESCENT or k * draws < descents:
                    rows = data if label == WITH else data[self.public :]
                    error = np.linalg.norm(method(rows, draws, rng=rng) - truth, axis=1)
                    found[label].append(error)
        return {label: np.concatenate(parts) for label, parts in found.items()}

    def panel(self, errors: list[Errors]) -> Panel:
        """A line for each method, from the errors at each size."""
        lines = [band(label, self.sizes, [one[label] for one in errors]) for label in errors[0]]
        return Panel(self.title, "private rows n", "‖estimate − truth‖", lines, y_scale="log")


class RidgeErrors(ErrorStudy[RidgeCase]):
    """Error against the number of private rows."""

    caption: ClassVar[str] = "‖estimate − truth‖ over the repeats"
    heads: ClassVar[tuple[str, ...]] = ("data, privacy", "n")

    descents: int

    def check(self) -> None:
        """Raises `InvalidInput` for wrong repeats."""
        check_repeats(self.repeats, self.draws)
        check.integer("descents", self.descents, 1)

    def found(self, case: RidgeCase, seed: np.random.SeedSequence) -> Found:
        """The panel and rows of all sizes; sentences of the largest."""
        errors = [case.errors(n, self.repeats, self.draws, self.descents, seed) for n in case.sizes]
        sentences = [comparison(f"{case.title}, n = {case.sizes[-1]:,}", errors[-1], WITH, WITHOUT)]
        if case.descent is not None:
            sentences.append(self._of_descent(case, errors))
        by_size = zip(case.sizes, errors, strict=True)
        rows = [(case.title, n, *line) for n, one in by_size for line in cells(one)]
        return Found(case.panel(errors), sentences, rows)

    def _of_descent(self, case: RidgeCase, errors: list[Errors]) -> str:
        few, many = spread(errors[0][DESCENT]), spread(errors[-1][DESCENT])
        return (
            f"{case.title}: the error of DP-GD {few} at n = {case.sizes[0]:,} and {many} at "
            f"n = {case.sizes[-1]:,}, in {self.descents} repeats; its noise is what "
            "Avella-Medina, Bradshaw & Loh print for √2·μ-GDP, the others' claim."
        )


@dataclass(frozen=True)
class SimulatedRidge(RidgeErrors):
    """Figure 1: y = Xβ + 0.05·N(0, 1), d = 10, β ~ N(0, I), without a penalty.

    Settings: sizes n, mus, public n_B, eta, ridge λ; steps, clip, rate of the gradient descent (0
    steps leave it out); center and correlations of the features; repeats, draws of the noise on
    each database, descents (repeats of DP-GD).
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

    def cases(self, seed: np.random.SeedSequence) -> Iterator[RidgeCase]:
        """A case for each correlation and μ."""
        descent = (self.steps, self.clip, self.rate) if self.steps else None
        for correlation in self.correlations:
            title = f"simulated, correlation {correlation:g}"
            coef = generator(seed, 1).standard_normal(self.dim)
            model = SimulatedModel(coef, self.center, correlation, self.noise, title)
            for mu in self.mus:
                yield RidgeCase(
                    population=model,
                    public=self.public,
                    mu=mu,
                    eta=self.eta,
                    ridge=self.ridge,
                    sizes=self.sizes,
                    descent=descent,
                )

    def remarks(self, cases: list[RidgeCase], seed: np.random.SeedSequence) -> list[str]:
        """What was chosen where the paper leaves it open, and what else is seen."""
        return [
            f"The text leaves the features' law and μ open: here N({self.center:g}·1, Ψ), Ψ_ij = "
            "correlation^|i−j|, and one β for all repeats.",
            "The strong correlation was set after a weak one had been seen: the paper's order of "
            "the methods needs it.",
            "DP-RR is given the true Tr(Σ) and ‖β‖ (theorem 4.3).",
        ]


@dataclass(frozen=True)
class SimulatedRidgePrivacy(SimulatedRidge):
    """Figure 2: as figure 1 with fewer public rows and a penalty, for several μ."""

    mus: tuple[float, ...] = (1.0, 3.0, 5.0)
    public: int = 20
    ridge: float = 0.01
    correlations: tuple[float, ...] = (0.5, 0.9)
    steps: int = 0
    source: ClassVar[str] = "paper 2, section 6.1.1, figure 2"
    figure: ClassVar[str] = "2"


@dataclass(frozen=True)
class RealRidge(RidgeErrors):
    """Figure 4: white wine and power plant.

    Errors are against the fit without noise to the same private rows. Settings for each data set,
    in the order of `data`: public n_B, mus (a list each), clips and rates of the gradient descent.
    For all of them: shares of the private rows that are used, eta, ridge λ, steps (0 leaves the
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
        check_one_for_each(self, "public", "mus", "clips", "rates")
        for one in self.mus:
            positive("mus", one)
        check.integer("steps", self.steps, 0)

    def cases(self, seed: np.random.SeedSequence) -> Iterator[RidgeCase]:
        """A case for each data set and μ. Raises `DataNotFound`."""
        settings = zip(self.data, self.public, self.mus, self.clips, self.rates, strict=True)
        for name, public, mus, clip, rate in settings:
            rows = Rows.load(name, logistic=False, constant=False)
            sizes = tuple(round(share * (len(rows.data) - public)) for share in self.shares)
            descent = (self.steps, clip, rate) if self.steps else None
            for mu in mus:
                yield RidgeCase(
                    population=rows,
                    public=public,
                    mu=mu,
                    eta=self.eta,
                    ridge=self.ridge,
                    sizes=sizes,
                    descent=descent,
                )

    def remarks(self, cases: list[RidgeCase], seed: np.random.SeedSequence) -> list[str]:
        """What was chosen where the paper leaves it open, and what else is seen."""
        return [
            "Features and label have mean 0 and deviation 1, without an intercept; public rows "
            "are drawn anew for each database. The text does not say how columns are scaled.",
            "DP-RR is remark 4.4 as printed: moments read off the private data, no 2/μ in σ₂.",
            *(case.cut_alone(seed) for case in first_of_each_population(cases)),
        ]


@dataclass(frozen=True)
class RealRidgePrivacy(RealRidge):
    """Figure 5: as figure 4 for several μ."""

    mus: tuple[tuple[float, ...], ...] = ((5.0, 10.0, 20.0), (1.0, 3.0, 5.0))
    steps: int = 0
    source: ClassVar[str] = "paper 2, section 6.1.2, figure 5"
    figure: ClassVar[str] = "5"
