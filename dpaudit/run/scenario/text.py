"""The text of a scenario: as its result keeps it, without a row that it spells out and without the
workers, which change no result; and as TOML, of content that no file has.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
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


def as_toml(content: Mapping[str, Any]) -> str:
    """Keys and tables as TOML, without those that are None."""
    keys = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in content.items() if isinstance(value, Mapping)}
    parts = [_lines(keys), *(f"[{place}]\n{_lines(table)}" for place, table in tables.items())]
    return "\n".join(parts)


def _lines(keys: Mapping[str, Any]) -> str:
    values = {key: value for key, value in keys.items() if value is not None}
    return "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    return key if key.isascii() and key.isidentifier() else _toml(key)


def _toml(value: Any) -> str:
    """As TOML writes it; its texts are those of JSON, but for one control character."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(str(key))} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, (str, bool)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)  # numbers, dates and times
