"""What an audit costs: the draws that fit into a time, the seconds of each step, peak memory."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.text import percent
from dpaudit._core.types import Array, Mechanism
from dpaudit._core.value import value_class
from dpaudit.auditing.settings import Settings
from dpaudit.outcomes import aligned
from dpaudit.power import POWER, excess_of
from dpaudit.sampling import checked, outputs, sampler_of
from dpaudit.verdict.judgement import draws_that_show
from dpaudit.verdict.numbers import count, counted, number

try:
    import resource
except ModuleNotFoundError:  # not a Unix system
    resource = None  # type: ignore[assignment]

LOOK = 16  # draws of the second call of a first look; the first call makes one
FURTHER, BESIDE = 256, 64  # further draws a side, and draws of a trial and a replay
SHORT = 1.0  # seconds; after a longer first call there is no second one
LONG = 10.0  # seconds; of a longer audit it is said what takes the time
# CPU seconds that dpaudit spends by the numbers in an output, as `python -m reports.make cost`
# measured them: on an audit of 1,000 draws a side, on each further draw, and on one of a search
NUMBERS = 1, 30, 100, 1000
FIXED = 0.1, 0.6, 0.7, 6.0
AUDIT, SEARCH = (1e-6, 4e-5, 7e-5, 3e-4), (8e-7, 4e-6, 1.3e-5, 8e-4)
FEWEST = 50  # draws a side; a time for fewer is refused
AUDITED = 500  # draws a side that an audit gets before its search gets more than half of all draws
SEARCHED = 1_500  # draws of a search; with fewer, the first neighbour by its rank is taken
RESERVED, PLANNED = 5.0, 0.8  # seconds for scores and report, and the share of the rest for draws
ALONE = {"shortlist": 1, "budget": 1.125}  # the search with few draws
STEPS = ("sample_s", "fit_s", "certify_s")


class Clock:
    """A stopwatch that starts when it is made and counts the seconds of each step of an audit."""

    def __init__(self) -> None:
        self.start, self.started = time.perf_counter(), datetime.now(UTC)
        self.steps = dict.fromkeys(STEPS, 0.0)
        self.inside = 0.0  # seconds spent in steps nested in the present one

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step; the seconds of a nested step count for the nested step alone."""
        begin, inside = time.perf_counter(), self.inside
        self.inside = 0.0
        yield
        spent = time.perf_counter() - begin
        self.steps[name] += spent - self.inside
        self.inside = inside + spent

    def total(self) -> dict[str, Any]:
        """Seconds of each step, "total_s" since the start, and the time in UTC of "started"."""
        started = self.started.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {**self.steps, "total_s": time.perf_counter() - self.start, "started": started}


def peak_memory_mb() -> float | None:
    """Peak resident size of this process in MB; None if the system does not report it."""
    if resource is None:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)


@value_class(show_numbers=True)
class Rate:
    """Seconds of a draw: mechanism, of the mechanism; audit and search, of dpaudit itself in the
    final audit and in a search before it. fixed : seconds of an audit whatever its draws.
    """

    mechanism: float
    fixed: float
    audit: float
    search: float

    @classmethod
    def of(cls, mechanism: Mechanism, data: Array) -> Rate:
        """The seconds from two calls of a mechanism, whose outputs are thrown away.

        Raises `MechanismError` if the mechanism fails.
        """
        sampler = sampler_of(mechanism, data)
        rng = np.random.default_rng(0)
        spent, width = 0.0, 1
        for size in (1, LOOK):
            began = time.perf_counter()
            where = f"a first look of {counted(size, 'draw')}"
            drawn = checked(outputs(sampler, size, rng, where), size, where)
            spent = (time.perf_counter() - began) / size
            width = aligned(drawn, drawn)[0].shape[1]
            if spent > SHORT:
                break
        own = (float(np.interp(width, NUMBERS, measured)) for measured in (FIXED, AUDIT, SEARCH))
        return cls(spent, *own)

    def mean(self, budget: float) -> float:
        """Seconds of a draw, on average. budget : draws of search and audit over the audit's."""
        return self.mechanism + (self.audit + (budget - 1.0) * self.search) / budget

    def fitting(self, seconds: float, budget: float | None) -> tuple[int, dict[str, Any]]:
        """The draws a side that fit into a time, and the changes of a search that it asks for.

        budget : as in `mean`, None without a search. Raises `InvalidInput` for too short a time.
        """
        rate, reserved = self.mean(budget or 1.0), RESERVED + self.fixed
        draws = PLANNED * max(seconds - reserved, 0.0) / rate
        few = max(int((draws - BESIDE) / 4.0), 0)  # as many again come before a violation is told
        left, changes = draws - further(min(few, FURTHER)), dict[str, Any]()
        if budget is not None:
            budget = min(budget, max(2.0, left / (2.0 * AUDITED)))
            enough = left * (1.0 - 1.0 / budget) >= SEARCHED
            changes = {"budget": budget} if enough else ALONE
        size = int(left / (2.0 * changes.get("budget", 1.0)))
        if size < FEWEST:
            fewest = 2 * FEWEST * (1.0 if budget is None else ALONE["budget"]) + further(FEWEST)
            least = duration(fewest * rate / PLANNED + reserved)
            check.fail("seconds (--time)", check.Words(duration(seconds)), f"at least {least}")
        return size, changes


