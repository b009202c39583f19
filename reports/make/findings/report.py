"""The findings as a page to send to the papers' authors, in Markdown and HTML, and as letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpaudit.verdict.numbers import count
from reports.make import page
from reports.make.findings.statement import FALSE, MISPRINT, PRIVACY, SORTS, Paper
from reports.make.findings.words import (
    ASIDE,
    FAILS,
    HOLDS,
    SIMULATED,
    UNTESTED,
    Row,
    case,
    closest,
    effort,
    fields,
    heading,
    named,
)

HEADS = ("Where", "As printed", "Stated for", "How it was tried", "Note", "Recompute with")
COUNTS = ("Paper", "All", "Hold", "(A)", "(B)", "(C)", "Note", "Simulated", "Not tested")
OUTCOMES = (HOLDS, *SORTS, ASIDE, SIMULATED, UNTESTED)  # the columns after the second
# of a numbered statement that has several parts, the first of these that one of them shows
DECISIVE = (*SORTS, HOLDS, ASIDE, SIMULATED, UNTESTED)


@dataclass(frozen=True)
class Judged:
    """A paper and its statements, tested."""

    paper: Paper
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """ "Paper 1: Lu …, title"."""
        return f"Paper {self.paper.number}: {self.paper.name}, {self.paper.title}"

    @property
    def about(self) -> str:
        """Version of the text, and public code."""
        code = self.paper.code or "none that we know of"
        return f"Our text: {self.paper.version}. Public code: {code}."

    def judged(self, verdict: str) -> list[Row]:
        """The statements with a verdict: HOLDS, FAILS or UNTESTED."""
        return [row for row in self.rows if row.verdict == verdict]

    def failures(self, sort: str) -> list[Row]:
        """The failures of one sort, consequences of other slips included."""
        return [row for row in self.judged(FAILS) if row.statement.fails == sort]

    def causes(self, row: Row) -> list[Row]:
        """The slip that a failure repeats or follows from, or none."""
        return [one for one in self.rows if one.statement.key == row.statement.cause]

    def followers(self, cause: Row) -> list[Row]:
        """The failures that repeat a slip or follow from it."""
        return [row for row in self.judged(FAILS) if row.statement.cause == cause.statement.key]

    def numbered(self) -> dict[str, str]:
        """Each numbered statement with its outcome: that of its worst part."""
        shown: dict[str, set[str]] = {}
        for row in self.rows:
            for number in row.statement.numbers:
                shown.setdefault(number, set()).add(outcome_of(row))
        return {
            number: next(one for one in DECISIVE if one in parts) for number, parts in shown.items()
        }

    def lines(self) -> list[str]:
        """The outcomes of the lines that belong to no numbered statement."""
        return [outcome_of(row) for row in self.rows if not row.statement.numbers]


def outcome_of(row: Row) -> str:
    """The verdict, or the sort of a failure."""
    return row.statement.fails if row.verdict == FAILS else row.verdict


def tally(outcomes: Iterable[str]) -> list[int]:
    """How many there are, and of each of `OUTCOMES`."""
    listed = list(outcomes)
    return [len(listed), *(listed.count(one) for one in OUTCOMES)]


def write(folder: Path, judged: Sequence[Judged]) -> list[Path]:
    """Write findings.md, findings.html and papers/letter-paper-N.md for papers with statements.

    The same findings give the same bytes.
    """
    pages = {"findings.md": markdown(judged), "findings.html": html(judged)} | {
        f"papers/letter-paper-{one.paper.number}.md": letter(one) for one in judged if one.rows
    }
    return [page.write(folder / name, text) for name, text in pages.items()]


def markdown(judged: Sequence[Judged]) -> str:
    """The page as Markdown."""
    return page.render(
        "findings.md",
        introduction=_introduction(),
        sentences=sentences(judged),
        counts=[(caption, page.table(COUNTS, rows)) for caption, rows in _counts(judged)],
        papers=[
            {**_content(one), "holds": page.table(HEADS, _in_code(map(cells, one.judged(HOLDS))))}
            for one in judged
        ],
    )


def html(judged: Sequence[Judged]) -> str:
    """The page as HTML that stands alone."""
    return page.render(
        "findings.html",
        introduction=_introduction(),
        sentences=sentences(judged),
        heads=HEADS,
        counts_heads=COUNTS,
        counts=_counts(judged),
        papers=[
            {
                **_content(one),
                "holds": [(row.statement.key, cells(row)) for row in one.judged(HOLDS)],
            }
            for one in judged
        ],
    )


def _introduction() -> list[str]:
    """Paragraphs."""
    return page.render("findings-introduction.txt").strip().split("\n\n")


def sentences(judged: Sequence[Judged]) -> list[str]:
    """The headline: numbered statements, single lines, then slips by class, each at its root."""
    if not judged:
        return []
    numbered = _by_name(tally(one for each in judged for one in each.numbered().values()))
    lines = _by_name(tally(one for each in judged for one in each.lines()))
    failures = [row.statement for each in judged for row in each.judged(FAILS)]
    roots = [one.fails for one in failures if not one.cause]
    shown = [
        f"{count(numbered['all'])} numbered statements (theorems, lemmas, propositions, "
        "corollaries, claims, remarks, algorithms), each counted once, by the worst of its parts: "
        f"{_in_words(numbered)}.",
        f"{count(lines['all'])} single lines of proofs, prose, figures and experiments: "
        f"{_in_words(lines)}. Many of these lines are here because something is wrong with them, "
        "so they say nothing of how many lines of a paper hold.",
        *(
            f"({sort}) {count(roots.count(sort))} slip{'s' * (roots.count(sort) != 1)}: {meaning}."
            for sort, meaning in SORTS.items()
        ),
    ]
    if following := len(failures) - len(roots):
        shown.append(
            f"{count(following)} more share one of these slips: they repeat it or follow from it. "
            "Each stands in the class of its own failure, and names the slip."
        )
    return shown


def _by_name(numbers: Sequence[int]) -> dict[str, int]:
    return dict(zip(("all", *OUTCOMES), numbers, strict=True))


def _in_words(counts: dict[str, int]) -> str:
    """ "41 hold wherever they were tried, 6 are of class (A) below, …"."""
    failing = ", ".join(f"{count(counts[sort])} of class ({sort})" for sort in SORTS)
    rest = [
        f"{count(counts[ASIDE])} with a note only" * (counts[ASIDE] > 0),
        f"{count(counts[SIMULATED])} simulated again" * (counts[SIMULATED] > 0),
        f"{count(counts[UNTESTED])} not tested, for the reasons given",
    ]
    return ", ".join(
        [
            f"{count(counts[HOLDS])} hold wherever they were tried",
            f"{count(sum(counts[sort] for sort in SORTS))} fail ({failing})",
            *filter(None, rest),
        ]
    )


def _counts(judged: Sequence[Judged]) -> list[tuple[str, list[list[str]]]]:
    """The two tables of counts, each with its caption."""
    numbered = [(one, list(one.numbered().values())) for one in judged]
    lines = [(one, one.lines()) for one in judged]
    return [
        (caption, [[str(one.paper.number), *map(count, tally(each))] for one, each in rows])
        for caption, rows in (
            ("Numbered statements, each counted once, by the worst of its parts", numbered),
            ("Single lines, many of them picked because something is wrong", lines),
        )
    ]


def _content(one: Judged) -> dict[str, object]:
    sorts = [(sort, heading(sort), one.failures(sort)) for sort in SORTS]
    return {
        "number": one.paper.number,
        "name": one.name,
        "about": one.about,
        "well": one.paper.well,
        "advice": one.paper.advice,
        "sorts": [
            (sort, title, [_entry(one, row) for row in rows]) for sort, title, rows in sorts if rows
        ],
        "notes": [_entry(one, row) for row in one.judged(ASIDE)],
        "simulated": [
            (row.statement.key, row.where, row.statement.printed, row.statement.study)
            for row in one.judged(SIMULATED)
        ],
        "untested": [
            (row.statement.key, row.where, row.statement.untested) for row in one.judged(UNTESTED)
        ],
    }


def _entry(judged: Judged, row: Row) -> dict[str, object]:
    causes, followers = judged.causes(row), judged.followers(row)
    return {
        "where": row.where,
        "key": row.statement.key,
        "fields": fields(row, causes, followers),
        "links": {named(one): one.statement.key for one in (*causes, *followers)},
    }


def cells(one: Row) -> list[str]:
    """A line of the table of what holds."""
    statement = one.statement
    tried = " ".join(filter(None, (effort(one), closest(one))))
    note = " ".join(filter(None, (statement.fault, statement.reading, statement.code)))
    return [one.where, statement.printed, statement.stated_for, tried, note, one.command]


def _in_code(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    return [[*cells, f"`{command}`"] for *cells, command in rows]


def letter(judged: Judged) -> str:
    """A summary of one paper as Markdown, courteous and short enough to be sent."""
    return page.render(
        "letter.md",
        paper=judged.paper,
        authors="authors" if " and " in judged.paper.name else "author",
        counts=_by_name(tally(judged.numbered().values())),
        privacy=[_in_full(row, judged) for row in judged.failures(PRIVACY)],
        wrong=[_in_full(row, judged) for row in judged.failures(FALSE)],
        misprints=[_place(row) for row in judged.failures(MISPRINT)],
    )


def _in_full(row: Row, judged: Judged) -> str:
    """Place, fault, the counterexample, the corrected line, and whose slip it shares."""
    statement = row.statement
    first = None if row.outcome is None else row.outcome.first
    example = "" if first is None else case(first, statement.paper)
    causes = [other.statement.place for other in judged.causes(row)]
    parts = (
        f"{row.where}: {statement.fault}.",
        example and f"{example[:1].upper()}{example[1:]}.",
        statement.corrected and f"Corrected: {statement.corrected}.",
        f"It shares the slip of the line “{causes[0]}”." if causes else "",
    )
    return " ".join(filter(None, parts))


def _place(row: Row) -> str:
    """The place without its section, for brevity."""
    place = row.statement.place
    return f"{place[:1].upper()}{place[1:]}"
