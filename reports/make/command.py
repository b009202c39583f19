"""The command line of the laboratory: lists what can be made, and makes what is named."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from dpaudit.errors import DpauditError
from reports.make.registry import BY_NAME, MEASUREMENTS, Measurement

NONE = "–"  # not said on the page or in the README
PROGRAM = "python -m reports.make"
DESCRIPTION = """\
Print the figures and write the pages that the README and reports/ quote. Without a NAME, list the
names. Pages go to reports/ of the working folder; cancer data are looked up in DPAUDIT_DATA."""
EPILOG = f"""\
findings, gallery, libraries and museum take the arguments that follow them:
  {PROGRAM} findings 1-lemma-10
  {PROGRAM} libraries opendp
  {PROGRAM} findings --report
  {PROGRAM} gallery --out reports/exact

exit status: 0 done, 2 unknown name, bad option, or a package or data set that is not there"""


def main(arguments: Sequence[str] | None = None) -> int:
    """List or make; 0, or 2 with one line on what was wrong."""
    names, options = _split(list(sys.argv[1:] if arguments is None else arguments))
    given = _parser().parse_args(names)
    unknown = [name for name in given.names if _known(name) is None]
    if unknown:
        print(
            f"reports.make: there is no {unknown[0]!r}; `{PROGRAM}` lists the names",
            file=sys.stderr,
        )
        return 2
    if not given.names:
        print(listing())
    return _make([BY_NAME[_plain(name)] for name in given.names], options)


def _make(chosen: Sequence[Measurement], options: Sequence[str]) -> int:
    try:
        return max((one.run(options if one.options else ()) for one in chosen), default=0)
    except DpauditError as error:
        print(f"reports.make: {error}", file=sys.stderr)
        return 2


def listing() -> str:
    """A line for each name: the time it took, what it measures, what it feeds, what it needs."""
    names = max(len(one.name) for one in MEASUREMENTS)
    times = max(len(one.time) for one in MEASUREMENTS)
    return "\n".join(
        f"{one.name:<{names}}  {one.time or NONE:>{times}}  {one.what} → {one.feeds}{_needs(one)}"
        for one in MEASUREMENTS
    )


def _needs(one: Measurement) -> str:
    return f' (needs pip install "dpaudit[{one.extra}]")' if one.extra else ""


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
        known = _known(argument)
        if known is not None and known.options:
            return arguments[: place + 1], arguments[place + 1 :]
    return arguments, []


def _known(name: str) -> Measurement | None:
    return BY_NAME.get(_plain(name))


def _plain(name: str) -> str:
    """many_draws is many-draws."""
    return name.replace("_", "-")
