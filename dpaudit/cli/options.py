"""Options that several commands share, the parsing of their values, and shell completion."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial, wraps
from glob import escape, glob
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli import defaults
from dpaudit.cli.console import REPORTS, Console, using
from dpaudit.cli.shipped import shipped

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(path_type=Path)
RELATIONS = ("zero-out", "remove", "replace", "add")
CLAIM = "EPS,DELTA"
FOR_ALL = [  # every command has these options
    click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        help="Print the answer in short, a line for each audit, and no progress. Errors are still "
        "printed.",
    ),
    click.Option(
        ["-v", "--verbose"],
        is_flag=True,
        help="Say on stderr what was read, chosen, drawn and written, and when.",
    ),
    click.Option(
        ["--json"], is_flag=True, help="Print one JSON document, and nothing else on stdout."
    ),
]
ISOLATED = click.Option(
    ["--isolated"],
    is_flag=True,
    expose_value=False,
    help="Take no defaults from pyproject.toml.",
)


class Count(click.ParamType):
    """The type of an option that is a whole number: 100000, 100_000 or 1e5."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        for read in (int, float):
            try:
                number = read(value)
            except (ValueError, OverflowError):
                continue
            if number == number // 1:
                return int(number)
        return self.fail(f"{value!r} is not a whole number, such as 100000 or 1e5", param, ctx)