def planned(
    mechanism: Mechanism,
    data: Array,
    settings: Settings,
    seconds: float | None,
    look: Callable[[str], None] | None,
    budget: float | None = None,
) -> tuple[Settings, dict[str, Any]]:
    """The settings with as many draws as fit into `seconds`, and the changes of the search.

    budget : draws of search and audit over those of the audit; None without a search. look : called
    with what the audit will cost and can show, unless it is None. Without both, nothing is drawn.
    Raises `InvalidInput` for a time that is too short, `MechanismError` if the mechanism fails.
    """
    changes: dict[str, Any] = {}
    if seconds is None and look is None:
        return settings, changes
    rate = Rate.of(mechanism, data)
    if seconds is not None:
        size, changes = rate.fitting(check.real("seconds", seconds, 0.0, open_=True), budget)
        settings = settings.replaced(draws=min(size, settings.draws))
    if look is not None:
        look(cost(rate, settings, changes.get("budget", budget)))
    return settings, changes


def cost(rate: Rate, settings: Settings, budget: float | None) -> str:
    """Sentences such as "About 4 min for at most 158,338 draws, …", before the draws are made.

    They say which part of a longer time the mechanism takes, and which excess the audit can show.
    """
    times = budget or 1.0
    draws = int(2 * settings.draws * times) + further(settings.draws)
    spent = rate.fixed + rate.mean(times) * draws
    most, more = ("at most ", ", search included") if budget else ("", "")
    text = f"About {duration(spent)} for {most}{count(draws)} draws{more}"
    if spent > LONG:
        share = percent(round(rate.mechanism * draws / spent, 2))
        text += f"; {share} of it in the mechanism, {duration(rate.mechanism)} a draw"
    if settings.claimed is None:
        return f"{text}."
    epsilon, delta = settings.claimed
    excess = excess_of(epsilon, delta, settings.draws, level=settings.level)
    if math.isinf(excess):
        take = draws_that_show(epsilon, delta, settings.detect, settings.level, settings.stop)[1]
        return f"{text}. They can refute no claim. {take}".strip()
    return (
        f"{text}. They show an excess of {number(excess, 2)} over the claimed δ with "
        f"probability {number(POWER)}, whatever the shape of the leak."
    )


def further(draws: int) -> int:
    """How many draws an audit with `draws` a side makes beside them, at most: those before it says
    "violated" (`independence.FURTHER`), and those of a trial and a replay.
    """
    return 2 * min(FURTHER, draws) + BESIDE


def duration(seconds: float) -> str:
    """A time for people: "2 µs", "16 ms", "50 s", "4 min", "3.2 h"."""
    if seconds < 0.1:
        unit, size = ("µs", 1e6) if seconds < 1e-3 else ("ms", 1e3)
        return f"{number(max(seconds * size, 0.1), 2)} {unit}"
    if seconds < 100.0:
        return f"{number(seconds, 2)} s"
    minutes = seconds / 60.0
    return f"{number(minutes, 2)} min" if minutes < 100.0 else f"{number(minutes / 60.0, 2)} h"
