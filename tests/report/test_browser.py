"""The pages in a real browser, opened from disk: console, values, paper, keyboard, hostile text."""

import base64
import re
from itertools import pairwise

import pytest

from dpaudit.report import audit, read_curves, render_html, render_index
from tests.report.browser import CHROMIUM, running
from tests.report.examples import make_result, make_samples_result
from tests.report.test_html import HOSTILE, poison

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="chromium is not on PATH: no page was opened in a browser"
    ),
]
PAPER = 680  # CSS pixels of A4 less the margins that the page asks for, 180 mm
WIDE_PAPER = 1000  # the same of A4 landscape, 265 mm, for the index
CONTRAST, LARGE = 4.5, 3.0  # WCAG 2.2, success criterion 1.4.3
ROW = {
    "name": "flight-als",
    "kind": "violated",
    "reason": "Too much.",
    "seconds": 3.2,
    "link": ("flight-als", "r.html"),
}

LUMINANCE = """
const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number);
const light = c => {
  const v = c / 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
};
const luminance = c => 0.2126 * light(c[0]) + 0.7152 * light(c[1]) + 0.0722 * light(c[2]);
const backdrop = node => {
  for (let at = node; at; at = at.parentElement) {
    const c = rgb(getComputedStyle(at).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c;
  }
  return [255, 255, 255];
};
"""
TOO_FAINT = f"""(() => {{ {LUMINANCE}
const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {{
  const node = walk.currentNode.parentElement, style = getComputedStyle(node);
  if (!walk.currentNode.textContent.trim() || ["SCRIPT", "STYLE"].includes(node.tagName)) continue;
  const [a, b] = [luminance(rgb(style.color)), luminance(backdrop(node))].sort((x, y) => y - x);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < (large ? {LARGE} : {CONTRAST}))
    found.push([node.tagName, walk.currentNode.textContent.trim(), ratio]);
}}
return found; }})()"""
FOCUSED = """(() => { const at = document.activeElement, style = getComputedStyle(at);
const name = at.getAttribute("aria-label") || at.textContent.trim();
return [at.tagName, name, style.outlineStyle !== "none"]; })()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with running(tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Paths by name: full reports, bare ones, hostile ones, and index pages.

    Full has every optional part, bare has none.
    """
    folder = tmp_path_factory.mktemp("pages")
    against = {
        "folder": "old",
        "moves": {"flight-als": ["verdict: not violated, now violated"]},
        "new": ["b"],
    }
    others = [
        {**ROW, "name": "b", "kind": kind, "record": record}
        for kind, record in (
            ("not violated", make_result()),
            ("error", None),
            ("inconclusive", make_samples_result()),
        )
    ]
    rows = [
        {**ROW, "record": make_result()},
        *others,
        {**ROW, "kind": "study", "record": None, "link": None},
    ]
    hostile = {
        **ROW,
        "name": HOSTILE,
        "reason": HOSTILE,
        "link": (HOSTILE, "r.html"),
        "record": poison(make_result()),
    }
    attack = {"folder": HOSTILE, "moves": {HOSTILE: [HOSTILE]}, "new": [HOSTILE]}
    # once: they take most of the time, and test_html.py looks at the others
    drawn = audit._figures(read_curves(make_result()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "_figures", lambda _: drawn)
        sources = {
            "full": render_html(make_result()),
            "bare": render_html(make_samples_result()),
            "hostile": render_html(poison(make_result())),
            "index": render_index(rows, against),
            "hostile-index": render_index([hostile], attack),
        }
    for name, source in sources.items():
        (folder / f"{name}.html").write_text(source, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in sources}


ALL = ("full", "bare", "hostile", "index", "hostile-index")
SOUND = ("full", "bare", "index")


@pytest.mark.parametrize("name", ALL)
def test_it_opens_from_disk_and_nothing_is_requested_or_run(browser, pages, name):
    """A data block is no script; hostile text makes no element and no attribute that acts."""
    browser.open(pages[name])
    assert browser.messages == []
    assert {url.partition(":")[0] for url in browser.requests} <= {"file", "data"}
    assert [url for url in browser.requests if url.startswith("file")] == [pages[name].as_uri()]
    scripts = browser.evaluate("[...document.scripts].map(one => one.type)")
    assert set(scripts) <= {"application/json"}
    acting = "iframe, object, embed, form, base, [href^='javascript:']"
    assert browser.evaluate(f'document.querySelectorAll("{acting}").length') == 0
    attributes = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
    assert not [name for name in browser.evaluate(attributes) if name.startswith("on")]
    sizes = browser.evaluate(
        "[...document.images].map(one => [one.complete, one.naturalWidth, one.width])"
    )
    assert len(sizes) == (0 if "index" in name else 4)
    assert all(complete and natural > 100 and shown > 100 for complete, natural, shown in sizes)


@pytest.mark.parametrize("name", ALL)
def test_a_narrow_window_does_not_scroll_sideways(browser, pages, name):
    """Wide tables scroll inside their own region, which the keyboard can reach."""
    for width in (390, 360):
        browser.open(pages[name], width=width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    script = """[...document.querySelectorAll("*")].filter(e =>
      ["auto", "scroll"].includes(getComputedStyle(e).overflowX)
      && e.scrollWidth > e.clientWidth + 1
      && (e.tabIndex < 0 || !e.getAttribute("aria-label"))).length"""
    assert browser.evaluate(script) == 0


@pytest.mark.parametrize(
    ("name", "width"), [("full", PAPER), ("bare", PAPER), ("index", WIDE_PAPER)]
)
def test_on_paper_no_table_is_cut_and_four_pages_of_a4_suffice(browser, pages, name, width):
    browser.open(pages[name], width=width, media="print")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    right = browser.evaluate(
        "[...document.querySelectorAll('table, img, pre')]"
        ".map(e => e.getBoundingClientRect().right)"
    )
    assert right
    assert max(right) <= width
    clipped = (
        "[...document.querySelectorAll('.scroll')]"
        ".filter(e => getComputedStyle(e).overflowX !== 'visible').length"
    )
    assert browser.evaluate(clipped) == 0
    folded = browser.evaluate("[...document.querySelectorAll('details')].map(e => e.offsetHeight)")
    assert set(folded) <= {0}
    said = browser.evaluate("document.querySelector('.paper')?.offsetHeight ?? 0")
    assert (said > 0) == bool(folded)
    pdf = base64.b64decode(browser("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4
    sides = map(float, re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)", pdf).groups())
    assert sorted(sides) == pytest.approx([595, 842], abs=1.5)


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser, pages, name, scheme):
    for media in ("screen", "print"):
        browser.open(pages[name], media=media, scheme=scheme)
        assert browser.evaluate(TOO_FAINT) == []
        dark = (scheme, media) == ("dark", "screen")
        page = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (page != "rgb(255, 255, 255)") == dark


@pytest.mark.parametrize("name", SOUND)
def test_a_keyboard_reaches_what_scrolls_folds_or_leads_on(browser, pages, name):
    browser.open(pages[name])
    wanted = browser.evaluate(
        "[...document.querySelectorAll('a[href], summary, [tabindex]')]"
        ".filter(e => e.checkVisibility()).length"
    )
    seen = []
    for _ in range(wanted):
        browser.press("Tab", 9)
        seen.append(tuple(browser.evaluate(FOCUSED)))
    assert len(seen) == wanted >= 1
    assert {tag for tag, _, _ in seen} <= {"A", "SUMMARY", "DIV"}
    assert all(text and outlined for _, text, outlined in seen)


@pytest.mark.parametrize("name", SOUND)
def test_a_screen_reader_gets_names_landmarks_and_an_order(browser, pages, name):
    browser.open(pages[name])
    assert browser.evaluate("document.documentElement.lang") == "en"
    assert browser.evaluate("document.title").startswith("Privacy audit")
    levels = browser.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    named = {"image", "img", "table", "region", "link", "heading", "columnheader", "rowheader"}
    nodes = [
        node for node in browser("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]
    ]
    roles = [(node["role"]["value"], (node.get("name") or {}).get("value", "")) for node in nodes]
    assert {"main", "heading", "table"} <= {role for role, _ in roles}
    assert [role for role, text in roles if role in named and not text.strip()] == []
    assert all(len(text) > 60 for role, text in roles if role in ("image", "img"))
