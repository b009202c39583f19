"""Paper 1, figure 2: privacy against error of ALS, Gaussian LS and RP LS on real data, from their
exact spectra.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from dpaudit import datasets
from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit._core.linalg import LeastSquares, least_squares
from dpaudit.curves.readings import gdp_mu
from dpaudit.exact import worst_case
from dpaudit.mechanisms import ALS, RPLS, GaussianLS
from dpaudit.report.studies.content import Content, Line, Panel, Table
from dpaudit.report.studies.study import Progress, Study
from dpaudit.report.text import number
from studies.paper_1.accuracy import Accuracy, accuracy, norm_variance
from studies.populations import standardised
from studies.repeats import positive

SKETCH, NOISE, PADDED, BOX = "ALS", "Gaussian LS", "RP LS", "RP LS, c₂ of figure 4"
DIALS = {SKETCH: "r", NOISE: "σ", PADDED: "c₂", BOX: "c₂"}
LEAST = 1e-12  # δ that is shown
UNITS = ("as they are", "standardised")
MEASURES = {"paper": "Var‖M(D) − f(D)‖", "square": "E‖M(D) − f(D)‖²"}


@dataclass(frozen=True, eq=False)
class Point:
    """One setting of one mechanism: its dial, δ at the study's ε over all rows, and its error."""

    method: str
    dial: float
    delta: float
    accuracy: Accuracy
    spread: Array

    @property
    def seen(self) -> bool:
        """Whether both are numbers that a log scale has."""
        return self.delta > LEAST and self.accuracy.mean_square < math.inf

    def cells(self, name: str) -> tuple[Any, ...]:
        exact = self.accuracy
        told = self.spread.mean(), self.spread.std(), exact.variance, exact.bias, exact.mean_square
        return (
            name,
            self.method,
            f"{DIALS[self.method]} = {number(self.dial, 3)}",
            self.delta,
            *map(float, told),
        )


@dataclass(frozen=True)
class UtilityStudy(Study):
    """δ at one ε against error on the same data, one panel for each data set and its units, by two
    measures of error.

    Settings: names of data sets; units, of their columns; epsilon; rows, for each data set the r of
    ALS, which also set the δ at which Gaussian LS is shown; paddings of RP LS in units of the
    longest row, at the largest r; target_delta, of figure 4's own c₂ at every r; draws, repeats, of
    the measure that is estimated.
    """

    names: tuple[str, ...] = ("cancer", "flight")
    units: tuple[str, ...] = ("as they are", "standardised")
    epsilon: float = 1.0
    rows: tuple[tuple[int, ...], ...] = (
        (16, 20, 30, 50, 100, 200, 500, 1000),
        (300_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000),
    )
    paddings: tuple[float, ...] = (1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    target_delta: float = 1e-5
    draws: int = 2_000
    repeats: int = 20
    title: ClassVar[str] = "Privacy against error of three private least squares"
    source: ClassVar[str] = "paper 1, figure 2"

    def __post_init__(self) -> None:
        for name, value in (
            ("names", self.names),
            ("units", self.units),
            ("rows", map(tuple, self.rows)),
            ("paddings", self.paddings),
        ):
            object.__setattr__(self, name, tuple(value))
        if not self.names or len(self.names) != len(self.rows):
            fail("rows", self.rows, "for each data set a list of numbers of rows")
        for one in self.rows:
            positive("rows", one, whole=True)
        positive("paddings", self.paddings)
        for unit in self.units:
            check.choice("units", unit, UNITS)
        check.real("epsilon", self.epsilon, 0.0)
        check.integer("draws", self.draws, 2)
        check.integer("repeats", self.repeats, 2)

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        panels: dict[str, list[Panel]] = {measure: [] for measure in MEASURES}
        table, sentences = list[Any](), list[str]()
        cases = [(i, j) for i in range(len(self.names)) for j in range(len(self.units))]
        for at, (i, j) in enumerate(cases):
            if progress is not None:
                progress("figure 2", at, len(cases))
            title, data = (
                f"{self.names[i]}, units {self.units[j]}",
                in_units(self.names[i], self.units[j]),
            )
            found = list(
                self.points(data, self.rows[i], np.random.SeedSequence(seed, spawn_key=(i, j)))
            )
            for measure, part in panels.items():
                part.append(self.panel(title, measure, found))
            table += [point.cells(title) for point in found]
            sentences += told(title, found)
        measured = ("mean", "deviation", "Σ variances", "bias²", MEASURES["square"])
        heads = (
            "data",
            "method",
            "dial",
            "δ",
            f"{MEASURES['paper']}, {measured[0]}",
            *measured[1:],
        )
        return Content(
            title=self.title,
            source=self.source,
            sentences=[*sentences, *self.remarks()],
            figures={"figure-2": panels["paper"], "figure-2-mean-square": panels["square"]},
            tables=(Table("Every setting", heads, table),),
            settings=self.parameters() | {"seed": seed},
        )

    def points(
        self, data: Array, rows: tuple[int, ...], seed: np.random.SeedSequence
    ) -> Iterator[Point]:
        """Every setting of the methods; the δ of ALS also set the σ of Gaussian LS."""
        fit, bound = least_squares(data), float(np.linalg.norm(data, axis=1).max())
        for j, (method, dial, mechanism) in enumerate(self.settings(data, fit, bound, rows)):
            delta = float(worst_case(mechanism, data, self.epsilon).delta)
            law = mechanism.law(data)
            below = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, j))
            spread = norm_variance(law, fit.coef, self.draws, self.repeats, below)
            yield Point(method, dial, delta, accuracy(law, fit.coef), spread)

    def settings(
        self, data: Array, fit: LeastSquares, bound: float, rows: tuple[int, ...]
    ) -> Iterator[tuple[str, float, Any]]:
        for r in rows:
            yield SKETCH, r, ALS(r)
            delta = float(worst_case(ALS(r), data, self.epsilon).delta)
            if 0.0 < delta < 1.0:
                sigma = float(
                    fit.displacement.max() / gdp_mu(np.array(self.epsilon), np.array(delta))
                )
                yield NOISE, sigma, GaussianLS(sigma=sigma)
        for share in self.paddings:
            yield PADDED, share * bound, RPLS(rows[-1], padding=share * bound)
        for r in rows:
            box = RPLS(r, self.epsilon, self.target_delta, row_bound=bound)
            yield BOX, box.pad(data), box

    def panel(self, name: str, measure: str, found: list[Point]) -> Panel:
        lines = [
            self.line(label, measure, [one for one in found if one.method == label])
            for label in DIALS
        ]
        x_label = f"δ({self.epsilon:g}), worst row"
        shown = [line for line in lines if line.x]
        return Panel(name, x_label, MEASURES[measure], shown, x_scale="log", y_scale="log")

    def line(self, label: str, measure: str, points: list[Point]) -> Line:
        """The error over δ in the order of the dial, where a log scale has both; bars are
        deviations of the repeats.
        """
        kept = [one for one in points if one.seen]
        x = [one.delta for one in kept]
        if measure == "square":
            return Line(label, x, [one.accuracy.mean_square for one in kept])
        middle, width = (
            np.array([function(one.spread) for one in kept]) for function in (np.mean, np.std)
        )
        return Line(
            label,
            x,
            middle.tolist(),
            np.maximum(middle - width, 0.1 * middle).tolist(),
            (middle + width).tolist(),
        )

    def remarks(self) -> list[str]:
        return [
            f"{MEASURES['paper']} is estimated from {self.repeats} repeats of {self.draws:,} "
            "draws; bars are one standard deviation over them. The paper takes it for the sum of "
            "the variances of the coordinates, which it is not, and it does not see a bias.",
            "Noise and padding are set from these data: what is compared is what each mechanism "
            "does to them, not a mechanism with a guarantee. The paper's text does not say which "
            "ε and r its figure has.",
        ]


