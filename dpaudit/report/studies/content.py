"""What a study has found: panels of lines, tables and sentences, as plain numbers and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True)
class Line:
    """Points (x, y), with the ends of a bar or band about each where low and high are given.

    role : "line", "markers", or "band" (the line, and the area between low and high).
    look : number of the colour and line style, so that a thing looks the same in every panel; None
        takes them in order.
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
    """One pair of axes.

    x_scale, y_scale : "linear" or "log". y_limits : (low, high), or None to fit the data.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    x_scale: str = "linear"
    y_scale: str = "linear"
    y_limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells under heads; numbers are written with three digits.

    marked : indices of the rows that are emphasised.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    marked: Sequence[int] = ()


@dataclass(frozen=True, repr=False)
class Content:
    """A study's page.

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
