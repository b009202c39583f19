"""The findings on the command line: recompute and print them, or write their page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reports.make.findings import FINDINGS, Finding
from reports.make.findings.lines import Line, line, title
from reports.make.findings.report import write
from reports.make.page import REPORTS, command

DESCRIPTION = (
    "Hold printed lines of the papers against the exact curve, computed now, and print both."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print or write; 0, or 2 with one line on the key that is not known."""
    given = _parser().parse_args(arguments)
    unknown = [key for key in given.keys if not find(key)]
    if unknown:
        print(
            f"reports.make: there is no finding {unknown[0]!r}; `{command('findings', '--list')}` "
            "lists the keys",
            file=sys.stderr,
        )
        return 2
    chosen = [one for key in given.keys for one in find(key)] or list(FINDINGS.values())
    if given.list:
        print("\n".join(f"{one.key:<28} paper {one.paper}, {one.place}" for one in chosen))
    elif given.report:
        print("\n".join(map(str, write(given.out, [line(one) for one in chosen]))))
    else:
        print("\n\n".join(as_text(line(one)) for one in chosen))
    return 0


def find(key: str) -> list[Finding]:
    """The finding of a key such as 1-lemma-10, or all of "paper-1"; none where it is not known."""
    if key in FINDINGS:
        return [FINDINGS[key]]
    return [one for one in FINDINGS.values() if key == f"paper-{one.paper}"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command("findings"), description=DESCRIPTION)
    parser.add_argument(
        "keys",
        nargs="*",
        metavar="KEY",
        help="a finding, as 1-lemma-10, or a paper, as paper-1; all findings without a KEY",
    )
    parser.add_argument("--list", action="store_true", help="print the keys and their places only")
    parser.add_argument("--report", action="store_true", help="write findings.md and findings.html")
    parser.add_argument(
        "--out", type=Path, default=REPORTS, help=f"folder of the report ({REPORTS})"
    )
    return parser


def as_text(one: Line) -> str:
    """A finding as lines of text."""
    parts = {
        "claim": one.finding.claim,
        "printed": one.finding.formula,
        "verdict": one.evidence.verdict,
        "fault" if one.evidence.violated else "note": one.finding.fault,
        "evidence": "; ".join(one.shown),
        "swept": one.swept,
        "corrected": ". ".join(one.corrected),
    }
    shown = [f"  {name:<10}{text}" for name, text in parts.items() if text]
    return "\n".join([f"{one.finding.key}: {title(one)}", *shown])
