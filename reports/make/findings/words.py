"""A statement in words: what came of it, made from its numbers, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.verdict.numbers import count, number
from reports.make import page
from reports.make.findings.evidence import CERTIFIED, TIGHT, Evidence
from reports.make.findings.evidence import HOLDS as LOOSE_KIND
from reports.make.findings.outcome import Case, Outcome, outcome, symbol
from reports.make.findings.statement import SORTS, Statement

HOLDS, FAILS, ASIDE = "holds", "fails", "a note"
SIMULATED, UNTESTED = "simulated", "not tested"
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
        """What came of it; a failure that is read off the text needs no test."""
        if self.outcome is not None:
            shown = ASIDE if self.statement.aside else FAILS
            return HOLDS if self.outcome.holds else shown
        if self.statement.fails:
            return FAILS
        return SIMULATED if self.statement.study else UNTESTED

    @property
    def agrees(self) -> bool:
        """Whether the test shows what the statement says of itself."""
        expected = bool(self.statement.fails), self.statement.aside
        return (self.verdict == FAILS, self.verdict == ASIDE) == expected

    @property
    def command(self) -> str:
        """What recomputes it."""
        return page.command("findings", self.statement.key)

    @property
    def where(self) -> str:
        """ "Lemma 10 (appendix D.2)"."""
        place, section = self.statement.place, self.statement.section
        known = not section or place.startswith(section)
        return _capital(place) if known else f"{_capital(place)} ({section})"


def row(statement: Statement) -> Row:
    """Test a statement and its corrected line now."""
    printed, fixed = (
        None if test is None else outcome(test, statement.paper)
        for test in (statement.test, statement.fixed)
    )
    return Row(statement, printed, fixed)


def setting(values: Mapping[str, Any], paper: int) -> str:
    """ "q = 0.2, r = 1"."""
    return ", ".join(f"{symbol(paper, name)} = {_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value, DIGITS) if numeric else str(value)


def case(entry: Case, paper: int) -> str:
    """ "at q = 0.2, r = 1: δ printed 0.00206, exact 0.0321 (15.6 times)"."""
    at = ", ".join(filter(None, (setting(entry.setting, paper), entry.evidence.at)))
    return f"at {at}: {values(entry.evidence)}" if at else values(entry.evidence)


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


def counterexamples(entry: Row) -> list[str]:
    """The failing settings, the plainest first, then the worst."""
    result = entry.outcome
    if result is None or result.holds:
        return []
    named = [part for part in result.named if part.evidence.violated]
    shown = named or [part for part in (result.simplest or result.worst,) if part is not None]
    texts = [f"{_capital(case(part, entry.statement.paper))}." for part in shown]
    if result.worst is not None and result.worst.setting not in [part.setting for part in shown]:
        texts.append(f"Worst found {case(result.worst, entry.statement.paper)}.")
    return texts


def searched(result: Outcome) -> str:
    """ "1,000 settings searched (q 0.01 to 0.9; 12 more are excluded by the hypotheses)"."""
    excluded = f"{count(result.excluded)} more are excluded by the hypotheses" * (
        result.excluded > 0
    )
    inside = "; ".join(filter(None, (result.ranges, excluded)))
    how = "searched" if result.failed is None else "computed"
    many = f"{count(result.tried)} setting{'s' * (result.tried != 1)} {how}"
    return f"{many} ({inside})" if inside else many


def effort(entry: Row) -> str:
    """How hard a statement was tried: "Holds at all … settings searched", or how often it fails."""
    result = entry.outcome
    if result is None:
        return ""
    if result.holds:
        return f"Holds at all {searched(result)}." if result.tried > 1 else "Holds."
    if result.failed is None or result.tried == 1:
        return f"{_capital(searched(result))}."
    shown = "Seen" if entry.verdict == ASIDE else "Fails"
    return f"{shown} at {count(result.failed)} of {searched(result)}."


def closest(entry: Row) -> str:
    """Where a statement that holds has the least room; of an equality how well the sides agree."""
    result = entry.outcome
    if result is None or not result.holds or result.closest is None:
        return ""
    return f"{_capital(_room(result.closest, entry.statement.paper))}."


def _room(closest: Case, paper: int) -> str:
    evidence = closest.evidence
    if evidence.verdict != TIGHT:
        return f"closest {case(closest, paper)}"
    apart = (evidence.factor or 1.0) - 1.0
    return "both sides agree" + f" to {number(apart, 1, up=True)}, relatively" * (apart > 0.0)


def correction(entry: Row) -> list[str]:
    """The corrected line, and what came of the same test of it."""
    text = entry.statement.corrected
    if not text:
        return []
    result = entry.fixed
    if result is None:
        return [_sentence(text)]
    if result.holds:
        at = f"; {_room(result.closest, entry.statement.paper)}" if result.closest else ""
        return [_sentence(text), f"Holds at all {searched(result)}{at}."]
    at = case(result.first, entry.statement.paper) if result.first else ""
    return [_sentence(text), f"Does NOT hold: {at}."]


def fields(
    entry: Row, causes: Sequence[Row] = (), followers: Sequence[Row] = ()
) -> list[tuple[str, list[str]]]:
    """An entry: label and paragraphs of each part that it has.

    causes : the slip that it shares, or none. followers : what shares its own slip.
    """
    statement = entry.statement
    parts: list[tuple[str, list[str]]] = [
        ("As printed", [statement.printed]),
        ("Stated for", [statement.stated_for]),
        ("Reading", [statement.reading]),
        ("What is wrong" if entry.verdict == FAILS else "Note", [_sentence(statement.fault)]),
        ("Shares the slip of", [named(other) for other in causes]),
        ("Counterexample" if entry.verdict == FAILS else "Setting", counterexamples(entry)),
        ("Tried", [effort(entry), closest(entry)]),
        ("Corrected" if entry.verdict == FAILS else "Condition", correction(entry)),
        ("Public code", [statement.code]),
        ("Not tested", [_sentence(statement.untested)]),
        ("Simulated", [_sentence(statement.study)]),
        ("Its slip is shared by", [named(other) for other in followers]),
        ("Recompute with", [entry.command]),
    ]
    return [(label, kept) for label, texts in parts if (kept := [text for text in texts if text])]


def named(entry: Row) -> str:
    """ "Theorem C.3 (appendix C), class (B)"."""
    return f"{entry.where}, class ({entry.statement.fails})"


def heading(sort: str) -> str:
    """ "(A) More privacy is promised than there is, where a user would meet it"."""
    return f"({sort}) {_capital(SORTS[sort])}"


def as_text(entry: Row) -> str:
    """A statement as lines of text."""
    statement = entry.statement
    verdict = f"{entry.verdict}, {heading(statement.fails)}" if statement.fails else entry.verdict
    if not entry.agrees:
        verdict += (
            " (its sort is not given)" if entry.verdict == FAILS else f", not {statement.fails}"
        )
    cause = f", shares the slip of {statement.cause}" if statement.cause else ""
    lines = [f"{statement.key}: paper {statement.paper}, {entry.where}", f"  {verdict}{cause}"]
    lines += [f"  {label}: {text}" for label, texts in fields(entry) for text in texts]
    return "\n".join(lines)


def _capital(text: str) -> str:
    """The text with a capital, unless a formula begins it."""
    word = text.split(" ")[0].rstrip(",;:")
    plain = word == "a" or (word.isalpha() and len(word) > 1)
    return text[:1].upper() + text[1:] if plain else text


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "?", "!")) else f"{_capital(text)}."
