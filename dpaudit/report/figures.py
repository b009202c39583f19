"""Figures of one result: δ(ε), and the trade-off of error rates that it implies. Shaded means ruled
out at the level of the audit. matplotlib is imported by the functions, not by the module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.readings import grid_tradeoff
from dpaudit.report.style import (
    BLUE,
    GREEN,
    GREY,
    RUST,
    VERMILION,
    Look,
    legend,
    new_figure,
    pyplot_axes,
    tidy,
)
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
FEW = 10  # a log axis shows no estimate that rests on fewer draws
MOST_BARS = 11  # most intervals that are drawn: one at every ε would hide the curves
# inches: a digit of a label, a line above a panel; margins without labels and for three digits
DIGIT, LINE, NARROW, LABELLED = 0.088, 0.2, 0.14, 0.57
WIDE = 0.12  # a gap this wide between the curves and perfect privacy is visible without a zoom


def plot_spectrum(curves: Curves, ax: Axes | None = None, *, log: bool = False) -> Axes:
    """Draw δ against ε (nats): exact, asymptotic, claimed, estimated and certified.

    curves : the result of `read_curves`. ax : the axes, by default those of a new figure; they are
    returned. log : whether the axis of δ is logarithmic.
    """
    ax = ax or new_figure(5.2, 5.2, h_pad=0.09, w_pad=None).subplots()
    ax = _spectrum_panel(curves, ax, log=log)
    place: Look = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.11)}
    legend(ax, *ax.get_legend_handles_labels(), handlelength=None, **place)
    return ax


def plot_tradeoff(curves: Curves, ax: Axes | None = None) -> Axes:
    """Draw type II error β against type I error α of the best test, as each δ(ε) implies it.

    curves, ax : as in `plot_spectrum`. Where the curves are close to perfect privacy, the free
    corner of the axes shows a part of them enlarged.
    """
    ax = ax or new_figure(4.5, 5.9, h_pad=0.09, w_pad=None).subplots()
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
        # enlarged above the diagonal, where no curve ever is
        inset, gap = ax.inset_axes((0.56, 0.56, 0.43, 0.43)), _gap(curves)
        ends = (0.5 - 1.6 * gap, 0.5 + gap)
        _tradeoff_lines(curves, inset, np.linspace(*ends, 101))
        _frame(ax, inset, ends, ends)
    place: Look = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.1)}
    legend(ax, *ax.get_legend_handles_labels(), handlelength=None, **place)
    return ax


def is_close(curves: Curves) -> bool:
    """Whether the trade-off curves of the pair are so near to perfect privacy that a zoom helps."""
    return 0.0 < _gap(curves) < WIDE


def _gap(curves: Curves) -> float:
    """The largest distance 1 − α − β of the pair's curves from perfect privacy, which is δ(0)."""
    return max(float(curve[0]) for curve in curves.measured())


