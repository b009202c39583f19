"""What one test may spend: draws, and the probability of failing for nothing. Imports nothing of
weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

SAMPLES = 100_000  # draws a side of an audit that is told nothing else
FALSE_FAILURE = 1e-6
SEED = 0


class Grant(NamedTuple):
    """What one audit gets: draws a side, probability of failing for nothing, seed."""

    samples: int
    false_failure: float
    seed: int


class Budget:
    """Draws a side for all audits of a test together (None: no limit), and the rate of false
    failures of the test.

    draws : an audit that does not say how many it takes gets all that are left.
    false_failure : of the whole test. The k-th audit gets the share 2^-k of it, so that however
        many there are, the test fails for nothing with at most this probability (union bound). An
        audit with a rate of its own spends that.
    seed : of every audit in the test.

    Raises `InvalidInput`.
    """

    def __init__(
        self, draws: int | None = None, false_failure: float = FALSE_FAILURE, seed: int = SEED
    ) -> None:
        from dpaudit._core import check

        self.draws = None if draws is None else check.integer("draws", draws, 1)
        self.false_failure = check.real("false_failure", false_failure, 0.0, 1.0, open_=True)
        self.seed = check.integer("seed", seed, 0)
        self.spent = self.audits = 0

    @property
    def left(self) -> int | None:
        """Draws a side not yet spent."""
        return None if self.draws is None else self.draws - self.spent

    def grant(self, samples: int | None, false_failure: float | None, seed: int | None) -> Grant:
        """Spend what one audit takes. Raises `InvalidInput` where more draws are asked for than are
        left.
        """
        taken = self._taken(samples)
        self.audits, self.spent = self.audits + 1, self.spent + taken
        share = self.false_failure * 0.5**self.audits if false_failure is None else false_failure
        return Grant(taken, share, self.seed if seed is None else seed)

    def _taken(self, samples: int | None) -> int:
        from dpaudit.errors import InvalidInput

        if self.left is None:
            return SAMPLES if samples is None else samples
        if self.left == 0 or (samples or 0) > self.left:
            asked = "another audit" if samples is None else f"an audit of {samples:,}"
            raise InvalidInput(
                f"draws: the test's budget of {self.draws:,} a side has {self.left:,} left, too few for {asked}; give "
                "@pytest.mark.privacy more draws, or each audit its own samples"
            )
        return self.left if samples is None else samples


_CURRENT: ContextVar[Budget | None] = ContextVar("dpaudit_budget", default=None)


@contextmanager
def spending(budget: Budget) -> Iterator[Budget]:
    """Audits inside, of this thread, take from `budget`."""
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)


def granted(samples: int | None, false_failure: float | None, seed: int | None) -> Grant:
    """From the budget of the test that runs, or as given where there is none. Raises
    `InvalidInput`.
    """
    from dpaudit._core import check

    samples = None if samples is None else check.integer("samples", samples, 1)
    budget = _CURRENT.get()
    if budget is not None:
        return budget.grant(samples, false_failure, seed)
    return Grant(
        SAMPLES if samples is None else samples,
        FALSE_FAILURE if false_failure is None else false_failure,
        SEED if seed is None else seed,
    )
