"""A letter-sized summary of one paper, courteous and short enough to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpaudit.report.text import count
from reports.make import page
from reports.make.findings.report import Judged
from reports.make.findings.statement import CORNER, MISPRINT, PRIVACY, SORTS
from reports.make.findings.words import Row, case

FOLDER = "papers"


def write(folder: str | Path, judged: Sequence[Judged]) -> list[Path]:
    """Write papers/letter-paper-N.md for each paper that has statements."""
    paths = []
    for one in judged:
        if one.rows:
            path = Path(folder) / FOLDER / f"letter-paper-{one.paper.number}.md"
            paths.append(page.write(path, letter(one)))
    return paths


def letter(judged: Judged) -> str:
    """The letter as Markdown."""
    return page.render(
        "letter.md",
        paper=judged.paper,
        counts=_counts(judged),
        privacy=[_in_full(one, judged) for one in judged.slips(PRIVACY)],
        corner=[_in_short(one) for one in judged.slips(CORNER)],
        misprint=[_place(one) for one in judged.slips(MISPRINT)],
        sorts=SORTS,
    )


def _counts(judged: Judged) -> dict[str, str]:
    names = "statements", "holds", "privacy", "corner", "misprint", "following", "untested"
    return dict(zip(names, map(count, judged.numbers()), strict=True))


def _in_full(one: Row, judged: Judged) -> str:
    """Place, fault, the counterexample, the corrected line, and what follows."""
    said, led = one.statement, [other.statement.place for other in judged.followers(one)]
    follows = f"From it follow {', '.join(led)}." if led else ""
    put_right = f"Put right: {said.corrected}." if said.corrected else ""
    return " ".join(
        filter(None, (f"{one.where}: {said.fault}.", _example(one), put_right, follows))
    )


def _in_short(one: Row) -> str:
    """Place, and the corrected line; the fault where there is none."""
    return f"{_place(one)}: {one.statement.corrected or one.statement.fault}."


def _place(one: Row) -> str:
    """Without its section, for brevity."""
    place = one.statement.place
    return f"{place[:1].upper()}{place[1:]}"


def _example(one: Row) -> str:
    first = None if one.outcome is None else one.outcome.first
    if first is None:
        return ""
    text = case(first, one.statement.paper)
    return f"{text[:1].upper()}{text[1:]}."
