"""The scenarios that come with dpaudit, by name. A shell that completes names runs this module at
every key press, so it imports little.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from dpaudit._core.text import one_line
from dpaudit.errors import ScenarioError

PACKAGE = Path(__file__).parents[1]
AUDIT = re.compile(r'^\[\[audit\]\]\nname = "(.+)"$', re.MULTILINE)  # the form in our own files


def folder() -> Path | None:
    """Their folder, in the installed package (made by scenarios/packing.py) or in the checkout."""
    checkout = PACKAGE.parent
    if (PACKAGE / "scenarios").is_dir():
        return PACKAGE / "scenarios"
    return checkout / "scenarios" if (checkout / "pyproject.toml").is_file() else None


def shipped() -> dict[str, Path]:
    """The path of each scenario by name: FILE for FILE.toml, NAME for an [[audit]] at
    FILE.toml:NAME.
    """
    place = folder()
    return {
        name: path if name == path.stem else path.with_name(f"{path.name}:{name}")
        for path in ([] if place is None else files_below(place))
        for name in [path.stem, *AUDIT.findall(path.read_text(encoding="utf-8"))]
    }


def files_below(place: Path) -> list[Path]:
    """The .toml files of a folder, then those of its subfolders; hidden ones are left out."""
    hidden = re.compile(r"(^|/)\.")
    paths = place.rglob("*.toml")
    seen = [path for path in paths if not hidden.search(path.relative_to(place).as_posix())]
    return sorted(seen, key=lambda path: (path.parent, path.name))


def scenario_path(reference: Path) -> Path:
    """The file of a scenario that a command names by path or by name (without suffix and
    separator). NAME and NAME.toml in the current folder come first. Raises `ScenarioError` with
    similar names.
    """
    if reference.suffix or len(reference.parts) != 1 or reference.is_file():
        return reference
    if (own := Path(f"{reference}.toml")).is_file():
        return own
    known = shipped()
    if reference.name in known:
        return known[reference.name]
    near = difflib.get_close_matches(reference.name, known, n=3, cutoff=0.5)
    hint = f"; near names: {', '.join(near)}" if near else ""
    raise ScenarioError(
        f"{one_line(reference.name)} is neither a file nor the name of a scenario that comes with "
        f"dpaudit{hint}; `dpaudit list scenarios` has all names"
    )
