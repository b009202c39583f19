"""Exit statuses, the table of them at the end of each --help text, and lines on stderr."""

from __future__ import annotations

import re
import sys

from dpaudit._core.shown.printable import printable
from dpaudit.errors import DpauditError, MechanismError, ScenarioError

NOT_VIOLATED, VIOLATED, ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130
OF_VERDICT = {"not violated": NOT_VIOLATED, "violated": VIOLATED, "inconclusive": INCOMPLETE}

JUDGED = {
    NOT_VIOLATED: "not violated",
    VIOLATED: "violated",
    INCOMPLETE: "inconclusive: the draws cannot decide; or an internal error",
}
NOTHING_KEPT = "interrupted; nothing was kept"
NOT_BEGUN = "interrupted; this command has kept nothing"  # an earlier one may have
LINES = "stderr has a line for each fault"
STOPPED = {INTERRUPTED: "interrupted (Ctrl-C)"}
FRAME = re.compile(r'^  File "(.*)", line (\d+), in (.*)$', re.MULTILINE)  # as Python prints it


def table(*meanings: dict[int, str], error: str = "usage or input error") -> str:
    """The exit statuses of one command, as the end of its --help text.

    meanings : by status, where it is not an error. error : what status 2 means.
    """
    all_: dict[int, str] = {ERROR: error}
    for some in meanings:
        all_ |= some
    lines = [f"  {status:<3}  {all_[status]}" for status in sorted(all_)]
    return "\n".join(["\b", "Exit status:", *lines])


def text_of(error: BaseException) -> str:
    """The lines for an error: one for each fault of a scenario, else one; of a mechanism's own
    error also where it was raised.
    """
    if isinstance(error, ScenarioError):
        lines = str(error).split("\n")
    elif isinstance(error, MechanismError):
        return "\n".join([f"error: {error}", *_places(error)])
    elif isinstance(error, DpauditError):
        lines = [str(error)]
    elif isinstance(error, OSError):
        lines = [f"{error.strerror or error}: {error.filename}" if error.filename else str(error)]
    else:
        lines = [f"not enough memory: {error}"]
    return "\n".join(f"error: {line}" for line in lines)


def _places(error: MechanismError) -> list[str]:
    """Where the mechanism raised, outermost first: "at release (mean.py, line 3)"."""
    frames = FRAME.findall(getattr(error.raised, "frames", ""))
    return [f"at {name} ({file}, line {number})" for file, number, name in frames]


def say(text: str, status: int) -> int:
    """Print lines on stderr; returns the status."""
    for line in text.split("\n"):
        print("dpaudit:", " ".join(printable(line).split()), file=sys.stderr)
    return status
