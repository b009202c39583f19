"""One look for all figures, and how figures become files. The colours are those of Okabe and Ito;
each curve has a line style and a marker of its own, too.
"""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Record = Mapping[str, Any]  # the content of result.json
Look = dict[str, Any]  # keyword arguments of Axes.plot
BLUE, GREEN, VERMILION, GREY = "#0072B2", "#009E73", "#D55E00", "#6b6b6b"
PURPLE, SKY, OCHRE = "#AA4499", "#4C9BD6", "#B87A00"
RUST = "#A33A00"  # vermilion, dark enough for text
DASHED, DOTTED, MIXED, LONG = (0, (5, 2)), (0, (1, 1.3)), (0, (6, 2, 1.2, 2)), (0, (9, 3))


def new_figure(
    width: float, height: float, *, h_pad: float = 0.08, w_pad: float | None = 0.08
) -> Figure:
    """An empty figure outside pyplot's global state; size and pads in inches, None: the default."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("constrained", h_pad=h_pad, w_pad=w_pad)
    return figure


def pyplot_axes(width: float, height: float) -> Axes:
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained").add_subplot()


def one_panel(
    draw: Callable[[Axes, Record], Axes], record: Record, size: tuple[float, float], ncols: int = 1
) -> Figure:
    """A figure with the one panel draw(ax, record), and its legend below."""
    drawn = new_figure(*size)
    ax = draw(drawn.subplots(), record)
    legend(drawn, *ax.get_legend_handles_labels(), loc="outside lower center", ncols=ncols)
    return drawn


def tidy(ax: Axes, tick_size: float | None = 9) -> Axes:
    """The axes with a light grid behind the curves, without a frame. tick_size : points, or the
    default.
    """
    ax.grid(True, which="major", color="#e4e4e4", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if tick_size is not None:
        ax.tick_params(labelsize=tick_size)
    return ax


def legend(holder: Figure | Axes, handles: list[Any], labels: list[str], **options: Any) -> Legend:
    """A legend that takes its texts literally: a `$` in a claim does not begin a formula."""
    look = {"frameon": False, "fontsize": 9, "handlelength": 3.2}
    key: Legend = holder.legend(handles, labels, **{**look, **options})
    for text in key.get_texts():
        text.set_parse_math(False)
    return key


@contextmanager
def house_style() -> Iterator[None]:
    """A context with matplotlib's own defaults and fixed ids, so that files have the same bytes."""
    from matplotlib import style

    with style.context(["default", {"svg.hashsalt": "dpaudit", "svg.fonttype": "path"}]):
        yield


def as_png(figure: Figure, dpi: int = 130) -> bytes:
    """The figure as PNG, the same bytes for the same figure within `house_style`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.dpi = dpi
    return _written(FigureCanvasAgg(figure).print_png, {"Software": None})


def as_svg(figure: Figure) -> bytes:
    """The figure as SVG, text as outlines; same bytes for the same figure within `house_style`."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure.dpi = 72  # points
    return _written(FigureCanvasSVG(figure).print_svg, {"Date": None, "Creator": None})


def _written(write: Any, metadata: dict[str, None]) -> bytes:
    """The bytes of a file; characters that the font lacks become boxes, without a warning.
    `Figure.savefig` would draw twice.
    """
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        write(buffer, metadata=metadata)
    return buffer.getvalue()


def data_address(picture: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"


def svg_address(figure: Figure) -> str:
    return data_address(as_svg(figure), "svg+xml")
