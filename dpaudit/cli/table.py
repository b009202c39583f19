"""Text in columns, and lines that are broken at the width of the terminal."""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Sequence

ENOUGH = 40  # a long value goes beside its name if so many characters fit there


def aligned(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ([cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join((indent + "   ".join(row)).rstrip() for row in cells)


def named(pairs: Sequence[tuple[str, str]], indent: str = "") -> str:
    """Lines with a name and its value each. On a narrow terminal values go below their names."""
    width = max((len(name) for name, _ in pairs), default=0)
    heads = [f"{indent}{name.ljust(width)}  " for name, _ in pairs]
    if any(
        _room(head) < min(len(value), ENOUGH) for head, (_, value) in zip(heads, pairs, strict=True)
    ):
        below = indent + "  "
        return "\n".join(
            f"{indent}{name}\n{hanging(below, value)}".rstrip() for name, value in pairs
        )
    return "\n".join(hanging(head, value) for head, (_, value) in zip(heads, pairs, strict=True))


def on_a_line(pairs: Sequence[tuple[str, str]], indent: str = "") -> list[str]:
    """A line for each name and value, cut at the width of a terminal; uncut for a file or pipe."""
    width = max((len(name) for name, _ in pairs), default=0)
    lines = [f"{indent}{name.ljust(width)}  {value}".rstrip() for name, value in pairs]
    room = _room("")
    return [line if len(line) <= room else line[: max(int(room) - 1, 0)] + "…" for line in lines]


def hanging(head: str, text: str) -> str:
    """`head` and `text`, broken at the width of a terminal; on one line for a file or a pipe."""
    room = max(_room(head), 1)
    if len(text) <= room:
        return (head + text).rstrip()
    lines = textwrap.wrap(text, int(room), break_on_hyphens=False)
    return head + f"\n{' ' * len(head)}".join(lines)


def _room(head: str) -> float:
    """Columns of the terminal beside `head`; infinite for a file or a pipe."""
    return shutil.get_terminal_size().columns - len(head) if sys.stdout.isatty() else math.inf
