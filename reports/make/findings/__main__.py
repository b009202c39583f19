"""python -m reports.make.findings [KEY ...]: recompute the findings and print them; --report writes
reports/findings.*.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reports.make.findings import FINDINGS
from reports.make.findings.lines import Line, line, title
from reports.make.findings.report import write


def main(arguments: Sequence[str] | None = None) -> int:
    """Print or write; 0, or 2 with one line on which key there is not."""
    parser = argparse.ArgumentParser(prog="python -m reports.make.findings", description=__doc__)
    parser.add_argument(
        "keys", nargs="*", metavar="KEY", help="which findings; all where none is named"
    )
    parser.add_argument(
        "--list", action="store_true", help="the keys alone, with where each is printed"
    )
    parser.add_argument("--report", action="store_true", help="write findings.md and findings.html")
    parser.add_argument(
        "--out", type=Path, default=Path("reports"), help="folder of the report (reports)"
    )
    given = parser.parse_args(arguments)
    unknown = [key for key in given.keys if key not in FINDINGS]
    if unknown:
        print(
            f"reports.make.findings: no finding {unknown[0]!r}; --list names them", file=sys.stderr
        )
        return 2
    chosen = [FINDINGS[key] for key in given.keys or FINDINGS]
    if given.list:
        print("\n".join(f"{one.key:<28} paper {one.paper}, {one.place}" for one in chosen))
    elif given.report:
        print("\n".join(map(str, write(given.out, [line(one) for one in chosen]))))
    else:
        print("\n\n".join(told(line(one)) for one in chosen))
    return 0


def told(one: Line) -> str:
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
    return "\n".join(
        [
            f"{one.finding.key}: {title(one)}",
            *(f"  {name:<10}{text}" for name, text in parts.items() if text),
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())