def spectrum_figure(curves: Curves) -> Figure:
    """δ(ε) on a linear and on a log axis, side by side, with one legend."""
    figure = _page_figure(9.6, 5.1)
    panels = figure.subplots(1, 2)
    for ax, log in zip(panels, (False, True), strict=True):
        _spectrum_panel(curves, ax, log=log)
    handles, labels = panels[0].get_legend_handles_labels()
    below = _key_height((len(labels) + 1) // 2)
    for column, ax in enumerate(panels):
        _place(ax, above=0.24, below=below, column=column, columns=2)
    legend(figure, handles, labels, handlelength=None, loc="lower center", ncols=2)
    title = f"Privacy spectrum: {curves.title}"
    figure.suptitle(title, y=1.0 - 0.09 / 5.1, parse_math=False, fontsize=11)
    return figure


def panel_figure(curves: Curves, *, log: bool) -> Figure:
    figure = _page_figure(4.8, 3.9)
    ax = _spectrum_panel(curves, figure.subplots(), log=log)
    _place(ax)
    return figure


def key_figure(curves: Curves) -> Figure:
    """The legend of the panels by itself: matplotlib before 3.11 wants it in the figure of its
    lines.
    """
    figure = _page_figure(4.8, 3.9)
    ax = _spectrum_panel(curves, figure.subplots(), log=False)
    handles, labels = ax.get_legend_handles_labels()
    figure.set_size_inches(4.8, _key_height(len(labels)))
    legend(figure, handles, labels, handlelength=None, loc="upper left", borderaxespad=0.2)
    ax.remove()
    return figure


def tradeoff_figure(curves: Curves) -> Figure:
    entries = 4 + (curves.exact is not None) + (curves.claim is not None)
    figure = _page_figure(4.5, 4.55 + 0.2 * entries)
    _place(plot_tradeoff(curves, figure.subplots()))
    return figure


def plot_trials(
    worst: str, delta: Sequence[float], error: Sequence[float], at: str, ax: Axes | None = None
) -> Axes:
    """Plot the δ estimates of the neighbours that a search tried, with their standard errors.

    worst : the name of the first neighbour. delta, error : (m,) each, the worst neighbour first.
    at : ε in words. ax : axes to draw on; None for a new figure of pyplot. Returns the axes.
    """
    from matplotlib.ticker import MaxNLocator

    ax = tidy(ax or pyplot_axes(6.4, 3.6))
    places = range(1, len(delta) + 1)
    look: Look = {"markersize": 4, "capsize": 2, "linewidth": 1}
    ax.errorbar(places[1:], delta[1:], error[1:], fmt="o", color=BLUE, **look)
    ax.errorbar(places[:1], delta[:1], error[:1], fmt="D", color=VERMILION, label=worst, **look)
    ax.set(xlabel="neighbours tried, the worst first", ylabel=f"estimate of δ at ε = {at} nats")
    ax.set_ylim(bottom=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(ax, *ax.get_legend_handles_labels(), loc="best")
    return ax


def _page_figure(width: float, height: float) -> Figure:
    """An empty figure of a report, for `_place`. Constrained layout measures all texts twice, which
    would take a fifth of the time of a report.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def _place(
    ax: Axes, above: float = 0.0, below: float = 0.0, column: int = 0, columns: int = 1
) -> None:
    """Place a panel in its column of the figure, with room for the labels of its axes.

    above, below : further inches, above its title and below the labels of its horizontal axis.
    """
    size, dpi = ax.figure.bbox, ax.figure.dpi
    width, height = size.width / dpi, size.height / dpi
    scale = ax.yaxis.get_major_formatter()
    labels = scale.format_ticks(list(ax.get_yticks()))
    left = column * width / columns + LABELLED + DIGIT * (max(map(len, labels)) - 3)
    right = (column + 1) * width / columns - NARROW
    low = below + LABELLED
    lines = bool(ax.get_title()) + bool(scale.get_offset())  # a title goes above a power of ten
    high = height - above - LINE * lines - NARROW
    ax.set_position((left / width, low / height, (right - left) / width, (high - low) / height))
    ax.title.set_x(((column + 0.5) * width / columns - left) / (right - left))


def _key_height(lines: int) -> float:
    return 0.21 * lines + 0.12


def _spectrum_panel(curves: Curves, ax: Axes, *, log: bool) -> Axes:
    end = float(curves.epsilon[-1]) or 1.0
    _draw_curves(curves, ax, log=log)
    ylabel = "δ(ε), log axis" if log else "δ(ε)"
    ax.set(xlabel="ε (nats)", ylabel=ylabel, xlim=(-0.03 * end, 1.03 * end))
    if log:  # from the decade of one certifying draw up to 1; lower if all δ are
        claimed = [] if curves.claim is None else [curves.claim]
        most = max(float(curve.max()) for curve in curves.measured() + claimed)
        ax.set_yscale("log")
        # plain text: to parse formulas for these labels would take a tenth of a report's time
        ax.yaxis.set_major_formatter(lambda value, _: power_of_ten(round(math.log10(value))))
        ax.minorticks_off()  # they would take a third of the time of drawing
        ax.set_ylim(min(log_floor(curves), _decade(most / 10) if most else 1.0), 1.3)
        if not most:
            ax.text(
                0.5, 0.5, "every value is zero", transform=ax.transAxes, ha="center", color=GREY
            )
    else:
        top = _top(curves)
        ax.set_ylim(-0.02 * top, 1.08 * top)
    head = curves.headline
    if head.excess_shown:
        kind = "exact" if curves.claim is None else "claimed"
        title = "{} {}, certified {}".format(kind, *_claimed_and_certified(head))
        ax.set_title(title, fontsize=10, color=RUST, parse_math=False)
    _excess_arrow(curves, ax)
    return tidy(ax, tick_size=None)


def _draw_curves(curves: Curves, ax: Axes, *, log: bool) -> None:
    """Draw every curve, the interval of the estimate, and the region that is ruled out."""
    marked = [] if curves.claim_index is None else [curves.claim_index]
    lone = SINGLE_POINT if curves.epsilon.size == 1 else {}
    for delta, look, name in (
        (curves.exact, lone | EXACT, label(f"exact: {curves.law}".rstrip(": "))),
        (curves.asymptotic, lone | ASYMPTOTIC, "asymptotic law"),
        (curves.claim, {**CLAIM, "markevery": marked}, label(f"claim: {curves.claim_text}")),
        (curves.estimate, lone | ESTIMATE, "point estimate, no bound"),
    ):
        if delta is not None:
            least = estimate_floor(curves) if delta is curves.estimate else 0.0
            values = np.where(delta > least, delta, np.nan) if log else delta
            ax.plot(curves.epsilon, values, **look, label=name)
    if curves.interval is not None:  # at some ε; from 0 it goes to the end of a log axis
        points = np.unique(np.linspace(0, curves.epsilon.size - 1, MOST_BARS).round().astype(int))
        points = points[curves.interval[1, points] > 0.0]
        low, high = np.maximum(curves.interval[:, points], BOTTOM)
        name = f"interval of the estimate, {percent(curves.level)}: what this score shows"
        ax.vlines(curves.epsilon[points], low, high, **BARS, label=name)
        ax.plot(np.tile(curves.epsilon[points], 2), np.concatenate([low, high]), **CAPS)
    # The certified bound at every ε, as the grid implies it. The region that it rules out is green,
    # and red if it lies above the reference (the claim or the exact spectrum).
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


def _claimed_and_certified(head: Headline) -> tuple[str, str]:
    """The claimed (or exact) and the certified value in words: "ε = 1", "ε ≥ 1.98 at δ = 0"."""
    certified = f"{head.symbol} ≥ {head.certified_text} {head.at}".strip()
    return f"{head.symbol} = {number(head.claimed)}", certified


def _excess_arrow(curves: Curves, ax: Axes) -> None:
    head = curves.headline
    if not head.excess_shown or head.claimed is None or head.delta is None:
        return
    end = min(head.certified, float(curves.epsilon[-1]))
    if head.claimed >= end:
        return
    height = max(head.delta, ax.get_ylim()[0] if ax.get_yscale() == "log" else 0.0)
    name = "from {} to certified {}".format(*_claimed_and_certified(head))
    arrow = {**EXCESS, "markevery": [1], "clip_on": False}
    ax.plot([head.claimed, end], [height, height], **arrow, label=name)


def _frame(ax: Axes, inset: Axes, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    from matplotlib.patches import Rectangle

    tidy(inset, tick_size=7).set(xlim=xlim, ylim=ylim)
    inset.locator_params(nbins=3)
    inset.spines[["top", "right"]].set_visible(True)
    size = xlim[1] - xlim[0], ylim[1] - ylim[0]
    ax.add_patch(Rectangle((xlim[0], ylim[0]), *size, fill=False, edgecolor=GREY, zorder=4))


def _tradeoff_lines(curves: Curves, ax: Axes, alpha: Array) -> None:
    for delta, look, name in (
        (curves.exact, EXACT, "exact"),
        (curves.claim, {**CLAIM, "marker": ""}, label(f"claim: {curves.claim_text}")),
        (curves.estimate, ESTIMATE, "point estimate, no bound"),
    ):
        if delta is not None:
            ax.plot(alpha, grid_tradeoff(curves.epsilon, delta, alpha), **look, label=name)
    above = tradeoff_above(curves.epsilon, curves.low, alpha)
    name = f"certified at {percent(curves.level)}: the true curve is on or below"
    ax.plot(alpha, above, **LOW, label=name)
    ax.fill_between(alpha, above, 1.0 - alpha, **RULED_OUT, label="ruled out")
    ax.plot([0, 1], [1, 0], **PERFECT, label="perfect privacy, β = 1 − α")


def _top(curves: Curves) -> float:
    claimed = 0.0 if curves.claim is None else float(curves.claim.min())
    return max(claimed, *(float(curve.max()) for curve in curves.measured())) or 1.0


def log_floor(curves: Curves) -> float:
    """The least δ of the log axis: about the smallest that the certifying draws resolve."""
    return _decade(1.0 / curves.draws) if curves.draws else 1e-6


def estimate_floor(curves: Curves) -> float:
    """The least estimate that the log axis shows; smaller ones rest on few draws."""
    return FEW / curves.draws if curves.draws else 0.0


def _decade(value: float) -> float:
    return 10.0 ** math.floor(math.log10(value) + 1e-9)


def implied_corners(epsilon: Array, low: Array) -> tuple[Array, Array]:
    """The corners of a line that bounds δ from below at EVERY ε ≥ 0.

    epsilon, low : (m,) the grid, and lower bounds low ≤ δ there. Returns ε and δ of the corners,
    (2m + 1,) each.

    For ε_k ≤ ε ≤ ε_{k+1}, with low 0 beyond the grid and low_0 before it,

        δ(ε) ≥ low_{k+1}                         as δ does not increase
        δ(ε) ≥ 1 − (1 − low_k) e^{ε−ε_k}         as (1 − δ(ε)) e^{−ε} does not increase

    The second is concave and meets the first at e^ε = e^{ε_k} (1 − low_{k+1})/(1 − low_k): its
    chord up to there and the level line from there on are lower bounds too.
    """
    low = np.append(np.maximum.accumulate(low[::-1])[::-1], 0.0)
    room = np.maximum(1.0 - low, 1e-15)
    meet = np.minimum(epsilon + np.log(room[1:] / room[:-1]), np.append(epsilon[1:], np.inf))
    corners = np.column_stack([epsilon, meet]).ravel()
    return np.append(0.0, corners), np.repeat(low, 2)[:-1]


def tradeoff_above(epsilon: Array, low: Array, alpha: Array) -> Array:
    """The least type II error β at each α, (a,), on or ABOVE the true trade-off curve, from lower
    bounds low ≤ δ on a grid, (m,) each. The supremum over every ε is taken at a corner of
    `implied_corners`; the grid alone (`grid_tradeoff`) would give too low a line.
    """
    return grid_tradeoff(*implied_corners(epsilon, low), alpha)
