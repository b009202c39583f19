"""The floors of docs/architecture.md: what import-linter, which checks the imports, cannot see."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import dpaudit
from reports.make import house

pytestmark = pytest.mark.quick

TOP = Path(dpaudit.__file__).parents[1]
PAGE = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")
GUIDE = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGES = GUIDE.partition("## Where to change what")[2].partition("\n## ")[0]
FLOORS = [
    re.findall(r"`(\w+)`", rooms)
    for rooms in re.findall(r"^\| \d+ \| ([^|]+) \|", PAGE, flags=re.MULTILINE)
]
ROOMS = [room for rooms in FLOORS for room in rooms]
LIBRARIES = {
    "sklearn": {"scoring", "datasets", "adapters"},
    "lightgbm": {"scoring"},
    "matplotlib": {"report"},
    "pydantic": {"run"},
    "filelock": {"run"},
}


def test_the_page_has_the_layers_of_the_linter():
    settings = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert [set(layer.split(" | ")) for layer in reversed(layers)] == [*map(set, FLOORS)]


def test_modules_that_are_loaded_by_name_lead_to_no_higher_floor():
    """The linter reads import statements; tables of names and `importlib` count here."""
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    higher = {
        (here, there)
        for here, rooms in house.room_imports().items()
        for there in rooms
        if here in floor and floor[there] >= floor[here]
    }
    assert higher == set()


def place(name):
    """The path that a page means by a name, most of which begin in the package."""
    top = name.startswith(("tests", "docs/", "reports/", "pyproject"))
    return (TOP if top else TOP / "dpaudit") / name


@pytest.mark.parametrize("page", [PAGE, CHANGES], ids=["where is it", "where to change"])
def test_every_place_on_the_pages_exists(page):
    named = set(re.findall(r"`([\w/]+(?:\.\w+|/)|tests/\w+)`", page))
    paths = {name for name in named if "/" in name} - {"dpaudit/"}
    assert len(paths) > 20
    assert [name for name in paths if not place(name).exists()] == []


def test_names_stand_in_the_files_that_the_pages_say():
    name = r"`(?:\w+\.)?\w+`"
    sentences = re.findall(
        rf"({name}(?:(?:, | and | or ){name})*) (?:in|of) `([\w/]+\.py)`", PAGE + CHANGES
    )
    assert len(sentences) > 30
    for names, path in sentences:
        text = place(path).read_text(encoding="utf-8")
        for each in re.findall(r"\w+(?=`)", names):
            assert re.search(rf"\b{each}\b", text), (each, path)


def test_a_library_is_known_to_few_rooms():
    for name, path in house.modules().items():
        tree = house.tree(path)
        for_types = {
            id(node)
            for test in ast.walk(tree)
            if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.dump(test.test)
            for node in ast.walk(test)
        }
        imported = {
            one.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in for_types
            for one in [getattr(node, "module", None) or "", *(a.name for a in node.names)]
        }
        for library, rooms in LIBRARIES.items():
            assert library not in imported or name.split(".")[1] in rooms, name
