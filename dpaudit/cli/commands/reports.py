"""The commands that read the folder of a run: `status`, `report`, `compare`; and `ledger`."""

from __future__ import annotations

from pathlib import Path

import click

from dpaudit.cli import exit_status
from dpaudit.cli.commands.group import dpaudit
from dpaudit.cli.console import console
from dpaudit.cli.exit_status import INCOMPLETE, VIOLATED, table
from dpaudit.cli.options import FILE, FOLDER


@dpaudit.command(
    "status",
    short_help="Show how far a run is: draws, rate, time left.",
    epilog=table(
        {0: "every run is done or running", INCOMPLETE: "a run was interrupted"},
        error="usage error, or there is no run in DIR",
    ),
)
@click.argument("folder", type=FOLDER, metavar="DIR")
def status_(folder: Path) -> int:
    """Show how far the run in DIR is, or the runs in its subfolders.

    A run is done, running or interrupted. For each side, the draws made and the draws wanted are
    shown, with the rate and the time left. DIR is the --out of `dpaudit run`. To continue an
    interrupted run, repeat its command with --resume.
    """
    from dpaudit.cli.answers import run_states
    from dpaudit.run.store import states

    found = states(folder)
    console().show(found, run_states.as_text, run_states.as_json, run_states.as_line)
    return exit_status.INCOMPLETE if run_states.interrupted(found) else exit_status.NOT_VIOLATED


@dpaudit.command(
    short_help="Compare two results: what moved, in one figure.",
    epilog=table(
        {0: "the comparison is printed, whatever moved"},
        error="usage error, or a folder holds no result of draws",
    ),
)
@click.argument("first", type=FOLDER, metavar="A")
@click.argument("second", type=FOLDER, metavar="B")
@click.option("--names", metavar="A,B", help="Names of the two.  [default: those of the folders]")
@click.option("--out", type=FILE, metavar="FILE", help="Draw both into FILE.png or FILE.svg.")
def compare(first: Path, second: Path, names: str | None, out: Path | None) -> int:
    """Compare two results: what moved, in one figure.

    A and B are folders of reports, of two versions of a mechanism or two nights. Verdicts and
    settings that differ are listed, exact curves that differ beyond rounding, and a certified δ
    where the bands of the two results do not meet. The figure has both estimates with their bands.
    """
    from dpaudit.cli.answers import comparisons
    from dpaudit.report import comparison

    found = comparison.compare(first, second, comparisons.names_of(names, first, second))
    console().show(found, str, comparisons.as_json, comparisons.as_line)
    if out is not None:
        exit_status.say(f"figure: {found.save(out)}", exit_status.NOT_VIOLATED)
    return exit_status.NOT_VIOLATED


@dpaudit.command(
    short_help="Show what many runs in a ledger say together.",
    epilog=table(
        {0: "no claim is rejected", VIOLATED: "a claim is rejected, of the version that ran last"},
        error="usage error, or FILE was changed or is no ledger",
    ),
)
@click.argument("file", type=FILE)
@click.option(
    "--merge",
    "others",
    type=FILE,
    metavar="OTHER",
    multiple=True,
    help="Take over the lines of another ledger; may be given several times.",
)
@click.option(
    "--level",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    metavar="L",
    help="Confidence of a rejection.",
)
def ledger(file: Path, others: tuple[Path, ...], level: float) -> int:
    """Show what many runs in a ledger say together.

    FILE is the --ledger of `dpaudit run`. A line for each version of a mechanism: its runs, their
    draws, and the evidence against its claim. Evidence is a product of e-values: of a sound
    mechanism it ever reaches what rejects the claim with probability at most 5 % (1 − L), over all
    runs and all versions together. The head is a checksum of all lines: where somebody might cut
    lines off at the end, keep it elsewhere.
    """
    from dpaudit.cli.answers import ledgers
    from dpaudit.run import Ledger

    book = Ledger(file)
    if not others and not file.exists():
        raise click.UsageError(f"{file} must be a ledger, but there is no such file")
    if others:
        taken = book.merge(map(Ledger, others), 1.0 - level)
        exit_status.say(f"{taken} lines taken over", exit_status.NOT_VIOLATED)
    found = book.standings(1.0 - level)
    console().show(found, ledgers.as_text, ledgers.as_json, ledgers.as_line)
    if found:
        exit_status.say(f"head of {file}: {book.head}", exit_status.NOT_VIOLATED)
    return VIOLATED if ledgers.rejected(found) else exit_status.NOT_VIOLATED


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
