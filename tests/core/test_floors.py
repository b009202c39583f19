"""Data flows one way: a lower floor never imports a higher one, and the exact side nothing of the empirical one."""

import ast
from pathlib import Path

import pytest

import dpaudit

HOUSE = Path(dpaudit.__file__).parent
GROUND = (
    "errors",
    "_check",
    "_files",
    "_linalg",
    "_modules",
    "_random",
    "_search",
    "inverse",
    "renyi",
    "spectrum",
    "split",
    "laws",
    "claims",
    "outcomes",
    "certificate",
)
FLOORS = (  # from the ground up; rooms of one floor may know each other
    GROUND,
    ("datasets",),
    ("neighbours",),
    ("mechanisms",),
    ("exact",),  # branches off at the laws
    ("adapters",),
    ("sampling", "randomness"),
    ("scoring",),
    (
        "bounds",
        "planning",
        "estimate",
        "sequential",
        "power",
    ),  # band and stopping rule: neither knows the other, nor the score
    ("compare",),
    ("auditing", "counting", "waves", "record"),
    ("search",),
    ("report",),
    ("studies",),
    ("run", "testing"),
    ("findings",),
    ("gallery",),
    ("cli", "__main__", "bench"),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
EMPIRICAL = {
    "adapters",
    "randomness",
    "sampling",
    "scoring",
    "bounds",
    "planning",
    "estimate",
    "sequential",
    "power",
    "compare",
    "auditing",
    "counting",
    "waves",
    "record",
    "search",
    "run",
    "testing",
    "report",
    "studies",
    "findings",
    "gallery",
    "cli",
    "bench",
}
# Stairs: calls upwards at run time, for what the contract puts on a lower object.
STAIRS = {
    ("claims", "exact"),  # Claim.gdp(mu) is gaussian_shift, Claim.gaussmix the printed lemma
    ("inverse", "exact"),  # Spectrum.gdp_mu(epsilon) looks for the gaussian_shift with the same δ
    ("mechanisms", "exact"),  # a paper's box takes its noise from the printed formula, and has a joint spectrum
    ("record", "report"),  # result.save(folder) writes report.html
}


def room(path):
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return parts[0]


def modules():
    return sorted(path for path in HOUSE.rglob("*.py") if path != HOUSE / "__init__.py")


def imported(tree):
    """Rooms of dpaudit that a module imports, at load or later; names of type checking only are left out."""
    typing_only = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.unparse(test.test)
        for node in ast.walk(test)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "dpaudit" else [node.module]
            )
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("dpaudit."))


def edges(tree):
    return {name for name in imported(tree) if name != "__version__"}


def at_load(tree):
    """The same, of statements outside functions only."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            node.body = []
    return edges(tree)


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_every_room_has_a_floor():
    assert {room(path) for path in modules()} <= set(FLOOR)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(HOUSE).as_posix())
def test_a_lower_floor_imports_no_higher_one(path):
    here = room(path)
    upward = {there for there in edges(parsed(path)) if FLOOR[there] > FLOOR[here]}
    assert {(here, there) for there in upward} <= STAIRS
    assert not {there for there in at_load(parsed(path)) if FLOOR[there] > FLOOR[here]}


@pytest.mark.parametrize("path", [path for path in modules() if room(path) == "exact"], ids=lambda path: path.name)
def test_the_exact_side_knows_nothing_of_the_empirical_one(path):
    assert not edges(parsed(path)) & EMPIRICAL


def test_only_scoring_and_data_know_scikit_learn_and_only_the_report_draws():
    for path in modules():
        text = {name.split(".")[0] for name in external(parsed(path))}
        assert "sklearn" not in text or room(path) in ("scoring", "datasets", "bench"), path
        assert "lightgbm" not in text or room(path) in ("scoring", "bench"), path
        assert "matplotlib" not in text or room(path) in ("report", "studies", "gallery", "bench"), path


def external(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_the_reader_of_imports_sees_what_it_should():
    tree = ast.parse(
        "import dpaudit.run\nfrom dpaudit import exact, scoring\nfrom dpaudit.report.html import page\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dpaudit.cli import main\n"
        "def f():\n    from dpaudit.bounds import upper\n"
    )
    assert edges(tree) == {"run", "exact", "scoring", "report", "bounds"}
    assert at_load(tree) == {"run", "exact", "scoring", "report"}
