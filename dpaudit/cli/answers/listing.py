"""The lists of `dpaudit list`: mechanisms, datasets, classifiers and scenarios."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit._core.shown.printable import one_line
from dpaudit.cli.table import hanging, on_a_line
from dpaudit.datasets.catalogue import FOLDER as DATA
from dpaudit.errors import DataNotFound, InvalidInput
from dpaudit.run.scenario.audits import File, audits_of
from dpaudit.run.shipped import files_below, folder, shipped

INDENT = "    "
HERE = Path("scenarios")
SHORT = {"scenarios": 16}  # items, where all kinds are listed
MORE = "dpaudit list KIND NAME shows all that is known of one, --long of all."


@dataclass(frozen=True)
class Item:
    """One thing that a command or a scenario can name.

    summary : a line. more : what else is known, by what it is.
    """

    name: str
    summary: str
    more: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The name, and all that is known below it."""
        known = [self.summary, *(f"{key}: {value}" for key, value in self.more.items())]
        return [f"  {self.name}", *(hanging(INDENT, line) for line in known if line)]


def found(kinds: Sequence[str], name: str | None = None) -> dict[str, list[Item]]:
    """The items by kind.

    name : of one item of the only kind, or the folder of scenarios. Raises `InvalidInput` for a
    name that is unknown, `DataNotFound` for a folder without scenarios.
    """
    if name is None:
        return {kind: ITEMS[kind]() for kind in kinds}
    kind = kinds[0]
    if kind == "scenarios" and name not in _files():
        return {kind: _in(shipped().get(name, Path(name)))}
    return {kind: [_one(kind, name, ITEMS[kind]())]}


def _one(kind: str, name: str, items: Sequence[Item]) -> Item:
    known = {item.name: item for item in items}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or list(known)
        raise InvalidInput(f"{one_line(name)} is not among the {kind}: {', '.join(near)}")
    return known[name]


def as_text(items: Mapping[str, Sequence[Item]], long: bool) -> str:
    """Each kind under its heading, a line for each item or, `long`, several. Of several kinds
    not all scenarios, unless `long`.
    """
    most = SHORT if len(items) > 1 and not long else {}
    parts = [
        "\n".join([kind, *_begin(kind, some, long, most.get(kind))]) for kind, some in items.items()
    ]
    several = any(len(some) > 1 for some in items.values())
    return "\n\n".join([*parts, *([MORE] if several and not long else [])])


def as_line(items: Mapping[str, Sequence[Item]]) -> str:
    """The names, a line each."""
    return "\n".join(item.name for some in items.values() for item in some)


def as_json(items: Mapping[str, Sequence[Item]]) -> str:
    """By kind a list of objects with all that is known."""
    content = {
        kind: [{"name": one.name, "summary": one.summary, **one.more} for one in some]
        for kind, some in items.items()
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _begin(kind: str, items: Sequence[Item], long: bool, most: int | None) -> Iterable[str]:
    yield from _lines(items[:most], long)
    if left := len(items[most:]) if most else 0:
        yield f"  ... and {left} more: dpaudit list {kind}"


def _lines(items: Sequence[Item], long: bool) -> Iterable[str]:
    if not items:
        return ["  (none)"]
    if long:
        return [line for item in items for line in item.lines()]
    return on_a_line([(item.name, item.summary) for item in items], indent="  ")


def mechanisms() -> list[Item]:
    """The mechanisms that a scenario can name.

    For each its parameters, its claim, what is known of it exactly, and the scenarios that run it.
    """
    from dpaudit.papers import REGISTRY

    runs = _runs()
    return [
        Item(
            name,
            cls.summary,
            {
                "parameters": _parameters(cls) or "none",
                "claims": _claimed(cls),
                "exact spectrum": f"{_relations(cls)}; {_adjustable(cls)}",
                "scenarios": ", ".join(runs.get(name, [])) or "none",
            },
        )
        for name, cls in REGISTRY.items()
    ]


def _claimed(cls: type) -> str:
    """The claim in words; for a paper's algorithm also its neighbours and where it is printed."""
    from dpaudit.papers import Algorithm

    words = getattr(cls, "claimed", "") or "nothing"
    return (
        f"{words} ({cls.relation}; paper {cls.paper}, {cls.statement})"
        if issubclass(cls, Algorithm)
        else words
    )


def _runs() -> dict[str, list[str]]:
    """The names of scenarios by the mechanism that they audit, without unreadable files."""
    named: dict[str, list[str]] = {}
    for item, file in _files().items():
        table = file.content.get("mechanism")
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str):
            named.setdefault(name, []).append(_short(item))
    return named


