"""Two results in one figure: estimates with their uncertainty, claims, largest rise and fall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpaudit.report.comparison.moved import margin, parted
from dpaudit.report.style import BLUE, DASHED, GREY, MIXED, VERMILION, Look, legend, tidy
from dpaudit.verdict.numbers import number, percent
from dpaudit.verdict.record import Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS: tuple[Look, Look] = (
    {"color": BLUE, "linewidth": 1.8},
    {"color": VERMILION, "linewidth": 1.8, "linestyle": DASHED},
)
CLAIMS: tuple[Look, Look] = (
    {"color": GREY, "linewidth": 1.4, "linestyle": MIXED},
    {"color": GREY, "linewidth": 1.4, "linestyle": (0, (1, 1.6))},
)
SHADE = 0.18


def plot_comparison(first: Curves, second: Curves, names: tuple[str, str], ax: Axes) -> Axes:
    """δ against ε (nats) of both results; returns the axes."""
    for curves, name, look in zip((first, second), names, LOOKS, strict=True):
        _band(curves, name, look, ax)
    _claims(first, second, names, ax)
    _largest_moves(first, second, ax)
    ax.set(xlabel="ε (nats)", ylabel="δ(ε)", ylim=(0.0, None))
    tidy(ax, tick_size=None)
    handles, labels = ax.get_legend_handles_labels()
    legend(ax, handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.11))
    return ax


def _band(curves: Curves, name: str, look: Look, ax: Axes) -> None:
    """The estimate and what it may be off by."""
    ax.plot(curves.epsilon, curves.estimate, **look, label=f"{name}: estimate")
    width = margin(curves)
    low, high = np.clip([curves.estimate - width, curves.estimate + width], 0.0, 1.0)
    said = f"{name}: uncertainty, {percent(curves.level)}"
    ax.fill_between(
        curves.epsilon, low, high, color=look["color"], alpha=SHADE, linewidth=0, label=said
    )


def _claims(first: Curves, second: Curves, names: tuple[str, str], ax: Axes) -> None:
    """The claims; one line where both are the same."""
    same = first.claim_text == second.claim_text
    for curves, name, look in zip((first, second), names, CLAIMS, strict=True):
        if curves.claim is not None and not (same and curves is second):
            said = f"claim {curves.claim_text}" + ("" if same else f" of {name}")
            ax.plot(curves.epsilon, curves.claim, **look, label=said)


def _largest_moves(first: Curves, second: Curves, ax: Axes) -> None:
    """An arrow where the second band is furthest above the first one, and where furthest below."""
    arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    said = []
    for at, here, there in parted(first, second):
        before, now = float(first.estimate[here]), float(second.estimate[there])
        ax.annotate("", (at, now), (at, before), arrowprops=arrow)
        said.append(f"δ({number(at)}): {number(before, 3)}, now {number(now, 3)}")
    ax.set_title("\n".join(said), fontsize=10, parse_math=False)
