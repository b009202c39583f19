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
from dpaudit.report.style import BLUE, GREEN, GREY, RUST, VERMILION, Look, legend, new_figure, tidy
from dpaudit.report.tradeoff import implied_corners, tradeoff_above
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import label, number, percent, power_of_ten
from dpaudit.verdict.record import Curves

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
# thin, without markers: an estimate says less than the bound, and its noise is no finding
ESTIMATE: Look = {"color": "black", "linewidth": 1.0, "linestyle": (0, (1, 1.6))}
BARS: Look = {"colors": "black", "linewidth": 1.0, "zorder": 2.1}
CAPS: Look = {"color": "black", "linewidth": 0, "marker": "_", "markersize": 6, "zorder": 2.1}
LOW: Look = {"color": GREEN, "linewidth": 1.4, "zorder": 1.9}
RULED_OUT: Look = {"facecolor": GREEN, "alpha": 0.16, "linewidth": 0, "zorder": 0.9}
VIOLATION: Look = {"facecolor": VERMILION, "alpha": 0.3, "linewidth": 0, "zorder": 1.0}
EXCESS: Look = {"color": VERMILION, "linewidth": 2.6, "marker": ">", "markersize": 8, "zorder": 3}
PERFECT: Look = {"color": GREY, "linewidth": 0.9}
SINGLE_POINT: Look = {"marker": "_", "markersize": 18}  # a line through one point is invisible
BOTTOM = 1e-300  # log axes have no zero; this is below any of them
FINE = 200  # further points of the shaded regions, whose common edge is bent on a log axis
FEW = 10  # draws; a log axis shows no estimate that rests on fewer
NARROW = 0.12  # of the axis: a violation on fewer ε than these is enlarged
MOST_BARS = 11  # intervals that are drawn: with one at every ε they would hide the curves
WIDE = 0.12  # a gap between the curves and perfect privacy that is seen without a zoom


def plot_spectrum(curves: Curves, ax: Axes | None = None, *, log: bool = False) -> Axes:
    """δ against ε (nats): exact, asymptotic, claimed, estimated and certified.

    Parameters
    ----------
    curves : Curves
        As `read_curves` gives them.
    ax : matplotlib Axes, optional
        Where to draw, by default axes of a new figure.
    log : bool, default False
        A log axis of δ.

    Returns
    -------
    matplotlib Axes
    """
    ax = _spectrum_panel(curves, ax or _figure(5.2, 5.2).subplots(), log=log)
    _legend(ax, ax, loc="upper center", bbox_to_anchor=(0.5, -0.11))
    return ax


