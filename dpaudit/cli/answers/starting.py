"""The output of `dpaudit list` and `dpaudit init`: what exists, and a project to begin with."""

from __future__ import annotations

import dataclasses
import difflib
import random
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit._core.text import one_line
from dpaudit.cli.shipped import files_below, folder, shipped
from dpaudit.cli.table import hanging, on_a_line
from dpaudit.datasets.catalogue import FOLDER as DATA
from dpaudit.errors import DataNotFound, InvalidInput
from dpaudit.run.scenario.files import File, audits_of

HERE = Path("scenarios")
SHORT = {"scenarios": 16}  # most items of a kind to list where several kinds are listed
MORE = "dpaudit list KIND NAME shows all that is known of one, --long of all."
TEMPLATES = Path(__file__).parents[1] / "templates"  # NAME.txt becomes the file NAME of a project
PLACES = {"privacy.yml": Path(".github") / "workflows"}  # subfolders of some files of a project
ROWS = 200  # rows of the data of a new project
NEXT = """Made {name}:
{files}

Now:
  dpaudit run {name}/scenario.toml
  pytest {name}"""


@dataclass(frozen=True)
class Item:
    """An item of `dpaudit list`: a mechanism, data set, classifier or scenario.

    summary : one line about it. more : further texts about it, by heading.
    """

    name: str
    summary: str
    more: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        known = [self.summary, *(f"{key}: {value}" for key, value in self.more.items())]
        return [f"  {self.name}", *(hanging("    ", line) for line in known if line)]


def listed(kinds: Sequence[str], name: str | None = None) -> dict[str, list[Item]]:
    """The items of each kind. name : the one item of the only kind, or a folder of scenarios.
    Raises `InvalidInput`, `DataNotFound`.
    """
    if name is None:
        return {kind: ITEMS[kind]() for kind in kinds}
    kind = kinds[0]
    if kind == "scenarios" and name not in _scenario_files():
        place = shipped().get(name, Path(name))
        paths = [place] if place.is_file() else files_below(place)
        if not paths:
            raise DataNotFound(
                f"there is no scenario (*.toml) in {place}, and none of that name comes with "
                "dpaudit"
            )
        return {kind: [_scenario(str(file.path), file) for path in paths for file in _audits(path)]}
    known = {item.name: item for item in ITEMS[kind]()}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or list(known)
        raise InvalidInput(f"{one_line(name)} is not among the {kind}: {', '.join(near)}")
    return {kind: [known[name]]}


def as_text(items: Mapping[str, Sequence[Item]], long: bool) -> str:
    """Each kind under its heading, a line for each item, or all texts if `long`. Of several kinds,
    only the first scenarios are listed.
    """
    parts: list[str] = []
    for kind, known in items.items():
        most = SHORT.get(kind) if len(items) > 1 and not long else None
        lines = on_a_line([(item.name, item.summary) for item in known[:most]], indent="  ")
        if long:
            lines = [line for item in known for line in item.lines()]
        if most is not None and len(known) > most:
            lines.append(f"  ... and {len(known) - most} more: dpaudit list {kind}")
        parts.append("\n".join([kind, *(lines or ["  (none)"])]))
    if not long and any(len(known) > 1 for known in items.values()):
        parts.append(MORE)
    return "\n\n".join(parts)


def as_line(items: Mapping[str, Sequence[Item]]) -> str:
    return "\n".join(item.name for known in items.values() for item in known)


def as_json(items: Mapping[str, Sequence[Item]]) -> dict[str, Any]:
    return {
        kind: [{"name": item.name, "summary": item.summary, **item.more} for item in known]
        for kind, known in items.items()
    }


def mechanisms() -> list[Item]:
    """The mechanisms that a scenario can name, with parameters, claim, the relations for which the
    exact spectrum is known, and the scenarios that run them.
    """
    from dpaudit.papers import PAPERS, REGISTRY, Algorithm

    runs: dict[str, list[str]] = {}  # names of scenarios by the mechanism that they audit
    for item, file in _scenario_files().items():
        table = file.content.get("mechanism")
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str):
            runs.setdefault(name, []).append(_short(item))
    items: list[Item] = []
    for name, cls in REGISTRY.items():
        unset = (dataclasses.MISSING, None)
        parameters = [
            field.name if field.default in unset else f"{field.name}={field.default!r}"
            for field in dataclasses.fields(cls)  # type: ignore[arg-type]
        ]
        claim = getattr(cls, "claimed", "") or "nothing"
        if issubclass(cls, Algorithm):
            claim += f" ({cls.relation}; paper {cls.paper}, {cls.statement})"
        # the parameters that `dpaudit calibrate` can set, the default first
        adjustable = " or ".join(parameter.name for parameter in cls.adjustable)
        calibrated = f"calibrates {adjustable}" if adjustable else "nothing to calibrate"
        if name in PAPERS:
            calibrated = "sets its noise itself"
        more = {
            "parameters": ", ".join(parameters) or "none",
            "claims": claim,
            "exact spectrum": f"{_relations(cls)}; {calibrated}",
            "scenarios": ", ".join(runs.get(name, [])) or "none",
        }
        items.append(Item(name, cls.summary, more))
    return items


