"""The findings as text, Markdown, a page and letters."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpaudit.testing import reals
from reports.make.findings import PAPERS, STATEMENTS, Paper, Statement, command
from reports.make.findings.evidence import claimed, stated
from reports.make.findings.report import COUNTS, HEADS, Judged, letter, markdown, sentences, tally
from reports.make.findings.statement import FALSE, PRIVACY, SORTS, Searched, Swept
from reports.make.findings.words import (
    ASIDE,
    FAILS,
    HOLDS,
    SIMULATED,
    UNTESTED,
    Row,
    as_text,
    closest,
    counterexamples,
    effort,
    row,
)

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
    replace(SLIP, key="3-lemma-2", place="lemma 2", fails="B", cause="3-lemma-1"),
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
    replace(SLIP, key="3-line", place="a line", fails="", aside=True, fault="it is no claim"),
    Statement("3-figure-1", 3, "figure 1", "section 3", "it wins", study="it did not"),
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
MINE = Paper(
    3,
    "Lev and Ligett",
    "Title",
    "arXiv v1",
    "",
    ("It is good.",),
    ("Mend it.",),
    STATEMENTS_OF_MINE,
)


@pytest.fixture(scope="module")
def mine():
    return Judged(MINE, [row(one) for one in STATEMENTS_OF_MINE])


def test_numbered_statements_are_counted_once_and_apart_from_lines(mine):
    assert mine.numbered() == {
        "lemma 2": "B",
        "lemma 1": "A",
        "lemma 3": "holds",
        "lemma 4": "C",
        "claim 1": "not tested",
        "claim 2": "B",
    }
    assert mine.lines() == ["a note", "simulated"]
    assert tally(mine.numbered().values()) == [6, 1, 1, 2, 1, 0, 0, 1]
    assert len(COUNTS) == 1 + len(tally(mine.lines()))
    part = replace(STATEMENTS_OF_MINE[1], key="3-lemma-3-part", place="lemma 3, its noise")
    whole = Judged(MINE, [*mine.rows, row(part)])
    assert whole.numbered()["lemma 3"] == "A"
    assert len(whole.numbered()) == 6


def test_the_words_are_made_of_the_numbers(mine):
    _, slip, held, _, _, _, _, lacking = mine.rows
    assert counterexamples(slip) == [
        "At q = 2: δ printed 2, exact 4 (2 times).",
        "Worst found at q = 4: δ printed 4, exact 16 (4 times).",
    ]
    assert effort(held).startswith("Holds at all 200 settings searched (q 0.01 to 4; ")
    assert effort(held).endswith(" more are excluded by the hypotheses).")
    assert closest(held) == "Closest at q = 4: δ printed 16, exact 16 (equal)."
    assert effort(lacking) == "Fails at 1 of 2 settings computed (n 1 to 2)."
    aside = replace(lacking.statement, fails="", aside=True)
    assert effort(row(aside)) == "Seen at 1 of 2 settings computed (n 1 to 2)."
    text = as_text(slip)
    assert text.startswith("3-lemma-1: paper 3, Lemma 1 (appendix B)\n  fails, (A) More privacy is")
    assert "  Corrected: 4q.\n  Corrected: Holds at all 200 settings searched (q 0.01 to 4)" in text
    assert "\n  Public code: has 4q\n" in text


def test_markdown_tables_are_whole(mine):
    text = markdown([mine])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") - 1 for line in rows} == {len(HEADS), len(COUNTS)}
    assert "- As printed: δ ≤ q | always" in text
    assert "`python -m reports.make findings 3-lemma-3`" in text
    assert "- Its slip is shared by: Lemma 2 (appendix B), class (B)" in text
    assert "- Shares the slip of: Lemma 1 (appendix B), class (A)" in text
    assert text.index("(C) A misprint") < text.index("Notes on paper 3") < text.index("**A line")
    assert "- Figure 1 (section 3): “it wins”. it did not" in text
    assert text.index("What holds in paper 3") < text.index("What to put right in paper 3")
    assert text.index("(A) More") < text.index("(B) False") < text.index("(C) A misprint")
    assert "- Claim 1 (section 3): a quotation" in text


def test_the_letter_says_every_fault_with_its_number_and_correction(mine):
    text = letter(mine)
    assert text.index("From: [name") < text.index("To: [e-mail") < text.index("Dear authors,")
    assert "We compared 5 of its 6 numbered statements" in text
    assert "the other 1" in text
    assert (
        "1. Lemma 1 (appendix B): it is squared. At q = 2: δ printed 2, exact 4 (2 times)." in text
    )
    assert "Corrected: 4q." in text
    assert (
        "- Lemma 2 (appendix B): it is squared. At q = 2: δ printed 2, exact 4 (2 times). "
        "Corrected: 4q. It shares the slip of the line “lemma 1”." in text
    )
    assert "- Claim 2 (section 3): it lacks n = 1. At n = 2: x printed 1, exact 2" in text
    assert "Misprints, of the paper or of our text: Lemma 4." in text
    assert "no claim" not in text
    alone = Judged(replace(MINE, name="Sheffet"), mine.rows)
    assert "Dear author,\n" in letter(alone)


class Said(Row):
    """A statement with the outcome that it says of itself; no test is run."""

    @property
    def verdict(self) -> str:
        one = self.statement
        if one.fails or one.aside:
            return FAILS if one.fails else ASIDE
        return HOLDS if one.test is not None else SIMULATED if one.study else UNTESTED


def said() -> list[Judged]:
    return [Judged(one, [Said(each, None, None) for each in one.statements]) for one in PAPERS]


def test_the_pages_and_the_readme_have_the_counts_of_the_statements():
    for page in ("findings.md", "findings.html"):
        text = (ROOT / "reports" / page).read_text(encoding="utf-8")
        assert all(sentence in text for sentence in sentences(said())), page
    numbered = [outcome for one in said() for outcome in one.numbered().values()]
    failures = sum(outcome in SORTS for outcome in numbered)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert (
        f"[their {len(numbered)} numbered statements](docs/printed-bounds.md). Of these "
        f"{numbered.count(HOLDS)} hold wherever they were tried, and {failures} fail, "
        f"{numbered.count(PRIVACY)} of which promise more privacy than there is."
    ) in readme


def test_the_table_of_algorithms_has_the_classes_of_the_statements():
    """In docs/papers.md, of every violated algorithm that is a numbered statement."""
    classes = {
        (one.paper.number, name): worst for one in said() for name, worst in one.numbered().items()
    }
    rows = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines()
    checked = 0
    for cells in (line.split(" | ") for line in rows if "[violated]" in line):
        paper, place = cells[0].removeprefix("| ").split(", ", 1)
        for name in Statement("1-any", 1, place, "", "x").numbers:
            shown = re.search(r"\[violated\]\S* \((A|B|note)", cells[4])
            assert shown is not None, cells
            assert classes[int(paper), name].removeprefix("a ") == shown[1], cells
            checked += 1
    assert checked >= 8


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: f"paper-{paper.number}")
def test_the_committed_letters_can_be_sent(paper):
    kept = ROOT / "reports" / "papers" / f"letter-paper-{paper.number}.md"
    text = kept.read_text(encoding="utf-8")
    assert paper.title in text
    sent = [one for one in paper.statements if one.fails in (PRIVACY, FALSE)]
    assert all(" ".join(one.fault.split()) in text for one in sent)
    assert all(f"Corrected: {one.corrected}." in text for one in sent)


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