class Results(click.ParamType):
    """The type of a folder of results, which may be given by the path of its result.json."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from dpaudit._core.result_file import folder_of

        return Path(FOLDER.convert(str(folder_of(Path(value))), param, ctx))


RESULTS = Results()


class Command(click.Command):
    """A command with --quiet, --verbose and --json, whose defaults a project may set.

    If a command with --claim gets --epsilon or --delta, its error message names --claim.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params += [*FOR_ALL, *([ISOLATED] if self.name in defaults.ALLOWED else [])]

    def get_short_help_str(self, limit: int = 45) -> str:
        return (self.help or "").partition("\n")[0]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        unread = {"--isolated", *ctx.help_option_names}
        if not ctx.resilient_parsing and self.name in defaults.ALLOWED and unread.isdisjoint(args):
            ctx.obj = defaults.read()
            ctx.default_map = ctx.obj.of(self)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = {option.name for option in self.params}
            if error.option_name in ("--epsilon", "--delta") and "claim" in names:
                message = f"No such option {error.option_name!r}: use --claim {CLAIM}."
                raise click.UsageError(message, ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> Any:
        quiet, verbose, json = (ctx.params.pop(name) for name in ("quiet", "verbose", "json"))
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose exclude each other: give one", ctx)
        project = ctx.obj or defaults.Defaults()
        reports = project.reports(self.name) or REPORTS
        with using(Console(quiet, verbose, json, reports)) as out:
            project.say(ctx, out)
            status = super().invoke(ctx)
            out.moment(f"{ctx.info_name}: done, exit status {status}")
        out.close(status)
        return status


class Group(click.Group):
    """The group of all commands, which --help lists in the order of their declaration."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


NAMES: dict[str, Callable[[], Iterable[str]]] = {  # by kind, in the order of `dpaudit list`
    "mechanisms": lambda: import_module("dpaudit.papers").REGISTRY,
    "datasets": lambda: import_module("dpaudit.datasets").names(),
    "classifiers": lambda: import_module("dpaudit.scoring").ALIASES,
    "scenarios": shipped,
}


def complete(
    context: click.Context,
    parameter: click.Parameter,
    begun: str,
    kind: str | None = None,
    suffix: str = "",
) -> list[CompletionItem]:
    """The completions of `begun`: names of a kind, by default the KIND argument of `dpaudit list`;
    with a suffix also files, and first an item that asks the shell for its own files. (At it, the
    bash script of `click` forgets the items before it.)
    """
    from click.shell_completion import CompletionItem

    names = NAMES.get(kind or context.params.get("kind") or "", tuple)()
    files = sorted(glob(f"{escape(begun)}*{suffix}")) if suffix else []
    items = [CompletionItem(name) for name in [*files, *names] if name.startswith(begun)]
    return [CompletionItem(begun, type="file"), *items] if suffix else items


complete_scenarios = partial(complete, kind="scenarios", suffix=".toml")


def reader(read: Callable[[str], Any], form: str = "") -> Callable[..., Any]:
    """A `click` callback that returns read(text). A ValueError becomes a message with the expected
    form.
    """

    def callback(context: click.Context, option: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else read(text)
        except ValueError:
            raise click.BadParameter(f"{text!r} is not of the form {form}") from None

    return callback


def _or_of_project(
    context: click.Context, argument: click.Parameter, paths: tuple[Path, ...]
) -> tuple[Path, ...]:
    project = context.obj or defaults.Defaults()
    if not (paths := paths or project.scenarios()) and not context.resilient_parsing:
        raise click.MissingParameter(ctx=context, param=argument)
    return paths


scenarios = click.argument(
    "scenarios",
    type=FILE,
    metavar="SCENARIO...",
    nargs=-1,
    callback=_or_of_project,
    shell_complete=complete_scenarios,
)
scenario = click.argument(
    "scenario", type=FILE, metavar="SCENARIO", shell_complete=complete_scenarios
)


def number(name: str, metavar: str, **options: Any) -> Callable[..., Any]:
    return click.option(name, type=float, metavar=metavar, **options)


seed = partial(click.option, "--seed", type=int, metavar="S")
out = partial(click.option, "--out", type=FOLDER, metavar="DIR")
delta = number("--delta", "D", default=0.0, help="Without --claim: δ at which ε is read.")
level = partial(
    number, "--level", "L", default=0.95, help="Confidence of the lower bound, jointly over all ε."
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
show_data = click.option(
    "--show-data",
    is_flag=True,
    help="Show values of the data in the report: those that differ between the two databases.",
)


def _seconds(text: str) -> float:
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    seconds = float(text[:-1] if unit else text) * (unit or 1.0)
    if not 0.0 < seconds < float("inf"):
        raise ValueError
    return seconds


# --samples is what --draws was called before
draws = partial(click.option, "--draws", "--samples", "draws", type=Count(), metavar="N")
time = click.option(
    "--time",
    "seconds",
    callback=reader(_seconds, "60s, 5m or 2h, above 0"),
    metavar="60s",
    help="In place of --draws: make as many draws as fit into this time, search included, by the "
    "time of a first few calls. Several audits share the time.",
)
OUTPUTS = {
    "junit": "Write JUnit XML, with one test case per audit.",
    "sarif": "Write SARIF, for code scanning: what is violated, inconclusive or failed.",
    "summary": "Write a table of Markdown, for the page of a CI job.",
}
MARKS = {"junit": b'name="dpaudit"', "sarif": b"sarif", "summary": b"## Privacy audits"}


def outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, text in reversed(OUTPUTS.items()):
        option = click.option(
            f"--{name}", type=FILE, metavar="FILE", help=text, callback=_without_earlier
        )
        command = option(command)
    return command


def _without_earlier(context: click.Context, option: click.Parameter, file: Path | None) -> Any:
    """Remove the file of an earlier run, which a CI server would take for that of a failed one;
    not a file of another kind, which a slip may name, nor the page of a job, which is appended to.
    """
    if file is not None and file.is_file() and str(file) != os.environ.get("GITHUB_STEP_SUMMARY"):
        with suppress(OSError):  # writing says what is wrong
            if MARKS[str(option.name)] in file.read_bytes()[:200]:
                file.resolve().unlink()
    return file


def _claim(text: str) -> tuple[float, float]:
    numbers = [float(part) for part in text.split(",")]
    if len(numbers) == 1 and numbers[0] >= 0.0:
        pure = f"for pure ε-DP give {text},0"
        raise click.BadParameter(f"{text!r} is not of the form {CLAIM}; {pure}")
    epsilon, delta = numbers
    return epsilon, delta


claim = partial(click.option, "--claim", metavar=CLAIM, callback=reader(_claim, CLAIM))


def _family(text: str) -> str | tuple[float, int]:
    if text == "gaussian":
        return text
    rate, steps = text.split(",")
    return float(rate), int(steps)


family = reader(_family, "gaussian or Q,T, such as 0.1,200")


def _workers(context: click.Context, option: click.Parameter, value: int | None) -> int | None:
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


def of_neighbours(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options --relation, --candidates and --row-bound, which must go together."""

    @wraps(command)
    def checked(*arguments: Any, **options: Any) -> int:
        for name, option, relation in (
            ("candidates", "--candidates FILE.csv", "replace"),
            ("row_bound", "--row-bound C", "add"),
        ):
            if options["relation"] == relation and options[name] is None:
                raise click.UsageError(f"--relation {relation} needs {option}")
            if options["relation"] != relation and options[name] is not None:
                raise click.UsageError(f"{option.split()[0]} goes with --relation {relation}")
        return command(*arguments, **options)

    for option in (
        number("--row-bound", "C", help="For --relation add: the largest norm of the added row."),
        click.option(
            "--candidates",
            type=FILE,
            metavar="FILE.csv",
            help="For --relation replace: the candidates.",
        ),
        click.option(
            "--relation",
            type=click.Choice(RELATIONS),
            default="zero-out",
            help="Neighbours: with one row zeroed, removed, replaced by a candidate, or added.",
        ),
    ):
        checked = option(checked)
    return checked


epsilons = reader(lambda text: [float(part) for part in text.split(",")], "0.1,0.5,1")
names = reader(lambda text: tuple(part.strip() for part in text.split(",")))


def _bounds(text: str) -> list[list[float]] | str:
    """The pairs in a text 0:1,0:100 (one for each column, or one for all), or a path unchanged."""
    if Path(text).suffix.lower() == ".csv" or Path(text).exists():
        return text
    pairs = [[float(end) for end in part.split(":")] for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError
    return pairs


def _parameters(text: str) -> dict[str, Any]:
    content = tomllib.loads(f"table = {{ {text} }}")
    if set(content) != {"table"} or not isinstance(content["table"], dict):
        raise ValueError
    return content["table"]


bounds = reader(
    _bounds, "0:1,0:100 (least:largest of each column, or one pair for all) or FILE.csv"
)
parameters = reader(_parameters, 'A=1,B="text" (numbers, true, false, or text in quotes)')
