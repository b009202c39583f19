"""Options that several commands take, and how their values are read."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from dpaudit.cli import defaults, exit_status
from dpaudit.cli.console import Console, using

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(path_type=Path)
RELATIONS = ("zero-out", "replace", "add")
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


QUIET = click.Option(
    ["-q", "--quiet"], is_flag=True, help="No progress, and one line for each audit."
)
VERBOSE = click.Option(["-v", "--verbose"], is_flag=True, help="Say on stderr what took how long.")
JSON = click.Option(["--json"], is_flag=True, help="Print one JSON document.")


class Command(click.Command):
    """A command with --quiet, --verbose and --json, whose defaults a project may set.

    One that prints JSON by itself has an option of its own for that. One that takes a claim says so
    where its two numbers are given as options.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        own = {one for option in self.params for one in option.opts}
        self.params += [QUIET, VERBOSE, *([] if "--json" in own else [JSON])]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with a console of its own. Raises `click.UsageError`."""
        quiet, verbose = ctx.params.pop("quiet"), ctx.params.pop("verbose")
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose exclude each other: give one", ctx)
        begin = time.monotonic()
        with using(Console(quiet, verbose, ctx.params.pop("json", False))) as out:
            status = super().invoke(ctx)
            out.detail(f"{ctx.info_name}: {time.monotonic() - begin:.1f} s")
            out.close(status)
        return status

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raises `click.UsageError`, which names an option that is near, or the project's file."""
        set_here = defaults.read() if self.name in defaults.ALLOWED else defaults.Defaults()
        ctx.default_map = set_here.of(self)
        try:
            left = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            takes = {option.name for option in self.params}
            if error.option_name in ("--epsilon", "--delta") and "claim" in takes:
                said = f"No such option {error.option_name!r}: use --claim {CLAIM}."
                raise click.UsageError(said, ctx) from None
            raise
        except click.BadParameter as error:
            if error.param is None or not _of_project(ctx, error.param):
                raise
            said = f"{set_here.path}: [tool.dpaudit] {error.param.name}: {error.message}"
            raise click.UsageError(said, ctx) from None
        self._say_defaults(ctx, set_here.path)
        return left

    def _say_defaults(self, ctx: click.Context, path: Path | None) -> None:
        """Say which defaults of the project change what is certified; with -v all of them."""
        for option in self.params:
            told = option.name == "samples" or option.name in defaults.SAID
            if _of_project(ctx, option) and (told or ctx.params["verbose"]):
                value = ctx.params.get(option.name or "")
                exit_status.say(f"note: {option.name} = {value}, from {path}", 0)


def _of_project(ctx: click.Context, option: click.Parameter) -> bool:
    """Whether an option has its value from the project's file."""
    source = ctx.get_parameter_source(option.name or "")
    return source is click.core.ParameterSource.DEFAULT_MAP


class Group(click.Group):
    """The commands, in the order in which they are declared."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, those that are needed first at the top."""
        return list(self.commands)


def scenario_names(
    context: click.Context, argument: click.Parameter, begun: str
) -> list[CompletionItem]:
    """For the completion of a shell: scenarios that come with dpaudit, and files."""
    from dpaudit.run.shipped import shipped

    names = [CompletionItem(name) for name in sorted(shipped()) if name.startswith(begun)]
    return [*names, CompletionItem(begun, type="file")]


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
    help="Draw in growing batches; stop as soon as the claim is refuted, at the latest after N.",
)
resume = click.option(
    "--resume",
    is_flag=True,
    help="Continue from the draws that an interrupted run left in DIR, if there are any.",
)
OUTPUTS = {
    "junit": "Write JUnit XML, with one test case per audit.",
    "sarif": "Write SARIF, which code scanning reads: what is not green.",
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
as_json = click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")


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
