"""The command `dpaudit`: it reads arguments, calls the library, prints, and returns a status.

Results go to stdout and into files, progress and errors to stderr; the exit status is the verdict.
Nothing here computes or certifies anything. `commands` declares the commands and their help,
`running` runs scenarios, modules of `answers` write the other answers.
"""

from __future__ import annotations

import atexit
import gc
import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import click

from dpaudit._core.text import Screen
from dpaudit.cli.commands import dpaudit
from dpaudit.cli.console import ERROR, INCOMPLETE, INTERRUPTED, NOT_BEGUN, error_lines, say
from dpaudit.errors import DpauditError

__all__ = ["dpaudit", "main", "program"]

KEPT = 8 << 20  # bytes


def program() -> int:
    """The program `dpaudit`: `main` in a process that runs nothing else, and so can be tuned."""
    _keep_freed_memory()
    gc.set_threshold(50_000)  # imports make many objects that stay: to look at them takes long
    atexit.register(gc.freeze)  # and at the end Python would look at each of them again
    return main()


def _keep_freed_memory() -> None:
    """Make glibc keep what is freed for the next arrays, as it does once it has freed so many bytes
    at once; else it returns them, and fresh pages take a tenth of the CPU time of a run.
    """
    bytes(KEPT)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    After a crash it is 3, since the status 1, with which Python would exit, means "violated".
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr does
    # names of columns and files and messages of the user's code may have control characters
    out: Any = sys.stdout and Screen(sys.stdout)
    err: Any = sys.stderr and Screen(sys.stderr)
    with redirect_stdout(out), redirect_stderr(err):
        status = _status(argv)
        if out:
            out.flush()
    return status


def _status(argv: Sequence[str] | None) -> int:
    try:
        return dpaudit.main(args=argv, prog_name="dpaudit", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show(sys.stderr)
        return ERROR
    except click.Abort as stop:
        return say(str(stop.__context__ or "") or NOT_BEGUN, INTERRUPTED)
    except (DpauditError, OSError, MemoryError) as error:
        return say(error_lines(error), ERROR)
    except Exception as error:
        from dpaudit._core.raised import report  # loads numpy, which --help does not need

        print(report(error), end="", file=sys.stderr)
        return say(
            "error: this should not have happened, please report it with the lines above",
            INCOMPLETE,
        )
