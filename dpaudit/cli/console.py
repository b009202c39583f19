"""How much a command prints: --quiet, --verbose and --json mean the same for every command.

An answer goes to stdout. With --quiet it is one line for each audit, which begins with what was
not audited as the user may think; with --json it is one JSON document. Mechanisms may print too:
what they print goes to stderr then. Errors are printed in any case, on stderr.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from dpaudit.cli import exit_status

REPORTS = Path("dpaudit-out")


@dataclass(eq=False, repr=False)
class Console:
    """What one command prints.

    document : of --json, which grows as the command finds things; or its text, where the command
    writes it itself. reports : folder of reports that no --out names.
    """

    quiet: bool = False
    verbose: bool = False
    json: bool = False
    reports: Path = REPORTS
    document: dict[str, Any] | str = field(default_factory=dict)
    out: TextIO = field(default_factory=lambda: sys.stdout)
    begin: float = field(default_factory=time.monotonic)

    def show(
        self,
        found: Any,
        as_text: Callable[[Any], str],
        as_json: Callable[[Any], str],
        as_line: Callable[[Any], str],
    ) -> None:
        """Print what was found in the one form that is wanted."""
        if self.json:
            self.document = as_json(found)
        else:
            form = as_line if self.quiet else as_text
            print(form(found), file=self.out)

    def answer(self, text: str, short: str = "") -> None:
        """Print what was found: with --quiet `short` instead, with --json nothing."""
        if not self.json and (shown := short if self.quiet else text):
            print(shown, file=self.out)

    def tell(self, **found: Any) -> None:
        """Put something into the JSON document."""
        assert isinstance(self.document, dict)
        self.document |= found

    def add(self, name: str, found: Mapping[str, Any]) -> None:
        """Put one more item into a list of the JSON document."""
        assert isinstance(self.document, dict)
        self.document.setdefault(name, []).append(dict(found))

    def detail(self, text: str) -> None:
        """With --verbose: say something more, on stderr."""
        if self.verbose:
            exit_status.say(text, exit_status.NOT_VIOLATED)

    def moment(self, text: str) -> None:
        """With --verbose: say what happens now, and how long after the beginning."""
        self.detail(f"{time.monotonic() - self.begin:.1f} s: {text}")

    def close(self, status: int) -> None:
        """Print the JSON document, if that is what was asked for, after `using`."""
        if self.json and isinstance(self.document, dict):
            content = {"status": status, **self.document}
            self.document = json.dumps(content, indent=2, ensure_ascii=False, default=str)
        if self.json:
            print(self.document, file=self.out)


_CONSOLE: ContextVar[Console] = ContextVar("console")


@contextmanager
def using(console: Console) -> Iterator[Console]:
    """While it lasts, this is the console of the command."""
    token = _CONSOLE.set(console)
    try:
        with _kept_clear(console):
            yield console
    finally:
        _CONSOLE.reset(token)


def console() -> Console:
    """The console of the command that runs; a plain one outside of a command."""
    return _CONSOLE.get(Console())


@contextmanager
def _kept_clear(console: Console) -> Iterator[None]:
    """What anybody else prints goes to stderr, so that stdout has the lines or the document."""
    with ExitStack() as after:
        if console.quiet or console.json:
            after.enter_context(redirect_stdout(sys.stderr))
        if console.json:
            with suppress(OSError):  # a stream that is closed
                _to_stderr(after)
                after.callback(console.out.flush)  # what was meant for the stdout of before
        yield


def _to_stderr(after: ExitStack) -> None:
    """Turn what workers, programs and compiled code write to the stdout of the process, too.

    after : what turns it back. Raises OSError.
    """
    kept = os.dup(1)
    after.callback(os.close, kept)
    os.dup2(2, 1)
    after.callback(os.dup2, kept, 1)
    after.callback(_flush_compiled)


def _flush_compiled() -> None:
    """What compiled code has printed and the C library still holds goes where it belongs, now."""
    with suppress(OSError, AttributeError, TypeError):  # no such library, or not by that name
        ctypes.CDLL(None).fflush(None)
