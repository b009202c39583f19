"""Columns of text."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Lines with every column flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ([cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join((indent + "   ".join(row)).rstrip() for row in cells)


def named(pairs: Sequence[tuple[str, str]], indent: str = "") -> str:
    """Names flush left, and what each stands for."""
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{indent}{name.ljust(width)}  {value}".rstrip() for name, value in pairs)
