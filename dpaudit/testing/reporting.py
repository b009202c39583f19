"""The audits of the running test, for pytest's reports. The plugin imports this in every pytest
run, so it imports little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

MATCHES = "matches the curve"
PASSING = ("not violated", MATCHES)  # verdicts with which a test passes


class Audited(NamedTuple):
    """The outcome of one audit in a test.

    facts : texts by name, for JUnit properties. line : the same in one line for the terminal,
    without the verdict. excess : the smallest excess of δ at the claim's ε that the audit would
    have found; infinite if it would have found none.
    """

    facts: dict[str, str]
    line: str
    excess: float

    @property
    def passed(self) -> bool:
        return self.facts["verdict"] in PASSING


class Reporting:
    """The audits of one test, in order.

    show_data : whether to show values of the data. look : called with what an audit will cost,
    before its draws; None if nobody asks for it. lost : what was raised in threads of the test.
    """

    def __init__(self, show_data: bool = False, look: Callable[[str], None] | None = None) -> None:
        self.show_data, self.look = show_data, look
        self.audits: list[Audited] = []
        self.lost: list[BaseException] = []

    @property
    def line(self) -> str:
        """The line of the test: the verdict and line of its audit (the failed or weakest one)."""
        worst = max(self.audits, key=lambda audit: (not audit.passed, audit.excess))
        verdict, many = worst.facts["verdict"], len(self.audits)
        which = f" ({many} audits; the {'weakest' if worst.passed else 'failed'} one)"
        return f"{verdict}{which if many > 1 else ''}: {worst.line}"

    @property
    def properties(self) -> list[tuple[str, str]]:
        """Names and values for JUnit. Names of the second audit begin with "dpaudit.2."."""
        pairs = [("dpaudit.summary", self.line)] if self.audits else []
        for place, audit in enumerate(self.audits, start=1):
            head = "dpaudit." if place == 1 else f"dpaudit.{place}."
            pairs += [(head + name, text) for name, text in audit.facts.items()]
        return pairs


_CURRENT: ContextVar[Reporting | None] = ContextVar("dpaudit_reporting", default=None)


@contextmanager
def reporting(report: Reporting) -> Iterator[Reporting]:
    token = _CURRENT.set(report)
    try:
        yield report
    finally:
        _CURRENT.reset(token)


def tell(audit: Audited) -> None:
    report = _CURRENT.get()
    if report is not None:
        report.audits.append(audit)


def asked_cost() -> Callable[[str], None] | None:
    report = _CURRENT.get()
    return None if report is None else report.look


def may_show(choice: bool | None) -> bool:
    """Whether values of the data may be shown: `choice`, or if None the running test's setting."""
    report = _CURRENT.get()
    return bool(report and report.show_data) if choice is None else choice
