"""The figures of a study: panels in a grid, one look for each label, one legend below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.report.studies.content import Line, Panel
from dpaudit.report.style import DASHED, DOTTED, LONG, MIXED, Look, legend, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

COLUMNS = 3  # panels in a row, at most
WIDTH, HEIGHT = 10.65, 3.0  # inches: of the figure, and of a row of panels
NARROW = 5.6  # inches: width of a figure with one panel
# Okabe–Ito colours. Line styles and markers distinguish the lines without colour.
LOOKS: tuple[Look, ...] = (
    {"color": "#0072B2", "marker": "o"},
    {"color": "#D55E00", "linestyle": DASHED, "marker": "^"},
    {"color": "#009E73", "linestyle": MIXED, "marker": "D"},
    {"color": "#AA4499", "linestyle": DOTTED, "marker": "v", "mfc": "white"},
    {"color": "#B87A00", "linestyle": LONG, "marker": "s"},
    {"color": "#4C9BD6", "linestyle": "-", "marker": "P"},
    {"color": "black", "linestyle": DASHED, "marker": "x"},
    {"color": "#6b6b6b", "linestyle": DOTTED, "marker": "*"},
)
SPARSE = 12  # markers on a line, about


def figure(panels: Sequence[Panel]) -> Figure:
    """All panels of one figure, in rows of at most COLUMNS (four panels: two by two)."""
    columns = 2 if len(panels) == 4 else min(COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    looks = looks_of(panels)
    shown = math.ceil(len(looks) / (3 if columns > 1 else 2))
    width = NARROW if columns == 1 else WIDTH
    made = new_figure(width, HEIGHT * (1.2 if columns == 1 else 1.0) * rows + 0.24 * shown + 0.2)
    grid = made.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Line2D] = {}
    for ax, panel in zip(grid, panels, strict=False):
        handles |= draw_panel(ax, panel, looks)
    for ax in grid[len(panels) :]:
        ax.remove()
    place = {"loc": "outside lower center", "ncols": 3 if columns > 1 else 2}
    legend(made, list(handles.values()), list(handles), **place)
    return made


def looks_of(panels: Sequence[Panel]) -> dict[str, Look]:
    """A look for each label: the one that its line asks for, or else by order of appearance."""
    looks: dict[str, Look] = {}
    for line in (line for panel in panels for line in panel.lines):
        place = len(looks) if line.look is None else line.look
        looks.setdefault(line.label, LOOKS[place % len(LOOKS)])
    return looks


def draw_panel(ax: Axes, panel: Panel, looks: dict[str, Look]) -> dict[str, Line2D]:
    """One pair of axes; returns the handles by label."""
    handles = {line.label: draw_line(ax, line, looks[line.label]) for line in panel.lines}
    ax.set_xscale(panel.x_scale)
    ax.set_yscale(panel.y_scale)
    ax.set_xlabel(panel.x_label, parse_math=False)
    ax.set_ylabel(panel.y_label, parse_math=False)
    ax.set_title(panel.title, fontsize=10, loc="left", parse_math=False)
    if panel.y_limits is not None:
        ax.set_ylim(*panel.y_limits)
    tidy(ax)
    return handles


def draw_line(ax: Axes, line: Line, look: Look) -> Line2D:
    """A line with its markers, and a band or bars where it has low and high ends."""
    style = {
        "linewidth": 1.6,
        "markersize": 5.0,
        "markevery": max(1, len(line.x) // SPARSE),
        **look,
    }
    if line.role == "markers":
        style |= {"linestyle": "", "markevery": 1}
    (handle,) = ax.plot(line.x, line.y, **style)
    if line.low is not None and line.high is not None:
        if line.role == "band":
            ax.fill_between(
                line.x, line.low, line.high, color=look["color"], alpha=0.16, linewidth=0
            )
        else:
            ax.vlines(line.x, line.low, line.high, color=look["color"], linewidth=1.1)
    return handle
