"""The console of a command: it prints according to --quiet, --verbose and --json."""

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

from dpaudit._core.text import printable
from dpaudit.errors import ScenarioError, message_of

REPORTS = Path("dpaudit-out")

NOT_VIOLATED, VIOLATED, ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130
OF_VERDICT = {"not violated": NOT_VIOLATED, "violated": VIOLATED, "inconclusive": INCOMPLETE}
JUDGED = {
    NOT_VIOLATED: "not violated",
    VIOLATED: "violated",
    INCOMPLETE: "inconclusive: the audit cannot decide; or an internal error",
}
STOPPED = {INTERRUPTED: "interrupted (Ctrl-C)"}
LINES = "stderr has a line for each fault"
NOTHING_KEPT = "interrupted; nothing was kept"
NOT_BEGUN = "interrupted; this command has kept nothing"  # an earlier command may have left draws


def statuses(*meanings: dict[int, str], error: str = "usage or input error") -> str:
    """The list of exit statuses at the end of a --help text. error : the meaning of status 2."""
    table = {ERROR: error}
    for more in meanings:
        table |= more
    lines = [f"  {status:<3}  {table[status]}" for status in sorted(table)]
    return "\n".join(["\b", "Exit status:", *lines])


def error_lines(error: BaseException) -> str:
    """A line for each fault of a scenario, else one; after an error in a mechanism also the places
    of its traceback, the user's own line last.
    """
    frames = getattr(getattr(error, "raised", None), "places", ())
    places = [f"at {name} ({file}, line {number})" for file, number, name in frames]
    text = message_of(error) or ""
    faults = text.split("\n") if isinstance(error, ScenarioError) else [text]
    return "\n".join([*(f"error: {fault}" for fault in faults), *places])


def say(text: str, status: int = NOT_VIOLATED) -> int:
    for line in text.split("\n"):
        print("dpaudit:", " ".join(printable(line).split()), file=sys.stderr)
    return status


@dataclass(eq=False, repr=False)
class Console:
    """The output of one command.

    quiet, verbose, json : the options of the command. reports : default folder of reports.
    document : the JSON document, a dict to which results are added, or its finished text. out : the
    stream for results. begin : when the command began, by the monotonic clock.
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
        result: Any,
        as_text: Callable[[Any], str],
        as_json: Callable[[Any], Any],
        as_line: Callable[[Any], str],
    ) -> None:
        """Print a result as text, or with --quiet as a line; with --json make its content, which
        `as_json` gives, the document.
        """
        if self.json:
            from dpaudit._core.result_file import plain  # loads numpy, which --help does not need

            content = plain(as_json(result))
            self.document = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
        else:
            print((as_line if self.quiet else as_text)(result), file=self.out)

    def answer(self, text: str, short: str = "") -> None:
        """Print `text`, or with --quiet `short`; with --json print nothing."""
        line = short if self.quiet else text
        if line and not self.json:
            print(line, file=self.out)

    def tell(self, **content: Any) -> None:
        assert isinstance(self.document, dict)
        self.document |= content

    def add(self, name: str, item: Mapping[str, Any]) -> None:
        assert isinstance(self.document, dict)
        self.document.setdefault(name, []).append(dict(item))

    def detail(self, text: str) -> None:
        if self.verbose:
            say(text)

    def moment(self, text: str) -> None:
        self.detail(f"{time.monotonic() - self.begin:.1f} s: {text}")

    def close(self, status: int) -> None:
        """Print the JSON document if --json is set. Call it after the context `using` has ended."""
        if self.json:
            content = self.document
            if isinstance(content, dict):
                whole = {"status": status, **content}
                content = json.dumps(whole, indent=2, ensure_ascii=False, default=str)
            print(content, file=self.out)


_CONSOLE: ContextVar[Console] = ContextVar("console")


def console() -> Console:
    """The console of the running command; outside of a command, one without options."""
    return _CONSOLE.get(Console())


@contextmanager
def using(console: Console) -> Iterator[Console]:
    """A context in which `console()` returns this console. With --quiet or --json, output of other
    Python code goes to stderr; with --json also what workers, programs and compiled code write to
    stdout.
    """
    token = _CONSOLE.set(console)
    with ExitStack() as after:
        after.callback(_CONSOLE.reset, token)
        if console.quiet or console.json:
            after.enter_context(redirect_stdout(sys.stderr))
        if console.json:
            with suppress(OSError):  # a stream that is closed
                stdout = os.dup(1)
                after.callback(os.close, stdout)
                os.dup2(2, 1)
                after.callback(os.dup2, stdout, 1)
                after.callback(_flush_compiled)
                after.callback(console.out.flush)  # text buffered before stdout is restored
        yield console


def _flush_compiled() -> None:
    with suppress(OSError, AttributeError, TypeError):  # no such library, or not by that name
        ctypes.CDLL(None).fflush(None)
