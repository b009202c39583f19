"""The budget of one privacy test: its draws, and its probability of a false failure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil
from types import TracebackType
from typing import NamedTuple

from dpaudit._core import check
from dpaudit.errors import InvalidInput

DRAWS = 100_000  # draws a side of an audit with its search, by default
FALSE_FAILURE = 1e-6
SEED = 0
SMALLEST = 1e-50  # the least probability of a false failure that a test may ask for
NOTE = (
    "The test failed before in this session, and this is the report of that failure. It is not "
    "audited again, since repeating a test until it passes would hide its failures."
)


class Grant(NamedTuple):
    """What one audit may spend: draws a side, without those of a search, its `false_failure`, its
    seed.
    """

    draws: int
    false_failure: float
    seed: int


class Budget:
    """The budget that all audits of one test share.

    When a test is run again, it gets its draws again, but its audits get the next shares of
    `false_failure`, so that this probability holds for all runs together. A test that failed once
    keeps its failure: the next run raises it again.

    Parameters
    ----------
    draws : int, optional
        Draws of each side; None for no limit. An audit that names no number gets all that are left.
        The draws of a search before an audit count too.
    false_failure : float
        Probability, at most, that the test fails although all claims hold; from 1e-50. The k-th
        audit gets the share 1/(k(k + 1)) of it. These shares sum to 1, so the union bound holds for
        any number of audits. An audit that names a probability of its own gets that instead.
    seed : int
        The seed of every audit in the test that names none.
    """

    def __init__(
        self, draws: int | None = None, false_failure: float = FALSE_FAILURE, seed: int = SEED
    ) -> None:
        self.draws = None if draws is None else check.count("draws", draws, 1)
        self.false_failure = _rate("false_failure", false_failure)
        self.seed = check.integer("seed", seed, 0)
        self.spent = self.audits = self._audits_before = 0
        self._ended = False
        self._failure: AssertionError | None = None
        self._traceback: TracebackType | None = None

    @property
    def left(self) -> int | None:
        return None if self.draws is None else self.draws - self.spent

    @property
    def unused(self) -> bool:
        return self.audits == self._audits_before

    def start(self) -> None:
        """Begin a run of the test. If an earlier run has ended, all draws are available again."""
        if self._ended:
            self.spent, self._audits_before, self._ended = 0, self.audits, False

    def end(self, error: BaseException | None) -> None:
        """End a run of the test; `error` ended it, or None. Keep the first `PrivacyFailure`."""
        from dpaudit.testing.failure import PrivacyFailure  # which imports much

        self._ended = True
        if self._failure is None and isinstance(error, PrivacyFailure):
            self._failure, self._traceback = error, error.__traceback__

    def repeat_failure(self) -> None:
        """Raise the failure of an earlier run again: another audit may pass by chance, and would
        hide it.
        """
        if self._failure is None:
            return
        if NOTE not in getattr(self._failure, "__notes__", ()):
            self._failure.add_note(NOTE)
        raise self._failure.with_traceback(self._traceback)

    def grant(
        self,
        draws: int | None,
        false_failure: float | None,
        seed: int | None,
        times: float = 1.0,
    ) -> Grant:
        """Spend what an audit takes; draws : None for all that are left. times : draws of search
        and audit together over those of the audit. Raises `InvalidInput` where too few draws are
        left.
        """
        left = self.left
        most = DRAWS if left is None else left
        audit = int(most / times) if draws is None else draws
        spent = most if draws is None else ceil(draws * times)
        if left is not None and (audit == 0 or spent > left):
            needs = "another audit" if draws is None else f"an audit of {draws:,}"
            search = "" if times == 1.0 else f" and its search, {times:g} times as many in all"
            raise InvalidInput(
                f"draws: the test's budget of {self.draws:,} a side has {left:,} left, "
                f"too few for {needs}{search}; give @pytest.mark.privacy more draws, or each audit "
                "its own draws",
                argument="draws",
            )
        self.audits, self.spent = self.audits + 1, self.spent + spent
        if false_failure is None:
            false_failure = self.false_failure / (self.audits * (self.audits + 1))
        return Grant(audit, false_failure, self.seed if seed is None else seed)


_CURRENT: ContextVar[Budget | None] = ContextVar("dpaudit_budget", default=None)


@contextmanager
def spending(budget: Budget) -> Iterator[Budget]:
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)


def granted(
    draws: int | None,
    rng: int | None = None,
    *,
    false_failure: float | None = None,
    level: float | None = None,
    times: float = 1.0,
) -> Grant:
    """What an audit may spend: a share of the running test's budget if it has one, else what the
    arguments say, or the defaults. draws, times : as in `Budget.grant`. rng : the seed. Raises
    `InvalidInput`.
    """
    if false_failure is not None and level is not None:
        check.fail(
            "level", level, "left out where false_failure is given: one is 1 minus the other"
        )
    if level is not None:
        false_failure = 1.0 - check.real("level", level, 0.0, 1.0, open_=True)
    elif false_failure is not None:
        false_failure = _rate("false_failure", false_failure)
    seed = None if rng is None else check.integer("rng", rng, 0)
    draws = None if draws is None else check.count("draws", draws, 1)
    budget = _CURRENT.get()
    if budget is not None:
        return budget.grant(draws, false_failure, seed, times)
    grant = Budget().grant(draws, false_failure, seed, times)
    return grant if false_failure is not None else grant._replace(false_failure=FALSE_FAILURE)


def _rate(name: str, value: object) -> float:
    rate = check.real(name, value, 0.0, 1.0, open_=True)
    if rate < SMALLEST:
        check.fail(name, value, f"at least {SMALLEST:g}; bounds at smaller rates are not computed")
    return rate
