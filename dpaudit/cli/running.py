"""What `dpaudit run` does with its scenario files: check all, run each, print what came out, and the exit status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dpaudit.cli import status
from dpaudit.cli.progress import shown
from dpaudit.errors import ScenarioError
from dpaudit.run import Scenario, StudyScenario, folder_of, is_study
from dpaudit.run import run as execute

GRAVEST = (status.ERROR, status.VIOLATED, status.INCOMPLETE, status.NOT_VIOLATED)


def run_all(paths: Sequence[Path], out: Path | None, *, jobs: int | None, seed: int | None, **options: Any) -> int:
    """Every scenario, one after the other; the gravest of their exit statuses.

    Raises `ScenarioError` with the faults of all files before anything runs.
    """
    scenarios = _checked(paths)
    found = set()
    for place, one in enumerate(scenarios):
        if place:
            click.echo()
        folder = out / one.name if out is not None and len(scenarios) > 1 else out
        if isinstance(one, StudyScenario):
            found.add(_study(one, folder, seed))
        else:
            found.add(_audit(one, folder, n_jobs=jobs, seed=seed, **options))
    return next(one for one in GRAVEST if one in found)


def _checked(paths: Sequence[Path]) -> list[Scenario | StudyScenario]:
    scenarios: list[Scenario | StudyScenario] = []
    faults: list[str] = []
    for path in paths:
        try:
            scenarios.append(StudyScenario.load(path) if is_study(path) else Scenario.load(path))
        except ScenarioError as error:
            faults += str(error).splitlines()
    names = [one.name for one in scenarios]
    faults += [f"{name}: the name of several scenarios" for name in sorted(set(names)) if names.count(name) > 1]
    if faults:
        raise ScenarioError("\n".join(faults))
    return scenarios


def _audit(scenario: Scenario, folder: Path | None, **options: Any) -> int:
    with shown() as progress:
        execute(scenario, folder, progress=progress, **options)
    return verdict(folder_of(scenario, folder))


def _study(scenario: StudyScenario, folder: Path | None, seed: int | None) -> int:
    with shown() as progress:
        content = scenario.run(folder, seed=seed, progress=progress)
    click.echo(f"{content.title} ({content.source})")
    for sentence in content.sentences:
        click.echo(f"  - {sentence}")
    click.echo(f"\nReport: {scenario.folder(folder) / 'report.html'}")
    return status.NOT_VIOLATED


def verdict(folder: Path) -> int:
    """Print what result.json says; the exit status of its verdict."""
    from dpaudit.cli.summary import summary
    from dpaudit.record import load

    record = load(folder)
    click.echo(summary(record))
    click.echo(f"\nReport: {folder / 'report.html'}")
    return status.OF_VERDICT[record["verdict"]]
