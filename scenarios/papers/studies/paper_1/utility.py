"""Paper 1, figure 2: privacy against error of ALS, Gaussian LS and RP LS on real data.

Privacy is exact: δ over all rows at one ε.
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
from dpaudit._core.check import fail
from dpaudit._core.linalg import LeastSquares, least_squares
from dpaudit._core.types import Array
from dpaudit.curves.readings import gdp_mu
from dpaudit.exact import worst_case
from dpaudit.mechanisms import ALS, RPLS, GaussianLS
from dpaudit.report.study import Content, Line, Panel, Progress, Study, Table
from dpaudit.verdict.numbers import number
from studies.paper_1.accuracy import Accuracy, accuracy, norm_variance
from studies.repeats import positive, span

SKETCH, NOISE, PADDED, PRINTED = "ALS", "Gaussian LS", "RP LS", "RP LS, c₂ of figure 4"
PARAMETERS = {SKETCH: "r", NOISE: "σ", PADDED: "c₂", PRINTED: "c₂"}
LEAST = 1e-12  # the least δ that is shown
UNITS = ("as they are", "norm 1")
MEASURES = {"paper": "Var‖M(D) − f(D)‖", "square": "E‖M(D) − f(D)‖²"}


@dataclass(frozen=True, eq=False)
class Point:
    """One setting of one mechanism: its parameter, δ at the study's ε over all rows, its error."""

    method: str
    parameter: float
    delta: float
    accuracy: Accuracy
    spread: Array

    @property
    def on_log_scale(self) -> bool:
        """Whether both δ and the error can be drawn on a log scale."""
        return self.delta > LEAST and self.accuracy.mean_square < math.inf

    def cells(self, name: str) -> tuple[Any, ...]:
        """A row of the table; name : of the data."""
        exact, estimated = self.accuracy, self.spread
        errors = estimated.mean(), estimated.std(), exact.variance, exact.bias, exact.mean_square
        return (
            name,
            self.method,
            f"{PARAMETERS[self.method]} = {number(self.parameter, 3)}",
            self.delta,
            *map(float, errors),
        )


@dataclass(frozen=True)
class UtilityStudy(Study):
    """δ at one ε against error on the same data, by two measures of error.

    One panel for each data set and unit. Settings: names of data sets; units of their columns;
    epsilon; rows, for each data set the r of ALS, whose δ also set the noise of Gaussian LS;
    paddings of RP LS in units of the longest row, at the largest r; target_delta of figure 4's own
    c₂ at every r; draws and repeats of the measure that is estimated.
    """

    names: tuple[str, ...] = ("cancer", "flight")
    units: tuple[str, ...] = UNITS
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
        """Every setting on every data set. Raises `DataNotFound`."""
        panels: dict[str, list[Panel]] = {measure: [] for measure in MEASURES}
        table, sentences = list[Any](), list[str]()
        cases = [(i, j) for i in range(len(self.names)) for j in range(len(self.units))]
        for at, (i, j) in enumerate(cases):
            if progress is not None:
                progress("figure 2", at, len(cases))
            title = f"{self.names[i]}, units {self.units[j]}"
            data = in_units(self.names[i], self.units[j])
            key = np.random.SeedSequence(seed, spawn_key=(i, j))
            found = list(self.points(data, self.rows[i], key))
            for measure, part in panels.items():
                part.append(self.panel(title, measure, found))
            table += [point.cells(title) for point in found]
            sentences += comparisons(title, found)
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
        """Every setting of the methods on these data."""
        fit, bound = least_squares(data), float(np.linalg.norm(data, axis=1).max())
        for j, (method, parameter, mechanism) in enumerate(self.settings(data, fit, bound, rows)):
            delta = float(worst_case(mechanism, data, self.epsilon).delta)
            law = mechanism.law(data)
            below = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, j))
            spread = norm_variance(law, fit.coef, self.draws, self.repeats, below)
            yield Point(method, parameter, delta, accuracy(law, fit.coef), spread)

    def settings(
        self, data: Array, fit: LeastSquares, bound: float, rows: tuple[int, ...]
    ) -> Iterator[tuple[str, float, ALS | GaussianLS | RPLS]]:
        """Method, its parameter and the mechanism. The δ of ALS sets the σ of Gaussian LS."""
        for r in rows:
            yield SKETCH, r, ALS(r)
            delta = float(worst_case(ALS(r), data, self.epsilon).delta)
            if 0.0 < delta < 1.0:
                mu = gdp_mu(np.array(self.epsilon), np.array(delta))
                sigma = float(fit.displacement.max() / mu)
                yield NOISE, sigma, GaussianLS(sigma=sigma)
        for share in self.paddings:
            yield PADDED, share * bound, RPLS(rows[-1], padding=share * bound)
        for r in rows:
            printed = RPLS(r, self.epsilon, self.target_delta, row_bound=bound)
            yield PRINTED, printed.pad(data), printed

    def panel(self, name: str, measure: str, found: list[Point]) -> Panel:
        """A line for each method that has points; measure : a key of MEASURES."""
        lines = [
            self.line(label, measure, [one for one in found if one.method == label])
            for label in PARAMETERS
        ]
        x_label = f"δ({self.epsilon:g}), worst row"
        shown = [line for line in lines if line.x]
        return Panel(name, x_label, MEASURES[measure], shown, x_scale="log", y_scale="log")

    def line(self, label: str, measure: str, points: list[Point]) -> Line:
        """The error over δ in the order of the parameter; bars are deviations of the repeats."""
        kept = [one for one in points if one.on_log_scale]
        x = [one.delta for one in kept]
        if measure == "square":
            return Line(label, x, [one.accuracy.mean_square for one in kept])
        middle = np.array([np.mean(one.spread) for one in kept])
        width = np.array([np.std(one.spread) for one in kept])
        low = np.maximum(middle - width, 0.1 * middle)
        return Line(label, x, middle.tolist(), low.tolist(), (middle + width).tolist())

    def remarks(self) -> list[str]:
        """How the errors are measured, and what the paper leaves open."""
        return [
            f"{MEASURES['paper']} is estimated from {self.repeats} repeats of {self.draws:,} "
            "draws; bars are one standard deviation over them. The paper takes it for the sum of "
            "the variances of the coordinates, which it is not, and it does not see a bias.",
            "Noise and padding are set from these data: what is compared is what each mechanism "
            "does to them, not a mechanism with a guarantee. The paper's text does not say which "
            "ε and r its figure has.",
        ]


