"""The findings as text, Markdown, a page and letters."""

from dataclasses import replace
from pathlib import Path

import pytest

from dpaudit.testing import reals
from reports.make.findings import PAPERS, STATEMENTS, Paper, Statement, command
from reports.make.findings.evidence import claimed, stated
from reports.make.findings.report import (
    COUNTS,
    HEADS,
    NOTES,
    Judged,
    html,
    letter,
    markdown,
    sentences,
)
from reports.make.findings.statement import SORTS, Searched, Swept
from reports.make.findings.words import as_text, closest, counterexamples, effort, row
from tests.reports_make.pages import Page

ROOT = Path(__file__).parents[2]
SQUARE = Searched(
    lambda leverage: leverage,
    lambda leverage: leverage**2,
    {"leverage": reals(0.01, 4.0)},
    tries=200,
    fixed={"printed": lambda leverage: 4.0 * leverage},
)
MENDED = SQUARE.corrected
SLIP = Statement(
    "3-lemma-1",
    3,
    "lemma 1",
    "appendix B",
    "δ ≤ q | always",
    "q ≥ 0",
    test=SQUARE,
    fails="A",
    fault="it is squared",
    corrected="4q",
    code="has 4q",
)
STATEMENTS_OF_MINE = (
    replace(SLIP, key="3-lemma-2", place="lemma 2", cause="3-lemma-1"),
    SLIP,
    Statement(
        "3-lemma-3",
        3,
        "lemma 3",
        "section 2",
        "δ ≤ 4q",
        "",
        test=replace(MENDED, hypotheses=lambda leverage: leverage > 0.1),
        fault="loose",
    ),
    Statement("3-lemma-4", 3, "lemma 4", "section 3", "E x = 1", fails="C", fault="E is missing"),
    Statement("3-claim-1", 3, "claim 1", "section 3", "as is known", untested="a quotation"),
    Statement(
        "3-claim-2",
        3,
        "claim 2",
        "section 3",
        "x = 1",
        test=Swept(lambda rows: stated("x", 1.0, float(rows)), {"rows": 2}, {"rows": (1, 2)}),
        fails="B",
        fault="it lacks n = 1",
        corrected="n = 1",
    ),
)
MINE = Paper(3, "Lev", "Title", "arXiv v1", "", ("It is good.",), ("Mend it.",), STATEMENTS_OF_MINE)


@pytest.fixture(scope="module")
def mine():
    return Judged(MINE, [row(one) for one in STATEMENTS_OF_MINE])


def test_each_statement_stands_where_it_belongs(mine):
    def keys(rows):
        return [one.statement.key for one in rows]

    assert keys(mine.judged("holds")) == ["3-lemma-3"]
    assert [keys(mine.slips(sort)) for sort in SORTS] == [
        ["3-lemma-1"],
        ["3-claim-2"],
        ["3-lemma-4"],
    ]
    assert keys(mine.followers(mine.rows[1])) == ["3-lemma-2"]
    assert keys(mine.judged("not tested")) == ["3-claim-1"]
    assert mine.numbers() == [6, 1, 1, 1, 1, 1, 1]
    assert len(COUNTS) == 1 + len(mine.numbers())


def test_the_words_are_made_of_the_numbers(mine):
    _, slip, held, _, _, lacking = mine.rows
    assert counterexamples(slip) == [
        "At q = 2: δ printed 2, exact 4 (2 times).",
        "Worst found at q = 4: δ printed 4, exact 16 (4 times).",
    ]
    assert effort(held).startswith("Holds at all 200 settings searched (q 0.01 to 4; ")
    assert effort(held).endswith(" more are excluded by the hypotheses).")
    assert closest(held) == "Closest at q = 4: δ printed 16, exact 16 (equal)."
    assert effort(lacking) == "Fails at 1 of 2 settings computed (n 1 to 2)."
    text = as_text(slip)
    assert text.startswith("3-lemma-1: paper 3, Lemma 1 (appendix B)\n  fails, (A) More privacy is")
    assert "  Corrected: 4q.\n  Corrected: Holds at all 200 settings searched (q 0.01 to 4)" in text
    assert "\n  The authors’ code: has 4q\n" in text


