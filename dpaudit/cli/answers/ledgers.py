"""What a ledger says, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dpaudit.run.ledger import Standing


def as_text(found: Sequence[Standing]) -> str:
    """Two lines for each version of each mechanism."""
    if not found:
        return "The ledger is empty."
    return "\n".join(_lines(one) for one in found)


def as_line(found: Sequence[Standing]) -> str:
    """A line for each version of each mechanism; of a ledger without any, that it is empty."""
    return "\n".join(map(_judged, found)) or as_text(found)


def _lines(one: Standing) -> str:
    return f"{_judged(one)}\n  {one.text}"


def _judged(one: Standing) -> str:
    last = one.entries[-1]
    return f"{last.name}, {last.claim}: {'VIOLATED' if one.violated else 'not violated'}"


def as_json(found: Sequence[Standing]) -> str:
    """A list, an object for each version."""
    rows = [
        {"name": one.entries[-1].name, "claim": one.entries[-1].claim, **one.to_dict()}
        for one in found
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def rejected(found: Sequence[Standing]) -> bool:
    """Whether the version of some mechanism that ran last is rejected."""
    newest = {one.entries[0].subject: one for one in found}
    return any(one.violated for one in newest.values())
