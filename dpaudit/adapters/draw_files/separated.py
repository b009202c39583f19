"""Draws as CSV text: a draw a line, of any number of cells: numbers, words or empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TextIO

import numpy as np

MOST_CELLS = 1 << 24  # of lines that make no table; each is an object of some 60 bytes

Opened = Callable[[], TextIO]  # opens a text from its beginning; lines end at "\n" as they are


class TooManyCells(ValueError):
    """Lines that make no table have more cells than memory is meant to hold."""


def draws_in(
    opened: Opened, size: int | None = None, most_cells: float = MOST_CELLS
) -> np.ndarray | list[Any]:
    """The draws of a text, as `outcomes.rows` takes them: (n, k) float64, or a list.

    The text is read line by line, so that memory holds the draws alone.

    size : how many draws are expected, if that is known. most_cells : how many cells lines may have
    that hold words or differ in length.

    A cell is a number (nan and inf are numbers), or text, or None if it is empty. A line of one
    cell is that value, a longer one a list, and an empty line the empty list; empty lines at the
    end count only as far as `size` needs them. A first line of words is a header if some column has
    no words below it, or if without it there are `size` lines. Raises ValueError where the text is
    not CSV, or has too many cells.
    """
    with opened() as text:
        table = _table(text)
    if table is not None:
        return table
    with opened() as text:
        lines = _lines(text, most_cells)
    return _without_header(lines, size)


def text_of(content: bytes) -> Opened:
    """Bytes as a text to be opened: UTF-8, a byte order mark at the beginning is left out."""
    return lambda: io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="\n")


def _table(text: TextIO) -> np.ndarray | None:
    """The numbers of a text (n, k), None where there are words, gaps or lines of other length."""
    lines = _Counted(text)
    first = next((line for line in lines if not line.isspace()), None)
    if first is None or lines.count > 1:  # all blank, or blank at the beginning
        return None
    try:
        table = np.loadtxt(chain([first], lines), delimiter=",", ndmin=2, comments=None)
    except ValueError:
        return None
    return table if len(table) == lines.count else None


class _Counted:
    """The lines of a text, and how many were read so far."""

    def __init__(self, text: TextIO) -> None:
        self.text, self.count = text, 0

    def __iter__(self) -> Iterator[str]:
        for line in self.text:
            self.count += 1
            yield line


def _lines(text: TextIO, most: float) -> list[list[Any]]:
    lines, cells = [], 0
    try:
        for line in csv.reader(text):
            lines.append([_cell(cell) for cell in line])
            cells += len(line) + 1
            if cells > most:
                raise TooManyCells(
                    f"more than {most:,.0f} cells in lines with words or of different length"
                )
    except csv.Error as error:
        raise ValueError(str(error)) from None
    return lines


def _without_header(lines: list[list[Any]], size: int | None) -> list[Any]:
    while lines and not lines[-1] and len(lines) > (size or 0):
        lines.pop()
    if len(lines) > 1 and len(lines) != size and _is_header(lines[0], lines[1:], size):
        lines = lines[1:]
    return [line[0] if len(line) == 1 else line for line in lines]


def _is_header(first: list[Any], below: list[list[Any]], size: int | None) -> bool:
    if not first or not all(isinstance(cell, str) for cell in first):
        return False
    without_words = (
        all(not isinstance(cell, str) for cell in column) for column in zip(*below, strict=False)
    )
    return len(below) == size or any(without_words)


def _cell(cell: str) -> float | str | None:
    stripped = cell.strip()
    try:
        return None if not stripped else float(stripped) if "_" not in stripped else stripped
    except ValueError:
        return stripped
