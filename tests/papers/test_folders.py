"""A stranger finds every printed statement: the docstring of each paper's module names them all."""

import importlib
import re

import pytest

from dpaudit import papers
from dpaudit.papers import PAPERS

printed = papers.printed

pytestmark = pytest.mark.quick

PAPER = {
    number: importlib.import_module(f"dpaudit.papers.paper_{number}") for number in (1, 2, 3, 4)
}


@pytest.mark.parametrize("paper", PAPER)
def test_the_paper_names_all_its_algorithms_and_only_what_is_there(paper):
    text = PAPER[paper].__doc__
    for cls in PAPERS.values():
        if cls.paper == paper:
            module = cls.__module__.removeprefix(PAPER[paper].__name__).lstrip(".")
            assert f"`{module}.{cls.__name__}`" in text or f"`{cls.__name__}`" in text
    for name in re.findall(r"`(\w+\.\w+)`", text):
        module, _, attribute = name.partition(".")
        if module not in ("PMT", "printed"):
            home = importlib.import_module(f"{PAPER[paper].__name__}.{module}")
            assert hasattr(home, attribute), name


def test_every_printed_formula_is_named_by_its_paper():
    named = "".join(paper.__doc__ for paper in PAPER.values())
    missing = [name for name in printed.__all__ if name not in named]
    # The second of a pair such as `corollary_b_2_padding`, `_rows` may be abridged.
    assert all(f"`_{name.rpartition('_')[2]}`" in named for name in missing), missing
    assert len(printed.__all__) == 45
