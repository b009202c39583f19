"""The folder that `dpaudit init` makes: a mechanism, its data, a scenario, a test, a workflow."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

from dpaudit._core.shown.printable import one_line
from dpaudit.errors import InvalidInput

TEMPLATES = Path(__file__).parents[1] / "templates"  # NAME.txt is the file NAME
PLACES = {"privacy.yml": Path(".github") / "workflows"}
ROWS = 200
NEXT = """Made {name}:
{files}

Now:
  dpaudit run {name}/scenario.toml
  pytest {name}"""


def made(folder: Path) -> str:
    """Make the folder; returns what is in it and what to do next.

    Raises `InvalidInput` where there is something already, OSError.
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
    files = contents()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    listed = "\n".join(f"  {path.as_posix()}" for path in files)
    return NEXT.format(name=shlex.quote(one_line(folder.as_posix())), files=listed)


def contents() -> dict[Path, str]:
    """The text of each file, by its path in the folder."""
    names = {path.name.removesuffix(".txt"): path for path in sorted(TEMPLATES.glob("*.txt"))}
    files = {
        PLACES.get(name, Path()) / name: path.read_text(encoding="utf-8")
        for name, path in names.items()
    }
    return files | {Path("rows.csv"): rows()}


def rows() -> str:
    """A CSV file of made-up ages and weekly hours, the same each time."""
    chance = random.Random(0)
    lines = (f"{chance.randint(18, 90)},{chance.randint(0, 80)}" for _ in range(ROWS))
    return "\n".join(["age,hours", *lines, ""])
