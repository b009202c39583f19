"""The text of a scenario as its result keeps it: a row that it spells out is left out."""

from __future__ import annotations

import re
import tomllib
from typing import Any

LEFT_OUT = "[…]"
# `row = [...]`, in which a comment may have a bracket
ROW = re.compile(r"""((?:\brow|"row"|'row')\s*=\s*)\[(?:[^\]#]|#[^\n]*)*\]""")


def without_rows(text: str | None) -> str | None:
    """The text with `[…]` for the numbers of a row; None where they cannot be told apart, and of
    a scenario without a file.
    """
    if text is None:
        return None
    shown = ROW.sub(rf"\g<1>{LEFT_OUT}", text)
    neighbour = tomllib.loads(shown.replace(LEFT_OUT, "[]")).get("neighbour")
    row: Any = neighbour.get("row") if isinstance(neighbour, dict) else None
    return None if row else shown
