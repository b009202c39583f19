"""The findings as text, Markdown and a page."""

import pytest

from reports.make.findings import FINDINGS, command
from reports.make.findings.lines import line, sentences, values, written
from reports.make.findings.report import HEADS, LOOSE_HEADS, NOTES, html, markdown, write
from tests.reports_make.pages import Page

KEYS = (
    "1-lemma-10",
    "3-algorithm-1-scale",
    "4-theorem-b-4",
    "4-power",
    "4-loose-4-1",
    "4-theorem-b-3",
)


@pytest.fixture(scope="module")
def lines():
    return [line(FINDINGS[key]) for key in KEYS]


def test_a_line_is_made_of_the_numbers(lines):
    ten, scale, undefined, power, loose, held = lines
    assert ten.shown == ("q = 0.2, r = 1, ε = 0.1: δ printed 0.00206, exact 0.0321 (15.6 times)",)
    assert ten.swept.startswith(
        "Fails at 17 of 49 settings swept (q 0.02 to 0.8, ε 0.01 to 5); worst at q = 0.02, ε ="
    )
    assert ten.corrected[1:] == ("Holds at all 49 settings swept.",)
    assert "at least 0.59" in scale.shown[0]
    assert "w/B printed no value, exact 0.654" in undefined.shown[0]
    assert power.shown[0].endswith("2^14 printed 4096, exact 16,384 (4 times)")
    assert power.corrected == ("2^12 = 4,096, or 2^14 = 16,384",)
    assert "k printed 1447, exact 68 (21.3 times)" in loose.shown[0]
    assert loose.swept.endswith("7.57 to 275 times what is needed.")
    assert held.swept.startswith("Holds at all 360 settings swept")
    assert held.corrected == ()
    assert "times" not in values(held.evidence)  # δ is 10³⁷ times smaller, which says nothing
    assert ten.command == "python -m reports.make findings 1-lemma-10"


def test_more_settings_are_parts_of_one_line():
    eleven = line(FINDINGS["1-lemma-11"])
    assert [part.split(":")[0] for part in eleven.shown] == [
        "q = 0.2, r = 3, ε = 0.5",
        "q = 0.5, r = 10, ε = 0.5",
        "q = 0.05, r = 60, ε = 0.05",
    ]
    assert eleven.shown[1].endswith("δ printed 0.137, exact 0.465 (3.4 times)")
    text = markdown([eleven])
    assert all(part in text for part in eleven.shown)
    assert "times).<br>At q = 0.05" in text


def test_what_holds_exactly_has_no_factor():
    tight = line(FINDINGS["2-loose-dp-gd"])
    assert tight.shown == ("μ = 1, T = 1000: μ printed 1, exact 1",)
    assert tight.swept == "Holds at all 9 settings swept (μ 0.1 to 5, T 1 to 1000)."
    one_factor = line(FINDINGS["2-theorem-4-3-loose"])
    assert one_factor.swept.endswith("(μ 0.1 to 5, Tr(Σ) 0.1 to 100), 1.33 times what is needed.")


def test_a_paper_has_its_own_letters():
    assert FINDINGS["2-remark-4-4"].at().startswith("μ = 0.5, ε = 1, n = 1000")
    assert FINDINGS["3-algorithm-1-scale"].at().startswith("C = 100, k = 10,000")
    assert FINDINGS["4-loose-3-1"].at().startswith("r = 1000")


def test_numbers_are_short_but_whole_ones_are_whole():
    assert [written(value) for value in (16384.0, 0.0123456, None, 1e9)] == [
        "16,384",
        "0.0123",
        "–",
        "10⁹",
    ]


def test_the_sentences_count(lines):
    first, second, third = sentences(lines)
    assert first.startswith(
        "6 printed lines are recomputed here. 4 do not hold as printed: 2 promise more privacy"
    )
    assert second.startswith("For 3 of the 4 the corrected line")
    assert third.startswith("2 others hold")


def test_markdown_tables_are_whole(lines):
    rows = [row for row in markdown(lines).splitlines() if row.startswith("|")]
    widths = [row.replace("\\|", "").count("|") - 1 for row in rows]
    assert set(widths) == {len(HEADS), len(LOOSE_HEADS)}
    assert len(rows) == 2 * 4 + 6  # three papers and the loose ones have a head each
    assert "`python -m reports.make findings 4-power`" in markdown(lines)
    assert all(f"- {note}" in markdown(lines) for note in NOTES)


def test_the_page_stands_alone(lines):
    page = Page(html(lines))
    kinds = [tag for tag, _ in page.tags]
    assert "script" not in kinds
    assert kinds.count("table") == 4
    assert all(
        value.startswith("data:")
        for _, attrs in page.tags
        for key, value in attrs.items()
        if key == "href"
    )
    for one in lines:
        assert one.finding.formula in page.text
        assert one.command in page.text


def test_the_files_are_the_same_twice(lines, tmp_path):
    paths = [write(tmp_path / name, lines) for name in ("one", "two")]
    assert [path.name for path in paths[0]] == ["findings.md", "findings.html"]
    for one, two in zip(*paths, strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_the_command_prints_lists_and_writes(tmp_path, capsys):
    assert command.main(["4-power"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(
        "4-power: Paper 4, section 3.1, sizes of the data\n  claim     n runs from 2^14\n"
    )
    assert "verdict   not so" in printed
    assert command.main(["--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(FINDINGS)
    assert command.main(["4-power", "--report", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "findings.html").is_file()
    assert capsys.readouterr().out.splitlines()[0] == str(tmp_path / "findings.md")
    assert command.main(["5-none"]) == 2
    assert "no finding '5-none'" in capsys.readouterr().err
