"""Data flows one way: a lower floor never imports a higher one, as docs/architecture.md says."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import dpaudit

pytestmark = pytest.mark.quick

HOUSE = Path(dpaudit.__file__).parent
PAGE = HOUSE.parent / "docs" / "architecture.md"
ENTRANCES = {"__init__", "__main__"}  # the public surface, loaded on first use, and the command


def floors_of(page: str) -> list[list[str]]:
    """The rows of the page's table of floors, lowest first: | 1 | `errors` | what it holds |."""
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", page, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    return [re.findall(r"`(\w+)`", rooms) for _, rooms in rows]


FLOORS = floors_of(PAGE.read_text(encoding="utf-8"))
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
# results that load the report on first use, to be saved or plotted
DRAW_THEMSELVES = ("verdict/result.py", "search/selection.py")
EXACT_SIDE = {"errors", "_core", "curves", "laws", "neighbours", "exact"}


def room(path):
    return path.relative_to(HOUSE).with_suffix("").parts[0]


def modules():
    return sorted(
        path for path in HOUSE.rglob("*.py") if path.parent != HOUSE or path.stem not in ENTRANCES
    )


def loaded(tree):
    """The nodes of a module without what is for type checking only."""
    typing_only = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.dump(test.test)
        for node in ast.walk(test)
    }
    return [node for node in ast.walk(tree) if id(node) not in typing_only]


def imported(tree):
    """Full names of modules of dpaudit that a module imports, at load or later."""
    for node in loaded(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("dpaudit."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "dpaudit":
                yield from (f"dpaudit.{alias.name}" for alias in node.names)
            elif node.module and node.module.startswith("dpaudit."):
                yield node.module


def edges(tree):
    """The rooms that a module imports."""
    return {name.split(".")[1] for name in imported(tree)} - {"__version__"}


def external(tree):
    for node in loaded(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_the_page_names_every_room_once():
    named = [name for rooms in FLOORS for name in rooms]
    assert len(named) == len(set(named))
    assert set(named) == {room(path) for path in modules()}
    assert len(named) <= 26


@pytest.mark.parametrize("here", sorted(FLOOR))
def test_a_lower_floor_imports_no_higher_one(here):
    """Imports inside functions count. Rooms of one floor do not know each other."""
    for path in modules():
        if room(path) == here:
            known = edges(parsed(path)) - {here}
            if path.relative_to(HOUSE).as_posix() in DRAW_THEMSELVES:
                known -= {"report"}
            assert {there for there in known if FLOOR[there] >= FLOOR[here]} == set(), path


def test_the_exact_side_knows_nothing_of_mechanisms_papers_and_draws():
    for path in modules():
        if room(path) == "exact":
            assert edges(parsed(path)) <= EXACT_SIDE, path


def test_every_place_on_the_page_exists():
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", PAGE.read_text(encoding="utf-8")))
    assert len(named) > 20
    for name in named - {"dpaudit/"}:
        base = PAGE.parents[1] if name.startswith(("tests/", "reports/")) else HOUSE
        assert (base / name).exists(), name


def test_every_room_says_what_it_holds():
    for name in FLOOR:
        path = HOUSE / name / "__init__.py" if (HOUSE / name).is_dir() else HOUSE / f"{name}.py"
        said = ast.get_docstring(parsed(path))
        assert said, path
        assert said.split("\n\n")[0].endswith("."), path


def test_a_library_is_known_to_few_rooms():
    """scikit-learn to scores, data and the adapter of texts, LightGBM to scores, matplotlib to the
    report, pydantic to scenarios.
    """
    for path in modules():
        known = {name.split(".")[0] for name in external(parsed(path))}
        assert "sklearn" not in known or room(path) in ("scoring", "datasets", "adapters"), path
        assert "lightgbm" not in known or room(path) == "scoring", path
        assert "matplotlib" not in known or room(path) == "report", path
        assert "pydantic" not in known or room(path) == "run", path


def test_the_reader_of_imports_sees_what_it_should():
    tree = ast.parse(
        "import dpaudit.run\nfrom dpaudit import exact, scoring\n"
        "from dpaudit.report.audit import page\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dpaudit.cli import main\n"
        "def f():\n    from dpaudit.certify.binomial import upper\n"
    )
    assert edges(tree) == {"run", "exact", "scoring", "report", "certify"}


def test_the_reader_of_the_page_sees_what_it_should():
    page = "| floor | rooms |\n| 1 | `errors` | a |\n| 2 | `_core`, `curves` | b |\n"
    assert floors_of(page) == [["errors"], ["_core", "curves"]]
