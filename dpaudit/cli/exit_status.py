"""Exit statuses, the words for them at the end of most --help texts, and lines on stderr."""

from __future__ import annotations

import sys

from dpaudit._core.printable import printable
from dpaudit.errors import DpauditError, ScenarioError

NOT_VIOLATED, VIOLATED, ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130
OF_VERDICT = {"not violated": NOT_VIOLATED, "violated": VIOLATED, "inconclusive": INCOMPLETE}

HELP = """\b
Exit status:
  0    not violated; of list, report, plan and calibrate: done
  1    violated
  2    usage, scenario or data error; stderr has a line for each fault
  3    inconclusive or incomplete
  130  interrupted (Ctrl-C)
"""


def text_of(error: BaseException) -> str:
    """The lines for an error: one for each fault of a scenario, else one."""
    if isinstance(error, ScenarioError):
        lines = str(error).split("\n")
    elif isinstance(error, DpauditError):
        lines = [str(error)]
    elif isinstance(error, OSError):
        lines = [f"{error.strerror or error}: {error.filename}" if error.filename else str(error)]
    else:
        lines = [f"not enough memory: {error}"]
    return "\n".join(f"error: {line}" for line in lines)


def say(text: str, status: int) -> int:
    """Print lines on stderr; returns the status."""
    for line in text.split("\n"):
        print("dpaudit:", " ".join(printable(line).split()), file=sys.stderr)
    return status
