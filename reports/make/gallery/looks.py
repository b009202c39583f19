"""Looks of the lines in the gallery's figures."""

from dpaudit.report.style import (
    BLUE,
    DASHED,
    DOTTED,
    GREEN,
    LONG,
    MIXED,
    PURPLE,
    SKY,
    VERMILION,
    Look,
)

SOLID_LINE: Look = {"color": BLUE, "linewidth": 1.9}
DASHED_LINE: Look = {"color": VERMILION, "linewidth": 1.6, "linestyle": DASHED}
MIXED_LINE: Look = {"color": GREEN, "linewidth": 1.6, "linestyle": MIXED}
DOTTED_LINE: Look = {"color": PURPLE, "linewidth": 1.8, "linestyle": DOTTED}
LONG_LINE: Look = {"color": SKY, "linewidth": 1.6, "linestyle": LONG}
# by the order of the lines in a panel: two exact curves, then bounds that papers print
SERIES: tuple[Look, ...] = (
    {**SOLID_LINE, "marker": "o", "markersize": 5.5},
    {**LONG_LINE, "marker": "s", "markersize": 5.5, "mfc": "white"},
    {**DASHED_LINE, "marker": "^", "markersize": 6.5},
    {**MIXED_LINE, "marker": "D", "markersize": 5.0},
    {**DOTTED_LINE, "marker": "v", "markersize": 6.5, "mfc": "white"},
)