def in_units(name: str, units: str) -> Array:
    """The database, its columns as they are, or each but the constant with mean 0 and deviation 1."""
    data = datasets.load(name).database
    if units == UNITS[0]:
        return data
    varies = np.ptp(data, axis=0) > 0.0
    return np.column_stack([data[:, ~varies], standardised(data[:, varies])])


def told(where: str, found: list[Point]) -> list[str]:
    """Gaussian LS against ALS at equal δ, and RP LS by its padding."""
    return [
        f"{where}: {one}" for one in (_at_equal_delta(found), _padding(found), _box(found)) if one
    ]


def _at_equal_delta(found: list[Point]) -> str:
    both = [
        (a, b) for a, b in pairwise(found) if (a.method, b.method) == (SKETCH, NOISE) and a.seen
    ]
    if not both:
        return ""
    exact = [b.accuracy.mean_square / a.accuracy.mean_square for a, b in both]
    own = [float(b.spread.mean() / a.spread.mean()) for a, b in both]
    return (
        f"at the δ of ALS, {_span([a.delta for a, _ in both])}, the mean square error of "
        f"Gaussian LS is {_span(exact)} times that of ALS, and {_span(own)} times by the paper's "
        "measure."
    )


def _padding(found: list[Point]) -> str:
    """Whether more padding is more private."""
    padded = [one for one in found if one.method == PADDED]
    rising = [(a, b) for a, b in pairwise(padded) if b.delta > 1.1 * a.delta > LEAST]
    if not rising:
        return (
            f"δ of RP LS falls with its padding, {_span([one.delta for one in padded])}."
            if padded
            else ""
        )
    low, high = rising[0][0], max((b for _, b in rising), key=lambda one: one.delta)
    return (
        f"more padding is not always more private: at c₂ = {number(low.dial, 3)} RP LS has δ = "
        f"{number(low.delta, 3)}, at {number(high.dial, 3)} {number(high.delta, 3)}: the fit, "
        "pulled to 0, misses outlying rows by more."
    )


def _box(found: list[Point]) -> str:
    box = [one for one in found if one.method == BOX and one.accuracy.mean_square < math.inf]
    if not box:
        return ""
    share, most = (
        min(one.accuracy.bias / one.accuracy.mean_square for one in box),
        max(one.delta for one in box),
    )
    bound = f"at most {number(most, 3)}" if most > 0.0 else "too small for a float"
    return (
        f"RP LS with the c₂ of figure 4 has δ {bound}; at least {int(100 * share)} % of its mean "
        "square error is the bias of the padding."
    )


def _span(values: list[float]) -> str:
    return f"{number(min(values), 3)} to {number(max(values), 3)}"
