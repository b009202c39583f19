"""Commands of `dpaudit` in the shell blocks of the pages exist, with their options."""

import re
import shlex
from contextlib import suppress
from pathlib import Path

import click
import pytest

from dpaudit.cli import dpaudit

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "reports").glob("*.md"),
    ROOT / "scenarios" / "README.md",
]


def commands(page):
    """Arguments of each call, up to what the shell does with its output."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for block in re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            for call in re.findall(r"(?:^|&& |\$ |bin/)dpaudit ((?:[^|;&>#]|(?<=\S)#)+)", line):
                yield shlex.split(call)


def parse(arguments):
    """Read the arguments as the command would, and run nothing."""
    context = dpaudit.make_context("dpaudit", arguments, resilient_parsing=False)
    name, command, rest = dpaudit.resolve_command(context, arguments)
    command.make_context(name, rest, parent=context)


CALLS = {" ".join(call): call for page in PAGES for call in commands(page)}


@pytest.mark.parametrize("call", CALLS)
def test_a_command_of_the_pages_exists(call):
    with suppress(click.exceptions.Exit):  # --help, --version
        parse(CALLS[call])


def test_pages_hold_commands():
    assert len(CALLS) > 25


@pytest.mark.parametrize("call", [["runn", "x"], ["run", "x.toml", "--drawss", "3"], ["plan"]])
def test_a_wrong_command_is_found(call):
    with pytest.raises(click.ClickException):
        parse(call)
