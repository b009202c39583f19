"""A statement in words: what came of it, made from its numbers, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.report.text import count, number
from reports.make import page
from reports.make.findings.evidence import CERTIFIED, TIGHT, Evidence
from reports.make.findings.evidence import HOLDS as LOOSE_KIND
from reports.make.findings.outcome import Case, Outcome, outcome, symbol
from reports.make.findings.statement import SORTS, Statement

HOLDS, FAILS, UNTESTED = "holds", "fails", "not tested"
DIGITS = 6  # of a number in a setting
EQUAL = 1e-9
TOO_MUCH = 1e4  # the factor of a looser δ is not shown


@dataclass(frozen=True)
class Row:
    """A statement with what came of its test, and of the test of its corrected line."""

    statement: Statement
    outcome: Outcome | None
    fixed: Outcome | None

    @property
    def verdict(self) -> str:
        """ "holds", "fails" or "not tested"; a failure that is read off the text needs no test."""
        if self.outcome is None:
            return FAILS if self.statement.fails else UNTESTED
        return HOLDS if self.outcome.holds else FAILS

    @property
    def agrees(self) -> bool:
        """Whether the test shows what the statement says of itself."""
        return (self.verdict == FAILS) == bool(self.statement.fails)

    @property
    def command(self) -> str:
        """What recomputes it."""
        return page.command("findings", self.statement.key)

    @property
    def where(self) -> str:
        """ "Lemma 10 (appendix D.2)"."""
        section = f" ({self.statement.section})" if self.statement.section else ""
        return f"{_capital(self.statement.place)}{section}"


def row(statement: Statement) -> Row:
    """Test a statement and its corrected line now."""
    printed, fixed = (
        None if test is None else outcome(test, statement.paper)
        for test in (statement.test, statement.fixed)
    )
    return Row(statement, printed, fixed)


def setting(given: Mapping[str, Any], paper: int) -> str:
    """ "q = 0.2, r = 1"."""
    return ", ".join(f"{symbol(paper, name)} = {_value(one)}" for name, one in given.items())


def _value(value: Any) -> str:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value, DIGITS) if numeric else str(value)


def case(one: Case, paper: int) -> str:
    """ "at q = 0.2, r = 1: δ printed 0.00206, exact 0.0321 (15.6 times)"."""
    at = ", ".join(filter(None, (setting(one.setting, paper), one.evidence.at)))
    return f"at {at}: {values(one.evidence)}" if at else values(one.evidence)


def values(evidence: Evidence) -> str:
    """What is printed and what is so, with the factor between them: "δ printed …, exact …"."""
    sort = "at least" if evidence.kind == CERTIFIED else "exact"
    known = evidence.factor is not None and _meaningful(evidence)
    factor = f" ({times(evidence.factor)})" if known else ""
    printed = "no value" if evidence.printed is None else written(evidence.printed)
    return f"{evidence.quantity} printed {printed}, {sort} {written(evidence.found)}{factor}"


def times(factor: float | None) -> str:
    """ "15.6 times", "1.00098 times", "equal"."""
    if factor is not None and factor - 1.0 < EQUAL:
        return "equal"
    return f"{number(factor, 3 if factor is None or factor > 1.05 else DIGITS)} times"


def written(value: float | None) -> str:
    """Three digits, but a whole number up to 10⁷ in full."""
    whole = value is not None and abs(value) < 1e7 and value == round(value)
    return number(round(value), 3) if whole and value is not None else number(value, 3)


def _meaningful(evidence: Evidence) -> bool:
    """Whether the factor is shown: not of an equality, nor of a δ far below the printed one."""
    if evidence.verdict == TIGHT:
        return False
    of_use = evidence.quantity != "δ" or (evidence.factor or 0.0) < TOO_MUCH
    return evidence.kind != LOOSE_KIND or of_use


def counterexamples(one: Row) -> list[str]:
    """The failing settings, the plainest first, then the worst."""
    found = one.outcome
    if found is None or found.holds:
        return []
    named = [part for part in found.named if part.evidence.violated]
    shown = named or [part for part in (found.simplest or found.worst,) if part is not None]
    texts = [f"{_capital(case(part, one.statement.paper))}." for part in shown]
    if found.worst is not None and found.worst.setting not in [part.setting for part in shown]:
        texts.append(f"Worst found {case(found.worst, one.statement.paper)}.")
    return texts


def searched(found: Outcome) -> str:
    """ "1,000 settings searched (q 0.01 to 0.9; 12 more are excluded by the hypotheses)"."""
    excluded = f"{count(found.excluded)} more are excluded by the hypotheses" * (found.excluded > 0)
    inside = "; ".join(filter(None, (found.ranges, excluded)))
    how = "searched" if found.failed is None else "computed"
    many = f"{count(found.tried)} setting{'s' * (found.tried != 1)} {how}"
    return f"{many} ({inside})" if inside else many


def effort(one: Row) -> str:
    """How hard a statement was tried: "Holds at all … settings searched", or how often it fails."""
    found = one.outcome
    if found is None:
        return ""
    if found.holds:
        return f"Holds at all {searched(found)}." if found.tried > 1 else "Holds."
    if found.failed is None or found.tried == 1:
        return f"{_capital(searched(found))}."
    return f"Fails at {count(found.failed)} of {searched(found)}."


def closest(one: Row) -> str:
    """Where a statement that holds has the least room; of an equality how well the sides agree."""
    found = one.outcome
    if found is None or not found.holds or found.closest is None:
        return ""
    return f"{_capital(_room(found.closest, one.statement.paper))}."


def _room(closest: Case, paper: int) -> str:
    evidence = closest.evidence
    if evidence.verdict != TIGHT:
        return f"closest {case(closest, paper)}"
    apart = (evidence.factor or 1.0) - 1.0
    return "both sides agree" + f" to {number(apart, 1, up=True)}, relatively" * (apart > 0.0)


def correction(one: Row) -> list[str]:
    """The corrected line, and what came of the same test of it."""
    text = one.statement.corrected
    if not text:
        return []
    found = one.fixed
    if found is None:
        return [_sentence(text)]
    if found.holds:
        at = f"; {_room(found.closest, one.statement.paper)}" if found.closest else ""
        return [_sentence(text), f"Holds at all {searched(found)}{at}."]
    at = case(found.first, one.statement.paper) if found.first else ""
    return [_sentence(text), f"Does NOT hold: {at}."]


def fields(one: Row, followers: Sequence[Row] = ()) -> list[tuple[str, list[str]]]:
    """An entry: label and paragraphs of each part that it has."""
    said = one.statement
    parts: list[tuple[str, list[str]]] = [
        ("As printed", [said.printed]),
        ("Stated for", [said.stated_for]),
        ("Reading", [said.reading]),
        ("Note" if one.verdict == HOLDS else "What is wrong", [_sentence(said.fault)]),
        ("Counterexample", counterexamples(one)),
        ("Tried", [effort(one), closest(one)]),
        ("Corrected", correction(one)),
        ("The authors’ code", [said.code]),
        ("Not tested", [_sentence(said.untested)]),
        ("Follows from it", [follower(other) for other in followers]),
        ("Recompute with", [one.command]),
    ]
    return [(label, kept) for label, texts in parts if (kept := [text for text in texts if text])]


def follower(one: Row) -> str:
    """A failure that follows from another slip, in one paragraph."""
    said = one.statement
    parts = [
        f"{one.where}: {said.printed}",
        _sentence(said.fault),
        *counterexamples(one)[:1],
        *correction(one),
        f"[{one.command}]",
    ]
    return " ".join(part if part.endswith((".", "]", "?", "!")) else f"{part}." for part in parts)


def heading(one: Row) -> str:
    """ "(A) More privacy is promised than there is, where a user would meet it"."""
    return f"({one.statement.fails}) {_capital(SORTS[one.statement.fails])}"


def as_text(one: Row) -> str:
    """A statement as lines of text."""
    said = one.statement
    verdict = f"{one.verdict}, {heading(one)}" if said.fails else one.verdict
    if not one.agrees:
        verdict += " (its sort is not given)" if one.verdict == FAILS else f", not {said.fails}"
    cause = f", follows from {said.cause}" if said.cause else ""
    lines = [f"{said.key}: paper {said.paper}, {one.where}", f"  {verdict}{cause}"]
    lines += [f"  {label}: {text}" for label, texts in fields(one) for text in texts]
    return "\n".join(lines)


def _capital(text: str) -> str:
    """With a capital, unless a formula begins it."""
    word = text.split(" ")[0].rstrip(",;:")
    plain = word == "a" or (word.isalpha() and len(word) > 1)
    return text[:1].upper() + text[1:] if plain else text


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "?", "!")) else f"{_capital(text)}."
