"""The budget of one test: draws, and the probability of a false failure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil
from types import TracebackType
from typing import NamedTuple

from dpaudit._core import check
from dpaudit.errors import InvalidInput

SAMPLES = 100_000  # draws a side of an audit with its search, by default
FALSE_FAILURE = 1e-6
SEED = 0
SMALLEST = 1e-50  # rate of false failures
NOTE = (
    "The test failed before in this session, and this is the report of that failure. It is not "
    "audited again: a rerun that passes would void its level."
)


class Grant(NamedTuple):
    """What an audit may spend: draws a side, probability of a false failure, and its seed.

    A search before the audit has draws beside these.
    """

    samples: int
    false_failure: float
    seed: int


class Budget:
    """The budget of one test, for all its audits together.

    A test that is run again has its draws again, but not its shares: they go on where they were, so
    that `false_failure` holds for all runs together. A failure stands: it is raised again.

    Parameters
    ----------
    draws : int, optional
        A side; None for no limit. An audit that asks for no number gets all that are left. The
        draws of a search before an audit count too.
    false_failure : float
        Probability, at most, that the test fails although all claims hold; from 1e-50. The k-th
        audit gets the share 1/(k(k + 1)) of it. These shares sum to 1, so the union bound holds for
        any number of audits. An audit with a rate of its own gets that rate instead.
    seed : int
        Of every audit in the test.
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
        """Draws a side that are not yet spent; None for no limit."""
        return None if self.draws is None else self.draws - self.spent

    @property
    def unused(self) -> bool:
        """Whether this run of the test has audited nothing."""
        return self.audits == self._audits_before

    def start(self) -> None:
        """Begin a run of the test: after the end of another run, its draws are there again."""
        if self._ended:
            self.spent, self._audits_before, self._ended = 0, self.audits, False

    def end(self, error: BaseException | None) -> None:
        """End a run of the test. The first `PrivacyFailure` that ended a run is kept."""
        from dpaudit.testing.failure import PrivacyFailure  # which imports much

        self._ended = True
        if self._failure is None and isinstance(error, PrivacyFailure):
            self._failure, self._traceback = error, error.__traceback__

    def repeat_failure(self) -> None:
        """Raise the failure of an earlier run, with a note, in place of another audit.

        Another audit of a broken claim may pass by chance, and would hide that failure.
        """
        if self._failure is None:
            return
        if NOTE not in getattr(self._failure, "__notes__", ()):
            self._failure.add_note(NOTE)
        raise self._failure.with_traceback(self._traceback)

    def grant(
        self,
        samples: int | None,
        false_failure: float | None,
        seed: int | None,
        times: float = 1.0,
    ) -> Grant:
        """Spend what an audit takes. Raises `InvalidInput` where too few draws are left.

        samples : draws a side of the audit. false_failure, seed : its own, in place of the test's.
        times : draws of search and audit together, in units of the audit's.
        """
        left = self.left
        audit, spent = _draws(samples, times, SAMPLES if left is None else left)
        if left is not None and (audit == 0 or spent > left):
            needs = "another audit" if samples is None else f"an audit of {samples:,}"
            search = "" if times == 1.0 else f" and its search, {times:g} times as many in all"
            raise InvalidInput(
                f"draws: the test's budget of {self.draws:,} a side has {left:,} left, "
                f"too few for {needs}{search}; give @pytest.mark.privacy more draws, or each audit "
                "its own samples",
                argument="draws",
            )
        self.audits, self.spent = self.audits + 1, self.spent + spent
        if false_failure is None:
            false_failure = self.false_failure / (self.audits * (self.audits + 1))
        return Grant(audit, false_failure, self.seed if seed is None else seed)


def _draws(samples: int | None, times: float, most: int) -> tuple[int, int]:
    """Draws a side of an audit, and with its search; `most` where no number is asked for."""
    return (int(most / times), most) if samples is None else (samples, ceil(samples * times))


_CURRENT: ContextVar[Budget | None] = ContextVar("dpaudit_budget", default=None)


@contextmanager
def spending(budget: Budget) -> Iterator[Budget]:
    """A context in which audits of this thread spend `budget`."""
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)


def granted(
    samples: int | None, false_failure: float | None, seed: int | None, times: float = 1.0
) -> Grant:
    """A grant from the budget of the running test, or without a budget as asked for.

    samples, times : as in `Budget.grant`.
    """
    samples = None if samples is None else check.count("draws", samples, 1)
    budget = _CURRENT.get()
    if budget is not None:
        return budget.grant(samples, false_failure, seed, times)
    return Grant(
        _draws(samples, times, SAMPLES)[0],
        FALSE_FAILURE if false_failure is None else false_failure,
        SEED if seed is None else seed,
    )


def rate_of(false_failure: float | None, level: float | None) -> float | None:
    """The rate of false failures, or 1 − level; `InvalidInput` where both are given."""
    if level is None and false_failure is None:
        return None
    if level is None:
        return _rate("false_failure", false_failure)
    if false_failure is not None:
        rule = "left out where false_failure is given: one is 1 minus the other"
        check.fail("level", level, rule)
    return 1.0 - check.real("level", level, 0.0, 1.0, open_=True)


def _rate(name: str, value: object) -> float:
    """A rate in [SMALLEST, 1)."""
    rate = check.real(name, value, 0.0, 1.0, open_=True)
    if rate < SMALLEST:
        check.fail(name, value, f"at least {SMALLEST:g}; bounds at smaller rates are not computed")
    return rate


def seed_of(rng: int | None) -> int | None:
    """A whole number, which a failure can name, or None."""
    return None if rng is None else check.integer("rng", rng, 0)