def _relations(cls: Any) -> str:
    """The relations for which `dpaudit.exact.worst_case` has a result, in words."""
    from dpaudit.mechanisms import LawMechanism
    from dpaudit.papers import Algorithm

    methods = {"zero-out": "zeroed_rows", "replace": "replaced_rows", "add": "added_row"}
    known = [
        relation
        for relation, method in methods.items()
        if getattr(cls, method) not in (getattr(LawMechanism, method), getattr(Algorithm, method))
    ]
    if "zero-out" in known and not cls.zero_rows_matter:
        known.insert(1, "remove")
    if not known and hasattr(cls, "joint_spectrum"):
        return "none of the output alone; joint_spectrum(pair) has the private statistics as well"
    return ", ".join(known) or "none"


ITEMS: dict[str, Callable[[], list[Item]]] = {
    "mechanisms": mechanisms,
    "datasets": lambda: [Item(*about) for about in dpaudit.datasets.describe().items()],
    "classifiers": lambda: [Item(*about) for about in dpaudit.scoring.ALIASES.items()],
    "scenarios": lambda: [_scenario(*named) for named in _scenario_files().items()],
}


def _scenario_files() -> dict[str, File]:
    """The audits below ./scenarios by their paths, then those that come with dpaudit by name."""
    ours = folder()
    own = files_below(HERE) if ours is None or HERE.resolve() != ours.resolve() else []
    theirs = [] if ours is None else files_below(ours)
    return {
        **{str(file.path): file for path in own for file in _audits(path)},
        **{_short(str(file.path)): file for path in theirs for file in _audits(path)},
    }


def _short(name: str) -> str:
    """The short name of a scenario: FILE for FILE.toml, NAME for FILE.toml:NAME or NAME."""
    return Path(name).stem if name.endswith(".toml") else name.rpartition(":")[2]


def _audits(path: Path) -> list[File]:
    """The audits of a file; for a file that cannot be read, one `File` without content."""
    files = audits_of(path)
    return [file for file in files if isinstance(file, File)] or [
        File(path, path.read_text(encoding="utf-8", errors="replace"), {})
    ]


def _scenario(name: str, file: File) -> Item:
    """The item of a scenario: the first comment line of its file, and if it needs other data."""
    comments = list(takewhile(lambda line: line.startswith("#"), file.text.splitlines()))
    first = comments[0].lstrip("# ") if comments else ""
    needs = f"(needs {DATA}) " if any(DATA in line for line in comments[1:]) else ""
    return Item(name, needs + first, {"file": str(file.path)})


def make_project(folder: Path) -> str:
    """Make the folder of a first audit; return a text with its files and the next commands. Raises
    `InvalidInput` where the folder has content or a wrong name.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(
            f"{one_line(str(folder))} must be a new or an empty folder, but it holds files; "
            "nothing was written: choose another name"
        )
    if folder.name.startswith("-"):
        raise InvalidInput(
            f"NAME must not begin with -, since commands would take it for an option, got "
            f"{one_line(str(folder))!r}"
        )
    files = project_files()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    lines = "\n".join(f"  {path.as_posix()}" for path in files)
    return NEXT.format(name=shlex.quote(one_line(folder.as_posix())), files=lines)


def project_files() -> dict[Path, str]:
    files: dict[Path, str] = {}
    for path in sorted(TEMPLATES.glob("*.txt")):
        name = path.name.removesuffix(".txt")
        files[PLACES.get(name, Path()) / name] = path.read_text(encoding="utf-8")
    chance = random.Random(0)
    rows = [f"{chance.randint(18, 90)},{chance.randint(0, 80)}" for _ in range(ROWS)]
    return files | {Path("rows.csv"): "\n".join(["age,hours", *rows, ""])}
