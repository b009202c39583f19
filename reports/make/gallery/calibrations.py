"""How much noise a target takes on these data.

It is computed exactly for these data, exactly for any data within a row bound, and as printed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit import mechanisms
from dpaudit._core.linalg import least_squares
from dpaudit.exact import calibrate
from dpaudit.papers import printed
from dpaudit.papers.printed import figure_1_gammas
from dpaudit.report.style import new_figure, tidy
from reports.make.gallery.looks import SERIES
from reports.make.gallery.settings import DELTA, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# ε ↦ what the parameter must be set to; NaN where the statement excludes ε
Printed = Callable[[float], float]
COLUMNS = 2
OWN, PUBLIC = "exact, these data alone", "exact, any data within B"


@dataclass(frozen=True)
class Task:
    """One mechanism to calibrate.

    title, label : those of the panel and its axis. start : the mechanism.
    note : what the reader must know. printed : what the papers ask for, by name.
    public : whether there is an exact calibration for all data whose rows are within the bound.
    parameter : what is calibrated, None for the default.
    alias : the mechanism and parameter of which `start` is another form.
    """

    title: str
    label: str
    start: Any
    note: str
    printed: dict[str, Printed]
    public: bool = True
    parameter: str | None = None
    alias: tuple[str, str] | None = None


def tasks(settings: Settings) -> list[Task]:
    """The mechanisms with what is printed for each, in the units of these data."""
    bound, rows, dim = settings.row_bound, settings.rows, settings.database.shape[1]
    moved = float(least_squares(settings.database).displacement.max())

    def sketch(formula: Callable[..., float]) -> Printed:
        return lambda epsilon: formula(bound, rows, epsilon, DELTA)

    def gaussian(scale: float, log: float, power: float = 1.0) -> Printed:
        return lambda epsilon: float(scale * np.sqrt(2.0 * np.log(log / DELTA)) / epsilon**power)

    def mixing(name: str) -> Printed:
        return lambda epsilon: float(bound * np.sqrt(figure_1_gammas(rows, epsilon, DELTA)[name]))

    return [
        Task(
            "GaussianLS: noise on the solution",
            "σ (of each coefficient)",
            mechanisms.GaussianLS(sigma=moved),
            "Proposition 2 with the exact largest displacement over all rows as its sensitivity.",
            {"paper 1, proposition 2": lambda e: printed.proposition_2_sigma(moved, e, DELTA)},
            public=False,
        ),
        Task(
            "AnalyzeGauss: noise on the second moments",
            "σ (minutes²)",
            mechanisms.AnalyzeGauss(bound**2),
            "Section 2 prints ε where ε² belongs: too little noise at small ε.",
            {
                "Gaussian mechanism, B²√(2 ln(1.25/δ))/ε": gaussian(bound**2, 1.25),
                "paper 4, section 2, B²√(2 ln(2/δ)/ε)": gaussian(bound**2, 2.0, 0.5),
            },
        ),
        Task(
            f"RandomProjection, {rows:,} rows: padding",
            "w (minutes)",
            mechanisms.RandomProjection(rows, "gram"),
            "Figure 4 pads before a least-squares solution, which tells less than the sketch held "
            "against it here.",
            {
                "paper 4, theorem 3.1": sketch(printed.theorem_3_1_padding),
                "paper 4, theorem B.1": sketch(printed.theorem_b_1_padding),
                "paper 1, figure 4 (c₂)": sketch(printed.figure_4_padding),
            },
        ),
        Task(
            f"GaussMix, {rows:,} mixtures: noise",
            "σ (minutes)",
            mechanisms.RandomProjection(rows, "gram"),  # the same law; the padding may be 0
            "σ = B√γ, of the data no more is known than B. In law this is RandomProjection with "
            "padding σ.",
            {
                "paper 3, lemma 1 with proposition 1": mixing("lemma_1"),
                "Sheffet 2019, as paper 3 quotes it": mixing("sheffet_2019"),
            },
            alias=("GaussMix", "sigma"),
        ),
        Task(
            f"InverseWishartDraw, {rows:,} degrees of freedom: padding",
            "w (minutes)",
            mechanisms.InverseWishartDraw(rows),
            "The exact curve is that of a sketch of as many rows, its directions swapped.",
            {
                "paper 4, theorem 5.1": sketch(printed.theorem_5_1_padding),
                "paper 4, theorem B.4": sketch(printed.theorem_b_4_padding),
            },
        ),
        Task(
            "AdditiveWishart at scale B: degrees of freedom",
            "k",
            mechanisms.AdditiveWishart(dim, bound),
            "The largest row has norm B, so these data are as bad as any within the bound.",
            {
                "paper 4, theorem 4.1 (ε < 1)": lambda e: (
                    float(printed.theorem_4_1_dof(dim, e, DELTA)) if e < 1.0 else float("nan")
                )
            },
            parameter="dof",
        ),
        Task(
            "ALS: rows of the sketch (more is less private)",
            "largest r",
            mechanisms.ALS(1000),
            "No bound is printed for it.",
            {},
            public=False,
        ),
    ]


def numbers(settings: Settings) -> dict[str, Any]:
    """For each mechanism the parameter by every analysis at every target ε."""
    return {
        "delta": DELTA,
        "row_bound": settings.row_bound,
        "epsilon": list(settings.targets),
        "smallest_eigenvalue": float(
            np.linalg.eigvalsh(settings.database.T @ settings.database)[0]
        ),
        "mechanisms": [_calibrated(task, settings) for task in tasks(settings)],
    }


def _calibrated(task: Task, settings: Settings) -> dict[str, Any]:
    """The parameter of one mechanism by every analysis.

    For all data within the bound, one row of zeros and an added row are the worst data for a
    sketch; for noise all data are equal.
    """
    at: dict[str, Any] = {"delta": DELTA, "parameter": task.parameter}
    exact = [
        calibrate(task.start, settings.database, epsilon, **at) for epsilon in settings.targets
    ]
    series = {OWN: [float(one.value) for one in exact]}
    if task.public:
        nothing = np.zeros((1, settings.database.shape[1]))
        within = {"relation": "add", "row_bound": settings.row_bound, **at}
        series[PUBLIC] = [
            float(calibrate(task.start, nothing, epsilon, **within).value)
            for epsilon in settings.targets
        ]
    series |= {
        name: [float(ask(epsilon)) for epsilon in settings.targets]
        for name, ask in task.printed.items()
    }
    mechanism, parameter = task.alias or (type(task.start).__name__, exact[0].parameter)
    return {
        "mechanism": mechanism,
        "title": task.title,
        "label": task.label,
        "parameter": parameter,
        "note": task.note,
        "attained": [one.attained for one in exact],
        "row": [one.index for one in exact],
        "exact": list(series)[: 1 + task.public],
        "series": series,
    }


def figure(content: dict[str, Any]) -> Figure:
    """One panel a mechanism for which a bound is printed, each with its own legend below."""
    shown = [one for one in content["mechanisms"] if len(one["series"]) > len(one["exact"])]
    rows = -(-len(shown) // COLUMNS)
    made = new_figure(9.6, 3.9 * rows)
    grid = np.atleast_1d(made.subplots(rows, COLUMNS)).ravel()
    for ax, one in zip(grid, shown, strict=False):
        panel(one, content["epsilon"], ax)
    for ax in grid[len(shown) :]:
        ax.set_axis_off()
    return made


def panel(one: dict[str, Any], epsilon: list[float], ax: Axes) -> Axes:
    """The parameter against the target ε, on log axes; 0 (no noise needed) is marked below."""
    looks = SERIES if len(one["exact"]) == 2 else (SERIES[0], *SERIES[2:])
    values = {
        name: np.array([np.nan if v is None else float(v) for v in part])
        for name, part in one["series"].items()
    }
    for (name, part), look in zip(values.items(), looks, strict=False):
        ax.plot(epsilon, np.where(part > 0.0, part, np.nan), **look, label=name)
    ax.set_xscale("log")
    ax.set_yscale("log")
    _widen(ax, np.concatenate(list(values.values())))
    for (name, part), look in zip(values.items(), looks, strict=False):
        if np.any(part == 0.0):
            _mark_none(ax, np.array(epsilon)[part == 0.0], look, name)
    ax.set_xticks(epsilon, [f"{value:g}" for value in epsilon], minor=False)
    ax.set_xticks([], minor=True)
    limits = epsilon[0] / 1.25, epsilon[-1] * 1.25
    ax.set(xlabel="target ε (nats)", ylabel=one["label"], xlim=limits)
    ax.set_title(one["title"], fontsize=10, loc="left")
    below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17)}
    legend = ax.legend(frameon=False, fontsize=8.5, handlelength=3.2, **below)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return tidy(ax)


def _widen(ax: Axes, values: np.ndarray) -> None:
    """Widen the axis to a decade at least, so that ticks have labels."""
    seen = values[np.isfinite(values) & (values > 0.0)]
    low, high = float(seen.min()), float(seen.max())
    more = max(1.3, np.sqrt(10.0 * low / high) if high < 10.0 * low else 1.3)
    ax.set_ylim(low / more, high * more)


def _mark_none(ax: Axes, epsilon: np.ndarray, look: dict[str, Any], name: str) -> None:
    low = ax.get_ylim()[0]
    ax.plot(epsilon, np.full(len(epsilon), low), **{**look, "linestyle": ""}, clip_on=False)
    look_of_text: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 8}
    for place in epsilon:
        ax.annotate("0: none needed", (place, low), (0, 7), **look_of_text)
