"""What a command prints, and the status it returns.

--quiet, --verbose and --json mean the same for every command. An answer goes to stdout. With
--quiet it is one line for each audit, which begins with what was not audited as the user may think;
with --json it is one JSON document. Mechanisms may print too: what they print goes to stderr then.
Errors are printed in any case, on stderr.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from dpaudit._core.text import printable
from dpaudit.errors import DpauditError, MechanismError, ScenarioError

REPORTS = Path("dpaudit-out")

NOT_VIOLATED, VIOLATED, ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130
OF_VERDICT = {"not violated": NOT_VIOLATED, "violated": VIOLATED, "inconclusive": INCOMPLETE}
JUDGED = {
    NOT_VIOLATED: "not violated",
    VIOLATED: "violated",
    INCOMPLETE: "inconclusive: the draws cannot decide; or an internal error",
}
STOPPED = {INTERRUPTED: "interrupted (Ctrl-C)"}
LINES = "stderr has a line for each fault"
NOTHING_KEPT = "interrupted; nothing was kept"
NOT_BEGUN = "interrupted; this command has kept nothing"  # an earlier one may have
FRAME = re.compile(r'^  File "(.*)", line (\d+), in (.*)$', re.MULTILINE)  # as Python prints it


def statuses(*meanings: dict[int, str], error: str = "usage or input error") -> str:
    """The exit statuses of one command, as the end of its --help text.

    meanings : by status, where it is not an error. error : what status 2 means.
    """
    table = {ERROR: error}
    for more in meanings:
        table |= more
    lines = [f"  {status:<3}  {table[status]}" for status in sorted(table)]
    return "\n".join(["\b", "Exit status:", *lines])


def error_lines(error: BaseException) -> str:
    """The lines for an error: for a scenario a line for each fault, else one line.

    For a mechanism's own error further lines say where it was raised, outermost first.
    """
    if isinstance(error, MechanismError):
        frames = FRAME.findall(getattr(error.raised, "frames", ""))
        places = [f"at {name} ({file}, line {number})" for file, number, name in frames]
        return "\n".join([f"error: {error}", *places])
    if isinstance(error, ScenarioError):
        lines = str(error).split("\n")
    elif isinstance(error, DpauditError):
        lines = [str(error)]
    elif isinstance(error, OSError):
        lines = [f"{error.strerror or error}: {error.filename}" if error.filename else str(error)]
    else:
        lines = [f"not enough memory: {error}"]
    return "\n".join(f"error: {line}" for line in lines)


def say(text: str, status: int = NOT_VIOLATED) -> int:
    """Print lines on stderr; returns the status."""
    for line in text.split("\n"):
        print("dpaudit:", " ".join(printable(line).split()), file=sys.stderr)
    return status


@dataclass(eq=False, repr=False)
class Console:
    """What one command prints.

    document : of --json, which grows with the results; or its text, where the command writes it
    itself. reports : folder of reports that no --out names.
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
        as_json: Callable[[Any], str],
        as_line: Callable[[Any], str],
    ) -> None:
        """Print a result in the one form that is wanted."""
        if self.json:
            self.document = as_json(result)
        else:
            print((as_line if self.quiet else as_text)(result), file=self.out)

    def answer(self, text: str, short: str = "") -> None:
        """Print `text`, or `short` with --quiet; with --json nothing."""
        line = short if self.quiet else text
        if line and not self.json:
            print(line, file=self.out)

    def tell(self, **content: Any) -> None:
        """Put something into the JSON document."""
        assert isinstance(self.document, dict)
        self.document |= content

    def add(self, name: str, item: Mapping[str, Any]) -> None:
        """Put one more item into a list of the JSON document."""
        assert isinstance(self.document, dict)
        self.document.setdefault(name, []).append(dict(item))

    def detail(self, text: str) -> None:
        """With --verbose: say something more, on stderr."""
        if self.verbose:
            say(text)

    def moment(self, text: str) -> None:
        """With --verbose: say what happens now, and how long after the beginning."""
        self.detail(f"{time.monotonic() - self.begin:.1f} s: {text}")

    def close(self, status: int) -> None:
        """Print the JSON document, if it was asked for, after `using`."""
        if self.json:
            content = self.document
            if isinstance(content, dict):
                whole = {"status": status, **content}
                content = json.dumps(whole, indent=2, ensure_ascii=False, default=str)
            print(content, file=self.out)


_CONSOLE: ContextVar[Console] = ContextVar("console")


def console() -> Console:
    """The console of the command that runs; a plain one outside of a command."""
    return _CONSOLE.get(Console())


@contextmanager
def using(console: Console) -> Iterator[Console]:
    """While it lasts, this is the console of the command.

    With --quiet or --json, what anybody else prints goes to stderr, so that stdout has the lines or
    the document. With --json that includes what workers, programs and compiled code write to the
    stdout of the process.
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
                after.callback(console.out.flush)  # what was meant for the stdout of before
        yield console


def _flush_compiled() -> None:
    """What compiled code has printed and the C library still holds goes where it belongs, now."""
    with suppress(OSError, AttributeError, TypeError):  # no such library, or not by that name
        ctypes.CDLL(None).fflush(None)
