"""The commands. Each reads its arguments, calls other rooms, prints, and returns an exit status.

What a command needs is imported inside it, so that --help is quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit import __version__
from dpaudit.cli import exit_status
from dpaudit.cli import options as given
from dpaudit.cli.options import FILE, FOLDER

KINDS = ("mechanisms", "datasets", "classifiers", "scenarios")


@click.group(
    epilog=exit_status.HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="dpaudit", message="%(prog)s %(version)s")
def dpaudit() -> None:
    """Audit differentially private mechanisms on real data.

    An audit draws outputs of a mechanism on a database and on a neighbour of it, and trains a
    classifier to tell the two apart. From fresh draws it certifies a lower bound on the mechanism's
    δ(ε), valid at all ε at once. It compares the bound with the privacy claim, and with the exact
    δ(ε) where that is known, and writes a report.

    \b
    Start with:
      dpaudit list scenarios
      dpaudit run scenarios/flight-als.toml

    Results go to stdout and into files, progress and errors to stderr.
    """


@dpaudit.command(
    short_help="Audit the mechanism of a scenario file and write a report.",
    epilog=exit_status.HELP,
)
@click.argument("scenarios", type=FILE, metavar="SCENARIO.toml...", nargs=-1, required=True)
@click.option(
    "--out",
    type=FOLDER,
    metavar="DIR",
    help="Folder of the report; for several scenarios, their reports go to DIR/NAME.  "
    "[default: dpaudit-out/NAME]",
)
@click.option(
    "--samples", type=int, metavar="N", help="Draws per side, in place of the scenario's number."
)
@click.option("--seed", type=int, metavar="S", help="Seed, in place of the scenario's.")
@click.option(
    "--stop",
    type=click.Choice(["verdict"]),
    help="Draw in growing batches; stop as soon as the claim is refuted, at the latest after N.",
)
@click.option(
    "--jobs",
    type=int,
    metavar="J",
    callback=given.jobs,
    help="Number of parallel workers (-1: all cores); the result does not depend on it.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Continue from the draws that an interrupted run left in DIR, if there are any.",
)
@click.option(
    "--keep-draws", is_flag=True, help="Keep the draws in DIR/draws when the run is done."
)
@click.option(
    "--junit", type=FILE, metavar="FILE", help="Write JUnit XML, with one test case per scenario."
)
@click.option(
    "--against",
    type=FOLDER,
    metavar="OLD",
    help="Compare with the earlier run in the folder OLD.",
)
def run(scenarios: tuple[Path, ...], out: Path | None, **options: Any) -> int:
    """Audit the mechanism of a scenario file and write a report.

    SCENARIO.toml names a data set, a mechanism with its parameters, the choice of the neighbour, a
    privacy claim, the numbers of draws and a seed. The file is checked before anything runs. A
    mechanism given as "package.module:callable" is your own code, and is executed.

    The neighbour may be the worst row by theory (rule = "worst"), for a mechanism with a known
    output law, or be searched for by draws (rule = "search"), for any mechanism. A search lists the
    neighbours that it tried in DIR/search.csv.

    When the audit is done, result.json, report.html and spectrum.png are written into DIR. Until
    then the draws are kept in DIR/draws, for --resume. The same seed and versions give the same
    result.json, except for timings and memory.

    Several scenarios: all files are checked before the first one runs. A scenario that fails does
    not stop the others. DIR (default: dpaudit-out) gets an index.html with links to all reports.
    The exit status is the most serious one, in the order 2, 1, 3, 0.

    --junit: a violated claim is a failure, an inconclusive audit is skipped. --against: lists the
    verdicts and settings that changed since the run in OLD, and the δ that changed by more than
    their uncertainty. OLD may be DIR itself; it is read before anything is written.

    A scenario with a [study] table repeats an experiment of a paper instead: it writes report.html,
    figures as PNG and content.json, and only --out and --seed apply to it.
    """
    from dpaudit.cli import running

    return running.run_all(scenarios, out, **options)


@dpaudit.command(epilog=exit_status.HELP)
@click.argument("left", type=FILE, metavar="P.npy")
@click.argument("right", type=FILE, metavar="Q.npy")
@click.option(
    "--claim",
    metavar="EPS,DELTA",
    callback=given.claim,
    help="The claim to audit. Without a claim the verdict is inconclusive.",
)
@click.option(
    "--out",
    type=FOLDER,
    metavar="DIR",
    help="Folder of the report.  [default: dpaudit-out/samples]",
)
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence of the lower bound, jointly over all ε.",
)
@click.option(
    "--classifier",
    default="auto",
    show_default=True,
    help="A name from `dpaudit list classifiers`.",
)
@click.option(
    "--bits",
    is_flag=True,
    help="Let the classifier read the bits of floating-point numbers too: samplers may leak there.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of training.")
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

    with shown() as progress:
        run_samples(left, right, out, rng=seed, progress=progress, **options)
    return running.verdict(out or REPORT)


@dpaudit.command(epilog=exit_status.HELP)
@click.argument("scenario", type=FILE, metavar="SCENARIO.toml")
@given.of_neighbours
@click.option(
    "--epsilon",
    metavar="E,E,...",
    callback=given.epsilons,
    help="The ε of the table, in place of the scenario's.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
def spectrum(scenario: Path, as_json: bool, **options: Any) -> int:
    """Print the exact δ(ε) of the worst neighbour, without drawing.

    The mechanism must have a known output law; `dpaudit list mechanisms` shows for which relations
    it is known. Below the table are the ε at small δ, the total variation, the μ of the Gaussian
    shift with the same δ at one ε, the Rényi divergence of order 2, and the pure ε (all ε in nats).
    If the scenario has a claim, the exit status says whether the exact δ(ε) exceeds it.

    FILE.csv has the columns of the data, by name; the column of ones may be left out. Rows and
    candidates are numbered from 0.
    """
    from dpaudit.cli import analysis
    from dpaudit.run import Scenario, analyse

    given.check_neighbours(options)
    found = analyse(Scenario.load(scenario), **options)
    print(analysis.as_json(found) if as_json else analysis.as_text(found))
    return exit_status.VIOLATED if len(found.broken) else exit_status.NOT_VIOLATED


@dpaudit.command(
    short_help="Find the least noise or the most sketch rows for a target.",
    epilog=exit_status.HELP,
)
@click.argument("scenario", type=FILE, metavar="SCENARIO.toml")
@click.option("--epsilon", type=float, required=True, metavar="E", help="ε of the target, in nats.")
@click.option("--delta", type=float, required=True, metavar="D", help="δ of the target, in (0, 1).")
@click.option(
    "--parameter",
    metavar="NAME",
    help="The parameter to set.  [default: the first one that `dpaudit list mechanisms` names]",
)
@given.of_neighbours
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
def calibrate(scenario: Path, epsilon: float, delta: float, as_json: bool, **options: Any) -> int:
    """Find the least noise, or the most sketch rows, with which δ(E) is at most D.

    δ is the exact one of the worst neighbour. One parameter of the scenario's mechanism is set, of
    those that `dpaudit list mechanisms` names; the others stay as they are. The scenario's claim is
    ignored. The exit status is 2 where no value meets the target, or where every value does.

    FILE.csv has the columns of the data, by name; the column of ones may be left out.
    """
    from dpaudit.cli import calibration
    from dpaudit.run import Scenario
    from dpaudit.run import calibrate as found

    given.check_neighbours(options)
    done = found(Scenario.load(scenario), epsilon, delta, **options)
    print(calibration.as_json(done) if as_json else calibration.as_text(done))
    return 0


@dpaudit.command(
    short_help="Show how many draws it takes to refute a claim.", epilog=exit_status.HELP
)
@click.option(
    "--claim",
    metavar="EPS,DELTA",
    callback=given.claim,
    required=True,
    help="The claim to refute.",
)
@click.option(
    "--excess",
    type=float,
    metavar="X",
    multiple=True,
    help="How much the true δ(EPS) exceeds DELTA. May be repeated.",
)
@click.option(
    "--samples",
    type=int,
    metavar="N",
    multiple=True,
    help="Draws per side, to see the least excess that they can show. May be repeated.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Confidence of the audit."
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="Probability with which a false claim is refuted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
def plan(claim: tuple[float, float], as_json: bool, power: float, **options: Any) -> int:
    """Show how many draws it takes to refute a claim, and what a number of draws can show.

    The excess is δ(EPS) of the mechanism on the audited pair, minus DELTA. The table has the draws
    per side, training included, for an audit, for an audit with --stop verdict, and for
    `dpaudit.testing.assert_private`. Nothing is drawn.
    """
    from dpaudit.cli import planning

    found = planning.needs(claim, chance=power, **options)
    print(planning.as_json(found) if as_json else planning.as_text(found))
    return 0


@dpaudit.command("list", short_help="List mechanisms, datasets, classifiers or scenarios.")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@click.argument("folder", required=False, type=FOLDER)
def list_(kind: str | None, folder: Path | None) -> int:
    """List mechanisms, datasets, classifiers or scenarios; without an argument, all of them.

    Scenarios are the .toml files below FOLDER, by default below ./scenarios, or else those that
    come with dpaudit.
    """
    from dpaudit.cli import listing

    kinds = KINDS if kind is None else (kind,)
    print("\n\n".join(listing.text(one, folder) for one in kinds))
    return 0


@dpaudit.command("status", short_help="Show how far a run is: draws, rate, time left.")
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON, a list of runs.")
def status_(folder: Path, as_json: bool) -> int:
    """Show how far the run in DIR is, or the runs in its subfolders.

    A run is done, running or interrupted. For each side, the draws made and the draws wanted are
    shown, with the rate and the time left. DIR is the --out of `dpaudit run`. To continue an
    interrupted run, repeat its command with --resume. The exit status is 3 if a run was
    interrupted, else 0.
    """
    from dpaudit.cli import run_states
    from dpaudit.run.store.status import states

    found = states(folder)
    print(run_states.as_json(found) if as_json else run_states.as_text(found))
    return exit_status.INCOMPLETE if run_states.interrupted(found) else exit_status.NOT_VIOLATED


@dpaudit.command(short_help="Write a report again from its result.json.")
@click.argument("folder", type=FOLDER, metavar="DIR")
def report(folder: Path) -> int:
    """Write report.html and spectrum.png again from the result.json in DIR.

    The exit status is 0 whatever the verdict.
    """
    from dpaudit.auditing.record import load, reading
    from dpaudit.cli import running
    from dpaudit.report import write_report

    record = load(folder)
    with reading(folder):
        write_report(folder, record)
        running.verdict(folder)
    return 0
