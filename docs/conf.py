"""The documentation site: `sphinx-build -W --keep-going -c docs . docs/_build/html`, from the top.

The pages are those that a reader of the repository sees, so links between them work in both places.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import metadata
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from click import Context
from numpydoc.xref import DEFAULT_LINKS
from sphinx.application import Sphinx

TOP = Path(__file__).resolve().parent.parent
sys.path.append(str(TOP / "docs"))
import links  # noqa: E402
from public_names import places  # noqa: E402

ABOUT = metadata("dpaudit")
LINKS = dict(one.split(", ", 1) for one in ABOUT.get_all("Project-URL") or ())
SOURCE = LINKS.get("Source", "")

# of which readers look parts up; the tables of other reports take the room of a list of headings
LONG_REPORTS = ("reports/findings", "reports/libraries", "reports/auditors")

project = "dpaudit"
author = "the dpaudit developers"
copyright = "2026, the dpaudit developers"
version = release = ABOUT["Version"]

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "reports/*.md",
    "reports/papers/*.md",
    "scenarios/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = [
    "docs/_*",
    "docs/README.md",  # the list of pages where there is no site
    "docs/examples/**",
    "docs/gallery/**/*.ipynb",
    "docs/gallery/**/*.py",
    "**/.*",
    "build",
    "dist",
    "dpaudit-out",
    "tests",
    "dpaudit",
    "scenarios/*/**",
]
templates_path = [str(TOP / "docs" / "_templates")]
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
suppress_warnings = ["config.cache"]
default_role = "py:obj"
highlight_language = "text"
smartquotes = False  # --data is an option

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"  # docstrings say shapes and units
numpydoc_show_class_members = False
# Sections that numpydoc knows, in its order; each entry has a name that exists, a type, a text.
# Parameters that an entry leaves out are found by ruff (D417).
numpydoc_validation_checks = {
    *("GL01", "GL02", "GL05", "GL06", "GL07", "GL10", "SS01", "SS03", "SS04", "RT02", "RT05"),
    *("PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR09", "PR10", "YD01", "SA02", "SA03"),
}
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but these; words of Python stay words, as no other site is asked
numpydoc_xref_aliases = {word: word for word in DEFAULT_LINKS} | {
    name: place for name, place in places() if name[0].isupper()
}

sphinx_gallery_conf = {
    "examples_dirs": "docs/examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,  # a page that would load scripts from the net
}

html_theme = "pydata_sphinx_theme"
html_title = "dpaudit"
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": {
        "docs/**": ["page-toc"],
        "C*": ["page-toc"],
        **{page: ["page-toc"] for page in LONG_REPORTS},
    },
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_site"]
html_copy_source = False
html_show_sourcelink = False

_LINK = re.compile(r"(?<=\]\()(\.{0,2}[^)#:\s]+)(#[^)\s]*)?(?=\))")


def _is_page(path: Path) -> bool:
    """Whether the site has it: as a page, or as a file that it takes along."""
    return path.suffix in (".md", ".png", ".html", ".json", ".toml", ".csv") and path.is_file()


def link_to_source(app: Sphinx, docname: str, text: list[str]) -> None:
    """Lead what is in the repository and not on the site (folders, code) to the repository."""
    folder = Path(app.srcdir, docname).parent

    def led(found: re.Match[str]) -> str:
        target = (folder / found[1]).resolve()
        if not target.exists() or _is_page(target):
            return found[0]
        return f"{SOURCE}/tree/main/{target.relative_to(TOP)}{found[2] or ''}"

    text[0] = _LINK.sub(led, text[0])


def as_typed(app: Sphinx, ctx: Context, lines: list[str]) -> None:
    """Help texts are plain text: aligned lines stay so, and a star begins no emphasis."""
    old = [(line.startswith("| "), line) for line in lines]
    lines.clear()
    for aligned, run in groupby(old, key=itemgetter(0)):
        texts = [line for _, line in run]
        if aligned:
            lines += ["::", "", *(f"    {line[2:]}" for line in texts), ""]
        else:
            lines += [line.replace("*", r"\*") for line in texts]


def setup(app: Sphinx) -> None:
    """Read pages through `link_to_source`, and help texts through `as_typed`."""
    app.connect("source-read", link_to_source)
    app.connect("build-finished", links.check)
    for part in ("description", "epilog"):
        app.connect(f"sphinx-click-process-{part}", as_typed)
