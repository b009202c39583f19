"""A stranger finds every printed statement, and papers stay apart."""

import re
from pathlib import Path

import pytest

import dpaudit.papers
from dpaudit import papers
from dpaudit.papers import PAPERS

printed = papers.printed

pytestmark = pytest.mark.quick

ROOM = Path(dpaudit.papers.__file__).parent
PAPER = (1, 2, 3, 4)


def test_the_page_of_papers_names_all_algorithms():
    text = (Path(__file__).parents[2] / "docs/papers.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in PAPERS)


def test_every_printed_formula_says_where_it_is_printed():
    for name in printed.__all__:
        assert re.match(r"(Paper \d|Sheffet 2019), .+", getattr(printed, name).__doc__), name
    assert len(printed.__all__) == 40


@pytest.mark.parametrize("paper", PAPER)
def test_no_paper_imports_another(paper):
    others = "|".join(str(number) for number in PAPER if number != paper)
    for path in ROOM.glob(f"paper_{paper}/*.py" if paper > 1 else "paper_1.py"):
        imports = re.findall(rf"papers\.paper_(?:{others})\b", path.read_text(encoding="utf-8"))
        assert not imports, path.name
