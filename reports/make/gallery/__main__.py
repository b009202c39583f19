"""python -m reports.make.gallery [--out FOLDER] [--scenarios FOLDER]: the exact analysis beside
what the papers print.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dpaudit.errors import DpauditError
from reports.make.gallery import Settings, build


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the gallery; 0, or 2 with one line on what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m reports.make.gallery", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("reports/exact"), help="folder to write (reports/exact)"
    )
    parser.add_argument(
        "--scenarios",
        type=Path,
        default=Path("scenarios/exact"),
        help="folder of the scenario files (scenarios/exact)",
    )
    given = parser.parse_args(arguments)
    try:
        build(Settings.of_scenarios(list(given.scenarios.glob("*.toml"))), given.out)
    except DpauditError as error:
        print(f"reports.make.gallery: {error}", file=sys.stderr)
        return 2
    print(given.out / "report.html")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
