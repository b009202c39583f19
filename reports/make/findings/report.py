"""The findings as a page to send to the papers' authors, in Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from dpaudit.report.text import number
from reports.make import page
from reports.make.findings.lines import Line, sentences, title, written

PAPERS = {
    1: "Lu, Magdon-Ismail, Wei and Zikas, Privacy-Utility Tradeoff of OLS with Random Projections",
    2: "Cao, Bi and Zhang, Differentially Private Truncation of Unbounded Data via Public Second "
    "Moments",
    3: "Lev, Srinivasan, Shenfeld, Ligett, Sekhari and Wilson, The Gaussian Mixing Mechanism: "
    "Rényi Differential Privacy via Gaussian Sketches",
    4: "Sheffet, Private Approximations of the 2nd-Moment Matrix Using Existing Techniques in "
    "Linear Regression",
}
INTRODUCTION = (
    "We wrote the algorithms of these papers as programs and worked out, wherever the law of what "
    "they release is known, how much privacy they give exactly: δ as a function of ε, the largest "
    "P(S) − e^ε Q(S) over all events S, for the outputs P and Q of two neighbouring databases. "
    "Each line that the papers print was then held against that, not only at the settings of their "
    "experiments but over ranges of them.",
    "A bound on privacy fails if there is one admitted setting, one pair of databases and one ε at "
    "which the exact δ is larger than the printed one. Such a counterexample is computed and rests "
    "on no sampling; the few entries marked “at least” give a lower bound instead, certified from "
    "draws at level 1 − 10⁻⁶ where there is no other way. ε is in nats. The formulas are as in the "
    "texts that we have; where one of them has been misread, or has been put right in a later "
    "version, we should be glad to know.",
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
Cell = tuple[str, ...]
HEADS = ("Where", "As printed", "What is wrong", "Evidence", "Corrected", "Recompute with")
LOOSE_HEADS = (
    "Where",
    "As printed",
    "Quantity",
    "Printed",
    "Exact",
    "Factor",
    "Over the range",
    "Recompute with",
)


def write(folder: str | Path, found: Sequence[Line]) -> tuple[Path, Path]:
    """Write findings.md and findings.html; the same findings give the same bytes."""
    paths = Path(folder) / "findings.md", Path(folder) / "findings.html"
    for path, text in zip(paths, (markdown(found), html(found)), strict=True):
        page.write(path, text)
    return paths


def markdown(found: Sequence[Line]) -> str:
    """The page as Markdown."""
    return page.render(
        "findings.md",
        introduction=INTRODUCTION,
        sentences=tuple(sentences(found)),
        papers=[
            (paper, PAPERS[paper], _table(HEADS, map(cells, lines)))
            for paper, lines in _by_paper(failing(found)).items()
        ],
        loose=_table(LOOSE_HEADS, map(loose_cells, holding(found))),
        notes=NOTES,
    )


def html(found: Sequence[Line]) -> str:
    """The page as HTML that stands alone."""
    return page.render(
        "findings.html",
        introduction=INTRODUCTION,
        sentences=sentences(found),
        papers=[
            (paper, PAPERS[paper], list(map(cells, lines)))
            for paper, lines in _by_paper(failing(found)).items()
        ],
        heads=HEADS,
        loose_heads=LOOSE_HEADS,
        loose=list(map(loose_cells, holding(found))),
        notes=[one.replace("`", "") for one in NOTES],
    )


def failing(found: Sequence[Line]) -> list[Line]:
    """The lines that do not hold as printed."""
    return [one for one in found if one.evidence.violated]


def holding(found: Sequence[Line]) -> list[Line]:
    """The lines that hold."""
    return [one for one in found if not one.evidence.violated]


def cells(one: Line) -> list[Cell]:
    """A line of the first tables, each cell in parts; the verdict leads the evidence."""
    evidence = (
        f"{one.evidence.verdict.capitalize()}.",
        *(f"At {part}." for part in one.shown),
        one.swept,
    )
    printed = f"{one.finding.claim}:", one.finding.formula
    return [
        (one.finding.place,),
        printed,
        (one.finding.fault,),
        evidence,
        one.corrected,
        (one.command,),
    ]


def loose_cells(one: Line) -> list[Cell]:
    """A line of the last table."""
    evidence = one.evidence
    known = evidence.factor is not None and (evidence.quantity != "δ" or evidence.factor < 1e6)
    factor = number(evidence.factor, 3) if known else "–"
    values = [
        (evidence.quantity,),
        (written(evidence.printed),),
        (written(evidence.found),),
        (factor,),
    ]
    printed = f"{one.finding.claim}:", one.finding.formula, one.finding.fault
    return [
        (title(one),),
        printed,
        *values,
        (f"At {one.finding.at(evidence)}.", one.swept),
        (one.command,),
    ]


def _by_paper(found: Sequence[Line]) -> dict[int, list[Line]]:
    return {
        paper: part
        for paper in PAPERS
        if (part := [one for one in found if one.finding.paper == paper])
    }


def _table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    return page.table(heads, map(_joined, rows))


def _joined(row: Sequence[Cell]) -> list[str]:
    """The parts of each cell on lines of their own; the last cell is a command."""
    *parts, command = ["<br>".join(part for part in cell if part) for cell in row]
    return [*parts, f"`{command}`"]
