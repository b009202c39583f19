"""docs/cite.md has the version and the date of CITATION.cff."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]


def test_the_page_cites_the_version_of_the_citation_file():
    page = (ROOT / "docs" / "cite.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for key, field in (("version", "version"), ("date-released", "date"), ("title", "title")):
        value = re.search(rf'^{key}: "?([^"\n]+)"?$', citation, re.MULTILINE)[1]
        assert f"{field:<7} = {{{value}}}," in page
