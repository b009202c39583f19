"""What is recorded of a call or command, and how two records are compared."""

from __future__ import annotations

import importlib
import json
import lzma
import math
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import dpaudit.cli
from tests.golden.calls import CALLS, COMMANDS, files, plain

RECORD = Path(__file__).with_name("golden.json.xz")
# of one machine or one moment
PASSING = {
    "commit",
    "head",
    "timings",
    "peak_memory_mb",
    "versions",
    "time",
    "seconds",
    "created",
    "version",
}
MOMENT = re.compile(r"\d+(\.\d+)? (s|min|MB)\b|[\d-]+ \d\d:\d\d UTC|\b[0-9a-f]{10,}\b")
# Libraries of other builds add up in another order.
RELATIVE, ABSOLUTE = 1e-6, 1e-9


@cache
def recorded() -> dict[str, Any]:
    """The record, of every call and command by its name."""
    return json.loads(lzma.decompress(RECORD.read_bytes()))


def write(record: dict[str, Any]) -> None:
    """Put a record in the place of the one before."""
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
    RECORD.write_bytes(lzma.compress(text.encode(), preset=9))


def result(name: str) -> Any:
    """What a call returns, without what is of this machine or moment."""
    return lasting(plain(CALLS[name]()))


def command(name: str, folder: Path, monkeypatch: Any, capsys: Any) -> Any:
    """Exit status, terminal text and result.json files of a command in a folder of its own."""
    files(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("dpaudit.report.write_report", lambda folder, record: None)
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    sys.modules.pop("golden_module", None)
    status = dpaudit.cli.main(COMMANDS[name].split())
    output = capsys.readouterr()
    results = {
        path.relative_to(folder).as_posix(): lasting(json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.rglob("result.json"))
    }
    return {"status": status, "out": lasting(text(output.out, folder)), "results": results}


def text(out: str, folder: Path) -> Any:
    """Printed JSON as its value, other text as lines, with the folder's name taken out."""
    out = out.replace(str(folder), "FOLDER")
    try:
        return json.loads(out)
    except ValueError:
        return [MOMENT.sub("MOMENT", line) for line in out.splitlines()]


def lasting(value: Any) -> Any:
    """A record without what is of one machine or moment."""
    if isinstance(value, dict):
        return {key: lasting(part) for key, part in value.items() if key not in PASSING}
    return [lasting(part) for part in value] if isinstance(value, list) else value


def differences(new: Any, old: Any, place: str = "") -> list[str]:
    """Where two records differ, floats by more than the last digits."""
    if isinstance(new, dict) and isinstance(old, dict):
        keys = sorted({*new, *old})
        gone = [f"{place}.{key} is in one alone" for key in keys if (key in new) != (key in old)]
        both = [key for key in keys if key in new and key in old]
        return gone + [
            line for key in both for line in differences(new[key], old[key], f"{place}.{key}")
        ]
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        pairs = enumerate(zip(new, old, strict=True))
        return [line for at, pair in pairs for line in differences(*pair, f"{place}[{at}]")]
    return [] if same(new, old) else [f"{place}: {new!r} was {old!r}"]


def same(new: Any, old: Any) -> bool:
    """Whether two leaves are the same; numbers within a rounding error."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (new, old))
    if numbers:
        return math.isclose(new, old, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(new == old)
