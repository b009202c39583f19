"""Where the reference documents each public name, so that types in docstrings become links."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

ROOMS = (  # of the reference; a name that several have is looked up in the last of them
    *("adapters", "datasets", "errors", "exact", "laws", "mechanisms", "neighbours", "one_run"),
    *("papers", "power", "report", "run", "scoring", "testing"),
)


def places() -> Iterator[tuple[str, str]]:
    """Each name, and its full one; those of `dpaudit` itself come last."""
    for room in ROOMS:
        module = importlib.import_module(f"dpaudit.{room}")
        for name in getattr(module, "__all__", ()):
            yield name, f"dpaudit.{room}.{name}"
    yield from ((name, f"dpaudit.{name}") for name in ("AuditResult", "Claim", "Spectrum"))
