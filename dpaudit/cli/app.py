"""Running one command: how errors become lines on stderr and exit statuses."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Sequence

import click

from dpaudit.cli.commands import dpaudit
from dpaudit.cli.exit_status import ERROR, INCOMPLETE, INTERRUPTED
from dpaudit.errors import DpauditError, ScenarioError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status.

    A crash returns 3: the status 1, with which Python itself would exit, means "violated".
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ε shows ?
    try:
        return dpaudit.main(args=argv, prog_name="dpaudit", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return ERROR
    except click.Abort:
        return say("interrupted; a run continues from its draws with --resume", INTERRUPTED)
    except (DpauditError, OSError, MemoryError) as error:
        return say(text_of(error), ERROR)
    except Exception:
        traceback.print_exc()
        return say(
            "error: this should not have happened, please report it with the lines above",
            INCOMPLETE,
        )


def text_of(error: BaseException) -> str:
    """The lines for an error: one for each fault of a scenario, else one."""
    if isinstance(error, ScenarioError):
        lines = str(error).splitlines()
    elif isinstance(error, DpauditError):
        lines = [str(error)]
    elif isinstance(error, OSError):
        lines = [f"{error.strerror or error}: {error.filename}" if error.filename else str(error)]
    else:
        lines = [f"not enough memory: {error}"]
    return "\n".join(f"error: {line}" for line in lines)


def say(text: str, status: int) -> int:
    """Print lines on stderr, without characters that control a terminal; returns the status."""
    for line in text.split("\n"):
        shown = "".join(c if c.isprintable() else " " for c in line)
        print("dpaudit:", " ".join(shown.split()), file=sys.stderr)
    return status
