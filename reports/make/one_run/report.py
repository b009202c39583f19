"""The page on audits of one run."""

from __future__ import annotations

from pathlib import Path

from reports.make import page
from reports.make.one_run.bounds import LEVEL, SEEDS, bounds_table, response_table
from reports.make.one_run.canaries import canaries_table
from reports.make.one_run.false import RUNS, false_table
from reports.make.one_run.steps import HEAD, false_alarms, zoo_table

TARGET = page.REPORTS / "one-run.md"
SOUND_RUNS = 1_000


def report(target: Path = TARGET) -> None:
    """Measure all of it, and write the page."""
    text = page.render(
        "one-run.md",
        level=LEVEL,
        seeds=SEEDS,
        runs=f"{RUNS:,}",
        bounds=bounds_table(),
        response=response_table(),
        zoo=page.table(HEAD, zoo_table()),
        alarms=false_alarms(SOUND_RUNS),
        sound_runs=f"{SOUND_RUNS:,}",
        canaries=canaries_table(),
        rates=false_table(),
    )
    print(page.write(target, text))
