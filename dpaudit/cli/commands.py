"""The commands of `dpaudit`: each declares its options, calls the library, and prints the result.

Commands import what they need inside their functions, so that --help is quick. `dpaudit --help`
lists the commands in the order of this file.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from dpaudit import __version__
from dpaudit.cli import options as opt
from dpaudit.cli.console import (
    INCOMPLETE,
    INTERRUPTED,
    JUDGED,
    LINES,
    NOT_VIOLATED,
    STOPPED,
    VIOLATED,
    console,
    say,
    statuses,
)
from dpaudit.cli.options import FILE, RESULTS
from dpaudit.cli.shipped import scenario_path


@click.group(
    cls=opt.Group,
    epilog=statuses(JUDGED, STOPPED, error=f"usage, scenario, data or mechanism error; {LINES}")
    + "\n\n`dpaudit COMMAND --help` says what they mean for a command.",
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(__version__, prog_name="dpaudit", message="%(prog)s %(version)s")
def dpaudit() -> None:
    """Audit differentially private mechanisms on real data.

    \b
    Start in any folder with:
      dpaudit run flight-als                 an audit that comes with dpaudit
      dpaudit init my-audit                  a folder with a mechanism, its data and a privacy test
      dpaudit audit release:noisy_mean --data rows.csv --claim 1,1e-5
                                             your function noisy_mean in release.py, on your data

    An audit draws outputs of a mechanism on a database and on a neighbour of it, and trains a
    classifier to tell the two apart. From fresh draws it certifies a lower bound on the mechanism's
    δ(ε), valid at all ε at once. It compares the bound with the privacy claim, and with the exact
    δ(ε) where that is known, and writes a report.

    Results go to stdout and into files, progress and errors to stderr. Every command takes --quiet
    (one line for each audit, no progress), --verbose (each step with its time, on stderr) and
    --json (one JSON document on stdout). Defaults of a project stand in pyproject.toml, in
    [tool.dpaudit].
    """


NO_DRAWS = {INTERRUPTED: "interrupted (Ctrl-C); nothing is kept"}
KEPT = {INTERRUPTED: "interrupted (Ctrl-C); --resume goes on where draws were kept"}
OF_RUN = {NOT_VIOLATED: "not violated; a study: done"}


@dpaudit.command(
    epilog=statuses(
        JUDGED, OF_RUN, KEPT, error=f"usage, scenario, data or mechanism error; {LINES}"
    )
)
@opt.scenarios
@opt.out(
    help="Folder of the report; for several scenarios, their reports go to DIR/NAME.  "
    "[default: dpaudit-out/NAME]"
)
@opt.draws(help="Draws per side, in place of the scenario's number.")
@opt.time
@opt.seed(help="Seed, in place of the scenario's.")
@opt.number("--level", "L", help="Confidence, in place of the scenario's.")
@opt.stop
@opt.jobs
@opt.resume
@click.option(
    "--keep-draws", is_flag=True, help="Keep the draws in DIR/draws when the run is done."
)
@opt.show_data
@opt.outputs
@click.option(
    "--against",
    type=RESULTS,
    metavar="OLD",
    help="Compare with the earlier run in the folder OLD, or with that of OLD/result.json.",
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
    flight-als: `dpaudit list scenarios` has their names. If a file has several [[audit]] tables,
    all are run; SCENARIO.toml:NAME runs one of them. A scenario names a data set, a mechanism with
    its parameters, the choice of the neighbour, a privacy claim, the numbers of draws and a seed.
    The file is checked before anything runs. A mechanism given as "package.module:callable" is your
    own code, and is executed.

    The neighbour may be the worst row by theory (rule = "worst"), for a mechanism with a known
    output law, or be searched for by draws (rule = "search"), for any mechanism. A search lists the
    neighbours that it tried in DIR/search.csv.

    When the audit is done, result.json, report.html and spectrum.png are written into DIR. Until
    then the draws are kept in DIR/draws, for --resume. The same seed and versions give the same
    result.json, except for timings and memory.

    Several scenarios: all files are checked before the first one runs. A scenario that fails does
    not stop the others. DIR (default: dpaudit-out) gets an index.html with links to all reports.
    The exit status is the most serious one, in the order 2, 1, 3, 0.

    `dpaudit ledger FILE` shows where the FILE of --ledger stands; a run with it and without --seed
    takes a seed of its own.

    A scenario with a [study] table repeats an experiment of a paper instead: it writes report.html,
    figures as PNG and content.json. Its file sets all but the seed. So does a scenario with a
    [one_run] or [training] table, which audits one run.
    """
    from dpaudit.cli import running

    return running.run_all(scenarios, out, **options)


