"""What each neighbour that was tried seemed to leak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.report.style import BLUE, VERMILION, Look, legend, pyplot_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 6.4, 3.6  # inches


def plot_trials(
    worst: str, delta: Sequence[float], error: Sequence[float], at: str, ax: Axes | None = None
) -> Axes:
    """δ estimates of neighbours, the worst first, with the error of counting.

    worst : the name of the first. delta, error : (m,) each. at : ε in words. ax : matplotlib axes
    to draw on; None for a new figure of pyplot. Returns the axes.
    """
    from matplotlib.ticker import MaxNLocator

    ax = tidy(ax or pyplot_axes(*SIZE))
    places = range(1, len(delta) + 1)
    look: Look = {"markersize": 4, "capsize": 2, "linewidth": 1}
    ax.errorbar(places[1:], delta[1:], error[1:], fmt="o", color=BLUE, **look)
    ax.errorbar(places[:1], delta[:1], error[:1], fmt="D", color=VERMILION, label=worst, **look)
    ax.set(xlabel="neighbours tried, the worst first", ylabel=f"estimate of δ at ε = {at} nats")
    ax.set_ylim(bottom=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(ax, *ax.get_legend_handles_labels(), loc="best")
    return ax
