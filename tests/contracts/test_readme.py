"""Python blocks of the pages run in order, page by page, as a reader types them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
WITHOUT_PYTHON = {
    *("architecture", "suites", "command-line", "measured"),
    *("quick-start", "faq", "glossary", "cite", "scenario-keys"),
}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page):
    return re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def run(page):
    """The names that the page's blocks leave behind."""
    names = {"__name__": page.stem}
    for number, block in enumerate(blocks(page)):
        exec(compile(block, f"{page.name}, block {number + 1}", "exec"), names)
    return names


@pytest.mark.slow
@every_page
def test_the_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page)


@pytest.mark.slow
def test_the_readme_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(README)["result"].verdict == "violated"
    assert capsys.readouterr().out in README.read_text(encoding="utf-8")
    written = sorted(path.name for path in Path("dpaudit-out/readme").iterdir())
    assert written == ["report.html", "result.json", "spectrum.png"]


@pytest.mark.quick
def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.quick
@every_page
def test_pages_have_an_example_in_python(page):
    only_lists_pages = "{toctree}" in page.read_text(encoding="utf-8")
    assert blocks(page) or only_lists_pages or page.stem in WITHOUT_PYTHON