def plot_tradeoff(curves: Curves, ax: Axes | None = None) -> Axes:
    """Type II error β against type I error α of the best test, as each δ(ε) implies it.

    Parameters
    ----------
    curves : Curves
        As `read_curves` gives them.
    ax : matplotlib Axes, optional
        Where to draw, by default axes of a new figure.

    Returns
    -------
    matplotlib Axes
        With a zoom in the free corner where the curves are close to perfect privacy.
    """
    ax = ax or _figure(4.5, 5.9).subplots()
    _tradeoff_lines(curves, ax, np.linspace(0.0, 1.0, 501) ** 2)
    tidy(ax, tick_size=None).set(
        xlabel="type I error α",
        ylabel="type II error β",
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
        anchor="N",
    )
    if is_close(curves):
        _zoom(curves, ax)
    _legend(ax, ax, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return ax


def is_close(curves: Curves) -> bool:
    """Whether the trade-off curves of the pair are so near to perfect privacy that a zoom helps."""
    return 0.0 < _gap(curves) < WIDE


def _gap(curves: Curves) -> float:
    """How far below β = 1 − α the curves of the pair come: 1 − α − β is at most δ(0), the total
    variation, and reaches it.
    """
    return max(float(curve[0]) for curve in curves.measured())


def spectrum_figure(curves: Curves) -> Figure:
    """δ(ε) on a linear and on a log axis, side by side, with one legend."""
    figure = _figure(9.6, 5.1)
    panels = figure.subplots(1, 2)
    for ax, log in zip(panels, (False, True), strict=True):
        _spectrum_panel(curves, ax, log=log)
    figure.suptitle(f"Privacy spectrum: {curves.title}", parse_math=False, fontsize=11)
    _legend(figure, panels[0], loc="outside lower center", ncols=2)
    return figure


def panel_figure(curves: Curves, *, log: bool) -> Figure:
    """δ(ε) on one axis, without a legend."""
    figure = _figure(4.8, 3.9)
    _spectrum_panel(curves, figure.subplots(), log=log)
    return figure


def key_figure(curves: Curves) -> Figure:
    """The legend of the panels, by itself; Matplotlib before 3.11 wants it in their own figure."""
    figure = _figure(4.8, 3.9)
    ax = _spectrum_panel(curves, figure.subplots(), log=False)
    handles, labels = ax.get_legend_handles_labels()
    figure.set_size_inches(4.8, 0.21 * len(labels) + 0.12)
    legend(figure, handles, labels, handlelength=None, loc="upper left", borderaxespad=0.2)
    ax.remove()
    return figure


def tradeoff_figure(curves: Curves) -> Figure:
    """`plot_tradeoff` on a figure of its own."""
    entries = 4 + (curves.exact is not None) + (curves.claim is not None)
    figure = _figure(4.5, 4.55 + 0.2 * entries)
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
    end = float(curves.epsilon[-1]) or 1.0
    _spectrum_lines(curves, ax, log=log)
    ylabel = "δ(ε), log axis" if log else "δ(ε)"
    ax.set(xlabel="ε (nats)", ylabel=ylabel, xlim=(-0.03 * end, 1.03 * end))
    _log_axis(ax, curves) if log else _linear_axis(ax, curves)
    _excess_title(curves, ax)
    _excess_arrow(curves, ax)
    if not log and is_narrow(curves):
        _zoom_excess(curves, ax)
    return tidy(ax, tick_size=None)


def _spectrum_lines(curves: Curves, ax: Axes, *, log: bool) -> None:
    """Every curve, and what is ruled out."""
    at = [] if curves.claim_index is None else [curves.claim_index]
    lone = SINGLE_POINT if curves.epsilon.size == 1 else {}
    for delta, look, name in (
        (curves.exact, lone | EXACT, label(f"exact: {curves.law}".rstrip(": "))),
        (curves.asymptotic, lone | ASYMPTOTIC, "asymptotic law"),
        (curves.claim, {**CLAIM, "markevery": at}, _claim_label(curves)),
        (curves.estimate, lone | ESTIMATE, "point estimate, no bound"),
    ):
        if delta is not None:
            least = estimate_floor(curves) if delta is curves.estimate else 0.0
            shown = np.where(delta > least, delta, np.nan) if log else delta
            ax.plot(curves.epsilon, shown, **look, label=name)
    _bars(curves, ax)
    _band(curves, ax)


def _bars(curves: Curves, ax: Axes) -> None:
    """The interval of the estimate at some ε; from 0 it goes to the end of a log axis."""
    if curves.interval is None:
        return
    at = np.unique(np.linspace(0, curves.epsilon.size - 1, MOST_BARS).round().astype(int))
    at = at[curves.interval[1, at] > 0.0]
    low, high = np.maximum(curves.interval[:, at], BOTTOM)
    name = f"interval of the estimate, {percent(curves.level)}: what this score shows"
    ax.vlines(curves.epsilon[at], low, high, **BARS, label=name)
    ax.plot(np.tile(curves.epsilon[at], 2), np.concatenate([low, high]), **CAPS)


def _band(curves: Curves, ax: Axes) -> None:
    """The certified bound at every ε, as the grid implies it: green what it rules out, and red what
    of this is above the curve that it is held against.
    """
    at, low = implied_corners(curves.epsilon, curves.low)
    name = f"certified lower bound, {percent(curves.level)}, all ε at once"
    ax.plot(at, np.maximum(low, BOTTOM), **LOW, label=name)
    name = "ruled out: the true δ(ε) is above"
    if curves.reference is None or not curves.excess.any():
        ax.fill_between(at, np.maximum(low, BOTTOM), BOTTOM, **RULED_OUT, label=name)
        return
    more = np.linspace(curves.epsilon[0], curves.epsilon[-1], FINE)
    fine = np.append(at, more)
    order = np.argsort(fine, kind="stable")
    edge = np.maximum(np.append(low, np.interp(more, at, low))[order], BOTTOM)
    allowed = np.maximum(np.interp(fine[order], curves.epsilon, curves.reference), BOTTOM)
    within = np.minimum(edge, allowed)
    ax.fill_between(fine[order], within, BOTTOM, **RULED_OUT, label=name)
    name = f"violation: certified above {curves.reference_kind}"
    ax.fill_between(fine[order], edge, within, **VIOLATION, label=name)


def _excess_title(curves: Curves, ax: Axes) -> None:
    """How far the certified parameter is above the claimed one, where nothing else is drawn."""
    found = curves.headline
    if found is None or not found.excess_shown:
        return
    kind = "exact" if curves.claim is None else "claimed"
    title = f"{kind} {_ends(found)[0]}, certified {_ends(found)[1]}"
    ax.set_title(title, fontsize=10, color=RUST, parse_math=False)


def _excess_arrow(curves: Curves, ax: Axes) -> None:
    """From the claimed ε to the certified one, where the band comes down to the claimed δ."""
    found = curves.headline
    if found is None or not found.excess_shown or found.claimed is None or found.delta is None:
        return
    end = min(found.certified, float(curves.epsilon[-1]))
    if found.claimed >= end:
        return
    height = max(found.delta, ax.get_ylim()[0] if ax.get_yscale() == "log" else 0.0)
    name = " to certified ".join(("from " + _ends(found)[0], _ends(found)[1]))
    arrow = {**EXCESS, "markevery": [1], "clip_on": False}
    ax.plot([found.claimed, end], [height, height], **arrow, label=name)


def _ends(found: Headline) -> tuple[str, str]:
    """ "ε = 1" and "ε ≥ 1.98 at δ = 0"."""
    above = f"{found.symbol} ≥ {found.certified_text} {found.at}".strip()
    return f"{found.symbol} = {number(found.claimed)}", above


def _over(curves: Curves) -> tuple[float, float]:
    """The ends of the ε at which the band is above its reference, and of the arrow."""
    over, found = curves.epsilon[curves.excess > 0], curves.headline
    ends = [*over[[0, -1]]] if over.size else []
    if found is not None and found.excess_shown and found.delta is not None:
        ends += [found.claimed or 0.0, min(found.certified, float(curves.epsilon[-1]))]
    return (float(min(ends)), float(max(ends))) if ends else (0.0, 0.0)


def is_narrow(curves: Curves) -> bool:
    """Whether a violation is so small that it is enlarged: in a corner that all curves leave free.

    The corner is right of the middle and above half of the axis; all curves fall.
    """
    start, end = _over(curves)
    span = float(curves.epsilon[-1])
    if not 0.0 < end - start < NARROW * span or end > 0.4 * span:
        return False
    shown = [*curves.measured(), *([] if curves.claim is None else [curves.claim])]
    top = _top(curves)
    return all(float(np.interp(0.45 * span, curves.epsilon, one)) < 0.45 * top for one in shown)


def _zoom_excess(curves: Curves, ax: Axes) -> None:
    """The violation enlarged, in the free corner."""
    assert curves.reference is not None
    start, end = _over(curves)
    step = float(np.diff(curves.epsilon).min())
    room = max(end - start, step)
    left, right = max(start - room, 0.0), end + room
    inside = np.array([left, start, end, right])
    heights = [np.interp(inside, curves.epsilon, one) for one in (curves.low, curves.reference)]
    low, high = float(np.min(heights)), float(np.max(heights))
    inset = ax.inset_axes((0.53, 0.55, 0.46, 0.43))
    _spectrum_lines(curves, inset, log=False)
    pad = 0.08 * (high - low)
    _frame(ax, inset, (left, right), (low - pad, high + pad))
    _excess_arrow(curves, inset)


def _frame(ax: Axes, inset: Axes, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    """An inset with axes of its own, and the part of `ax` that it shows as a rectangle."""
    from matplotlib.patches import Rectangle

    tidy(inset, tick_size=7).set(xlim=xlim, ylim=ylim)
    inset.locator_params(nbins=3)
    inset.spines[["top", "right"]].set_visible(True)
    size = xlim[1] - xlim[0], ylim[1] - ylim[0]
    ax.add_patch(Rectangle((xlim[0], ylim[0]), *size, fill=False, edgecolor=GREY, zorder=4))


def _tradeoff_lines(curves: Curves, ax: Axes, alpha: Array) -> None:
    """Every curve at the values of α, and what is ruled out."""
    for delta, look, name in (
        (curves.exact, EXACT, "exact"),
        (curves.claim, {**CLAIM, "marker": ""}, _claim_label(curves)),
        (curves.estimate, ESTIMATE, "point estimate, no bound"),
    ):
        if delta is not None:
            ax.plot(alpha, grid_tradeoff(curves.epsilon, delta, alpha), **look, label=name)
    above = tradeoff_above(curves.epsilon, curves.low, alpha)
    name = f"certified at {percent(curves.level)}: the true curve is on or below"
    ax.plot(alpha, above, **LOW, label=name)
    ax.fill_between(alpha, above, 1.0 - alpha, **RULED_OUT, label="ruled out")
    ax.plot([0, 1], [1, 0], **PERFECT, label="perfect privacy, β = 1 − α")


def _zoom(curves: Curves, ax: Axes) -> None:
    """The middle of the curves, enlarged, above the diagonal, where no curve ever is."""
    inset = ax.inset_axes((0.56, 0.56, 0.43, 0.43))
    gap = _gap(curves)
    ends = (0.5 - 1.6 * gap, 0.5 + gap)
    _tradeoff_lines(curves, inset, np.linspace(*ends, 101))
    _frame(ax, inset, ends, ends)


def _linear_axis(ax: Axes, curves: Curves) -> None:
    """Limits by the measured curves and the lowest point of the claim.

    The other points of the claim may lie outside.
    """
    top = _top(curves)
    ax.set_ylim(-0.02 * top, 1.08 * top)


def _top(curves: Curves) -> float:
    """The largest δ that the linear axis is scaled to."""
    claimed = 0.0 if curves.claim is None else float(curves.claim.min())
    return max(claimed, *(float(curve.max()) for curve in curves.measured())) or 1.0


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


def estimate_floor(curves: Curves) -> float:
    """The least estimate that the log axis shows; smaller ones rest on few draws."""
    return FEW / curves.draws if curves.draws else 0.0


def _decade(value: float) -> float:
    """The power of ten at or below a positive value."""
    return 10.0 ** math.floor(math.log10(value) + 1e-9)


def _claim_label(curves: Curves) -> str:
    return label(f"claim: {curves.claim_text}")


def _legend(holder: Figure | Axes, ax: Axes, **options: Any) -> None:
    """The legend of `ax`, outside the axes."""
    legend(holder, *ax.get_legend_handles_labels(), handlelength=None, **options)
