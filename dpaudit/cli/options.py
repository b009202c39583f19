"""Options that several commands take, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(path_type=Path)
RELATIONS = ("zero-out", "replace", "add")


def jobs(context: click.Context, option: click.Parameter, value: int | None) -> int | None:
    """A number of workers, any but 0."""
    if value == 0:
        raise click.BadParameter("must not be 0; -1 takes all cores")
    return value


def claim(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """Read EPS,DELTA."""
    if value is None:
        return None
    try:
        epsilon, delta = map(float, value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not of the form EPS,DELTA") from None
    return epsilon, delta


def epsilons(
    context: click.Context, option: click.Parameter, value: str | None
) -> list[float] | None:
    """Read numbers with commas between them."""
    if value is None:
        return None
    try:
        return [float(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not of the form 0.1,0.5,1") from None


def of_neighbours(command: Callable[..., int]) -> Callable[..., int]:
    """Add --relation, --candidates and --row-bound: the neighbours that a worst case is over."""
    kind = "Neighbours: with one row zeroed, replaced by a candidate, or added."
    rows = "For --relation replace: the candidates."
    bound = "For --relation add: the largest norm of the added row."
    for option in (
        click.option("--row-bound", type=float, metavar="C", help=bound),
        click.option("--candidates", type=FILE, metavar="FILE.csv", help=rows),
        click.option(
            "--relation",
            type=click.Choice(RELATIONS),
            default="zero-out",
            show_default=True,
            help=kind,
        ),
    ):
        command = option(command)
    return command


def check_neighbours(options: dict[str, Any]) -> None:
    """Refuse options that the relation lacks or does not take. Raises `click.UsageError`."""
    for name, option, kind in (
        ("candidates", "--candidates", "replace"),
        ("row_bound", "--row-bound", "add"),
    ):
        if options["relation"] == kind and options[name] is None:
            raise click.UsageError(f"--relation {kind} needs {option}")
        if options["relation"] != kind and options[name] is not None:
            raise click.UsageError(f"{option} goes with --relation {kind}")
