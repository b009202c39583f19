"""Figures of one result: δ(ε) and the trade-off of error rates.

Each curve looks the same in all figures. Shaded means ruled out at the level of the audit.
matplotlib is imported by the functions, not by the module.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.readings import grid_tradeoff
from dpaudit.report.data import Curves
from dpaudit.report.style import BLUE, GREEN, GREY, VERMILION, Look, legend, new_figure, tidy
from dpaudit.report.text import label, percent, power_of_ten
from dpaudit.report.tradeoff import implied_corners, tradeoff_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXACT: Look = {"color": BLUE, "linewidth": 1.8}
ASYMPTOTIC: Look = {"color": BLUE, "linewidth": 1.3, "linestyle": (0, (5, 2.5))}
CLAIM: Look = {
    "color": VERMILION,
    "linewidth": 1.8,
    "linestyle": (0, (6, 2, 1.2, 2)),
    "marker": "D",
}
ESTIMATE: Look = {
    "color": "black",
    "linestyle": "",
    "marker": "o",
    "markersize": 4.5,
    "mfc": "white",
}
LOW: Look = {"color": GREEN, "linewidth": 1.4, "zorder": 1.9}
RULED_OUT: Look = {"facecolor": GREEN, "alpha": 0.16, "linewidth": 0, "zorder": 0.9}
PERFECT: Look = {"color": GREY, "linewidth": 1.6, "linestyle": (0, (1, 1.2))}
SINGLE_POINT: Look = {"marker": "_", "markersize": 18}  # a line through one point is invisible
MARKERS = 24  # markers along a curve


def plot_spectrum(curves: Curves, ax: Axes | None = None, *, log: bool = False) -> Axes:
    """δ against ε (nats): exact, asymptotic, claimed, estimated and certified; returns the axes.

    ax : where to draw, by default axes of a new figure. log : a log axis of δ.
    """
    ax = _spectrum_panel(curves, ax or _figure(5.2, 5.2).subplots(), log=log)
    _legend(ax, ax, loc="upper center", bbox_to_anchor=(0.5, -0.11))
    return ax


def plot_tradeoff(curves: Curves, ax: Axes | None = None) -> Axes:
    """Type II error β against type I error α of the best test, as each δ(ε) implies it.

    ax : where to draw, by default axes of a new figure. Returns the axes.
    """
    ax = ax or _figure(4.5, 5.9).subplots()
    alpha = np.linspace(0.0, 1.0, 501) ** 2
    for delta, look, name in (
        (curves.exact, EXACT, "exact"),
        (curves.claim, CLAIM, _claim_label(curves)),
    ):
        if delta is not None:
            ax.plot(
                alpha,
                grid_tradeoff(curves.epsilon, delta, alpha),
                **{**look, "marker": ""},
                label=name,
            )
    estimate = grid_tradeoff(curves.epsilon, curves.estimate, alpha)
    ax.plot(alpha, estimate, **ESTIMATE, markevery=len(alpha) // MARKERS, label="point estimate")
    above = tradeoff_above(curves.epsilon, curves.low, alpha)
    ax.plot(
        alpha,
        above,
        **LOW,
        label=f"certified at {percent(curves.level)}: the true curve is on or below",
    )
    ax.fill_between(alpha, above, 1.0 - alpha, **RULED_OUT, label="ruled out")
    ax.plot([0, 1], [1, 0], **PERFECT, label="perfect privacy, β = 1 − α")
    tidy(ax, tick_size=None).set(
        xlabel="type I error α",
        ylabel="type II error β",
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
        anchor="N",
    )
    _legend(ax, ax, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return ax


def spectrum_figure(curves: Curves, *, stacked: bool = False) -> Figure:
    """δ(ε) on a linear and on a log axis, side by side or `stacked`, with one legend."""
    figure = _figure(4.4, 8.2) if stacked else _figure(9.6, 4.9)
    panels = figure.subplots(2, 1) if stacked else figure.subplots(1, 2)
    for ax, log in zip(panels, (False, True), strict=True):
        _spectrum_panel(curves, ax, log=log).set_title(
            "log axis" if log else "linear axis", fontsize=10
        )
    if not stacked:
        figure.suptitle(f"Privacy spectrum: {curves.title}", parse_math=False, fontsize=11)
    _legend(figure, panels[0], loc="outside lower center", ncols=1 if stacked else 2)
    return figure


def tradeoff_figure(curves: Curves) -> Figure:
    """`plot_tradeoff` on a figure of its own."""
    figure = _figure(4.5, 5.9)
    plot_tradeoff(curves, figure.subplots())
    return figure


def as_png(figure: Figure, dpi: int = 130) -> bytes:
    """The figure as PNG, the same bytes for the same figure within `house_style`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.dpi = dpi
    return _printed(FigureCanvasAgg(figure).print_png, {"Software": None})