@dpaudit.command(
    epilog=statuses(JUDGED, KEPT, error=f"usage, data or mechanism error; {LINES}"),
)
@click.argument("target", metavar="MODULE:CALLABLE")
@click.option(
    "--data",
    metavar="ROWS.csv",
    required=True,
    shell_complete=partial(opt.complete, kind="datasets", suffix=".csv"),
    help="CSV file with a header and one row a person; or the name of a data set.",
)
@opt.claim(help="The claim to audit; DELTA is 0 for pure ε-DP.", required=True)
@click.option(
    "--neighbours",
    "relations",
    metavar="RELATION,...",
    callback=opt.names,
    help="The relation of the claim: add,remove (rows come and go), replace (their number is "
    "public), zero-out.  [default: both add,remove and replace, audited one after the other]",
)
@click.option(
    "--bounds",
    metavar="0:1,0:100",
    callback=opt.bounds,
    help="For replace and add: public bounds of the rows that may come in, least:largest of each "
    "column, or one pair for all; or a CSV file of two rows.  [default: those of the data; the "
    "verdict says so]",
)
@opt.number("--row-bound", "C", help="For replace and add: rows of norm at most C may come in.")
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
    "--kind",
    type=click.Choice(["frame", "records", "values"]),
    help="MODULE:CALLABLE takes a data frame of pandas, a list of dicts (records), or an array of "
    "the values in the first column; it gives one output. Texts stay texts.",
)
@click.option(
    "--ignore",
    metavar="COL,...",
    callback=opt.names,
    help="Columns of the file to leave out, such as person_id.",
)
@click.option(
    "--parameters",
    metavar="A=1,B=2",
    callback=opt.parameters,
    help="Keyword arguments of each call, f(data, A=1, B=2); or, where it takes no data beside "
    "these, the callable makes the mechanism from them.",
)
@opt.draws(help="Draws per side.  [default: 1000000]")
@opt.time
@opt.seed(help="Seed of draws and training.  [default: 0]")
@opt.level()
@opt.stop
@opt.out(
    help="Folder of the report.  [default: dpaudit-out/MODULE.CALLABLE]; of two audits "
    "DIR/MODULE.CALLABLE-add-remove and -replace."
)
@opt.jobs
@opt.resume
@opt.show_data
@opt.outputs
def audit(target: str, out: Path | None, **options: Any) -> int:
    """Audit your own function on a CSV file.

    MODULE:CALLABLE is a function f(data, size, *, rng) of your own that returns `size` outputs of
    the mechanism on the (n, d) array `data`; or f(data, rng), f(data, *, rng) or f(data), which
    gives one output. A parameter that is annotated as a DataFrame gets one, as by --kind frame.
    Modules in the current folder are found, after installed ones; they are executed. The function
    gets the rows of the file as they are, without those that miss a value.

    The neighbour that leaks most is searched for by draws, up to nine times as many as the audit
    then makes: --draws 1e5 is enough for a first look. The report and result.json hold a scenario
    file that does the same; saved in this folder, it runs by `dpaudit run`.

    Without --neighbours there are two audits, with half of the draws of search each: one for rows
    added or removed, and one for rows replaced. A claim about the first kind of neighbours need not
    hold for the second. So the status is 1 if both audits find a violation. It is 3 if only one of
    them does: then say by --neighbours which kind the claim is about. A kind with which the
    mechanism cannot run is left out. Both reports have the same verdict.

    \b
    Example, with mean.py in the current folder:
      def release(data, size, *, rng):
          return data.mean() + rng.laplace(scale=1 / len(data), size=(size, 1))
      dpaudit audit mean:release --data rows.csv --claim 1,0 --draws 1e5
    """
    from dpaudit.cli import running

    return running.audit_target(target, out, **options)


