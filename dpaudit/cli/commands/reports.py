"""The commands that read the folder of a run: `status`, `report`."""

from __future__ import annotations

from pathlib import Path

import click

from dpaudit.cli import exit_status
from dpaudit.cli.commands.group import dpaudit
from dpaudit.cli.exit_status import INCOMPLETE, table
from dpaudit.cli.options import FOLDER


@dpaudit.command(
    "status",
    short_help="Show how far a run is: draws, rate, time left.",
    epilog=table(
        {0: "every run is done or running", INCOMPLETE: "a run was interrupted"},
        error="usage error, or there is no run in DIR",
    ),
)
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON, a list of runs.")
def status_(folder: Path, as_json: bool) -> int:
    """Show how far the run in DIR is, or the runs in its subfolders.

    A run is done, running or interrupted. For each side, the draws made and the draws wanted are
    shown, with the rate and the time left. DIR is the --out of `dpaudit run`. To continue an
    interrupted run, repeat its command with --resume.
    """
    from dpaudit.cli.answers import run_states
    from dpaudit.run.store.status import states

    found = states(folder)
    print(run_states.as_json(found) if as_json else run_states.as_text(found))
    return exit_status.INCOMPLETE if run_states.interrupted(found) else exit_status.NOT_VIOLATED


@dpaudit.command(
    short_help="Write a report again from its result.json.",
    epilog=table(
        {0: "the report is written, whatever the verdict"},
        error="usage error, or DIR holds no result",
    ),
)
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option(
    "--show-data",
    is_flag=True,
    help="Refuse a result without values of the data: only a run with --show-data keeps them.",
)
def report(folder: Path, show_data: bool) -> int:
    """Write report.html and spectrum.png again from the result.json in DIR.

    Values of the data are in the report if the run was asked for them, by its own --show-data.

    Where DIR holds the reports of several scenarios, in subfolders, they are all written again,
    and index.html with them.
    """
    from dpaudit.cli import reporting

    return reporting.report(folder, show_data)
