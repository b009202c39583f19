"""The pages in a real browser, opened from disk: what they run, where they scroll, paper, contrast.

Chromium is driven by its command line alone. A page beside the report shows it in a frame, asks it,
and writes the answers into its own text, which `--dump-dom` prints.
"""

import html
import json
import re
import shutil
import subprocess
from itertools import pairwise

import pytest

from dpaudit.report import render_html, render_index
from tests.report.examples import make_result, make_samples_result
from tests.report.test_html import HOSTILE, poison

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="chromium is not on PATH: no page was opened in a browser"
    ),
]
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
ASKING = """<iframe id="page" src="{name}.html" width="{width}" height="900"></iframe><script>
onload = () => {{
  const view = document.getElementById("page").contentWindow, page = view.document;
  const all = (select) => [...page.querySelectorAll(select)];
  const answer = document.createElement("pre");
  answer.textContent = JSON.stringify({{{questions}}});
  document.body.replaceChildren(answer);
}}</script>"""
LUMINANCE = """
  contrast: (() => {
    const rgb = text => text.match(/[\\d.]+/g).map(Number);
    const light = c => c <= 10.31 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4;
    const luminance = c => 0.2126 * light(c[0]) + 0.7152 * light(c[1]) + 0.0722 * light(c[2]);
    const behind = node => {
      for (let at = node; at; at = at.parentElement) {
        const c = rgb(view.getComputedStyle(at).backgroundColor);
        if (c.length === 3 || c[3] > 0) return c;
      }
      return [255, 255, 255];
    };
    const written = all("body *").filter(e => !["SCRIPT", "STYLE"].includes(e.tagName)
      && [...e.childNodes].some(one => one.nodeType === 3 && one.textContent.trim()));
    return Math.min(...written.map(e => {
      const ends = [rgb(view.getComputedStyle(e).color), behind(e)].map(luminance);
      return (Math.max(...ends) + 0.05) / (Math.min(...ends) + 0.05);
    }));
  })(),"""
QUESTIONS = f"""{LUMINANCE}
  scripts: [...page.scripts].map(one => one.type),
  acting: all("iframe, object, embed, form, base, [href^='javascript:']").length,
  attributes: all("*").flatMap(e => e.getAttributeNames()).filter(one => one.startsWith("on")),
  images: all("img").map(one => [one.complete, one.naturalWidth, one.width]),
  width: page.documentElement.scrollWidth,
  unreachable: all("*").filter(e => /auto|scroll/.test(view.getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth + 1
    && (e.tabIndex < 0 || !e.getAttribute("aria-label"))).length,
  levels: all("h1, h2, h3, h4").map(h => +h.tagName[1]),"""


def chromium(*arguments):
    """What the browser prints."""
    command = [CHROMIUM, *OPTIONS, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=90)
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of pages: with every optional part, with none, and hostile ones."""
    folder = tmp_path_factory.mktemp("pages")
    row = {"name": "als", "kind": "violated", "reason": "Too much.", "seconds": 3.2}
    hostile = {"name": HOSTILE, "reason": HOSTILE, "link": (HOSTILE, "r.html")}
    against = {"folder": "old", "moves": {"als": ["verdict: not violated, now violated"]}}
    attack = {"folder": HOSTILE, "moves": {HOSTILE: [HOSTILE]}, "new": [HOSTILE]}
    record = make_result()
    pages = {
        "full": render_html(record),
        "bare": render_html(make_samples_result()),
        "hostile": render_html(poison(make_result())),
        "index": render_index(
            [{**row, "link": ("als", "r.html"), "record": record}], {**against, "new": ["b"]}
        ),
        "hostile-index": render_index(
            [{**row, **hostile, "record": poison(make_result())}], attack
        ),
    }
    for name, source in pages.items():
        (folder / f"{name}.html").write_text(source, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["full", "bare", "hostile", "index", "hostile-index"])
def test_a_page_in_a_narrow_frame(folder, name):
    """A data block is no script; hostile text makes no element and no attribute that acts.

    Wide tables scroll inside their own region, which the keyboard can reach. Text stands out from
    what is behind it: 4.5, or 3 for large text (WCAG 2.2, success criterion 1.4.3).
    """
    asking = folder / f"asking-{name}.html"
    asking.write_text(ASKING.format(name=name, width=390, questions=QUESTIONS))
    shown = chromium("--dump-dom", asking.as_uri())
    found = json.loads(html.unescape(re.search("<pre>(.*)</pre>", shown, re.DOTALL)[1]))
    assert set(found["scripts"]) <= {"application/json"}
    assert (found["acting"], found["attributes"], found["unreachable"]) == (0, [], 0)
    assert len(found["images"]) == (0 if "index" in name else 4)
    assert all(done and natural > 100 and width > 100 for done, natural, width in found["images"])
    assert found["width"] <= 390
    assert found["contrast"] >= 3.0
    assert found["levels"][0] == 1
    assert found["levels"].count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(found["levels"]))


@pytest.mark.parametrize("name", ["full", "bare", "index"])
def test_four_pages_of_a4_suffice(folder, name):
    pdf = folder / f"{name}.pdf"
    chromium(f"--print-to-pdf={pdf}", (folder / f"{name}.html").as_uri())
    content = pdf.read_bytes()
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 4
    sides = map(float, re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)", content).groups())
    assert sorted(sides) == pytest.approx([595, 842], abs=1.5)