@dpaudit.command(
    epilog=statuses(
        JUDGED,
        NO_DRAWS,
        error="usage or input error, and draws that are the same or depend on each other",
    )
)
@click.argument("left", type=FILE, metavar="P.npy")
@click.argument("right", type=FILE, metavar="Q.npy")
@opt.claim(help="The claim to audit. Without a claim the verdict is inconclusive.")
@opt.out(help="Folder of the report.  [default: dpaudit-out/samples]")
@opt.level()
@click.option(
    "--classifier",
    metavar="NAME",
    default="auto",
    shell_complete=partial(opt.complete, kind="classifiers"),
    help="A name from `dpaudit list classifiers`.",
)
@click.option(
    "--bits",
    is_flag=True,
    help="Let the classifier read the bits of floating-point numbers too: samplers may leak there.",
)
@opt.seed(default=0, help="Seed of training.")
@opt.outputs
def samples(left: Path, right: Path, out: Path | None, seed: int, **options: Any) -> int:
    """Audit draws that were made elsewhere.

    P.npy holds outputs of the mechanism on a database, Q.npy outputs on its neighbour: arrays of
    shape (n,) or (n, k) of numbers or text, independent draws in random order. Either may be a .csv
    or .parquet file instead, with one output per row; a header above numbers is passed over.
    Pickled objects are refused. Writes the same report as `dpaudit run`.

    \b
    Example:
      dpaudit samples P.npy Q.npy --claim 1,1e-5
    """
    from dpaudit.cli import running
    from dpaudit.cli.progress import show_progress
    from dpaudit.run.files import audit_draws

    def audit_shown(*paths: Path, **settings: Any) -> Any:
        with show_progress() as progress:
            return audit_draws(*paths, progress=progress, **settings)

    return running.audit_files(audit_shown, [left, right], "samples", out, **options, rng=seed)


METHODS = ("auto", "likelihood", "f-dp")


@dpaudit.command(epilog=statuses(JUDGED, NO_DRAWS, error="usage or input error"))
@click.argument("scores", type=FILE, metavar="SCORES.csv")
@opt.claim(help="The claim to audit. Without a claim the verdict is inconclusive.")
@opt.number("--mu", "MU", help="Claim MU-Gaussian DP, in place of --claim.")
@opt.number(
    "--inclusion", "Q", help="Probability with which each canary was put in.  [default: 0.5]"
)
@opt.delta
@opt.level(help="Confidence of the lower bound.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    help="How ε is bounded; choose it before you see the scores.",
)
@click.option(
    "--independent",
    is_flag=True,
    help="Assume that each canary's score depends on its own coin and on noise of its own alone.",
)
@click.option(
    "--family",
    metavar="gaussian|Q,T",
    callback=opt.family,
    help="Assume that a canary's change is Gaussian, or that of T Gaussian steps which sample it "
    "with probability Q, and bound ε by its μ. Q,T needs --independent.",
)
@opt.out(help="Folder of the report.  [default: dpaudit-out/canaries]")
@opt.outputs
def canaries(
    scores: Path, out: Path | None, mu: float | None, independent: bool, **options: Any
) -> int:
    """Audit a mechanism that ran once, on data into which independent coins put canaries.

    SCORES.csv has a line for each canary, with the columns score (larger where the canary seems to
    be in) and included (1 or 0); a column inclusion may hold the probability of each coin. The
    certified ε holds even if canaries influence each other's scores, unless --independent.

    \b
    Example:
      dpaudit canaries scores.csv --claim 8,1e-5
    """
    from dpaudit.cli import running
    from dpaudit.curves.claims import Claim
    from dpaudit.run.files import audit_scores

    if mu is not None:
        if options["claim"] is not None:
            raise click.UsageError("give one of --claim and --mu")
        options["claim"] = Claim.gdp(mu)
    options["canaries"] = "independent" if independent else "any"
    return running.audit_files(audit_scores, [scores], "canaries", out, **options)


