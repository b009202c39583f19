"""Columns of numbers, as the tables of the page and of the terminal share them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from dpaudit._core.types import Array
from dpaudit.report.text import number

lower_bound = partial(number, down=True)  # never printed larger than it is
upper_bound = partial(number, up=True)  # never printed smaller than it is


class Column(NamedTuple):
    """One column of a table. values : (m,), or None where the result has none; write : to text."""

    head: str
    values: Array | None
    write: Callable[[Any], str] = number


def table(columns: Sequence[Column], rows: Iterable[int]) -> tuple[list[str], list[list[str]]]:
    """Heads, and the cells at the positions `rows`, of the columns that have values."""
    shown = [(head, values, write) for head, values, write in columns if values is not None]
    cells = [[write(values[row]) for _, values, write in shown] for row in rows]
    return [head for head, _, _ in shown], cells
