"""The findings on the command line: test statements and print them, or write their pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reports.make.findings import PAPERS, STATEMENTS, Statement
from reports.make.findings.report import Judged, write
from reports.make.findings.words import Row, as_text, row
from reports.make.page import REPORTS, command

DESCRIPTION = (
    "Hold the statements of the papers against exact values, computed now, and print what came of "
    "it."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print or write; 0, 1 where a test disagrees with its statement, or 2 with one line on a key.

    The pages are not written while a test disagrees.
    """
    options = _parser().parse_args(arguments)
    unknown = [key for key in options.keys if not find(key)]
    if unknown:
        listing = command("findings", "--list")
        _complain(f"there is no finding {unknown[0]!r}; `{listing}` lists the keys")
        return 2
    chosen = [one for key in options.keys for one in find(key)] or list(STATEMENTS.values())
    if options.list:
        print("\n".join(f"{one.key:<28} paper {one.paper}, {one.place}" for one in chosen))
        return 0
    tested = [row(one) for one in chosen]
    wrong = [one for one in tested if not one.agrees]
    if not options.report:
        print("\n\n".join(map(as_text, tested)))
    elif not wrong:
        print("\n".join(map(str, write(options.out, judged(tested)))))
    for one in wrong:
        stated = f"fails ({one.statement.fails})" if one.statement.fails else "holds"
        _complain(
            f"{one.statement.key} is said to be one that {stated}, but its test shows that it "
            f"{one.verdict}"
        )
    return 1 if wrong else 0


def find(key: str) -> list[Statement]:
    """The statement of a key such as 1-lemma-10, or all of "paper-1"; none if unknown."""
    return [one for one in STATEMENTS.values() if key in (one.key, f"paper-{one.paper}")]


def judged(rows: Sequence[Row]) -> list[Judged]:
    """The rows by paper; papers without a row are left out."""
    papers = [
        Judged(paper, [one for one in rows if one.statement.paper == paper.number])
        for paper in PAPERS
    ]
    return [one for one in papers if one.rows]


def _complain(text: str) -> None:
    print(f"reports.make: {text}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command("findings"), description=DESCRIPTION)
    parser.add_argument(
        "keys",
        nargs="*",
        metavar="KEY",
        help="a statement, as 1-lemma-10, or a paper, as paper-1; all of them without a KEY",
    )
    parser.add_argument("--list", action="store_true", help="print the keys and their places only")
    parser.add_argument(
        "--report",
        action="store_true",
        help="write findings.md, findings.html and papers/letter-paper-N.md",
    )
    parser.add_argument(
        "--out", type=Path, default=REPORTS, help=f"folder of the report ({REPORTS})"
    )
    return parser