@dpaudit.command(
    epilog=statuses(JUDGED, NO_DRAWS, error="usage or input error, or dp-accounting is missing")
)
@click.argument("file", type=FILE, metavar="FILE")
@opt.number(
    "--sample-rate",
    "Q",
    required=True,
    help="Claimed probability with which an example is in a batch.",
)
@opt.number(
    "--noise-multiplier",
    "S",
    required=True,
    help="Claimed standard deviation of the noise over the clip norm.",
)
@opt.number("--delta", "D", default=1e-5, help="δ at which ε is read.")
@opt.level(help="Confidence of the verdict and of the certified ε.")
@click.option(
    "--orthogonal",
    is_flag=True,
    help="The canaries' directions are orthogonal, so that their evidence multiplies.",
)
@click.option(
    "--rows",
    type=opt.Count(),
    metavar="N",
    help="Number of examples beside the canaries, for a file with batch_size.",
)
@opt.out(help="Folder of the report.  [default: dpaudit-out/steps]")
@opt.outputs
def steps(file: Path, out: Path | None, **options: Any) -> int:
    """Audit the recorded steps of a training by DP-SGD.

    FILE.npz has the arrays projection and included, of shape (T,) for T steps or (T, m) for m
    canaries. It may also have known and shift of the same shape, noise of shape (T, k), and
    batch_size of shape (T,). FILE.csv has these as columns and a line for each step. With m
    canaries it has m lines for each step, and a column step with the number of the step. Other
    arrays and columns are ignored.

    \b
    projection   noisy sum along the canary's gradient scaled to length 1, over the clip norm
    included     whether the canary was in the batch: 1 or 0
    known        what the rest of the batch adds to projection
    shift        what the canary adds to projection, or would add if it were in
    noise        coordinates of the noise, over the clip norm
    batch_size   examples in the batch, without canaries; with --rows

    The claim is the ε that dp-accounting gives for Q, S and T steps.

    \b
    Example:
      dpaudit steps steps.npz --sample-rate 0.1 --noise-multiplier 1 --orthogonal
    """
    from dpaudit.cli import running
    from dpaudit.run.files import audit_steps

    return running.audit_files(audit_steps, [file], "steps", out, **options)


@dpaudit.command(
    epilog=statuses(
        JUDGED, NO_DRAWS, error="usage or input error, or tables that no random split made"
    )
)
@click.argument("synthetic", type=FILE, metavar="SYNTHETIC.csv")
@click.argument("train", type=FILE, metavar="TRAIN.csv")
@click.argument("holdout", type=FILE, metavar="HOLDOUT.csv")
@opt.claim(help="The claim to audit. Without a claim the verdict is inconclusive.")
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="COLUMN",
    help="A column that an attacker infers from all others; may be given again.",
)
@opt.delta
@opt.level(help="Confidence of the lower bound, and of each interval.")
@opt.seed(default=0, help="Decides which records are attacked.")
@opt.out(help="Folder of the report.  [default: dpaudit-out/table]")
@opt.outputs
def table(
    synthetic: Path, train: Path, holdout: Path, out: Path | None, seed: int, **options: Any
) -> int:
    """Audit a synthetic table without running again what made it.

    TRAIN.csv has the records that it was made from, HOLDOUT.csv records that it never saw; a random
    split must have made the two. All three have the same columns, of numbers or texts. The report
    has a lower bound on ε, from guesses which records were in TRAIN. Where anonymeter is installed,
    it also has how much more often attacks succeed on TRAIN than on HOLDOUT: singling out,
    linkability, and inference of each --secret.

    \b
    Example:
      dpaudit table synthetic.csv train.csv holdout.csv --claim 1,1e-5 --secret diagnosis
    """
    from dpaudit.cli import running
    from dpaudit.run.files import audit_tables

    tables = [synthetic, train, holdout]
    return running.audit_files(audit_tables, tables, "table", out, **options, rng=seed)


