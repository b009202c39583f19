"""The commands. Each reads its arguments, calls `dpaudit.run`, prints, and returns an exit status.

What a command needs is imported inside it, so that --help is quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit import __version__
from dpaudit.cli import options as given
from dpaudit.cli import status
from dpaudit.cli.options import FILE, FOLDER

KINDS = ("mechanisms", "datasets", "classifiers", "scenarios")


@click.group(
    epilog=status.HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="dpaudit", message="%(prog)s %(version)s")
def dpaudit() -> None:
    """Audit differentially private mechanisms on real data.

    An audit draws outputs of a mechanism on a database and on its neighbour, learns to tell them
    apart, and certifies from fresh draws how private the mechanism can be at most: a lower bound on
    δ(ε), at all ε at once. It sets the bound beside the exact δ(ε), where that is known, and beside
    the claim, and writes a report.

    \b
    Start with:
      dpaudit list scenarios
      dpaudit run scenarios/flight-als.toml

    Results go to stdout and into files, progress and errors to stderr.
    """


@dpaudit.command(
    short_help="Audit what a scenario names: draw, train, certify, judge, report.",
    epilog=status.HELP,
)
@click.argument("scenarios", type=FILE, metavar="SCENARIO.toml...", nargs=-1, required=True)
@click.option(
    "--out",
    type=FOLDER,
    metavar="DIR",
    help="Folder of the report, of several: DIR/NAME.  [default: dpaudit-out/NAME]",
)
@click.option("--samples", type=int, metavar="N", help="Draws a side, instead of the scenario's.")
@click.option("--seed", type=int, metavar="S", help="Seed, instead of the scenario's.")
@click.option(
    "--stop",
    type=click.Choice(["verdict"]),
    help="Draw in growing waves until the verdict stands, at most N.",
)
@click.option(
    "--jobs",
    type=int,
    metavar="J",
    callback=given.jobs,
    help="Parallel draws (-1: all cores); same result.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the draws that an interrupted run left in DIR, if any.",
)
@click.option(
    "--keep-draws", is_flag=True, help="Leave the draws in DIR/draws when the run is done."
)
@click.option("--junit", type=FILE, metavar="FILE", help="Write JUnit XML: a test case a scenario.")
@click.option(
    "--against",
    type=FOLDER,
    metavar="OLD",
    help="Say what moved since the run in OLD, beyond uncertainty.",
)
def run(scenarios: tuple[Path, ...], out: Path | None, **options: Any) -> int:
    """Audit what a scenario names: draw, train, certify, judge, report. Or make the figures of a
    study.

    SCENARIO.toml names a data set, a mechanism with its parameters, the choice of neighbour, a
    claim and sample sizes; all of it is checked before anything runs. A mechanism given as
    "package.module:callable" is the user's own code, and is executed. A scenario with a [study]
    table names an experiment of a paper instead, and its settings; of the options only --out and
    --seed concern it.

    The neighbour may be the worst by theory (rule = "worst"), where the mechanism's law is known,
    or be searched for by draws (rule = "search"), for any mechanism: what was tried then stands in
    DIR/search.csv.

    Writes result.json, report.html and spectrum.png into DIR, each whole or not at all, when all is
    done. Draws are kept in DIR/draws until then. The same seed and versions give the same
    result.json, timings and memory aside. A study writes report.html, its figures as PNG and
    content.json.

    Several scenarios are all checked before the first runs. One that then fails does not stop the
    others; DIR (default dpaudit-out) gets an index.html over all reports, and the exit status is
    the gravest: 2, 1, 3, 0. In FILE a violated claim is a failure, an inconclusive audit is
    skipped. OLD is a folder of reports, DIR itself if need be: what it holds is read first.
    """
    from dpaudit.cli import running

    return running.run_all(scenarios, out, **options)


@dpaudit.command(epilog=status.HELP)
@click.argument("left", type=FILE, metavar="P.npy")
@click.argument("right", type=FILE, metavar="Q.npy")
@click.option(
    "--claim",
    metavar="EPS,DELTA",
    callback=given.claim,
    help="The claim to test; without one: inconclusive.",
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
    help="Confidence of the bound at all ε at once.",
)
@click.option(
    "--classifier",
    default="auto",
    show_default=True,
    help="An alias of `dpaudit list classifiers`.",
)
@click.option(
    "--bits",
    is_flag=True,
    help="Let the score read the bits of floats, where careless samplers leak.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the training.")
def samples(left: Path, right: Path, out: Path | None, seed: int, **options: Any) -> int:
    """Audit draws made elsewhere.

    P.npy holds outputs of the mechanism on a database, Q.npy outputs on its neighbour, independent
    and in random order: (n, k) or (n,) numbers or texts each. Either may be a .csv or .parquet file
    instead, an output a row. Nothing is unpickled. Writes the same report as `dpaudit run`.
    """
    from dpaudit.cli import running
    from dpaudit.cli.progress import shown
    from dpaudit.run.samples import REPORT, run_samples

    with shown() as progress:
        run_samples(left, right, out, rng=seed, progress=progress, **options)
    return running.verdict(out or REPORT)


@dpaudit.command(epilog=status.HELP)
@click.argument("scenario", type=FILE, metavar="SCENARIO.toml")
@given.of_neighbours
@click.option(
    "--epsilon",
    metavar="E,E,...",
    callback=given.epsilons,
    help="ε of the table, instead of the scenario's.",
)
@click.option("--json", "as_json", is_flag=True, help="Every number as JSON.")
def spectrum(scenario: Path, as_json: bool, **options: Any) -> int:
    """Exact δ(ε) of the worst of all neighbours, without a draw.

    Needs a mechanism whose output law is known; `dpaudit list mechanisms` says for which relations.
    Below the table stands what the curve says beside: the ε at a small δ, the total variation, the
    μ of the Gaussian shift that has the same δ at one ε, a Rényi divergence, and the pure ε. With a
    claim in the scenario, the exit status says whether the exact spectrum exceeds it.

    FILE.csv has the columns of the data, by name; a column of ones that was added to them may be
    left out. Rows and candidates are numbered from 0.
    """
    from dpaudit.cli import analysis
    from dpaudit.run import Scenario, analyse

    given.check_neighbours(options)
    found = analyse(Scenario.load(scenario), **options)
    click.echo(analysis.as_json(found) if as_json else analysis.as_text(found))
    return status.VIOLATED if len(found.broken) else status.NOT_VIOLATED


@dpaudit.command(
    short_help="The least noise, or the most sketch rows, that keep a target.", epilog=status.HELP
)
@click.argument("scenario", type=FILE, metavar="SCENARIO.toml")
@click.option("--epsilon", type=float, required=True, metavar="E", help="ε of the target, nats.")
@click.option("--delta", type=float, required=True, metavar="D", help="δ of the target, in (0, 1).")
@click.option("--parameter", metavar="NAME", help="The parameter to turn.  [default: by mechanism]")
@given.of_neighbours
@click.option("--json", "as_json", is_flag=True, help="Every number as JSON.")
def calibrate(scenario: Path, epsilon: float, delta: float, as_json: bool, **options: Any) -> int:
    """The least noise, or the most sketch rows, with which the exact δ(E) of the worst of all
    neighbours is at most D.

    Turns one parameter of the scenario's mechanism, of those that `dpaudit list mechanisms` names,
    and leaves the others as they are; the claim is not looked at. Where no value keeps the target,
    or every one does, the exit status is 2.

    FILE.csv is as for `dpaudit spectrum`.
    """
    from dpaudit.cli import calibration
    from dpaudit.run import Scenario
    from dpaudit.run import calibrate as found

    given.check_neighbours(options)
    done = found(Scenario.load(scenario), epsilon, delta, **options)
    click.echo(calibration.as_json(done) if as_json else calibration.as_text(done))
    return 0


@dpaudit.command(short_help="How many draws a claim needs.", epilog=status.HELP)
@click.option(
    "--claim",
    metavar="EPS,DELTA",
    callback=given.claim,
    required=True,
    help="The claim to be refuted.",
)
@click.option(
    "--excess",
    type=float,
    metavar="X",
    multiple=True,
    help="δ(EPS) less DELTA; may be given several times.",
)
@click.option(
    "--samples",
    type=int,
    metavar="N",
    multiple=True,
    help="Draws a side, to see what they show; likewise.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Confidence of the audit."
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="Probability with which it is to refute.",
)
@click.option("--json", "as_json", is_flag=True, help="Every number as JSON.")
def plan(claim: tuple[float, float], as_json: bool, power: float, **options: Any) -> int:
    """How many draws refute a claim that is false by so much, and what so many draws cannot show.

    The excess is δ(EPS) of the mechanism on the audited pair, less DELTA. The table gives draws a
    side, training included, for an audit, for one that stops at its verdict, and for the assertion
    of a test. Nothing is drawn.
    """
    from dpaudit.cli import planning

    found = planning.needs(claim, chance=power, **options)
    click.echo(planning.as_json(found) if as_json else planning.as_text(found))
    return 0


@dpaudit.command("list", short_help="Mechanisms, datasets, classifiers, scenarios.")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@click.argument("folder", required=False, type=FOLDER)
def list_(kind: str | None, folder: Path | None) -> int:
    """What there is: mechanisms, datasets, classifiers, scenarios (below FOLDER, or those that come
    with dpaudit).
    """
    from dpaudit.cli import listing

    kinds = KINDS if kind is None else (kind,)
    click.echo("\n\n".join(listing.text(one, folder) for one in kinds))
    return 0


@dpaudit.command(
    "status", short_help="How far a run is: draws, rate, time left, whether it is alive."
)
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Every number as JSON, a list of runs.")
def status_(folder: Path, as_json: bool) -> int:
    """How far the run in DIR is, or the runs in its folders: done, under way or interrupted; draws
    made of those wanted on each side; rate and time left.

    DIR is the --out of `dpaudit run`. A run that was interrupted goes on from its draws with the
    same command and --resume. The exit status is 3 where one is interrupted, else 0.
    """
    from dpaudit.cli import watched
    from dpaudit.run.store.status import states

    found = states(folder)
    click.echo(watched.as_json(found) if as_json else watched.as_text(found))
    return status.INCOMPLETE if watched.interrupted(found) else status.NOT_VIOLATED


@dpaudit.command(short_help="Draw a report again from its result.json.")
@click.argument("folder", type=FOLDER, metavar="DIR")
def report(folder: Path) -> int:
    """Draw report.html and spectrum.png again from the result.json in DIR. Exit status 0 whatever
    the verdict.
    """
    from dpaudit.auditing.record import load
    from dpaudit.cli import running
    from dpaudit.report import write_report

    write_report(folder, load(folder))
    running.verdict(folder)
    return 0