def test_the_sentences_count_slips_by_class(mine):
    first, privacy, corner, misprint, follow = sentences([mine])
    assert first == (
        "1 of 6 statements and single lines hold wherever they were tried; 1 were not tested, and "
        "the reason is given."
    )
    assert privacy.startswith("(A) 1 slip: more privacy is promised than there is")
    assert corner.startswith("(B) 1 slip: ")
    assert misprint.startswith("(C) 1 slip: ")
    assert follow.startswith("1 more fail only because they follow from one of these slips")


def test_markdown_tables_are_whole(mine):
    text = markdown([mine])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") - 1 for line in rows} == {len(HEADS), len(COUNTS)}
    assert "- As printed: δ ≤ q | always" in text
    assert "`python -m reports.make findings 3-lemma-3`" in text
    assert "  - Lemma 2 (appendix B): δ ≤ q | always." in text or "Follows from it: Lemma 2" in text
    assert text.index("What holds in paper 3") < text.index("What to put right in paper 3")
    assert text.index("(A) More") < text.index("(B) A condition") < text.index("(C) A misprint")
    assert "- Claim 1 (section 3): a quotation" in text
    assert all(f"- {note}" in text for note in NOTES)


def test_the_page_stands_alone(mine):
    page = Page(html([mine]))
    kinds = [tag for tag, _ in page.tags]
    assert "script" not in kinds
    assert (kinds.count("table"), kinds.count("article")) == (2, 3)
    links = [value for _, attrs in page.tags for key, value in attrs.items() if key == "href"]
    assert all(link.startswith("data:") for link in links)
    for one in mine.rows:
        if one.verdict != "not tested":
            assert one.statement.printed in page.text
            assert one.command in page.text


def test_the_letter_is_one_page(mine):
    text = letter(mine)
    assert (
        "1. Lemma 1 (appendix B): it is squared. At q = 2: δ printed 2, exact 4 (2 times)." in text
    )
    assert "Put right: 4q. From it follow lemma 2." in text
    assert "- Claim 2: n = 1." in text
    assert "Misprints, of the paper or of our text: Lemma 4." in text
    assert "1 statements hold wherever we tried them; the lines below" in text


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: f"paper-{paper.number}")
def test_the_committed_letters_fit_a_page(paper):
    kept = ROOT / "reports" / "papers" / f"letter-paper-{paper.number}.md"
    text = kept.read_text(encoding="utf-8")
    assert len(text) <= 5_000
    assert paper.title in text


# The command


def test_the_command_prints_lists_and_writes(tmp_path, capsys):
    assert command.main(["1-lemma-7"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1-lemma-7: paper 1, Lemma 7 (section 4)\n  fails, (B) ")
    assert command.main(["--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(STATEMENTS)
    assert command.main(["1-lemma-7", "--report", "--out", str(tmp_path)]) == 0
    names = "findings.md", "findings.html", "papers/letter-paper-1.md"
    shown = [str(tmp_path / name) for name in names]
    assert capsys.readouterr().out.splitlines() == shown
    assert command.main(["5-none"]) == 2
    assert "no finding '5-none'" in capsys.readouterr().err
    assert len(command.find("paper-1")) == len(PAPERS[0].statements)


def test_no_page_is_written_while_a_test_disagrees(tmp_path, capsys, monkeypatch):
    wrong = Statement(
        "1-wrong",
        1,
        "lemma 0",
        "",
        "x ≤ 1",
        test=Swept(lambda: claimed(1.0, 2.0, quantity="x"), {}),
    )
    monkeypatch.setitem(command.STATEMENTS, "1-wrong", wrong)
    assert command.main(["1-wrong", "--report", "--out", str(tmp_path)]) == 1
    assert not list(tmp_path.iterdir())
    assert "1-wrong is said to be one that holds, but its test shows that it fails" in (
        capsys.readouterr().err
    )
