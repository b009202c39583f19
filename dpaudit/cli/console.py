"""How much a command prints: --quiet, --verbose and --json mean the same for every command.

An answer goes to stdout. With --quiet it is one line for each audit, which begins with what was
not audited as the user may think; with --json it is one JSON document. Errors are printed in any
case, on stderr.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from dpaudit.cli import exit_status


@dataclass
class Console:
    """What one command prints. document : of --json, which grows as the command finds things."""

    quiet: bool = False
    verbose: bool = False
    json: bool = False
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    def answer(self, text: str, short: str = "") -> None:
        """Print what was found: with --quiet `short` instead, with --json nothing."""
        if not self.json and (shown := short if self.quiet else text):
            print(shown)

    def tell(self, **found: Any) -> None:
        """Put something into the JSON document."""
        self.document |= found

    def add(self, name: str, found: Mapping[str, Any]) -> None:
        """Put one more item into a list of the JSON document."""
        self.document.setdefault(name, []).append(dict(found))

    def detail(self, text: str) -> None:
        """With --verbose: say what was done, on stderr."""
        if self.verbose:
            exit_status.say(text, exit_status.NOT_VIOLATED)

    def close(self, status: int) -> None:
        """Print the JSON document, if that is what was asked for."""
        if self.json:
            content = {"status": status, **self.document}
            print(json.dumps(content, indent=2, ensure_ascii=False, default=str))


_CONSOLE: ContextVar[Console] = ContextVar("console")


@contextmanager
def using(console: Console) -> Iterator[Console]:
    """While it lasts, this is the console of the command."""
    token = _CONSOLE.set(console)
    try:
        yield console
    finally:
        _CONSOLE.reset(token)


def console() -> Console:
    """The console of the command that runs; a plain one outside of a command."""
    return _CONSOLE.get(Console())
