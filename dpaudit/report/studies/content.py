"""What a study has found: panels of lines, tables and sentences, all of it plain numbers and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True)
class Line:
    """Points (x, y), and where given the ends of a bar or band about each.

    role : "line", "markers", or "band" (the area between low and high, with the line). look : which
    of the house styles, so that one thing looks the same in every panel; by order where None.
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
    """One pair of axes. Scales are "linear" or "log"; limits (low, high) where they are not left to
    the data.
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
    """Rows of cells under heads; numbers are written with three digits. marked : numbers of the
    rows that stand out.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    marked: Sequence[int] = ()


@dataclass(frozen=True)
class Content:
    """A study's page: sentences made of the numbers, figures by file name, tables, and what it was
    made with.
    """

    title: str
    source: str
    sentences: Sequence[str]
    figures: Mapping[str, Sequence[Panel]]
    tables: Sequence[Table] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)
