"""What a run left in its folder, for comparing one run with another."""

import json
from pathlib import Path
from typing import Any


def record_of(folder: Path) -> dict[str, Any]:
    """The content of result.json."""
    record: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return record


def record_without_clock(folder: Path) -> dict[str, Any]:
    """result.json without its timings and memory, which differ between equal runs."""
    record = record_of(folder)
    del record["timings"], record["peak_memory_mb"]
    return record


def text_without_clock(folder: Path) -> str:
    """The same as text: the order of the keys and the digits of the numbers count."""
    return json.dumps(record_without_clock(folder))
