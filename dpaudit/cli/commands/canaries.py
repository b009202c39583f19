"""The command that audits one run: `canaries`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit.cli import options as given
from dpaudit.cli.commands.group import dpaudit
from dpaudit.cli.console import console
from dpaudit.cli.exit_status import INTERRUPTED, JUDGED, table
from dpaudit.cli.options import FILE

METHODS = ("auto", "likelihood", "betting", "steinke", "f-dp")


@dpaudit.command(
    short_help="Audit one run, from scores of canaries.",
    epilog=table(
        JUDGED,
        {INTERRUPTED: "interrupted (Ctrl-C); nothing is kept"},
        error="usage or input error",
    ),
)
@click.argument("scores", type=FILE, metavar="SCORES.csv")
@given.claim("The claim to audit. Without a claim the verdict is inconclusive.")
@click.option("--mu", type=float, metavar="MU", help="Claim MU-Gaussian DP, in place of --claim.")
@click.option(
    "--inclusion",
    type=float,
    metavar="Q",
    help="Probability with which each canary was put in.  [default: 0.5]",
)
@click.option(
    "--delta",
    type=float,
    metavar="D",
    default=0.0,
    show_default=True,
    help="Without --claim: δ at which ε is read.",
)
@click.option(
    "--level",
    type=float,
    metavar="L",
    default=0.95,
    show_default=True,
    help="Confidence of the lower bound.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="How ε is bounded; choose it before you see the scores.",
)
@given.out(help="Folder of the report.  [default: dpaudit-out/canaries]")
def canaries(scores: Path, out: Path | None, mu: float | None, **options: Any) -> int:
    """Audit a mechanism that ran once, on data into which canaries went by independent coins.

    SCORES.csv has a line for each canary, with the columns score (larger where the canary seems to
    be in) and included (1 or 0); a column inclusion may hold the probability of each coin. The
    certified ε is what the scores of this one run show, however canaries disturb each other.

    \b
    Example:
      dpaudit canaries scores.csv --claim 8,1e-5
    """
    from dpaudit.cli import running
    from dpaudit.curves.claims import Claim
    from dpaudit.run.scores import REPORT, run_scores

    if mu is not None:
        if options["claim"] is not None:
            raise click.UsageError("give one of --claim and --mu")
        options["claim"] = Claim.gdp(mu)
    folder = out or console().reports / REPORT.name
    run_scores(scores, folder, **options)
    return running.verdict(folder)