@dpaudit.command(
    epilog=statuses({0: "the folder is made"}, error="the folder cannot be made, or is not empty"),
)
@click.argument("folder", type=opt.FOLDER, metavar="NAME")
def init(folder: Path) -> int:
    """Make the folder NAME with a first privacy audit that runs as it is.

    \b
    NAME/mechanism.py                     a mean with Laplace noise, to put your own in its place
    NAME/rows.csv                         data made up for it, 200 rows
    NAME/scenario.toml                    its audit: dpaudit run NAME/scenario.toml
    NAME/test_privacy.py                  the same as a test: pytest NAME
    NAME/.github/workflows/privacy.yml    both, at every push to GitHub
    NAME/README.md                        what to change first

    Nothing is overwritten: NAME must not exist, or be an empty folder.
    """
    from dpaudit.cli.answers import starting

    console().tell(folder=str(folder))
    console().answer(starting.make_project(folder), str(folder))
    return 0


@dpaudit.command(
    "list",
    epilog=statuses(
        {0: "the list is printed"}, error="usage error, or there is nothing of that name"
    ),
)
@click.argument("kind", required=False, type=click.Choice(list(opt.NAMES)))
@click.argument("name", required=False, metavar="[NAME|FOLDER]", shell_complete=opt.complete)
@click.option("--long", is_flag=True, help="All that is known of each.")
def list_(kind: str | None, name: str | None, long: bool) -> int:
    """List mechanisms, datasets, classifiers and scenarios, a line for each.

    Without a kind all four are listed, but only the first scenarios. With a kind, all of that kind
    are listed. With a NAME, all that is known of it is shown, as by `dpaudit list mechanisms ALS`.
    Scenarios are those that come with dpaudit, by the name that `dpaudit run` takes, and the .toml
    files below ./scenarios; with a FOLDER, the files below that.
    """
    from dpaudit.cli.answers import starting

    items = starting.listed(list(opt.NAMES) if kind is None else [kind], name)
    single = name is not None and sum(map(len, items.values())) == 1
    as_text = partial(starting.as_text, long=long or single)
    console().show(items, as_text, starting.as_json, starting.as_line)
    return 0


@dpaudit.command(
    "schema",
    epilog=statuses({0: "it is printed"}, error="usage error"),
)
@click.option("--markdown", is_flag=True, help="Print the page of all keys instead.")
def schema_(markdown: bool) -> int:
    """Print the JSON Schema of scenario files (draft 2020-12).

    Editors that have it complete keys and mark wrong values. Many read it if a scenario begins with
    the line `#:schema ./dpaudit.schema.json`:

    \b
      dpaudit schema > dpaudit.schema.json
    """
    from dpaudit.run.schema import schema
    from dpaudit.run.schema_page import page

    if markdown and console().json:
        raise click.UsageError("--markdown and --json exclude each other: give one")
    document = partial(json.dumps, indent=2, ensure_ascii=False)
    if markdown:
        console().answer(*2 * (page(),))
    else:
        console().show(schema(), document, dict, document)
    return 0


OF_SPECTRUM = {
    NOT_VIOLATED: "the exact δ(ε) keeps the claim at all ε of the table; or there is no claim",
    VIOLATED: "the exact δ(ε) exceeds the claim",
}


