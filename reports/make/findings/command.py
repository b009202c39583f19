"""The findings on the command line: test statements and print them, or write their pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reports.make.findings import PAPERS, STATEMENTS, Statement, letter, report
from reports.make.findings.report import Judged
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
    given = _parser().parse_args(arguments)
    unknown = [key for key in given.keys if not find(key)]
    if unknown:
        return _unknown(unknown[0])
    chosen = [one for key in given.keys for one in find(key)] or list(STATEMENTS.values())
    if given.list:
        print("\n".join(f"{one.key:<28} paper {one.paper}, {one.place}" for one in chosen))
        return 0
    tested = [row(one) for one in chosen]
    if not given.report:
        print("\n\n".join(map(as_text, tested)))
    elif not _disagreeing(tested):
        print("\n".join(map(str, _written(given.out, tested))))
    return _told(_disagreeing(tested))


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


def _disagreeing(tested: Sequence[Row]) -> list[Row]:
    return [one for one in tested if not one.agrees]


def _written(folder: Path, tested: Sequence[Row]) -> list[Path]:
    papers = judged(tested)
    return [*report.write(folder, papers), *letter.write(folder, papers)]


def _told(wrong: Sequence[Row]) -> int:
    for one in wrong:
        said = f"fails ({one.statement.fails})" if one.statement.fails else "holds"
        print(
            f"reports.make: {one.statement.key} is said to be one that {said}, but its test shows "
            f"that it {one.verdict}",
            file=sys.stderr,
        )
    return 1 if wrong else 0


def _unknown(key: str) -> int:
    print(
        f"reports.make: there is no finding {key!r}; `{command('findings', '--list')}` lists the "
        "keys",
        file=sys.stderr,
    )
    return 2


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
