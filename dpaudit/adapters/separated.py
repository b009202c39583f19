"""Draws as CSV text: a draw a line, of any number of cells: numbers, words or empty."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np


def draws_in(text: str, size: int | None = None) -> np.ndarray | list[Any]:
    """The draws of a text, as `outcomes.rows` takes them: (n, k) float64, or a list.

    size : how many draws are expected, if that is known.

    A cell is a number (nan and inf are numbers), or text, or None if it is empty. A line of one
    cell is that value, a longer one a list, and an empty line the empty list; empty lines at the
    end count only as far as `size` needs them. A first line of words is a header if some column has
    no words below it, or if without it there are `size` lines. Raises ValueError where the text is
    not CSV.
    """
    table = _table(text)
    if table is not None and len(table) == text.count("\n") + (not text.endswith("\n")):
        return table
    return _without_header(_lines(text), size)


def _table(text: str) -> np.ndarray | None:
    """The numbers of a text (n, k), None where there are words, gaps or lines of other length."""
    if not text.strip():
        return None
    try:
        return np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2, comments=None)
    except ValueError:
        return None


def _lines(text: str) -> list[list[Any]]:
    try:
        return [[_cell(cell) for cell in line] for line in csv.reader(io.StringIO(text))]
    except csv.Error as error:
        raise ValueError(str(error)) from None


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
