"""Paper 1, figure 3: estimated spectra of ALS on real data, beside exact and asymptotic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit import datasets
from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.auditing.api import audit
from dpaudit.auditing.result import AuditResult
from dpaudit.exact import worst_case
from dpaudit.mechanisms import ALS
from dpaudit.neighbours import zero_row
from dpaudit.report.study import Content, Line, Panel, Progress, Study, Table
from dpaudit.verdict.numbers import number
from studies.repeats import positive

EXACT, LIMIT, FOUND = (
    "exact, finite r",
    "asymptotic (lemma 3)",
    "estimate, with its certified lower band",
)
SHOWN = 0.02  # the least δ whose ratios are reported


@dataclass(frozen=True, eq=False)
class SpectrumCase:
    """One data set and r, for ε up to where the asymptotic δ of the worst row is `floor`."""

    name: str
    data: Array
    rows: int
    floor: float

    @property
    def title(self) -> str:
        """Data set and r."""
        return f"{self.name}, r = {self.rows:,}"

    def grid(self, points: int) -> Array:
        """Evenly spaced ε from 0 on."""
        mechanism = ALS(self.rows)
        curve = worst_case(mechanism, self.data, [0.0], law="asymptotic")
        return np.linspace(0.0, float(curve.epsilon_at(self.floor)), points)

    def audit(self, epsilon: Array, samples: int, seed: np.random.SeedSequence) -> AuditResult:
        """An audit of the row that is worst in the middle of the grid."""
        mechanism = ALS(self.rows)
        worst = worst_case(mechanism, self.data, epsilon[len(epsilon) // 2])
        assert worst.index is not None
        return audit(
            mechanism,
            zero_row(self.data, int(worst.index)),
            epsilon=epsilon,
            draws=samples,
            rng=seed,
        )


@dataclass(frozen=True)
class SpectrumStudy(Study):
    """ALS on real data: one panel for each data set and number r of sketch rows.

    Settings: names of data sets, as `datasets.load` takes them; rows, a list of r for each data set
    (the paper's text names none); samples, draws a side; points of the ε grid; floor, the δ at
    which the grid ends.
    """

    names: tuple[str, ...] = ("cancer", "flight")
    rows: tuple[tuple[int, ...], ...] = ((50, 200), (100_000, 1_000_000))
    samples: int = 100_000
    points: int = 21
    floor: float = 1e-3
    title: ClassVar[str] = "Recovered spectra of approximate least squares"
    source: ClassVar[str] = "paper 1, figure 3"

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "rows", tuple(map(tuple, self.rows)))
        if not self.names or len(self.names) != len(self.rows):
            fail("rows", self.rows, "for each data set a list of numbers of rows")
        for one in self.rows:
            positive("rows", one, whole=True)
        check.integer("samples", self.samples, 1000)
        check.integer("points", self.points, 3)
        check.real("floor", self.floor, 0.0, 1.0, open_=True)

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """An audit for each data set and r. Raises `DataNotFound`."""
        cases = self.cases()
        panels, rows, sentences = [], list[Any](), list[str]()
        for i, case in enumerate(cases):
            if progress is not None:
                progress("figure 3", i, len(cases))
            epsilon = case.grid(self.points)
            found = case.audit(epsilon, self.samples, np.random.SeedSequence(seed, spawn_key=(i,)))
            panels.append(panel(case.title, found))
            sentences.append(sentence(case.title, found))
            rows += [(case.title, *line) for line in lines(found)]
        heads = ("data", "ε", "exact δ", "asymptotic δ", "estimated δ", "certified δ")
        return Content(
            title=self.title,
            source=self.source,
            sentences=[*sentences, *self.remarks()],
            figures={"figure-3": panels},
            tables=(Table("δ(ε) of the pair that is audited", heads, rows),),
            settings=self.parameters() | {"seed": seed},
        )

    def cases(self) -> list[SpectrumCase]:
        """All data sets with all their r."""
        loaded = [datasets.load(name).database for name in self.names]
        sizes = zip(self.names, loaded, self.rows, strict=True)
        return [
            SpectrumCase(name, data, r, self.floor) for name, data, wanted in sizes for r in wanted
        ]

    def remarks(self) -> list[str]:
        """What differs from the paper's figure."""
        return [
            f"{self.samples:,} draws a side, training, choosing and certifying together, where "
            "the paper trains on 10⁷ and tests on 10⁶; the band holds at all ε and in both "
            "directions at once, at 95 %.",
            "The paper's text does not say which r its figures have.",
        ]


def panel(title: str, found: AuditResult) -> Panel:
    """The exact and asymptotic curves, and the estimate with its certified lower band."""
    truth, band = found.exact, found.spectrum
    assert truth is not None
    x = band.epsilon.tolist()
    assert band.low is not None
    drawn = [
        Line(EXACT, x, truth.delta.tolist()),
        Line(LIMIT, x, np.asarray(truth.asymptotic).tolist()),
        Line(FOUND, x, band.delta.tolist(), band.low.tolist(), band.delta.tolist(), role="markers"),
    ]
    return Panel(title, "ε (nats)", "δ", drawn)


def lines(found: AuditResult) -> list[tuple[float, ...]]:
    """Five points of the curves: ε, exact, asymptotic, estimated, certified."""
    truth, band = found.exact, found.spectrum
    assert truth is not None
    columns = np.array([band.epsilon, truth.delta, truth.asymptotic, band.delta, band.low]).T
    return [tuple(map(float, columns[i])) for i in np.linspace(0, len(columns) - 1, 5).astype(int)]


def sentence(title: str, found: AuditResult) -> str:
    """The asymptotic law, the estimate and the certified band compared with the exact spectrum."""
    truth, band = found.exact, found.spectrum
    assert truth is not None
    seen = truth.delta >= SHOWN
    over = np.asarray(truth.asymptotic)[seen] / truth.delta[seen]
    share = np.asarray(band.low)[seen] / truth.delta[seen]
    above = int(np.sum(band.delta > truth.delta))
    return (
        f"{title}, row {_row(found)}: where δ ≥ {SHOWN:g} the asymptotic δ is "
        f"{number(over.min(), 3)} to {number(over.max(), 3)} times the exact one, and "
        f"{share.min():.0%} to {share.max():.0%} of the exact one is certified; the estimate "
        f"itself is above the exact δ at {above} of {len(band.epsilon)} ε."
    )


def _row(found: AuditResult) -> int | None:
    assert found.subject.pair is not None
    return found.subject.pair.index
