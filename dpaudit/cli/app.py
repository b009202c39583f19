"""Running one command: how errors become lines on stderr and exit statuses."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Sequence

import click

from dpaudit.cli.commands import dpaudit
from dpaudit.cli.exit_status import ERROR, INCOMPLETE, INTERRUPTED, say, text_of
from dpaudit.errors import DpauditError


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
