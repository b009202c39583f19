"""Studies: experiments of papers that a scenario file names, and the pages of their results."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dpaudit._core.files import replace_file
from dpaudit._core.text import printable
from dpaudit._core.value import value_class
from dpaudit.report import style
from dpaudit.report.pages import render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Cell = str | int | float | None
Progress = Callable[[str, int, int], None]  # step, done, wanted
COLUMNS = 3  # panels in a row, at most
WIDTH, HEIGHT = 10.65, 3.0  # inches: of the figure, and of a row of panels
NARROW = 5.6  # inches: width of a figure with one panel
LOOKS: tuple[style.Look, ...] = (
    {"color": style.BLUE, "marker": "o"},
    {"color": style.VERMILION, "linestyle": style.DASHED, "marker": "^"},
    {"color": style.GREEN, "linestyle": style.MIXED, "marker": "D"},
    {"color": style.PURPLE, "linestyle": style.DOTTED, "marker": "v", "mfc": "white"},
    {"color": style.OCHRE, "linestyle": style.LONG, "marker": "s"},
    {"color": style.SKY, "linestyle": "-", "marker": "P"},
    {"color": "black", "linestyle": style.DASHED, "marker": "x"},
    {"color": style.GREY, "linestyle": style.DOTTED, "marker": "*"},
)
SPARSE = 12  # markers on a line, about
SAVED = 6  # significant digits in content.json: later digits depend on the machine


@dataclass(frozen=True)
class Line:
    """Points (x, y); low and high, if not None, are the ends of a bar or band about each point.

    role : "line", "markers", or "band" (the line, and the area between low and high).
    look : number of the colour and line style, so that one method looks the same in every panel;
        None takes the next one.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    role: str = "line"
    look: int | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes. x_scale, y_scale : "linear" or "log". y_limits : None to fit the data."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    x_scale: str = "linear"
    y_scale: str = "linear"
    y_limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells under heads. marked : indices of the rows that are emphasised."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    marked: Sequence[int] = ()


@value_class(eq=True)
class Content:
    """The result of a study as plain numbers and text, from which its page is made.

    title, source : the repeated experiment, and where it is printed. sentences : made of the
    numbers. figures : panels by file name. captions : by the same names. settings : with the seed.
    """

    title: str
    source: str
    sentences: Sequence[str]
    figures: Mapping[str, Sequence[Panel]]
    tables: Sequence[Table] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)


class Study:
    """An experiment. Subclasses are frozen dataclasses of settings that give `make`.

    Settings are checked when the study is made (`InvalidInput`). A scenario file's [study] table
    names the class as `call = "module:Name"` and gives the settings; `dpaudit run` makes the study.

    title, source : what is redone, and where it is printed.
    """

    title: ClassVar[str]
    source: ClassVar[str]

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """Run the experiment: the same settings and seed give the same content. Raises
        `DataNotFound`.
        """
        raise NotImplementedError

    def parameters(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}  # type: ignore[arg-type]


def write(content: Content, folder: str | Path, command: str) -> None:
    """Write report.html, each figure as PNG, and content.json. command : makes them again. Raises
    OSError.
    """
    folder = Path(folder)
    with style.house_style():
        pictures = {
            name: style.as_png(figure(panels), dpi=110) for name, panels in content.figures.items()
        }
    numbers = as_json(dataclasses.asdict(content))
    text = json.dumps(numbers, ensure_ascii=False, allow_nan=False, indent=1)
    page = render(
        "study.html",
        content=content,
        pictures={name: style.data_address(picture, "png") for name, picture in pictures.items()},
        command=command,
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        replace_file(folder / f"{name}.png", picture)
    replace_file(folder / "report.html", page)
    replace_file(folder / "content.json", printable(text) + "\n")


def as_json(value: Any, digits: int = SAVED) -> Any:
    """The content in JSON types, floats rounded to `digits` significant digits, NaN as null."""
    if isinstance(value, dict):
        return {str(key): as_json(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item, digits) for item in value]
    if hasattr(value, "tolist"):
        return as_json(value.tolist(), digits)
    if not isinstance(value, float):
        return value
    if math.isfinite(value):
        return float(f"{value:.{digits}g}")
    return None if math.isnan(value) else ("inf" if value > 0 else "-inf")


def figure(panels: Sequence[Panel]) -> Figure:
    """All panels in rows of at most COLUMNS (four panels: two by two), with one legend below."""
    columns = 2 if len(panels) == 4 else min(COLUMNS, len(panels))
    rows, entries = math.ceil(len(panels) / columns), 3 if columns > 1 else 2
    looks = looks_of(panels)
    width, height = (NARROW, 1.2 * HEIGHT) if columns == 1 else (WIDTH, HEIGHT)
    drawn = style.new_figure(width, height * rows + 0.24 * math.ceil(len(looks) / entries) + 0.2)
    grid = drawn.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Line2D] = {}
    for ax, panel in zip(grid, panels, strict=False):
        handles |= {line.label: _draw_line(ax, line, looks[line.label]) for line in panel.lines}
        ax.set_xscale(panel.x_scale)
        ax.set_yscale(panel.y_scale)
        ax.set_xlabel(panel.x_label, parse_math=False)
        ax.set_ylabel(panel.y_label, parse_math=False)
        ax.set_title(panel.title, fontsize=10, loc="left", parse_math=False)
        if panel.y_limits is not None:
            ax.set_ylim(*panel.y_limits)
        style.tidy(ax)
    for ax in grid[len(panels) :]:
        ax.remove()
    place = {"loc": "outside lower center", "ncols": entries}
    style.legend(drawn, list(handles.values()), list(handles), **place)
    return drawn


def looks_of(panels: Sequence[Panel]) -> dict[str, style.Look]:
    """A look for each label: the one that its line asks for, or else by order of appearance."""
    looks: dict[str, style.Look] = {}
    for line in (line for panel in panels for line in panel.lines):
        place = len(looks) if line.look is None else line.look
        looks.setdefault(line.label, LOOKS[place % len(LOOKS)])
    return looks


def _draw_line(ax: Axes, line: Line, look: style.Look) -> Line2D:
    every = max(1, len(line.x) // SPARSE)
    drawn = {"linewidth": 1.6, "markersize": 5.0, "markevery": every, **look}
    if line.role == "markers":
        drawn |= {"linestyle": "", "markevery": 1}
    (handle,) = ax.plot(line.x, line.y, **drawn)
    if line.low is not None and line.high is not None:
        ends = line.x, line.low, line.high
        if line.role == "band":
            ax.fill_between(*ends, color=look["color"], alpha=0.16, linewidth=0)
        else:
            ax.vlines(*ends, color=look["color"], linewidth=1.1)
    return handle
