"""Paper 2, figures 7 and 9: the error of noisy Newton steps for logistic regression, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit._core.seeds import generator
from dpaudit.papers import DPLR, PMTLR
from dpaudit.report.studies.content import Content, Panel, Table
from dpaudit.report.studies.study import Progress, Study
from studies.populations import Model, Population, Rows
from studies.repeats import HEADS, Errors, band, comparison, counted, positive

NOISELESS = 1e12  # a μ at which the noise is nothing
WITH, WITHOUT = "DP-PMTLR (public moments)", "DP-LR (private data only)"


@dataclass(frozen=True, eq=False)
class Course:
    """One panel: a population, n private rows, T steps, and the settings of both mechanisms."""

    population: Population
    rows: int
    public: int
    steps: int
    mu: float
    eta: float
    ridge: float

    @property
    def title(self) -> str:
        return f"{self.population.title}, μ = {self.mu:g}"

    def errors(self, repeats: int, draws: int, seed: np.random.SeedSequence) -> Errors:
        """‖iterate − truth‖ by method, (repeats, steps + 1): `draws` of the noise on each database."""
        found: dict[str, list[Array]] = {WITH: [], WITHOUT: []}
        for k in range(repeats // draws):
            rng = generator(seed, k)
            data = self.population.sample(self.public, self.rows, rng)
            truth = self.population.truth(data[self.public :], self.ridge)
            found[WITH].append(self._with(self.mu).iterates(data, draws, rng) - truth)
            private = data[self.public :]
            found[WITHOUT].append(self._without(private).iterates(private, draws, rng) - truth)
        return {
            label: np.linalg.norm(np.concatenate(parts), axis=2) for label, parts in found.items()
        }

    def cut_alone(self, seed: np.random.SeedSequence) -> str:
        """A sentence on what algorithm 1 costs without any noise, on one database."""
        rng = generator(seed, 0)
        data = self.population.sample(self.public, self.rows, rng)
        truth = self.population.truth(data[self.public :], self.ridge)
        error = float(np.linalg.norm(self._with(NOISELESS).iterates(data, 1, rng)[0, -1] - truth))
        return f"{self.population.title}: after cutting rows as algorithm 1 does, with no noise, the error is {error:.2g}."

    def _with(self, mu: float) -> PMTLR:
        return PMTLR(mu, self.steps, self.eta, self.ridge, self.public, variant="corrected")

    def _without(self, private: Array) -> DPLR:
        """Tr(Σ) as known for the model, and of the private rows themselves for real data (remark
        4.4).
        """
        moment = private[:, :-1].T @ private[:, :-1] / len(private)
        trace = float(
            np.trace(self.population.moment if isinstance(self.population, Model) else moment)
        )
        return DPLR(self.mu, self.steps, self.eta, self.ridge, trace, variant="corrected")


class LogisticErrors(Study):
    """Error against the number of Newton steps, a panel for each population and μ: subclasses give
    the courses.
    """

    figure: ClassVar[str]

    repeats: int
    draws: int

    def courses(self, seed: np.random.SeedSequence) -> Iterator[Course]:
        raise NotImplementedError

    def remarks(self, courses: list[Course], seed: np.random.SeedSequence) -> list[str]:
        """What was chosen where the paper leaves it open."""
        raise NotImplementedError

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        root = np.random.SeedSequence(seed)
        courses = list(self.courses(root))
        panels, rows, sentences = [], list[Any](), list[str]()
        for i, course in enumerate(courses):
            if progress is not None:
                progress(f"figure {self.figure}", i, len(courses))
            found = course.errors(
                self.repeats, self.draws, np.random.SeedSequence(seed, spawn_key=(2, i))
            )
            panels.append(_panel(course, found))
            last = {label: errors[:, -1] for label, errors in found.items()}
            sentences.append(
                comparison(f"{course.title}, step {course.steps}", last, WITH, WITHOUT)
            )
            rows += [
                (course.title, label, e.mean(), e.std(), np.median(e)) for label, e in last.items()
            ]
        table = Table("‖estimate − truth‖ after the last step", ("data, privacy", *HEADS), rows)
        drawn = f"{self.repeats:,} repeats: {self.repeats // self.draws} databases, {self.draws} draws of the noise each"
        return Content(
            title=self.title,
            source=self.source,
            sentences=[
                *sentences,
                f"{drawn}; bands are one standard deviation to each side.",
                *self.remarks(courses, root),
            ],
            figures={f"figure-{self.figure}": panels},
            tables=(table,),
            settings=self.parameters() | {"seed": seed},
        )


def _panel(course: Course, found: Errors) -> Panel:
    steps = range(1, course.steps + 1)
    lines = [band(label, steps, list(errors[:, 1:].T)) for label, errors in found.items()]
    return Panel(course.title, "Newton steps", "‖iterate − truth‖", lines, y_scale="log")


NOISE = (
    "σ₂ has the radius where the boxes print its square: their gradients would have √(d(1 + "
    "ln(2n/η))) times the noise that the proof asks for."
)


@dataclass(frozen=True)
class SimulatedLogistic(LogisticErrors):
    """Figure 7: logistic labels, d = 8, β ~ N(0, I), 10,000 private and 100 public rows.

    Settings: rows n, public n_B, mus, steps T, eta, ridge λ, dim; center, correlation of the
    features; repeats, draws of the noise on each database.
    """

    rows: int = 10_000
    public: int = 100
    mus: tuple[float, ...] = (3.0, 5.0, 10.0)
    steps: int = 8
    eta: float = 0.05
    ridge: float = 1e-3
    dim: int = 8
    center: float = 0.5
    correlation: float = 0.9
    repeats: int = 100
    draws: int = 5
    title: ClassVar[str] = "Logistic regression with public moments, simulated"
    source: ClassVar[str] = "paper 2, section 6.2.1, figure 7"
    figure: ClassVar[str] = "7"

    def __post_init__(self) -> None:
        counted(self.repeats, self.draws)
        positive("mus", self.mus)
        for name in ("rows", "public", "steps", "dim"):
            check.integer(name, getattr(self, name), 1)

    def courses(self, seed: np.random.SeedSequence) -> Iterator[Course]:
        coef = generator(seed, 1).standard_normal(self.dim)
        model = Model(coef, self.center, self.correlation, None)
        return (
            Course(model, self.rows, self.public, self.steps, mu, self.eta, self.ridge)
            for mu in self.mus
        )

    def remarks(self, courses: list[Course], seed: np.random.SeedSequence) -> list[str]:
        return [
            f"The text leaves the features' law, μ and T open: here N({self.center:g}·1, Ψ), "
            f"Ψ_ij = {self.correlation:g}^|i−j|, T = {self.steps}; one β for all repeats, which "
            "errors are against.",
            "The correlation was set after a weaker one had shown next to no difference between "
            "the methods.",
            "DP-LR is given the true Tr(Σ).",
            NOISE,
        ]


@dataclass(frozen=True)
class RealLogistic(LogisticErrors):
    """Figure 9: bank marketing and banknotes, a tenth of the rows public; errors against the fit
    without noise.

    Settings by data set, in its order: mus (a list for each), ridges λ, constants (a column of ones
    is added); share of the rows that is public; steps T, eta, repeats, draws of the noise on each
    database.
    """

    data: tuple[str, ...] = ("bank_marketing_codes", "banknote")
    mus: tuple[tuple[float, ...], ...] = ((1.0, 3.0, 5.0), (5.0, 10.0, 20.0))
    ridges: tuple[float, ...] = (0.0, 0.01)
    constants: tuple[bool, ...] = (False, True)
    share: float = 0.1
    steps: int = 8
    eta: float = 1e-3
    repeats: int = 100
    draws: int = 20
    title: ClassVar[str] = "Logistic regression with public moments, real data"
    source: ClassVar[str] = "paper 2, section 6.2.2, figure 9"
    figure: ClassVar[str] = "9"

    def __post_init__(self) -> None:
        counted(self.repeats, self.draws)
        object.__setattr__(self, "mus", tuple(tuple(one) for one in self.mus))
        for name in ("mus", "ridges", "constants"):
            if len(getattr(self, name)) != len(self.data):
                check.fail(
                    name, getattr(self, name), f"one for each of the {len(self.data)} data sets"
                )
        for one in self.mus:
            positive("mus", one)
        check.real("share", self.share, 0.0, 1.0, open_=True)
        check.integer("steps", self.steps, 1)

    def courses(self, seed: np.random.SeedSequence) -> Iterator[Course]:
        for name, mus, ridge, constant in zip(
            self.data, self.mus, self.ridges, self.constants, strict=True
        ):
            rows = Rows.load(name, logistic=True, constant=constant)
            public = round(self.share * len(rows.data))
            for mu in mus:
                yield Course(rows, len(rows.data) - public, public, self.steps, mu, self.eta, ridge)

    def remarks(self, courses: list[Course], seed: np.random.SeedSequence) -> list[str]:
        return [
            f"Features have mean 0 and deviation 1, T = {self.steps}, and the public rows are "
            "drawn anew for each database: the text leaves these open.",
            "DP-LR reads Tr(Σ̂) off the private data.",
            *(
                one.cut_alone(seed)
                for one in {one.population.title: one for one in courses}.values()
            ),
            NOISE,
        ]
