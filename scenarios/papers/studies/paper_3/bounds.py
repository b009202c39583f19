"""Paper 3, figure 1: the λ_min + σ² that Gaussian mixing needs for ε, by three analyses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit.curves.readings import epsilon_at
from dpaudit.exact import gaussian_sketch
from dpaudit.papers import printed
from dpaudit.papers.printed import FIGURE_1_LABELS, figure_1_gammas
from dpaudit.report.study import Content, Line, Panel, Progress, Study, Table
from dpaudit.verdict.numbers import number
from studies.repeats import positive, span


@dataclass(frozen=True)
class MixingBounds(Study):
    """Figure 1 with the exact curve beside the two bounds.

    Settings: mixtures k (a panel each), delta, low and high ε, and how many steps between them.
    """

    mixtures: tuple[int, ...] = (100, 1000)
    delta: float = 1e-6
    low: float = 0.05
    high: float = 20.0
    steps: int = 25
    title: ClassVar[str] = "What Gaussian mixing needs for ε, by three analyses"
    source: ClassVar[str] = "paper 3, figure 1"

    def __post_init__(self) -> None:
        positive("mixtures", self.mixtures, whole=True)
        check.real("delta", self.delta, 0.0, 1.0, open_=True)
        check.real("high", self.high, check.real("low", self.low, 0.0, open_=True), open_=True)
        check.integer("steps", self.steps, 2)

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """Two panels for each k: the needed λ_min + σ², and the ratio of the ε of each analysis."""
        epsilons = np.geomspace(self.low, self.high, self.steps)
        needed, ratios, sentences, rows = [], [], list[str](), list[Any]()
        for i, k in enumerate(self.mixtures):
            if progress is not None:
                progress("figure 1", i, len(self.mixtures))
            gamma = {
                name: np.array(values) for name, values in _curves(k, self.delta, epsilons).items()
            }
            attained = _attained(k, self.delta, gamma["exact"])
            needed.append(_panel(k, "ε (nats)", "λ_min + σ² in units of C²", epsilons, gamma))
            shares = {name: value / attained["exact"] for name, value in attained.items()}
            ratios.append(
                _panel(k, "λ_min + σ² in units of C²", "times the exact ε", gamma["exact"], shares)
            )
            sentences.append(_sentence(k, gamma, shares))
            rows += [
                (k, e, *(value[j] for value in gamma.values()))
                for j, e in list(enumerate(epsilons))[::4]
            ]
        heads = ("k", "ε", *(FIGURE_1_LABELS[name] for name in gamma))
        return Content(
            title=self.title,
            source=self.source,
            sentences=[
                *sentences,
                f"δ = {number(self.delta)}; the text leaves k and δ of its figure open.",
            ],
            figures={"figure-1a": needed, "figure-1b": ratios},
            tables=(Table("λ_min + σ² in units of C² that each analysis asks for", heads, rows),),
            settings=self.parameters() | {"seed": seed},
        )


def _curves(rows: int, delta: float, epsilons: Array) -> dict[str, list[float]]:
    """The γ that each analysis asks for, at each ε."""
    found = [figure_1_gammas(rows, float(epsilon), delta) for epsilon in epsilons]
    return {name: [one[name] for one in found] for name in FIGURE_1_LABELS}


def _attained(rows: int, delta: float, gamma: Array) -> dict[str, Array]:
    """The ε of each analysis at the same γ."""
    by: dict[str, Callable[[float], float]] = {
        "exact": lambda one: float(
            epsilon_at(lambda e: np.maximum(*gaussian_sketch(1.0 / one, rows, e)), delta)
        ),
        "lemma_1": lambda one: printed.gaussmix_epsilon(rows, one, delta),
        "sheffet_2019": lambda one: printed.sheffet_2019(rows, one, delta),
    }
    return {
        name: np.array([function(float(one)) for one in gamma]) for name, function in by.items()
    }


def _panel(k: int, x_label: str, y_label: str, x: Array, curves: dict[str, Array]) -> Panel:
    lines = [
        Line(FIGURE_1_LABELS[name], x.tolist(), values.tolist()) for name, values in curves.items()
    ]
    scale = "log" if "units" in y_label else "linear"
    return Panel(f"k = {k:,}", x_label, y_label, lines, x_scale="log", y_scale=scale)


def _sentence(k: int, gamma: dict[str, Array], shares: dict[str, Array]) -> str:
    ratio = {name: value / gamma["exact"] for name, value in gamma.items()}
    return (
        f"k = {k:,}: lemma 1 with proposition 1 asks for {span(ratio['lemma_1'])} times the "
        f"exact λ_min + σ² and gives {span(shares['lemma_1'])} times the exact ε; Sheffet 2019 "
        f"asks for {span(ratio['sheffet_2019'])} times and gives "
        f"{span(shares['sheffet_2019'])} times."
    )
