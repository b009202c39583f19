"""Paper 1, lemmas 6 and 7: one row grows, and least squares loses its privacy or its accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.exact import spectrum
from dpaudit.mechanisms import ALS, RPLS, GaussianLS, LawMechanism
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.report.study import Content, Line, Panel, Progress, Study, Table
from dpaudit.verdict.numbers import number
from studies.paper_1.accuracy import accuracy
from studies.repeats import positive

GROWING = {
    "label": "the label grows, its features stay",
    "features": "the features grow, the label stays",
}


@dataclass(frozen=True)
class OutlierStudy(Study):
    """One row whose label or features grow, added to n others and zeroed in D′.

    Settings: others, n; sizes of the row; epsilon, at which δ is taken; rows of the sketches;
    sigma of Gaussian LS; padding of RP LS with a public padding; target_delta of RP LS as figure 4
    prints it, with c₁ computed from the data.
    """

    others: int = 1000
    sizes: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4)
    epsilon: float = 1.0
    rows: int = 100
    sigma: float = 0.01
    padding: float = 10.0
    target_delta: float = 1e-3
    title: ClassVar[str] = "One growing row against private least squares"
    source: ClassVar[str] = "paper 1, lemmas 6 and 7, corollary 1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))
        positive("sizes", self.sizes)
        check.integer("others", self.others, 4)
        self.mechanisms()  # their own checks

    def mechanisms(self) -> dict[str, ALS | GaussianLS | RPLS]:
        """By label. The last one's padding follows the longest row; the others are fixed."""
        return {
            f"ALS, r = {self.rows}": ALS(self.rows),
            f"Gaussian LS, σ = {self.sigma:g}": GaussianLS(sigma=self.sigma),
            f"RP LS, c₂ = {self.padding:g}": RPLS(self.rows, padding=self.padding),
            "RP LS, c₁ off the data (figure 4)": RPLS(self.rows, self.epsilon, self.target_delta),
        }

    def pair(self, kind: str, size: float, seed: int) -> NeighbourPair:
        """The growing row first, then n rows of two features about y = x₁ + x₂/2."""
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
        features = rng.uniform(-1.0, 1.0, (self.others, 2))
        label = features @ [1.0, 0.5] + 0.1 * rng.standard_normal(self.others)
        row = [1.0, 0.0, 1.0 + size] if kind == "label" else [size, 0.0, 0.0]
        return zero_row(np.vstack([row, np.column_stack([features, label])]), 0)

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """Both kinds of growth. One progress step for each."""
        panels = {"privacy": list[Panel](), "error": list[Panel]()}
        rows, sentences = list[Any](), list[str]()
        for i, (kind, said) in enumerate(GROWING.items()):
            if progress is not None:
                progress("growing row", i, len(GROWING))
            pairs = [self.pair(kind, size, seed) for size in self.sizes]
            mechanisms = self.mechanisms().items()
            private = {
                label: [self.delta(one, pair) for pair in pairs] for label, one in mechanisms
            }
            error = {label: [self.error(one, p.left) for p in pairs] for label, one in mechanisms}
            panels["privacy"].append(self.panel(said, f"δ({self.epsilon:g})", private, "linear"))
            panels["error"].append(self.panel(said, "√E‖M(D) − f(D)‖²", error, "log"))
            sentences += [
                sentence(said, label, self.sizes, private[label], error[label]) for label in private
            ]
            rows += [
                (said, label, size, d, e)
                for label in private
                for size, d, e in zip(self.sizes, private[label], error[label], strict=True)
            ]
        return Content(
            title=self.title,
            source=self.source,
            sentences=[*self.sensitivity(seed), *sentences],
            figures=panels,
            tables=(Table("Every point", ("row", "mechanism", "size", "δ", "error"), rows),),
            settings=self.parameters() | {"seed": seed},
        )

    def delta(self, mechanism: LawMechanism, pair: NeighbourPair) -> float:
        """Exact δ at the study's ε."""
        return float(spectrum(mechanism, pair, self.epsilon).delta)

    def error(self, mechanism: ALS | GaussianLS | RPLS, data: Array) -> float:
        """Root of the mean square error on D, in closed form."""
        return math.sqrt(accuracy(mechanism.law(data), least_squares(data).coef).mean_square)

    def panel(self, said: str, y_label: str, found: Mapping[str, list[float]], scale: str) -> Panel:
        """A line for each mechanism over the sizes."""
        drawn = [Line(label, list(self.sizes), values) for label, values in found.items()]
        return Panel(said, "size", y_label, drawn, x_scale="log", y_scale=scale)

    def sensitivity(self, seed: int) -> list[str]:
        """A sentence on how far the growing label moves f itself."""
        small, large = (
            least_squares(self.pair("label", size, seed).left)
            for size in (self.sizes[0], self.sizes[-1])
        )
        moved = [number(float(fit.displacement[0]), 3) for fit in (small, large)]
        return [
            f"The label of one of {self.others + 1:,} rows moves the solution by {moved[0]} at "
            f"its smallest size and by {moved[1]} at its largest (lemma 7): noise that hides the "
            "one is lost in the other."
        ]


def sentence(
    said: str, label: str, sizes: tuple[float, ...], private: list[float], error: list[float]
) -> str:
    """δ and error of one mechanism at both ends of the growth, and where δ exceeds lemma 6's ½."""
    above = [size for size, delta in zip(sizes, private, strict=True) if delta > 0.5]
    half = f" (above ½ from {number(above[0], 3)} on)" if above else ""
    return (
        f"{said[0].upper()}{said[1:]}, {label}: from size {number(sizes[0], 3)} to "
        f"{number(sizes[-1], 3)} δ goes from {number(private[0], 3)} to "
        f"{number(private[-1], 3)}{half}, the error from {number(error[0], 3)} to "
        f"{number(error[-1], 3)}."
    )
