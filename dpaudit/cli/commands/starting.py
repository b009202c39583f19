"""The commands that show what there is to begin with: `init`, `list`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from dpaudit.cli import completion
from dpaudit.cli import options as given
from dpaudit.cli.commands.group import dpaudit
from dpaudit.cli.console import console
from dpaudit.cli.exit_status import table

KINDS = ("mechanisms", "datasets", "classifiers", "scenarios")


@dpaudit.command(
    short_help="Make a folder with a mechanism, its data, a scenario and a privacy test.",
    epilog=table({0: "the folder is made"}, error="the folder cannot be made, or is not empty"),
)
@click.argument("folder", type=given.FOLDER, metavar="NAME")
def init(folder: Path) -> int:
    """Make the folder NAME with a first privacy audit that runs as it is.

    \b
    NAME/mechanism.py                     a mean with Laplace noise, to put your own in its place
    NAME/rows.csv                         data made up for it, 200 rows
    NAME/scenario.toml                    its audit: dpaudit run NAME/scenario.toml
    NAME/test_privacy.py                  the same as a test: pytest NAME
    NAME/.github/workflows/privacy.yml    both, at every push to GitHub
    NAME/README.md                        what to change first

    Nothing is overwritten: NAME must not exist, or be an empty folder.
    """
    from dpaudit.cli.answers import project

    console().tell(folder=str(folder))
    console().answer(project.made(folder), str(folder))
    return 0


@dpaudit.command(
    "list",
    short_help="List mechanisms, datasets, classifiers or scenarios.",
    epilog=table({0: "the list is printed"}, error="usage error, or there is nothing of that name"),
)
@click.argument("kind", required=False, type=click.Choice(KINDS))
@click.argument("name", required=False, metavar="[NAME|FOLDER]", shell_complete=completion.listed)
@click.option("--long", is_flag=True, help="All that is known of each.")
def list_(kind: str | None, name: str | None, long: bool) -> int:
    """List mechanisms, datasets, classifiers and scenarios, a line for each.

    Without a kind all four are listed, of scenarios the first ones; with a kind, all of that kind;
    with a NAME too, all that is known of that one, such as `dpaudit list mechanisms ALS`. Scenarios
    are those that come with dpaudit, by the name that `dpaudit run` takes, and the .toml files
    below ./scenarios; with a FOLDER, the files below that.
    """
    from dpaudit.cli.answers import listing

    found = listing.found(KINDS if kind is None else (kind,), name)
    one = name is not None and sum(map(len, found.values())) == 1
    as_text = partial(listing.as_text, long=long or one)
    console().show(found, as_text, listing.as_json, listing.as_line)
    return 0


@dpaudit.command(
    short_help="Print the JSON Schema of scenario files, for editors.",
    epilog=table({0: "it is printed"}, error="usage error"),
)
@click.option("--markdown", is_flag=True, help="Print the page of all keys instead.")
def schema(markdown: bool) -> int:
    """Print the JSON Schema of scenario files (draft 2020-12).

    Editors with it complete keys and mark wrong values. Many read it where a scenario begins with
    the line `#:schema ./dpaudit.schema.json`:

    \b
      dpaudit schema > dpaudit.schema.json
    """
    import json

    from dpaudit.run.schema import page
    from dpaudit.run.schema import schema as made

    if markdown and console().json:
        raise click.UsageError("--markdown and --json exclude each other: give one")
    document = partial(json.dumps, indent=2, ensure_ascii=False)
    if markdown:
        console().answer(*2 * (page(),))
    else:
        console().show(made(), document, document, document)
    return 0
