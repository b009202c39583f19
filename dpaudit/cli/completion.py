"""What a shell completes beside commands and options: names of scenarios, mechanisms, data sets.

Scenarios are listed without a room of dpaudit, which would take a second for every key press.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from glob import escape, glob
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PACKAGE = Path(__file__).parents[1]
AUDIT = re.compile(r'^\[\[audit\]\]\nname = "(.+)"$', re.MULTILINE)  # as our own files have it


def scenarios(
    context: click.Context, argument: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Scenarios that come with dpaudit, and files."""
    return _or_files(_shipped(), begun, ".toml")


def data(context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    """Data sets, and files."""
    return _or_files(_datasets(), begun, ".csv")


def classifiers(
    context: click.Context, option: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Classifiers."""
    return _begin(_classifiers(), begun)


def listed(context: click.Context, argument: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of the kind that `dpaudit list` is to list."""
    kind = str(context.params.get("kind"))
    return _begin(NAMES[kind](), begun) if kind in NAMES else []


def _begin(names: Iterable[str], begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.startswith(begun)]


def _or_files(names: Iterable[str], begun: str, suffix: str) -> list[CompletionItem]:
    """Names, files with the suffix, and whatever files the shell finds.

    The last comes first: at it, the script of `click` for bash forgets what it was given before,
    and asks the shell where nothing follows.
    """
    from click.shell_completion import CompletionItem

    here = sorted(glob(f"{escape(begun)}*{suffix}"))
    return [CompletionItem(begun, type="file"), *_begin([*here, *names], begun)]


def _shipped() -> list[str]:
    """As `dpaudit.run.shipped.shipped` names them."""
    places = [place / "scenarios" for place in (PACKAGE, PACKAGE.parent)]
    folder = next((one for one in places if one.is_dir()), None)
    paths = [] if folder is None else list(folder.rglob("*.toml"))
    audits = (AUDIT.findall(path.read_text(encoding="utf-8")) for path in paths)
    return sorted({*(path.stem for path in paths), *chain(*audits)})


def _mechanisms() -> Iterable[str]:
    from dpaudit.papers import REGISTRY

    return REGISTRY


def _datasets() -> Iterable[str]:
    from dpaudit.datasets import names

    return names()


def _classifiers() -> Iterable[str]:
    from dpaudit.scoring import ALIASES

    return ALIASES


NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "mechanisms": _mechanisms,
    "datasets": _datasets,
    "classifiers": _classifiers,
    "scenarios": _shipped,
}
