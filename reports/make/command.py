"""The command line of the laboratory: lists what can be made, and makes what is named.

The names are in `registry.toml`; a module is imported when its figure is made.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from dpaudit.errors import DpauditError

NONE = "–"  # not said on the page or in the README
PROGRAM = "python -m reports.make"
DESCRIPTION = """\
Print the figures and write the pages that the README and reports/ quote. Without a NAME, list the
names. Pages go to reports/ of the working folder; cancer data are looked up in DPAUDIT_DATA."""
EPILOG = f"""\
findings, libraries and museum take the arguments that follow them:
  {PROGRAM} findings 1-lemma-10
  {PROGRAM} libraries opendp
  {PROGRAM} findings --report

exit status: 0 done, 2 unknown name, bad option, or a package or data set that is not there"""


@dataclass(frozen=True)
class Measurement:
    """A table of `registry.toml`, which says what the fields are."""

    name: str
    what: str
    feeds: str
    call: str
    time: str = ""
    extra: str = ""
    options: bool = False

    def run(self, arguments: Sequence[str] = ()) -> int:
        """Import the module and make it; the exit status."""
        module, _, function = self.call.partition(":")
        make = getattr(import_module(f"reports.make.{module}"), function)
        if self.options:
            return int(make(list(arguments)))
        make()
        return 0


BY_NAME = {
    name: Measurement(name, **fields)
    for name, fields in tomllib.loads(
        Path(__file__).with_name("registry.toml").read_text(encoding="utf-8")
    ).items()
}


def main(arguments: Sequence[str] | None = None) -> int:
    """List or make; 0, or 2 with one line on what was wrong."""
    names, options = _split(list(sys.argv[1:] if arguments is None else arguments))
    names = _parser().parse_args(names).names
    unknown = [name for name in names if _plain(name) not in BY_NAME]
    if unknown:
        return _refused(f"there is no {unknown[0]!r}; `{PROGRAM}` lists the names")
    if not names:
        print(listing())
    chosen = [BY_NAME[_plain(name)] for name in names]
    try:
        return max((one.run(options if one.options else ()) for one in chosen), default=0)
    except DpauditError as error:
        return _refused(str(error))


def _refused(text: str) -> int:
    print(f"reports.make: {text}", file=sys.stderr)
    return 2


def listing() -> str:
    """A line for each name: the time it took, what it measures, what it feeds, what it needs."""
    names, times = (
        max(len(getattr(one, field)) for one in BY_NAME.values()) for field in ("name", "time")
    )
    return "\n".join(
        f"{one.name:<{names}}  {one.time or NONE:>{times}}  {one.what} → {one.feeds}"
        + (f' (needs pip install "dpaudit[{one.extra}]")' if one.extra else "")
        for one in BY_NAME.values()
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to make: {', '.join(BY_NAME)}"
    )
    return parser


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The names, and the arguments of the first of them that takes options."""
    for place, argument in enumerate(arguments):
        known = BY_NAME.get(_plain(argument))
        if known is not None and known.options:
            return arguments[: place + 1], arguments[place + 1 :]
    return arguments, []


def _plain(name: str) -> str:
    """many_draws is many-draws."""
    return name.replace("_", "-")