@dpaudit.command(
    epilog=statuses(OF_SPECTRUM, STOPPED, error="usage, scenario or data error, or no exact δ(ε)"),
)
@opt.scenario
@opt.of_neighbours
@click.option(
    "--epsilon",
    metavar="E,E,...",
    callback=opt.epsilons,
    help="The ε of the table, in place of the scenario's.",
)
def spectrum(scenario: Path, **options: Any) -> int:
    """Print the exact δ(ε) of the worst neighbour, without drawing.

    SCENARIO is a file or the name of a scenario that comes with dpaudit, such as flight-als. The
    mechanism must have a known output law; `dpaudit list mechanisms --long` shows for which
    relations it is known. Below the table are the ε at small δ, the total variation, the μ of the
    Gaussian shift with the same δ at one ε, the Rényi divergence of order 2, and the pure ε (all ε
    in nats). If the scenario has a claim, the exit status says whether the exact δ(ε) exceeds it.

    The FILE.csv of candidates has the columns of the data, by name; the column of ones may be left
    out. Rows and candidates are numbered from 0.
    """
    from dpaudit.cli.answers import exact
    from dpaudit.run import Scenario, analyse

    analysis = analyse(Scenario.load(scenario_path(scenario)), **options)
    console().show(analysis, exact.as_text, exact.as_json, exact.as_line)
    return VIOLATED if len(analysis.broken) else NOT_VIOLATED


@dpaudit.command(
    "calibrate",
    epilog=statuses(
        {0: "a value was found"},
        STOPPED,
        error="usage, scenario or data error; no value meets the target, or every value does",
    ),
)
@opt.scenario
@opt.number("--epsilon", "E", required=True, help="ε of the target, in nats.")
@opt.number("--delta", "D", required=True, help="δ of the target, in (0, 1).")
@click.option(
    "--parameter",
    metavar="NAME",
    help="The parameter to set.  [default: the first that `dpaudit list mechanisms --long` names]",
)
@opt.of_neighbours
def calibrate_(scenario: Path, epsilon: float, delta: float, **options: Any) -> int:
    """Find the least noise, or the most sketch rows, with which δ(E) is at most D.

    δ is the exact one of the worst neighbour. One parameter of the scenario's mechanism is set, of
    those that `dpaudit list mechanisms --long` names; the others stay as they are. The scenario's
    claim is ignored. SCENARIO is a file or the name of a scenario that comes with dpaudit.

    The FILE.csv of candidates has the columns of the data, by name; the column of ones may be left
    out.
    """
    from dpaudit.cli.answers import exact
    from dpaudit.run import Scenario, calibrate

    done = calibrate(Scenario.load(scenario_path(scenario)), epsilon, delta, **options)
    console().show(done, exact.calibrated_text, exact.calibrated_json, exact.calibrated_line)
    return 0


@dpaudit.command(
    "plan",
    epilog=statuses({0: "the tables are printed"}),
)
@opt.claim(help="The claim to refute.", required=True)
@opt.number(
    "--excess", "X", multiple=True, help="How much the true δ(EPS) exceeds DELTA. May be repeated."
)
@opt.draws(
    help="Draws per side, to see the least excess that they can show. May be repeated.",
    multiple=True,
)
@opt.level(help="Confidence of the audit.")
@opt.number("--power", "P", default=0.8, help="Probability with which a false claim is refuted.")
def plan_(claim: tuple[float, float], power: float, **options: Any) -> int:
    """Show how many draws it takes to refute a claim, and what a number of draws can show.

    The excess is δ(EPS) of the mechanism on the audited pair, minus DELTA. The table has the draws
    per side, training included, for an audit, for an audit with --stop verdict, and for
    `dpaudit.testing.assert_private`. Nothing is drawn.
    """
    from dpaudit.cli.answers import planning
    from dpaudit.run.planning import plan
    from dpaudit.testing.budget import FALSE_FAILURE

    needs = plan(claim, power=power, false_failure=FALSE_FAILURE, **options)
    console().show(needs, planning.as_text, asdict, planning.as_line)
    return 0


