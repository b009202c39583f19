"""The house in figures: lines, files, jumps of a call, circles of imports, depth of the tests.

Lines of code are those that are neither blank, nor comments, nor docstrings. A file is entered
when a function of it runs; the calls are traced after their imports, in processes of their own.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[2]
PACKAGE = TOP / "dpaudit"
SMALL = 80  # lines; a module below that, with a single importer, may belong to it
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT}

# Each call is made twice: the first one imports, the second is traced.
TRACED = """
import contextlib, io, json, sys
import numpy as np
import dpaudit as dp
{setup}
def call():
    {call}
call()
entered, depth, deepest = set(), 0, 0
def trace(frame, event, argument):
    global depth, deepest
    code = frame.f_code
    if "/dpaudit/" in code.co_filename and event in ("call", "return"):
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        entered.add((code.co_filename, code.co_qualname))
sys.setprofile(trace)
call()
sys.setprofile(None)
print(json.dumps([len({{file for file, _ in entered}}), len(entered), deepest]))
"""
SUM = """
def f(data, size, *, rng):
    return data.sum() + rng.normal(size=(size, 1))
pair = dp.neighbours.zero_row(np.ones((2, 1)), 0)
"""
COINS = "included = np.arange(1000) % 2 == 0; scores = included + np.sin(np.arange(1000.0))"
COMMAND = """
import os, tempfile
from dpaudit.cli import main
os.chdir(tempfile.mkdtemp())
"""
RUN = """with contextlib.redirect_stdout(io.StringIO()):
        main(["run", "flight-als", "--draws", "2000", "--quiet"])"""
CALLS = {
    "`dp.audit(f, pair)`": (SUM, "dp.audit(f, pair, draws=2000, rng=1, claim=(1.0, 0.0))"),
    "`dp.audit_one_run`": (COINS, "dp.audit_one_run(scores, included, claim=(1.0, 0.0))"),
    "`dpaudit run flight-als`": (COMMAND, RUN),
}


def report() -> None:
    """Print the figures as tables of Markdown."""
    print("| part | files | lines | of code |\n| --- | --- | --- | --- |")
    for name in ("dpaudit", "reports/make", "tests", "scenarios"):
        print("| {} | {:,} | {:,} | {:,} |".format(name, *_size(TOP / name)))
    print("\n| call | files entered | functions | depth |\n| --- | --- | --- | --- |")
    for name, (setup, call) in CALLS.items():
        print("| {} | {:,} | {:,} | {:,} |".format(name, *_jumps(setup, call)))
    internal, tests = depth_of_tests()
    figures = {
        f"modules under {SMALL} lines with one importer": len(single_importers()),
        "circles of rooms": len(circles(room_imports())),
        "test files that import two levels deep": f"{internal} of {tests}",
        "committed files of reports, MB": f"{_bytes('reports') / 1e6:.1f}",
    }
    print("\n| figure | value |\n| --- | --- |")
    for name, value in figures.items():
        print(f"| {name} | {value} |")


def _size(folder: Path) -> tuple[int, int, int]:
    """Python files of a folder, their lines, and those of code."""
    files = [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    return len(files), lines, sum(lines_of_code(path) for path in files)


def lines_of_code(path: Path) -> int:
    """Lines that are neither blank, nor comments, nor docstrings."""
    with path.open("rb") as file:
        tokens = [one for one in tokenize.tokenize(file.readline) if one.type not in LAYOUT]
    lines = {line for one in tokens[1:-1] for line in range(one.start[0], one.end[0] + 1)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            lines -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(lines)


def _jumps(setup: str, call: str) -> list[int]:
    """Files and functions of the package that a call enters, and how deep."""
    command = [sys.executable, "-c", TRACED.format(setup=setup, call=call)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TOP)
    return list(json.loads(done.stdout.splitlines()[-1]))


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a module, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def modules() -> dict[str, Path]:
    """The files of the package by the names of their modules."""
    named = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(TOP).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each module imports: at load, later, for types, or by `importlib`."""
    known = modules()
    return {
        name: {one for one in _named(tree(path)) if one in known} - {name}
        for name, path in known.items()
    }


def _named(tree: ast.Module) -> Iterator[str]:
    """Names of modules in a module's imports, and in texts that could be imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from [one if one in modules() else node.module for one in inner]
        elif isinstance(node, ast.Constant) and str(node.value).startswith("dpaudit."):
            yield str(node.value).partition(":")[0]


def single_importers() -> list[str]:
    """Small modules that one other module alone imports."""
    count = Counter(one for names in imports().values() for one in names)
    small = {
        name
        for name, path in modules().items()
        if path.name != "__init__.py" and len(path.read_text(encoding="utf-8").splitlines()) < SMALL
    }
    return sorted(name for name in small if count[name] == 1)


def room_imports() -> dict[str, set[str]]:
    """The rooms that each room imports, without the surface of the package."""
    rooms: dict[str, set[str]] = {}
    for name, names in imports().items():
        here = rooms.setdefault(_room(name), set())
        here |= {_room(one) for one in names} - {_room(name), ""}
    rooms.pop("", None)
    return rooms


def _room(name: str) -> str:
    return [*name.split("."), ""][1]


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of more than one node of which each leads to every other."""

    def reached(start: str) -> set[str]:
        seen, left = set[str](), [start]
        while left:
            fresh = graph.get(left.pop(), set()) - seen
            seen |= fresh
            left += fresh
        return seen

    reach = {name: reached(name) for name in graph}
    found: list[set[str]] = []
    for name in graph:
        if not any(name in circle for circle in found):
            circle = {name} | {one for one in reach[name] if name in reach.get(one, ())}
            found += [circle] if len(circle) > 1 else []
    return found


def depth_of_tests() -> tuple[int, int]:
    """Test files that import a module below a room of the package, and all test files."""
    files = sorted((TOP / "tests").rglob("test_*.py"))
    deep = [
        path
        for path in files
        if any(_room(one) and one.count(".") > 1 for one in _named(tree(path)) if one in modules())
    ]
    return len(deep), len(files)


def _bytes(folder: str) -> int:
    """The size of the committed files of a folder."""
    command = ["git", "ls-files", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TOP)
    paths = [TOP / line for line in done.stdout.splitlines()]
    return sum(path.stat().st_size for path in paths if path.exists())
