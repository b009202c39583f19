"""Relative links of the pages lead somewhere, headings included."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
NAMED = ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY", "reports/README", "scenarios/README")
PAGES = [
    *(path for name in NAMED if (path := ROOT / f"{name}.md").exists()),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "theory").glob("*.md")),
]


# A source distribution leaves out drawn reports (scenarios/packing.py).
DRAWN = (".html", ".png") if (ROOT / "PKG-INFO").exists() else ()


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def links(page):
    """Targets of the page's links and pictures, those to other hosts left out."""
    targets = re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8")))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchor(heading):
    """The name that GitHub gives a heading: small letters, words joined by hyphens."""
    words = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return words.replace(" ", "-")


def anchors(page):
    text = without_code(page.read_text(encoding="utf-8"))
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)}


def broken(page):
    for target in links(page):
        path, _, heading = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if found.is_relative_to(ROOT / "reports") and found.suffix in DRAWN:
            continue
        if not found.exists() or (heading and heading not in anchors(found)):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_resolves(page):
    assert list(broken(page)) == []


def test_the_index_of_docs_names_every_page():
    index = ROOT / "docs" / "README.md"
    lists = {path for path in index.parent.glob("*.md") if "{toctree}" in path.read_text("utf-8")}
    pages = {path.name for path in {*index.parent.glob("*.md")} - lists}
    assert pages - {index.name} <= set(links(index))


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading\n[one](#a-heading) [two](page.md#b) [three](x.md) [far](https://a.b)"
    )
    assert list(broken(page)) == ["page.md#b", "x.md"]
