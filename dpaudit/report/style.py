"""One look for all figures: Okabe–Ito colours, each with a line style and a marker of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpaudit.report.figures import BLUE, GREEN, GREY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Look = dict[str, Any]
PURPLE, ORANGE, SKY = "#AA4499", "#B87A00", "#4C9BD6"
DASHED, DOTTED, MIXED, LONG = (0, (5, 2)), (0, (1, 1.3)), (0, (6, 2, 1.2, 2)), (0, (9, 3))
SOLID_LINE: Look = {"color": BLUE, "linewidth": 1.9}
DASHED_LINE: Look = {"color": VERMILION, "linewidth": 1.6, "linestyle": DASHED}
MIXED_LINE: Look = {"color": GREEN, "linewidth": 1.6, "linestyle": MIXED}
DOTTED_LINE: Look = {"color": PURPLE, "linewidth": 1.8, "linestyle": DOTTED}
# in the order of the series of a panel: exact twice, then what is printed
SERIES: tuple[Look, ...] = (
    {**SOLID_LINE, "marker": "o", "markersize": 5.5},
    {
        "color": SKY,
        "linewidth": 1.6,
        "linestyle": LONG,
        "marker": "s",
        "markersize": 5.5,
        "mfc": "white",
    },
    {**DASHED_LINE, "marker": "^", "markersize": 6.5},
    {**MIXED_LINE, "marker": "D", "markersize": 5.0},
    {**DOTTED_LINE, "marker": "v", "markersize": 6.5, "mfc": "white"},
)

__all__ = ["GREY", "SERIES", "legend", "new_figure", "tidy"]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, inches, outside pyplot's global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("constrained", h_pad=0.08, w_pad=0.08)
    return figure


def tidy(ax: Axes) -> Axes:
    """A light grid behind, no box."""
    ax.grid(True, which="major", color="#e4e4e4", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)
    return ax


def legend(holder: Figure | Axes, handles: list[Any], labels: list[str], **place: Any) -> None:
    """A legend that takes its texts literally."""
    made = holder.legend(handles, labels, frameon=False, fontsize=9, handlelength=3.2, **place)
    for text in made.get_texts():
        text.set_parse_math(False)
