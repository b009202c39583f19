"""The command `dpaudit` itself, to which the others are added."""

from __future__ import annotations

import click

from dpaudit import __version__
from dpaudit.cli import options as given
from dpaudit.cli.exit_status import JUDGED, LINES, STOPPED, table


@click.group(
    cls=given.Group,
    epilog=table(JUDGED, STOPPED, error=f"usage, scenario, data or mechanism error; {LINES}")
    + "\n\n`dpaudit COMMAND --help` says what they mean for a command.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
