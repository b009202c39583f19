"""Links inside the finished site lead somewhere, headings included; else the build warns."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)


class Page(HTMLParser):
    """The names in a page of HTML, and what it links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.targets: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the names and the targets of one tag."""
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.names.add(value)
            elif key in ("href", "src") and value:
                self.targets.add(value)


def broken(site: Path) -> Iterator[tuple[Path, str]]:
    """Each page with a target in the site that is missing."""
    found = (path for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = {path.resolve(): Page(path) for path in found}
    for path, page in pages.items():
        for target in sorted(page.targets):
            if not _there(path, urlsplit(target), pages):
                yield path, target


def _there(path: Path, target: SplitResult, pages: dict[Path, Page]) -> bool:
    """Whether a target is elsewhere on the net, or a file of the site that has such a heading."""
    if target.scheme or target.netloc:
        return True
    found = (path.parent / unquote(target.path)).resolve() if target.path else path
    if not target.fragment or found not in pages:
        return found.exists()
    return unquote(target.fragment) in pages[found].names


def check(app: Sphinx, failed: Exception | None) -> None:
    """Warn of each; the last step of a build."""
    if failed is None and app.builder.format == "html":
        for path, target in broken(Path(app.outdir)):
            LOG.warning("%s: %s leads nowhere", path.relative_to(app.outdir), target)