def in_units(name: str, units: str) -> Array:
    """The database as it is, or with columns of norm 1, as the authors' public code has them."""
    data = datasets.load(name).database
    return data if units == UNITS[0] else np.asarray(data / np.linalg.norm(data, axis=0))


def comparisons(where: str, found: list[Point]) -> list[str]:
    """Gaussian LS against ALS at equal δ, and RP LS by its padding."""
    sentences = (_at_equal_delta(found), _padding(found), _printed_padding(found))
    return [f"{where}: {one}" for one in sentences if one]


def _at_equal_delta(found: list[Point]) -> str:
    both = [
        (a, b)
        for a, b in pairwise(found)
        if (a.method, b.method) == (SKETCH, NOISE) and a.on_log_scale
    ]
    if not both:
        return ""
    exact = [b.accuracy.mean_square / a.accuracy.mean_square for a, b in both]
    own = [float(b.spread.mean() / a.spread.mean()) for a, b in both]
    return (
        f"at the δ of ALS, {span([a.delta for a, _ in both])}, the mean square error of "
        f"Gaussian LS is {span(exact)} times that of ALS, and {span(own)} times by the paper's "
        "measure."
    )


def _padding(found: list[Point]) -> str:
    """Whether more padding is more private."""
    padded = [one for one in found if one.method == PADDED]
    rising = [(a, b) for a, b in pairwise(padded) if b.delta > 1.1 * a.delta > LEAST]
    if not padded:
        return ""
    if not rising:
        return f"δ of RP LS falls with its padding, {span([one.delta for one in padded])}."
    low, high = rising[0][0], max((b for _, b in rising), key=lambda one: one.delta)
    return (
        f"more padding is not always more private: at c₂ = {number(low.parameter, 3)} RP LS has "
        f"δ = {number(low.delta, 3)}, at {number(high.parameter, 3)} {number(high.delta, 3)}: "
        "the fit, pulled to 0, misses outlying rows by more."
    )


def _printed_padding(found: list[Point]) -> str:
    """What figure 4's own padding costs."""
    points = [one for one in found if one.method == PRINTED and one.accuracy.mean_square < math.inf]
    if not points:
        return ""
    share = min(one.accuracy.bias / one.accuracy.mean_square for one in points)
    most = max(one.delta for one in points)
    bound = f"at most {number(most, 3)}" if most > 0.0 else "too small for a float"
    return (
        f"RP LS with the c₂ of figure 4 has δ {bound}; at least {int(100 * share)} % of its mean "
        "square error is the bias of the padding."
    )
