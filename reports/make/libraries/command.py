"""`python -m reports.make libraries`: audit what has changed, then make the pages."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from reports.make import page
from reports.make.libraries import report
from reports.make.libraries.audits import audited
from reports.make.libraries.facts import Package, packages
from reports.make.libraries.outcome import Outcome, path_of, read, text


def main(arguments: Sequence[str]) -> int:
    """0. Raises `DpauditError` for an unknown package or environment."""
    given = _parser().parse_args(arguments)
    for package in [] if given.page else packages(given.packages):
        _audit(package, given.again)
    for path in report.write(packages([])):
        print(path)
    return 0


def _audit(package: Package, again: bool) -> None:
    def keep(outcomes: Mapping[str, Outcome]) -> None:
        page.write(path_of(package), text(outcomes))

    keep(audited(package, read(package), again, keep))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=page.command("libraries"),
        description="Audit the scenarios of scenarios/libraries that were not audited as they are "
        "now, each in its environment, and make reports/libraries.md and .html.",
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="these alone")
    parser.add_argument("--again", action="store_true", help="audit all of their scenarios anew")
    parser.add_argument("--page", action="store_true", help="audit nothing: make the pages")
    return parser
