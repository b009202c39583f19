"""The findings as a page to send to the papers' authors, in Markdown and HTML, and as letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpaudit.verdict.numbers import count
from reports.make import page
from reports.make.findings.statement import CORNER, MISPRINT, PRIVACY, SORTS, Paper
from reports.make.findings.words import (
    FAILS,
    HOLDS,
    UNTESTED,
    Row,
    case,
    closest,
    effort,
    fields,
    heading,
)

INTRODUCTION = (
    "We wrote the algorithms of these papers as programs and worked out, wherever the law of what "
    "they release is known, how much privacy they give exactly: δ as a function of ε, the largest "
    "P(S) − e^ε Q(S) over all events S, for the outputs P and Q of two neighbouring databases. "
    "Every numbered statement was then held against that, or against the other side of its own "
    "inequality, under the conditions that the paper states.",
    "An inequality is searched for a setting at which it fails: corners and edges of the range, "
    "points spread over it, then optimisation from the closest ones. A failure is made as simple "
    "as it can be. A search that finds nothing proves nothing, so each row says how hard it was "
    "tried. A counterexample is computed and rests on no sampling. The few marked “at least” give "
    "a lower bound of the exact value instead: computed from an event or a part of the output, or "
    "certified from draws at level 1 − 10⁻⁶ where there is no other way. ε is in nats. The words "
    "are those of the texts that we have. Where one of them has been misread, or put right in a "
    "later version, we should be glad to know.",
)
NOTES = (
    "Paper 3, appendix J.2: k was chosen by a grid search for the best performance, and “the "
    "privacy cost of this hyperparameter tuning was not included in our accounting”, as the paper "
    "says itself. The ε of its figure 3 is that of one run at the chosen k.",
    "Paper 4, section 6.2: that scaled Analyze Gauss is consistently worse than the sketches and "
    "than shifted Wishart noise for n < 2^22 was not seen again at n = 2^21 with m = 10 redundant "
    "features, where it had the smallest error of the private estimators, with the noise as "
    "printed and with it put right. This is a simulation, not a count of failures: study "
    "figures-5-and-6-paper-4, `dpaudit run scenarios/papers/paper-4-figures-5-and-6.toml`.",
)
HEADS = ("Where", "As printed", "Stated for", "How it was tried", "Note", "Recompute with")
COUNTS = ("Paper", "Statements", "Hold", "(A)", "(B)", "(C)", "Follow from these", "Not tested")


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
        """Version of the text, and the authors' code."""
        code = self.paper.code or "none that we know of"
        return f"Our text: {self.paper.version}. The authors’ public code: {code}."

    def judged(self, verdict: str) -> list[Row]:
        """The statements with a verdict: HOLDS, FAILS or UNTESTED."""
        return [row for row in self.rows if row.verdict == verdict]

    def slips(self, sort: str) -> list[Row]:
        """The failures of one sort, each a slip of its own."""
        words = [(row, row.statement) for row in self.judged(FAILS)]
        return [row for row, statement in words if statement.fails == sort and not statement.cause]

    def followers(self, cause: Row) -> list[Row]:
        """The failures that follow from a slip."""
        return [row for row in self.judged(FAILS) if row.statement.cause == cause.statement.key]

    def numbers(self) -> list[int]:
        """The columns of the table of counts, after the first."""
        slips = [len(self.slips(sort)) for sort in SORTS]
        following = sum(bool(row.statement.cause) for row in self.judged(FAILS))
        held, untested = (len(self.judged(verdict)) for verdict in (HOLDS, UNTESTED))
        return [len(self.rows), held, *slips, following, untested]


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
        introduction=INTRODUCTION,
        sentences=sentences(judged),
        counts=page.table(COUNTS, _counts(judged)),
        papers=[
            {**_content(one), "holds": page.table(HEADS, _in_code(map(cells, one.judged(HOLDS))))}
            for one in judged
        ],
        notes=NOTES,
    )


def html(judged: Sequence[Judged]) -> str:
    """The page as HTML that stands alone."""
    return page.render(
        "findings.html",
        introduction=INTRODUCTION,
        sentences=sentences(judged),
        heads=HEADS,
        counts_heads=COUNTS,
        counts=_counts(judged),
        papers=[{**_content(one), "holds": list(map(cells, one.judged(HOLDS)))} for one in judged],
        notes=[one.replace("`", "") for one in NOTES],
    )


def sentences(judged: Sequence[Judged]) -> list[str]:
    """The headline: slips of class (A) by root cause, then the others, then what holds."""
    totals = [sum(column) for column in zip(*(one.numbers() for one in judged), strict=True)]
    if not totals:
        return []
    statements, holds, privacy, corner, misprint, following, untested = totals
    shown = [
        f"{count(holds)} of {count(statements)} statements and single lines hold wherever they "
        f"were tried; {count(untested)} were not tested, and the reason is given.",
        *(
            f"({sort}) {count(many)} slip{'s' * (many != 1)}: {SORTS[sort]}."
            for many, sort in zip((privacy, corner, misprint), SORTS, strict=True)
        ),
    ]
    if following:
        shown.append(
            f"{count(following)} more fail only because they follow from one of these slips. They "
            "are listed under it, and not counted again."
        )
    return shown


def _counts(judged: Sequence[Judged]) -> list[list[str]]:
    return [[f"Paper {one.paper.number}", *map(count, one.numbers())] for one in judged]


def _content(one: Judged) -> dict[str, object]:
    return {
        "number": one.paper.number,
        "name": one.name,
        "about": one.about,
        "well": one.paper.well,
        "advice": one.paper.advice,
        "sorts": [
            (heading(slips[0]), [_entry(one, slip) for slip in slips])
            for sort in SORTS
            if (slips := one.slips(sort))
        ],
        "untested": [(row.where, row.statement.untested) for row in one.judged(UNTESTED)],
    }


def _entry(judged: Judged, slip: Row) -> dict[str, object]:
    return {
        "where": slip.where,
        "key": slip.statement.key,
        "fields": fields(slip, judged.followers(slip)),
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
    names = "statements", "holds", "privacy", "corner", "misprint", "following", "untested"
    return page.render(
        "letter.md",
        paper=judged.paper,
        counts=dict(zip(names, map(count, judged.numbers()), strict=True)),
        privacy=[_in_full(slip, judged) for slip in judged.slips(PRIVACY)],
        corner=[
            f"{_place(slip)}: {slip.statement.corrected or slip.statement.fault}."
            for slip in judged.slips(CORNER)
        ],
        misprint=[_place(slip) for slip in judged.slips(MISPRINT)],
        sorts=SORTS,
    )


def _in_full(slip: Row, judged: Judged) -> str:
    """Place, fault, the counterexample, the corrected line, and what follows."""
    statement, led = slip.statement, [other.statement.place for other in judged.followers(slip)]
    first = None if slip.outcome is None else slip.outcome.first
    example = "" if first is None else case(first, statement.paper)
    parts = (
        f"{slip.where}: {statement.fault}.",
        example and f"{example[:1].upper()}{example[1:]}.",
        statement.corrected and f"Put right: {statement.corrected}.",
        f"From it follow {', '.join(led)}." if led else "",
    )
    return " ".join(filter(None, parts))


def _place(slip: Row) -> str:
    """The place without its section, for brevity."""
    place = slip.statement.place
    return f"{place[:1].upper()}{place[1:]}"