def _short(name: str) -> str:
    """FILE or NAME, of a path FILE.toml or FILE.toml:NAME, or of a name itself."""
    return Path(name).stem if name.endswith(".toml") else name.rpartition(":")[2]


def _parameters(cls: type) -> str:
    unset = (dataclasses.MISSING, None)
    fields = [(field.name, field.default) for field in dataclasses.fields(cls)]
    return ", ".join(
        name if default in unset else f"{name}={default!r}" for name, default in fields
    )


def _relations(cls: Any) -> str:
    """The relations for which `dpaudit.exact.worst_case` knows the mechanism."""
    from dpaudit.mechanisms import LawMechanism
    from dpaudit.papers import Algorithm

    methods = {"zero-out": "zeroed_rows", "replace": "replaced_rows", "add": "added_row"}
    bare = {
        name: {getattr(base, name) for base in (LawMechanism, Algorithm)}
        for name in methods.values()
    }
    known = [name for name, method in methods.items() if getattr(cls, method) not in bare[method]]
    if "zero-out" in known and not cls.zero_rows_matter:
        known.insert(1, "remove")
    if not known and hasattr(cls, "joint_spectrum"):
        return "none of the output alone; joint_spectrum(pair) has the private statistics as well"
    return ", ".join(known) or "none"


def _adjustable(cls: Any) -> str:
    """The parameters that `dpaudit calibrate` can set, the default first."""
    from dpaudit.papers import PAPERS

    if cls.__name__ in PAPERS:
        return "sets its noise itself"
    names = [one.name for one in cls.adjustable]
    if not names:
        return "nothing to calibrate"
    return f"calibrates {names[0]}" + "".join(f" (or {name})" for name in names[1:])


def datasets() -> list[Item]:
    """The data sets, with a line about each."""
    return [Item(*one) for one in dpaudit.datasets.describe().items()]


def classifiers() -> list[Item]:
    """The classifiers that an audit takes by name, with a line about each."""
    return [Item(*one) for one in dpaudit.scoring.ALIASES.items()]


def scenarios() -> list[Item]:
    """The .toml files below ./scenarios by path, then those that come with dpaudit by name."""
    return [_scenario(name, file) for name, file in _files().items()]


ITEMS = {
    "mechanisms": mechanisms,
    "datasets": datasets,
    "classifiers": classifiers,
    "scenarios": scenarios,
}


def _in(place: Path) -> list[Item]:
    """The audits of a file, or of the .toml files below a folder, each with its first comment."""
    paths = [place] if place.is_file() else files_below(place)
    if not paths:
        raise DataNotFound(
            f"there is no scenario (*.toml) in {place}, and none of that name comes with dpaudit"
        )
    return [_scenario(str(file.path), file) for file in chain(*map(_audits, paths))]


def _files() -> dict[str, File]:
    """The audits below ./scenarios by their paths, then those that come with dpaudit by name."""
    ours = folder()
    own = files_below(HERE) if ours is None or HERE.resolve() != ours.resolve() else []
    theirs = [] if ours is None else files_below(ours)
    return {
        **{str(file.path): file for file in chain(*map(_audits, own))},
        **{_short(str(file.path)): file for file in chain(*map(_audits, theirs))},
    }


def _audits(path: Path) -> list[File]:
    """The audits of a file; one without content where it cannot be read."""
    files = audits_of(path)
    return [file for file in files if isinstance(file, File)] or [
        File(path, path.read_text(encoding="utf-8", errors="replace"), {})
    ]


def _scenario(name: str, file: File) -> Item:
    """With the first comment of the file as its summary, and whether it needs data of one's own."""
    comments = list(takewhile(lambda line: line.startswith("#"), file.text.splitlines()))
    first = comments[0].lstrip("# ") if comments else ""
    needs = f"(needs {DATA}) " if any(DATA in line for line in comments[1:]) else ""
    return Item(name, needs + first, {"file": str(file.path)})
