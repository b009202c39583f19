"""A stranger finds every printed statement: the docstring of each paper's folder names them all."""

import importlib
import re
from pathlib import Path

import pytest

import dpaudit.papers
from dpaudit.papers import PAPERS, printed

pytestmark = pytest.mark.quick

ROOM = Path(dpaudit.papers.__file__).parent
papers = pytest.mark.parametrize("paper", [1, 2, 3, 4])


def _modules(paper):
    return [path.stem for path in (ROOM / f"paper_{paper}").glob("*.py") if path.stem != "__init__"]


@papers
def test_the_folder_names_all_its_algorithms_and_modules(paper):
    text = importlib.import_module(f"dpaudit.papers.paper_{paper}").__doc__
    named = re.findall(r"`(\w+)\.(\w+)`", text)
    for cls in (one for one in PAPERS.values() if one.paper == paper):
        assert (cls.__module__.rpartition(".")[2], cls.__name__) in named
    for module in _modules(paper):
        assert f"`{module}" in text


@papers
def test_what_the_folder_names_is_there(paper):
    package = f"dpaudit.papers.paper_{paper}"
    text = importlib.import_module(package).__doc__
    own = [pair for pair in re.findall(r"`(\w+)\.(\w+)`", text) if pair[0] in _modules(paper)]
    assert own
    for module, name in own:
        assert hasattr(importlib.import_module(f"{package}.{module}"), name), f"{module}.{name}"


@papers
def test_every_printed_formula_is_named(paper):
    text = importlib.import_module(f"dpaudit.papers.paper_{paper}").__doc__
    names = [name for name in printed.__all__ if f"paper_{paper}." in _home(name)]
    missing = [name for name in names if name not in text]
    assert names
    # The second of a pair such as `corollary_b_2_padding`, `_rows` may be abridged.
    assert all(f"`_{name.rpartition('_')[2]}`" in text for name in missing), missing


def _home(name):
    return getattr(printed, name).__module__


@papers
def test_no_paper_imports_another(paper):
    others = "|".join(str(one) for one in (1, 2, 3, 4) if one != paper)
    for path in (ROOM / f"paper_{paper}").glob("*.py"):
        found = re.findall(rf"papers\.paper_(?:{others})\b", path.read_text(encoding="utf-8"))
        assert not found, path.name
