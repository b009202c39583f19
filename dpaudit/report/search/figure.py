"""What each neighbour that was tried seemed to leak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.report.style import BLUE, pyplot_axes, tidy

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
    ax = tidy(ax or pyplot_axes(*SIZE))
    places = range(1, len(delta) + 1)
    ax.errorbar(places, delta, error, fmt="o", color=BLUE, markersize=4, capsize=2, linewidth=1)
    ax.annotate(worst, (1, delta[0]), xytext=(8, -3), textcoords="offset points")
    ax.set_xlabel("neighbours tried, the worst first")
    ax.set_ylabel(f"estimate of δ at ε = {at} nats")
    ax.set_ylim(bottom=0.0)
    return ax
