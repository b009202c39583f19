"""Exact spectra of the scenarios, worst over all rows, and what is read off them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.types import describe
from dpaudit.curves.spectrum import Spectrum
from dpaudit.exact import worst_case
from dpaudit.report.style import legend, new_figure, tidy
from reports.make.gallery.looks import DASHED_LINE, SOLID_LINE
from reports.make.gallery.settings import DELTA, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR = 1e-12  # the least δ that is drawn
WIDEST = 8.0  # ε where a curve never falls that far
COLUMNS = 4


def numbers(settings: Settings) -> list[dict[str, Any]]:
    """For each mechanism both directions on a grid of ε, and the inverses of the larger one."""
    return [_one(name, mechanism, settings) for name, mechanism in settings.mechanisms]


def _one(name: str, mechanism: Any, settings: Settings) -> dict[str, Any]:
    worst = worst_case(mechanism, settings.database, 1.0)
    assert worst.curve is not None
    end = min(float(worst.epsilon_at(FLOOR)), WIDEST)
    epsilon = end * np.linspace(0.0, 1.0, settings.points) ** 2  # a curve may fall at once
    forward, backward = worst.curve.delta(epsilon)
    called, parameters = describe(mechanism)
    return {
        "scenario": name,
        "mechanism": called,
        "parameters": parameters,
        "law": worst.law,
        "row": int(worst.index) if worst.index is not None else None,
        "epsilon": epsilon.tolist(),
        "forward": forward.tolist(),
        "backward": backward.tolist(),
        "inverses": _inverses(worst),
    }


def _inverses(worst: Spectrum) -> dict[str, float]:
    return {
        "epsilon_at_delta": float(worst.epsilon_at(DELTA)),
        "delta_at_1": float(worst.delta_at(1.0)),
        "total_variation": worst.total_variation,
        "gdp_mu_at_1": float(worst.gdp_mu(1.0)),
        "renyi_2": float(worst.renyi(2.0)),
        "pure_epsilon": worst.pure_epsilon,
    }


def figure(content: list[dict[str, Any]]) -> Figure:
    """One panel a mechanism, with one legend."""
    rows = -(-len(content) // COLUMNS)
    made = new_figure(9.6, 2.6 * rows + 0.4)
    grid = np.atleast_1d(made.subplots(rows, COLUMNS, sharey=True)).ravel()
    for number, (ax, one) in enumerate(zip(grid, content, strict=False)):
        panel(one, ax).set_ylabel("" if number % COLUMNS else "δ(ε)")
    for ax in grid[len(content) :]:
        ax.set_axis_off()
    handles, labels = grid[0].get_legend_handles_labels()
    legend(made, handles, labels, loc="outside lower center", ncols=2)
    return made


def panel(one: dict[str, Any], ax: Axes) -> Axes:
    """δ(ε) of one mechanism on a log axis, both directions."""
    for key, look, label in (
        ("forward", SOLID_LINE, "the database against one without the worst row"),
        ("backward", DASHED_LINE, "and the other way round"),
    ):
        delta = np.array(one[key])
        ax.plot(one["epsilon"], np.where(delta > 0.0, delta, np.nan), **look, label=label)
    ax.set_yscale("log")
    ax.set(
        xlabel="ε (nats)",
        ylabel="δ(ε)",
        ylim=(FLOOR, 1.5),
        xlim=(0.0, max(one["epsilon"][-1], 1e-9)),
    )
    ax.set_title(one["mechanism"], fontsize=10, loc="left")
    ax.locator_params(axis="x", nbins=4)
    return tidy(ax)
