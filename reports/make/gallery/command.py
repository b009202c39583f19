"""The gallery on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from reports.make.gallery import Settings, build
from reports.make.page import REPORTS, command

DESCRIPTION = "Draw the exact analysis beside what the papers print: figures, numbers, one page."
SCENARIOS = Path("scenarios/exact")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the gallery and print where its page is; 0. Raises `DpauditError`."""
    given = _parser().parse_args(arguments)
    scenarios = list(given.scenarios.glob("*.toml"))
    build(Settings.of_scenarios(scenarios), given.out)
    print(given.out / "report.html")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command("gallery"), description=DESCRIPTION)
    out = REPORTS / "exact"
    parser.add_argument("--out", type=Path, default=out, help=f"folder to write ({out})")
    parser.add_argument(
        "--scenarios",
        type=Path,
        default=SCENARIOS,
        help=f"folder of the scenario files ({SCENARIOS})",
    )
    return parser
