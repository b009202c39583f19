"""The commands that draw nothing: `spectrum`, `calibrate`, `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit.cli import exit_status
from dpaudit.cli import options as given
from dpaudit.cli.commands.group import dpaudit
from dpaudit.cli.console import console
from dpaudit.cli.exit_status import NOT_VIOLATED, STOPPED, VIOLATED, table

OF_SPECTRUM = {
    NOT_VIOLATED: "the exact δ(ε) keeps the claim at all ε of the table; or there is no claim",
    VIOLATED: "the exact δ(ε) exceeds the claim",
}


@dpaudit.command(
    short_help="Print the exact δ(ε) of the worst neighbour, without drawing.",
    epilog=table(OF_SPECTRUM, STOPPED, error="usage, scenario or data error, or no exact δ(ε)"),
)
@given.scenario
@given.of_neighbours
@click.option(
    "--epsilon",
    metavar="E,E,...",
    callback=given.epsilons,
    help="The ε of the table, in place of the scenario's.",
)
def spectrum(scenario: Path, **options: Any) -> int:
    """Print the exact δ(ε) of the worst neighbour, without drawing.

    SCENARIO is a file or the name of a scenario that comes with dpaudit, such as flight-als. The
    mechanism must have a known output law; `dpaudit list mechanisms --long` shows for which
    relations it is known. Below the table are the ε at small δ, the total variation, the μ of the
    Gaussian shift with the same δ at one ε, the Rényi divergence of order 2, and the pure ε (all ε
    in nats). If the scenario has a claim, the exit status says whether the exact δ(ε) exceeds it.

    FILE.csv has the columns of the data, by name; the column of ones may be left out. Rows and
    candidates are numbered from 0.
    """
    from dpaudit.cli.answers import analysis
    from dpaudit.run import Scenario, analyse
    from dpaudit.run.shipped import found as named

    given.check_neighbours(options)
    found = analyse(Scenario.load(named(scenario)), **options)
    console().show(found, analysis.as_text, analysis.as_json, analysis.as_line)
    return exit_status.VIOLATED if len(found.broken) else exit_status.NOT_VIOLATED


@dpaudit.command(
    short_help="Find the least noise or the most sketch rows for a target.",
    epilog=table(
        {0: "a value was found"},
        STOPPED,
        error="usage, scenario or data error; no value meets the target, or every value does",
    ),
)
@given.scenario
@click.option("--epsilon", type=float, required=True, metavar="E", help="ε of the target, in nats.")
@click.option("--delta", type=float, required=True, metavar="D", help="δ of the target, in (0, 1).")
@click.option(
    "--parameter",
    metavar="NAME",
    help="The parameter to set.  [default: the first that `dpaudit list mechanisms --long` names]",
)
@given.of_neighbours
def calibrate(scenario: Path, epsilon: float, delta: float, **options: Any) -> int:
    """Find the least noise, or the most sketch rows, with which δ(E) is at most D.

    δ is the exact one of the worst neighbour. One parameter of the scenario's mechanism is set, of
    those that `dpaudit list mechanisms --long` names; the others stay as they are. The scenario's
    claim is ignored. SCENARIO is a file or the name of a scenario that comes with dpaudit.

    FILE.csv has the columns of the data, by name; the column of ones may be left out.
    """
    from dpaudit.cli.answers import calibration
    from dpaudit.run import Scenario
    from dpaudit.run import calibrate as found
    from dpaudit.run.shipped import found as named

    given.check_neighbours(options)
    done = found(Scenario.load(named(scenario)), epsilon, delta, **options)
    console().show(done, calibration.as_text, calibration.as_json, calibration.as_line)
    return 0


@dpaudit.command(
    short_help="Show how many draws it takes to refute a claim.",
    epilog=table({0: "the tables are printed"}),
)
@given.claim("The claim to refute.", required=True)
@click.option(
    "--excess",
    type=float,
    metavar="X",
    multiple=True,
    help="How much the true δ(EPS) exceeds DELTA. May be repeated.",
)
@given.draws(
    "Draws per side, to see the least excess that they can show. May be repeated.", multiple=True
)
@click.option(
    "--level",
    type=float,
    metavar="L",
    default=0.95,
    show_default=True,
    help="Confidence of the audit.",
)
@click.option(
    "--power",
    type=float,
    metavar="P",
    default=0.8,
    show_default=True,
    help="Probability with which a false claim is refuted.",
)
def plan(claim: tuple[float, float], power: float, **options: Any) -> int:
    """Show how many draws it takes to refute a claim, and what a number of draws can show.

    The excess is δ(EPS) of the mechanism on the audited pair, minus DELTA. The table has the draws
    per side, training included, for an audit, for an audit with --stop verdict, and for
    `dpaudit.testing.assert_private`. Nothing is drawn.
    """
    from dpaudit.cli.answers import planning

    found = planning.needs(claim, chance=power, **options)
    console().show(found, planning.as_text, planning.as_json, planning.as_line)
    return 0