@dpaudit.command(
    "status",
    epilog=statuses(
        {0: "every run is done or running", INCOMPLETE: "a run was interrupted"},
        error="usage error, or there is no run in DIR",
    ),
)
@click.argument("folder", type=RESULTS, metavar="DIR")
def status_(folder: Path) -> int:
    """Show how far the run in DIR is, or the runs in its subfolders.

    A run is done, running or interrupted. For each side, the draws made and the draws wanted are
    shown, with the rate and the time left. DIR is the --out of `dpaudit run`. To continue an
    interrupted run, repeat its command with --resume.
    """
    from dpaudit.cli.answers import folders
    from dpaudit.run.store.progress import INTERRUPTED, states

    runs = states(folder)
    console().show(runs, folders.states_text, folders.states_json, folders.states_line)
    stopped = any(run.state == INTERRUPTED for run in runs)
    return INCOMPLETE if stopped else NOT_VIOLATED


@dpaudit.command(
    "compare",
    epilog=statuses(
        {0: "the comparison is printed, whatever moved"},
        error="usage error, or a folder holds no result of draws",
    ),
)
@click.argument("first", type=RESULTS, metavar="A")
@click.argument("second", type=RESULTS, metavar="B")
@click.option("--names", metavar="A,B", help="Names of the two.  [default: those of the folders]")
@click.option("--out", type=FILE, metavar="FILE", help="Draw both into FILE.png or FILE.svg.")
def compare_(first: Path, second: Path, names: str | None, out: Path | None) -> int:
    """Compare two results: what moved, in one figure.

    A and B are folders of reports, or the result.json in them: of two versions of a mechanism, or
    of two nights. Verdicts and settings that differ are listed, and exact curves that differ by
    more than rounding. The certified ε and δ are listed where the two runs differ by more than
    their uncertainty. The figure has both estimates with their uncertainty.
    """
    from dpaudit.cli.answers import folders
    from dpaudit.report.comparison import compare

    comparison = compare(first, second, folders.two_names(names, first, second))
    console().show(comparison, str, folders.comparison_json, folders.comparison_line)
    if out is not None:
        say(f"figure: {comparison.save(out)}")
    return NOT_VIOLATED


@dpaudit.command(
    epilog=statuses(
        {0: "no claim is rejected", VIOLATED: "the claim of the version that ran last is rejected"},
        error="usage error, or FILE was changed or is no ledger",
    )
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
    metavar="L",
    help="Confidence of a rejection.",
)
def ledger(file: Path, others: tuple[Path, ...], level: float) -> int:
    """Show what many runs in a ledger say together.

    FILE is the --ledger of `dpaudit run`. There is a line for each version of a mechanism, with its
    runs, their draws, and the evidence against its claim. The evidence is a product of e-values. If
    the mechanism keeps its claim, the probability that the evidence ever reaches the value that
    rejects the claim is at most 5 % (1 − L), over all runs and versions together. The head is a
    checksum of all lines. Keep it elsewhere if somebody might cut lines off at the end.
    """
    from dpaudit.cli.answers import folders
    from dpaudit.run import Ledger

    book = Ledger(file)
    if not others and not file.exists():
        raise click.UsageError(f"{file} must be a ledger, but there is no such file")
    if others:
        count = book.merge(map(Ledger, others), 1.0 - level)
        say(f"{count} lines taken over")
    standings = book.standings(1.0 - level)
    console().show(standings, folders.ledger_text, folders.ledger_json, folders.ledger_line)
    if standings:
        say(f"head of {file}: {book.head}")
    newest = {standing.entries[0].subject: standing for standing in standings}
    return VIOLATED if any(last.violated for last in newest.values()) else NOT_VIOLATED


@dpaudit.command(
    epilog=statuses(
        {0: "the report is written, whatever the verdict"},
        error="usage error, or DIR holds no result",
    )
)
@click.argument("folder", type=RESULTS, metavar="DIR")
def report(folder: Path) -> int:
    """Write report.html and spectrum.png again from the result.json in DIR.

    Values of the data are in the report if the run was asked for them, by its own --show-data.

    Where DIR holds the reports of several scenarios, in subfolders, they are all written again,
    and index.html with them.
    """
    from dpaudit.cli import running

    return running.report(folder)
