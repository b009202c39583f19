"""The commands that audit: `run`, `audit`, `samples`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit.cli import completion
from dpaudit.cli import options as given
from dpaudit.cli.commands.group import dpaudit
from dpaudit.cli.console import console
from dpaudit.cli.exit_status import INCOMPLETE, INTERRUPTED, JUDGED, LINES, NOT_VIOLATED, table
from dpaudit.cli.options import FILE, FOLDER

KEPT = {INTERRUPTED: "interrupted (Ctrl-C); --resume goes on where draws were kept"}
OF_RUN = {
    NOT_VIOLATED: "not violated; a study: done",
    INCOMPLETE: "inconclusive: the draws cannot decide; or an internal error",
}


@dpaudit.command(
    short_help="Audit the mechanism of a scenario and write a report.",
    epilog=table(JUDGED, OF_RUN, KEPT, error=f"usage, scenario, data or mechanism error; {LINES}"),
)
@given.scenarios
@given.out(
    help="Folder of the report; for several scenarios, their reports go to DIR/NAME.  "
    "[default: dpaudit-out/NAME]",
)
@given.draws("Draws per side, in place of the scenario's number.")
@click.option("--seed", type=int, metavar="S", help="Seed, in place of the scenario's.")
@click.option("--level", type=float, metavar="L", help="Confidence, in place of the scenario's.")
@given.stop
@given.jobs
@given.resume
@click.option(
    "--keep-draws", is_flag=True, help="Keep the draws in DIR/draws when the run is done."
)
@given.show_data
@given.outputs
@click.option(
    "--against",
    type=FOLDER,
    metavar="OLD",
    help="Compare with the earlier run in the folder OLD.",
)
@click.option(
    "--ledger",
    type=FILE,
    metavar="FILE",
    help="Pool the evidence of this run with that of earlier ones of the same code in FILE.",
)
@click.option("--check", is_flag=True, help="Only check the files and their data; draw nothing.")
def run(scenarios: tuple[Path, ...], out: Path | None, **options: Any) -> int:
    """Audit the mechanism of a scenario and write a report.

    SCENARIO is a file, SCENARIO.toml, or the name of a scenario that comes with dpaudit, such as
    flight-als: `dpaudit list scenarios` has their names. Of a file with several [[audit]] tables
    all are run, by SCENARIO.toml:NAME one. A scenario names a data set, a mechanism with its
    parameters, the choice of the neighbour, a privacy claim, the numbers of draws and a seed. The
    file is checked before anything runs. A mechanism given as "package.module:callable" is your own
    code, and is executed.

    The neighbour may be the worst row by theory (rule = "worst"), for a mechanism with a known
    output law, or be searched for by draws (rule = "search"), for any mechanism. A search lists the
    neighbours that it tried in DIR/search.csv.

    When the audit is done, result.json, report.html and spectrum.png are written into DIR. Until
    then the draws are kept in DIR/draws, for --resume. The same seed and versions give the same
    result.json, except for timings and memory.

    Several scenarios: all files are checked before the first one runs. A scenario that fails does
    not stop the others. DIR (default: dpaudit-out) gets an index.html with links to all reports.
    The exit status is the most serious one, in the order 2, 1, 3, 0.

    In JUnit XML a violated claim is a failure, and an inconclusive audit is skipped. SARIF has only
    what is violated, inconclusive or failed; the table of --summary has it first.

    --against lists the verdicts and settings that changed since the run in OLD, and the δ that
    changed by more than their uncertainty. OLD may be DIR itself; it is read before anything is
    written.

    The FILE of --ledger gets a line for each run, and all runs of unchanged code decide the verdict
    together, so that a small excess is found over many nights and false alarms do not add up. A run
    without --seed takes a seed of its own. `dpaudit ledger FILE` shows where it stands.

    A scenario with a [study] table repeats an experiment of a paper instead: it writes report.html,
    figures as PNG and content.json, and only --out and --seed apply to it. The same two apply to a
    scenario with a [one_run] table, which audits one run with canaries.
    """
    from dpaudit.cli import running

    return running.run_all(scenarios, out, **options)


@dpaudit.command(
    short_help="Audit your own function on a CSV file; no scenario is needed.",
    epilog=table(JUDGED, KEPT, error=f"usage, data or mechanism error; {LINES}"),
)
@click.argument("target", metavar="MODULE:CALLABLE")
@click.option(
    "--data",
    metavar="ROWS.csv",
    required=True,
    shell_complete=completion.data,
    help="CSV file with a header, a row a person; or the name of a data set.",
)
@given.claim("The claim to audit; DELTA is 0 for pure ε-DP.", required=True)
@click.option(
    "--neighbours",
    "relations",
    metavar="RELATION,...",
    callback=given.relations,
    help="The relation of the claim: add,remove (rows come and go), replace (their number is "
    "public), zero-out.  [default: both add,remove and replace, audited one after the other]",
)
@click.option(
    "--bounds",
    metavar="0:1,0:100",
    callback=given.bounds,
    help="For replace and add: public bounds of the rows that may come in, least:largest of each "
    "column, or one pair for all; or a CSV file of two rows.  [default: those of the data; the "
    "verdict says so]",
)
@click.option(
    "--row-bound",
    type=float,
    metavar="C",
    help="For replace and add: rows of norm at most C may come in.",
)
@click.option(
    "--candidates",
    type=FILE,
    metavar="FILE.csv",
    help="For replace and add: the rows that may come in.",
)
@click.option("--target", "label", metavar="COL", help="The column to predict; it is put last.")
@click.option(
    "--one-draw",
    is_flag=True,
    help="MODULE:CALLABLE is called as f(data, rng=...) and gives one output.",
)
@click.option(
    "--parameters",
    metavar="A=1,B=2",
    callback=given.parameters,
    help="The callable makes the mechanism from these: f(A=1, B=2).",
)
@given.draws("Draws per side.  [default: 1000000]")
@click.option("--seed", type=int, metavar="S", help="Seed of draws and training.  [default: 0]")
@given.level
@given.stop
@given.out(
    help="Folder of the report.  [default: dpaudit-out/MODULE.CALLABLE]; of two audits "
    "DIR/MODULE.CALLABLE-add-remove and -replace."
)
@given.jobs
@given.resume
@given.show_data
@given.outputs
def audit(target: str, out: Path | None, **options: Any) -> int:
    """Audit your own function on a CSV file.

    MODULE:CALLABLE is a function f(data, size, *, rng) of your own that returns `size` outputs of
    the mechanism on the (n, d) array `data`. Modules in the current folder are found, after
    installed ones; they are executed. The function gets the rows of the file as they are.

    The neighbour that leaks most is searched for by draws, up to nine times as many as the audit
    then makes: --draws 1e5 is enough for a first look. The same as from a scenario file: the text
    of that file is in the report and in result.json, to be saved in this folder.

    Without --neighbours there are two audits, with half of the draws of search each: rows added or
    removed, and rows replaced. A claim for the one need not hold for the other, so the status is 1
    where it is violated under both, and 3 where under one only: then name the relation. A relation
    under which the mechanism cannot run is left out. Both reports have the one verdict.

    \b
    Example, with mean.py in the current folder:
      def release(data, size, *, rng):
          return data.mean() + rng.laplace(scale=1 / len(data), size=(size, 1))
      dpaudit audit mean:release --data rows.csv --claim 1,0 --draws 1e5
    """
    from dpaudit.cli import running

    return running.audit_target(target, out, **options)


@dpaudit.command(
    short_help="Audit draws that were made elsewhere.",
    epilog=table(
        JUDGED,
        {INTERRUPTED: "interrupted (Ctrl-C); nothing is kept"},
        error="usage or input error, and draws that are the same or depend on each other",
    ),
)
@click.argument("left", type=FILE, metavar="P.npy")
@click.argument("right", type=FILE, metavar="Q.npy")
@given.claim("The claim to audit. Without a claim the verdict is inconclusive.")
@given.out(help="Folder of the report.  [default: dpaudit-out/samples]")
@given.level
@click.option(
    "--classifier",
    metavar="NAME",
    default="auto",
    show_default=True,
    shell_complete=completion.classifiers,
    help="A name from `dpaudit list classifiers`.",
)
@click.option(
    "--bits",
    is_flag=True,
    help="Let the classifier read the bits of floating-point numbers too: samplers may leak there.",
)
@click.option(
    "--seed", type=int, metavar="S", default=0, show_default=True, help="Seed of training."
)
def samples(left: Path, right: Path, out: Path | None, seed: int, **options: Any) -> int:
    """Audit draws that were made elsewhere.

    P.npy holds outputs of the mechanism on a database, Q.npy outputs on its neighbour: arrays of
    shape (n,) or (n, k) of numbers or text, independent draws in random order. Either may be a .csv
    or .parquet file instead, with one output per row. Pickled objects are refused. Writes the same
    report as `dpaudit run`.
    """
    from dpaudit.cli import running
    from dpaudit.cli.progress import shown
    from dpaudit.run.samples import REPORT, run_samples

    folder = out or console().reports / REPORT.name
    with shown() as progress:
        run_samples(left, right, folder, rng=seed, progress=progress, **options)
    return running.verdict(folder)
