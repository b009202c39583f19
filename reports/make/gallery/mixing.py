"""Gaussian mixing: γ = (λ_min + σ²)/C² required for (ε, δ), as in paper 3's figure 1.

It is computed exactly and by two bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.papers.printed import FIGURE_1_LABELS, figure_1_gammas
from dpaudit.report.style import legend, new_figure, tidy
from dpaudit.verdict.numbers import number
from reports.make.gallery.looks import DASHED_LINE, MIXED_LINE, SOLID_LINE
from reports.make.gallery.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RANGE = (0.05, 20.0)  # ε
TABLE = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
LOOKS = {"exact": SOLID_LINE, "lemma_1": DASHED_LINE, "sheffet_2019": MIXED_LINE}
BOUNDS = {name: (label, LOOKS[name]) for name, label in FIGURE_1_LABELS.items()}


def numbers(settings: Settings) -> dict[str, Any]:
    """Curves over ε and a table at a few ε, for each k."""
    delta = settings.mixing_delta

    def curves(epsilons: np.ndarray, rows: int) -> dict[str, Any]:
        found = [figure_1_gammas(rows, float(epsilon), delta) for epsilon in epsilons]
        return {
            "epsilon": epsilons.tolist(),
            **{name: [one[name] for one in found] for name in BOUNDS},
        }

    grid, shown = np.geomspace(*RANGE, settings.steps), np.array(TABLE)
    return {
        "delta": delta,
        "curves": {str(k): curves(grid, k) for k in settings.mixing_rows},
        "table": {str(k): curves(shown, k) for k in settings.mixing_rows},
    }


def figure(content: dict[str, Any]) -> Figure:
    """γ against ε above, its ratio to the exact one below; a column for each k."""
    columns = content["curves"]
    made = new_figure(9.6, 6.6)
    grid = np.asarray(made.subplots(2, len(columns), squeeze=False, sharex=True))
    for (above, below), (k, curves) in zip(grid.T, columns.items(), strict=True):
        _panel(curves, above, relative=False).set_title(
            f"k = {k}, δ = {number(content['delta'])}", fontsize=10, loc="left"
        )
        _panel(curves, below, relative=True).set_xlabel("ε (nats)")
    legend(made, *grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return made


def _panel(curves: dict[str, Any], ax: Axes, *, relative: bool) -> Axes:
    exact = np.array(curves["exact"])
    for name, (label, look) in BOUNDS.items():
        ax.plot(
            curves["epsilon"],
            np.array(curves[name]) / (exact if relative else 1.0),
            **look,
            label=label,
        )
    ax.set_xscale("log")
    ax.set_xticks([0.1, 0.3, 1.0, 3.0, 10.0], ["0.1", "0.3", "1", "3", "10"])
    if relative:
        ax.set_ylabel("times the exact γ")
        ax.set_ylim(bottom=0.0)
    else:
        ax.set_yscale("log")
        ax.set_ylabel(r"required γ = ($\lambda_{\min}$ + σ²)/C²")
    return tidy(ax)
