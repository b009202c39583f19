"""The text of a scenario as its result keeps it: without a row that it spells out, and without the
workers, which change no result.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

LEFT_OUT = "[…]"
# `row = [...]`, in which a comment may have a bracket
ROW = re.compile(r"""((?:\brow|"row"|'row')\s*=\s*)\[(?:[^\]#]|#[^\n]*)*\]""")

WORKERS = re.compile(r"""^[ \t]*(?:backend|address)[ \t]*=[^\n]*\n?""", re.MULTILINE)


def kept(text: str | None) -> str | None:
    """The text with `[…]` for the numbers of a row, and without backend and address; None where
    they cannot be told apart, and of a scenario without a file.
    """
    if text is None:
        return None
    shown = WORKERS.sub("", ROW.sub(rf"\g<1>{LEFT_OUT}", text)).rstrip() + "\n"
    content = tomllib.loads(shown.replace(LEFT_OUT, "[]"))
    left = [_value(content, "neighbour", "row")]
    left += [_value(content, "audit", key) for key in ("backend", "address")]
    return None if any(left) else shown


def _value(content: dict[str, Any], table: str, key: str) -> Any:
    found = content.get(table)
    return found.get(key) if isinstance(found, dict) else None