def as_svg(figure: Figure) -> bytes:
    """The figure as SVG, text as outlines; same bytes for the same figure within `house_style`."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure.dpi = 72  # points
    return _printed(FigureCanvasSVG(figure).print_svg, {"Date": None, "Creator": None})


@contextmanager
def house_style() -> Iterator[None]:
    """A context with matplotlib's own defaults and fixed ids, so that files have the same bytes.

    What the user has set (fonts, TeX) does not count inside.
    """
    from matplotlib import style

    with style.context(["default", {"svg.hashsalt": "dpaudit", "svg.fonttype": "path"}]):
        yield


def _printed(write: Callable[..., Any], metadata: dict[str, None]) -> bytes:
    """The bytes of the file. Characters that the font lacks become boxes, without a warning.

    `Figure.savefig` would draw twice, once for the layout alone: the same bytes in twice the time.
    """
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        write(buffer, metadata=metadata)
    return buffer.getvalue()


def _figure(width: float, height: float) -> Figure:
    """An empty figure, size in inches."""
    return new_figure(width, height, h_pad=0.09, w_pad=None)


def _spectrum_panel(curves: Curves, ax: Axes, *, log: bool) -> Axes:
    """The curves on one axis, without legend."""
    epsilon, every = curves.epsilon, max(1, -(-curves.epsilon.size // MARKERS))
    end = float(epsilon[-1]) or 1.0
    at = [] if curves.claim_index is None else [curves.claim_index]
    lone = SINGLE_POINT if epsilon.size == 1 else {}
    for delta, look, name in (
        (curves.exact, lone | EXACT, label(f"exact: {curves.law}".rstrip(": "))),
        (curves.asymptotic, lone | ASYMPTOTIC, "asymptotic law"),
        (curves.claim, {**CLAIM, "markevery": at}, _claim_label(curves)),
        (curves.estimate, {**ESTIMATE, "markevery": every}, "point estimate"),
    ):
        if delta is not None:
            ax.plot(epsilon, _positive(delta) if log else delta, **look, label=name)
    _band(curves, ax)
    ax.set(xlabel="ε (nats)", ylabel="δ(ε)", xlim=(-0.03 * end, 1.03 * end))
    _log_axis(ax, curves) if log else _linear_axis(ax, curves)
    return tidy(ax, tick_size=None)


def _band(curves: Curves, ax: Axes) -> None:
    """The certified bound at every ε, as the grid implies it."""
    at, low = implied_corners(curves.epsilon, curves.low)
    edge = np.maximum(low, 1e-300)  # log axes have no zero; 1e-300 is below any of them
    ax.plot(at, edge, **LOW, label=f"certified lower bound, {percent(curves.level)}, all ε at once")
    ax.fill_between(at, edge, 1e-300, **RULED_OUT, label="ruled out: the true δ(ε) is above")


def _positive(values: Array) -> Array:
    """The values for a log axis: NaN, which leaves a gap, in place of zeros."""
    return np.where(values > 0, values, np.nan)


def _linear_axis(ax: Axes, curves: Curves) -> None:
    """Limits by the measured curves and the lowest point of the claim.

    The other points of the claim may lie outside.
    """
    claimed = 0.0 if curves.claim is None else float(curves.claim.min())
    top = max(claimed, *(float(curve.max()) for curve in curves.measured())) or 1.0
    ax.set_ylim(-0.02 * top, 1.08 * top)


def _log_axis(ax: Axes, curves: Curves) -> None:
    """Limits from the decade of one certifying draw up to 1; lower where all values are smaller."""
    claimed = [] if curves.claim is None else [curves.claim]
    top = max(float(curve.max()) for curve in curves.measured() + claimed)
    ax.set_yscale("log")
    # plain text: parsing matplotlib's formulas for these labels takes a tenth of a report's time
    ax.yaxis.set_major_formatter(lambda value, _: power_of_ten(round(math.log10(value))))
    ax.yaxis.set_minor_formatter(lambda value, _: "")
    ax.set_ylim(min(log_floor(curves), _decade(top / 10) if top else 1.0), 1.3)
    if not top:
        ax.text(0.5, 0.5, "every value is zero", transform=ax.transAxes, ha="center", color=GREY)


def log_floor(curves: Curves) -> float:
    """The least δ of the log axis: about the smallest that the certifying draws resolve."""
    return _decade(1.0 / curves.draws) if curves.draws else 1e-6


def _decade(value: float) -> float:
    """The power of ten at or below a positive value."""
    return 10.0 ** math.floor(math.log10(value) + 1e-9)


def _claim_label(curves: Curves) -> str:
    return label(f"claim: {curves.claim_text}")


def _legend(holder: Figure | Axes, ax: Axes, **options: Any) -> None:
    """The legend of `ax`, outside the axes."""
    legend(holder, *ax.get_legend_handles_labels(), handlelength=None, **options)
