"""What paper 2's figures share: errors over repeats, a panel for each population and μ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from dpaudit._core.types import Array
from dpaudit.report.study import Content, Panel, Progress, Study, Table
from studies.populations import Population
from studies.repeats import HEADS

NOISELESS = 1e12  # a μ at which the noise is negligible


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorCase:
    """One panel: a population, the number of public rows, μ, η and the ridge λ."""

    population: Population
    public: int
    mu: float
    eta: float
    ridge: float

    @property
    def title(self) -> str:
        """Population and μ."""
        return f"{self.population.title}, μ = {self.mu:g}"

    def database(self, rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """A database with so many private rows, the public ones first, and its true coefficient."""
        data = self.population.sample(self.public, rows, rng)
        return data, self.population.truth(data[self.public :], self.ridge)


@dataclass(frozen=True)
class Found:
    """What one case adds to the page: a panel, sentences, and rows of the table."""

    panel: Panel
    sentences: list[str]
    rows: list[tuple[Any, ...]]


C = TypeVar("C", bound=ErrorCase)


class ErrorStudy(Study, Generic[C]):
    """Errors of private estimates over repeats, a panel for each case.

    Subclasses give the cases, what is found in each, and remarks. caption, heads : of the table,
    whose last columns are mean, deviation and median.
    """

    figure: ClassVar[str]
    caption: ClassVar[str]
    heads: ClassVar[tuple[str, ...]]

    repeats: int
    draws: int

    def cases(self, seed: np.random.SeedSequence) -> Iterator[C]:
        """The panels, in order."""
        raise NotImplementedError

    def found(self, case: C, seed: np.random.SeedSequence) -> Found:
        """Run one case."""
        raise NotImplementedError

    def remarks(self, cases: list[C], seed: np.random.SeedSequence) -> list[str]:
        """What was chosen where the paper leaves it open, and what else is seen."""
        raise NotImplementedError

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """Run all cases. Raises `DataNotFound`."""
        root = np.random.SeedSequence(seed)
        cases, found = list(self.cases(root)), list[Found]()
        for i, case in enumerate(cases):
            if progress is not None:
                progress(f"figure {self.figure}", i, len(cases))
            found.append(self.found(case, np.random.SeedSequence(seed, spawn_key=(2, i))))
        rows = [row for one in found for row in one.rows]
        sentences = [sentence for one in found for sentence in one.sentences]
        return Content(
            title=self.title,
            source=self.source,
            sentences=[*sentences, self._repeats(), *self.remarks(cases, root)],
            figures={f"figure-{self.figure}": [one.panel for one in found]},
            tables=(Table(self.caption, (*self.heads, *HEADS), rows),),
            settings=self.parameters() | {"seed": seed},
        )

    def _repeats(self) -> str:
        return (
            f"{self.repeats:,} repeats: {self.repeats // self.draws} databases, {self.draws} draws "
            "of the noise each; bands are one standard deviation to each side."
        )


def first_of_each_population(cases: list[C]) -> list[C]:
    """One case for each population's title; the last one where several share it."""
    return list({case.population.title: case for case in cases}.values())
