"""Two results compared, as JSON, and what they are called."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from dpaudit.errors import InvalidInput
from dpaudit.report.comparison import Comparison


def names_of(given: str | None, first: Path, second: Path) -> tuple[str, str]:
    """ "A,B", or the folders' own names, whole where they are the same.

    Raises `InvalidInput` where not two are given.
    """
    if given is None:
        own = first.name, second.name
        return own if own[0] != own[1] else (str(first), str(second))
    parts = [part.strip() for part in given.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InvalidInput(f"--names must be two names with a comma between them, got {given!r}")
    return parts[0], parts[1]


def as_line(found: Comparison) -> str:
    """A line for each thing that moved."""
    return "\n".join(map(str, found.moved)) or "nothing moved"


def as_json(found: Comparison) -> str:
    """Names, verdicts and a list of what moved."""
    content = {
        "names": found.names,
        "verdicts": [one["verdict"] for one in found.records],
        "moved": [asdict(one) for one in found.moved],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
