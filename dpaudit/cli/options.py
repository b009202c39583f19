"""Options that several commands take, and how their values are read."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from dpaudit.cli import completion, defaults
from dpaudit.cli.console import REPORTS, Console, using

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(path_type=Path)
RELATIONS = ("zero-out", "remove", "replace", "add")
CLAIM = "EPS,DELTA"


class Count(click.ParamType):
    """A number of things: 100000, 100_000 or 1e5."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read an integer, or a float that is one."""
        try:
            return int(value)
        except (ValueError, OverflowError):
            pass
        try:
            number = float(value)
        except ValueError:
            number = 0.5
        if not number.is_integer():
            self.fail(f"{value!r} is not a whole number, such as 100000 or 1e5", param, ctx)
        return int(number)


def _take_defaults(context: click.Context, option: click.Parameter, isolated: bool) -> None:
    """Before other options are read, and not for --help. Raises `click.UsageError`."""
    if not (isolated or context.resilient_parsing or context.meta[HELP]):
        found = defaults.read()
        context.default_map = found.of(context.command)
        context.meta[PROJECT] = found


HELP = "--help"  # whether it is asked for; click 8.1.0 comes to it last
PROJECT = defaults.__name__  # where the context of a command has what the project sets
QUIET = click.Option(
    ["-q", "--quiet"],
    is_flag=True,
    help="Print one line for each audit, and no progress. Errors are printed as ever.",
)
VERBOSE = click.Option(
    ["-v", "--verbose"],
    is_flag=True,
    help="Say on stderr what was read, chosen, drawn and written, and when.",
)
JSON = click.Option(
    ["--json"], is_flag=True, help="Print one JSON document, and nothing else on stdout."
)
ISOLATED = click.Option(
    ["--isolated"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_take_defaults,
    help="Take no defaults from pyproject.toml.",
)


class Command(click.Command):
    """A command with --quiet, --verbose and --json, whose defaults a project may set.

    One that takes a claim says so where its two numbers are given as options.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        of_project = [ISOLATED] if self.name in defaults.ALLOWED else []
        self.params += [QUIET, VERBOSE, JSON, *of_project]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with a console of its own. Raises `click.UsageError`."""
        quiet, verbose, json = (ctx.params.pop(one) for one in ("quiet", "verbose", "json"))
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose exclude each other: give one", ctx)
        project = ctx.meta.get(PROJECT, defaults.NONE)
        reports = project.reports(self.name) or REPORTS
        with using(Console(quiet, verbose, json, reports)) as out:
            project.say(ctx, out)
            status = super().invoke(ctx)
            out.moment(f"{ctx.info_name}: done, exit status {status}")
        out.close(status)
        return status

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raises `click.UsageError`, which names an option that is near."""
        ctx.meta[HELP] = not {*args}.isdisjoint(ctx.help_option_names)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            takes = {option.name for option in self.params}
            if error.option_name in ("--epsilon", "--delta") and "claim" in takes:
                said = f"No such option {error.option_name!r}: use --claim {CLAIM}."
                raise click.UsageError(said, ctx) from None
            raise


class Group(click.Group):
    """The commands, in the order in which they are declared."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, those that are needed first at the top."""
        return list(self.commands)


def scenarios(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument SCENARIO..., for which a project may have its own."""
    return click.argument(
        "scenarios",
        type=FILE,
        metavar="SCENARIO...",
        nargs=-1,
        callback=_or_of_project,
        shell_complete=completion.scenarios,
    )(command)


def _or_of_project(
    context: click.Context, argument: click.Parameter, given: tuple[Path, ...]
) -> tuple[Path, ...]:
    found = given or defaults.scenarios(context)
    if not found and not context.resilient_parsing:
        raise click.MissingParameter(ctx=context, param=argument)
    return found


scenario = click.argument(
    "scenario", type=FILE, metavar="SCENARIO", shell_complete=completion.scenarios
)
out = partial(click.option, "--out", type=FOLDER, metavar="DIR")
level = click.option(
    "--level",
    type=float,
    metavar="L",
    default=0.95,
    show_default=True,
    help="Confidence of the lower bound, jointly over all ε.",
)
stop = click.option(
    "--stop",
    type=click.Choice(["verdict"]),
    help="Draw in growing batches; stop when the claim is refuted, at the latest after N draws.",
)
resume = click.option(
    "--resume",
    is_flag=True,
    help="Continue from the draws that an interrupted run left in DIR, if there are any.",
)
OUTPUTS = {
    "junit": "Write JUnit XML, with one test case per audit.",
    "sarif": "Write SARIF, for code scanning: what is violated, inconclusive or failed.",
    "summary": "Write a table of Markdown, for the page of a CI job.",
}


def outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """--junit, --sarif and --summary, as one argument `outputs`."""

    @wraps(command)
    def collected(*arguments: Any, **options: Any) -> Any:
        from dpaudit.run.suite.outputs import Outputs

        files = {name: options.pop(name) for name in OUTPUTS}
        return command(*arguments, outputs=Outputs(**files), **options)

    for name, help_text in reversed(OUTPUTS.items()):
        option = click.option(f"--{name}", type=FILE, metavar="FILE", help=help_text)
        collected = option(collected)
    return collected


show_data = click.option(
    "--show-data",
    is_flag=True,
    help="Show values of the data in the report: those that differ between the two databases.",
)


def draws(help: str, **more: Any) -> Callable[..., Any]:
    """--draws N, or --samples N, as it was called before."""
    return click.option(
        "--draws", "--samples", "samples", type=Count(), metavar="N", help=help, **more
    )


def claim(help: str, required: bool = False) -> Callable[..., Any]:
    """--claim EPS,DELTA."""
    return click.option("--claim", metavar=CLAIM, callback=_claim, required=required, help=help)


def _claim(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """Read EPS,DELTA."""
    if value is None:
        return None
    try:
        epsilon, delta = map(float, value.split(","))
    except ValueError:
        more = f"; for pure ε-DP give {value},0" if _is_number(value) else ""
        raise click.BadParameter(f"{value!r} is not of the form {CLAIM}{more}") from None
    return epsilon, delta


def _is_number(value: str) -> bool:
    try:
        return float(value) >= 0.0
    except ValueError:
        return False


def _workers(context: click.Context, option: click.Parameter, value: int | None) -> int | None:
    """A number of workers, any but 0."""
    if value == 0:
        raise click.BadParameter("must not be 0; -1 takes all cores")
    return value


jobs = click.option(
    "--jobs",
    type=int,
    metavar="J",
    callback=_workers,
    help="Number of parallel workers (-1: all cores); the result does not depend on it.",
)


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
    kind = "Neighbours: with one row zeroed, removed, replaced by a candidate, or added."
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
        ("candidates", "--candidates FILE.csv", "replace"),
        ("row_bound", "--row-bound C", "add"),
    ):
        if options["relation"] == kind and options[name] is None:
            raise click.UsageError(f"--relation {kind} needs {option}")
        if options["relation"] != kind and options[name] is not None:
            raise click.UsageError(f"{option.split()[0]} goes with --relation {kind}")


def relations(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Read the names of relations with commas between them."""
    return None if value is None else tuple(part.strip() for part in value.split(","))


def bounds(
    context: click.Context, option: click.Parameter, value: str | None
) -> list[list[float]] | str | None:
    """Read 0:1,0:100, a pair a column or one for all, or the name of a file."""
    if value is None:
        return None
    if Path(value).suffix.lower() == ".csv" or Path(value).exists():
        return value
    try:
        pairs = [[float(one) for one in part.split(":")] for part in value.split(",")]
    except ValueError:
        pairs = [[]]
    if any(len(pair) != 2 for pair in pairs):
        form = "0:1,0:100 (least:largest of each column, or one pair for all) or FILE.csv"
        raise click.BadParameter(f"{value!r} is not of the form {form}")
    return pairs


def parameters(
    context: click.Context, option: click.Parameter, value: str | None
) -> dict[str, Any] | None:
    """Read A=1,B=2: names, and values as TOML writes them."""
    if value is None:
        return None
    try:
        found = tomllib.loads(f"given = {{ {value} }}")
    except tomllib.TOMLDecodeError:
        found = {}
    if set(found) != {"given"} or not isinstance(found["given"], dict):
        form = 'A=1,B="text" (numbers, true, false, or text in quotes)'
        raise click.BadParameter(f"{value!r} is not of the form {form}")
    return found["given"]
