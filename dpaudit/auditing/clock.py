"""What an audit costs: the draws that fit into a time, the seconds of each step, peak memory."""

from __future__ import annotations

import math
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.text import percent
from dpaudit._core.types import Array, Mechanism
from dpaudit._core.value import value_class
from dpaudit.auditing.settings import Settings
from dpaudit.outcomes import aligned
from dpaudit.power import POWER, excess_of
from dpaudit.sampling import call_size, checked, outputs, sampler_of
from dpaudit.verdict.judgement import draws_that_show
from dpaudit.verdict.numbers import count, counted, number

try:
    import resource
except ModuleNotFoundError:  # not a Unix system
    resource = None  # type: ignore[assignment]

LOOK = 16  # a first look makes 1 draw, then in each call 16 times as many as before,
SHORT = 0.06  # but 2 draws after a first one of more seconds than this
CLEAR, GROWTH = 0.02, 1.75  # seconds of a call, and seconds over those before, that end the look
FURTHER, BESIDE = 256, 64  # further draws a side, and draws of a trial and a replay
CALLS_BESIDE = 24  # calls in which these are made, at most, by a mechanism of many draws a call
TIME = "seconds (--time)"  # the argument that an error about too short a time names
LONG = 10.0  # seconds; after a longer call no other is timed, of a longer audit the share is told
# CPU seconds that dpaudit spends by the numbers in an output, as `python -m reports.make cost`
# measured them: on an audit of 1,000 draws a side, on each further draw, and on one of a search
NUMBERS = 1, 30, 100, 1000
FIXED = 0.1, 0.6, 0.7, 6.0
AUDIT, SEARCH = (1e-6, 4e-5, 7e-5, 3e-4), (8e-7, 4e-6, 1.3e-5, 8e-4)
FEWEST = 50  # draws a side; a time for fewer is refused
AUDITED = 500  # draws a side that an audit gets before its search gets more than half of all draws
SEARCHED = 1_500  # draws of a search; with fewer, the first neighbour by its rank is taken
RESERVED, PLANNED = 5.0, 0.8  # seconds for scores and report, and the share of the rest for draws
BUDGETS = 7.0, 5.0, 3.0, 2.0  # of a search for which there is not enough time
ALONE = {"shortlist": 1, "budget": 1.125}  # the search with few draws
LARGEST_BLOCK = 1 << 14  # draws in a call of a mechanism with a known law
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


@value_class
class SearchPlan:
    """What a search before an audit will make.

    budget, shortlist, rank : as in `search_neighbours`. count : function of budget, draws a side of
    the audit, shortlist and rank, which gives the number of calls of the mechanism in the search.
    """

    budget: float
    shortlist: int
    rank: Any
    count: Callable[[float, int, int, Any], int]

    def calls(self, draws: int) -> int:
        """The calls of the mechanism in the search before an audit with `draws` a side."""
        return self.count(self.budget, draws, self.shortlist, self.rank)


@value_class(show_numbers=True)
class Rate:
    """How long the parts of an audit take, in seconds.

    call : to call the mechanism, such as to start a program. mechanism : to make one draw in a
    call. fixed : what every audit takes, however few its draws. audit, search : what dpaudit itself
    takes for each draw of the final audit, and for each draw of a search. most : how many calls an
    audit makes on each database, at most; None if each draw is a call or the law is known.
    """

    call: float
    mechanism: float
    fixed: float
    audit: float
    search: float
    most: int | None = None

    @classmethod
    def of(cls, mechanism: Mechanism, data: Array, settings: Settings) -> Rate:
        """The seconds from a few calls of a mechanism, whose outputs are thrown away.

        The calls get longer until the last one takes clearly longer than the one before it, or has
        as many draws as a call of the audit. Raises `MechanismError` if the mechanism fails.
        """
        sampler, rng = sampler_of(mechanism, data), np.random.default_rng(0)
        call = settings.call or call_size(mechanism, settings.draws)
        largest = max(call or LARGEST_BLOCK, LOOK)
        size, before, last, width, grown = 1, (0, 0.0), (0, 0.0), 1, False
        while not grown and last[0] < largest and last[1] <= LONG:
            where = f"a first look of {counted(size, 'draw')}"
            began = time.perf_counter()
            drawn = checked(outputs(sampler, size, rng, where), size, where)
            before, last = last, (size, time.perf_counter() - began)
            width = aligned(drawn, drawn)[0].shape[1]
            grown = size > 1 and last[1] > max(GROWTH * before[1], CLEAR)
            size = min(largest, size * (2 if size == 1 and last[1] > SHORT else LOOK))
        draw = max(last[1] - before[1], 0.0) / (last[0] - before[0])
        measured = (np.interp(width, NUMBERS, seconds) for seconds in (FIXED, AUDIT, SEARCH))
        fixed, audit, search = map(float, measured)
        most = None if call is None else -(-settings.draws // call)
        return cls(max(last[1] - last[0] * draw, 0.0), draw, fixed, audit, search, most)

    def calls(self, draws: int, search: SearchPlan | None) -> int:
        """How often an audit with `draws` a side, and the search before it, call the mechanism.

        It is 0 for a mechanism of which each draw is made by itself, or whose law is known.
        """
        if self.most is None:
            return 0
        searching = 0 if search is None else search.calls(draws)
        return 2 * min(self.most, draws) + CALLS_BESIDE + searching

    def seconds(self, draws: int, search: SearchPlan | None) -> tuple[float, int, float]:
        """The seconds of an audit with `draws` a side and the search before it, the number of draws
        of both together, and the seconds of these that the mechanism takes.
        """
        budget = 1.0 if search is None else search.budget
        number_of_draws = int(2 * draws * budget) + further(draws)
        spent = self.call * self.calls(draws, search) + self.mechanism * number_of_draws
        own = (self.audit + (budget - 1.0) * self.search) / budget * number_of_draws
        return self.fixed + spent + own, number_of_draws, spent

    def fitting(
        self, seconds: float, most: int, search: SearchPlan | None
    ) -> tuple[int, dict[str, Any]]:
        """The draws a side that fit into a time, `most` at most, and the changes of a search that
        it asks for. Raises `InvalidInput` for too short a time.

        An audit gets `AUDITED` draws a side before the search gets more than half of all draws. A
        search whose calls would take much of the time ranks neighbours without draws.
        """
        left = PLANNED * (seconds - RESERVED - self.fixed) + self.fixed
        ways: list[dict[str, Any]] = [{}]
        if search is not None:
            costly = self.call * search.calls(most) > left / 2.0 and search.rank == "auto"
            rank = {"rank": "linear"} if self.most and costly else {}
            budgets = [search.budget, *(b for b in BUDGETS if b < search.budget)]
            ways = [*({"budget": budget, **rank} for budget in budgets), dict(ALONE)]
        for changes in ways:
            plan = None if search is None else replace(search, **changes)
            total = partial(self.seconds, search=plan)
            size = bisect_right(range(most + 1), left, key=lambda draws: total(draws)[0]) - 1
            searched = 0.0 if plan is None else 2.0 * size * (plan.budget - 1.0)
            if searched >= SEARCHED and size >= min(AUDITED, most):
                break
        if size < min(FEWEST, most):
            least = (total(FEWEST)[0] - self.fixed) / PLANNED + RESERVED + self.fixed
            words = check.Words(duration(seconds))
            check.fail(TIME, words, f"at least {duration(least)}")
        return size, changes


def planned(
    mechanism: Mechanism,
    data: Array,
    settings: Settings,
    seconds: float | None,
    look: Callable[[str], None] | None,
    search: SearchPlan | None = None,
) -> tuple[Settings, dict[str, Any]]:
    """The settings with as many draws as fit into `seconds`, and the changes of the search.

    search : None without a search. look : called with what the audit will cost and can show, unless
    it is None. Without `seconds` and `look`, nothing is drawn. Raises `InvalidInput` for a time
    that is too short, `MechanismError` if the mechanism fails.
    """
    changes: dict[str, Any] = {}
    if seconds is None and look is None:
        return settings, changes
    rate = Rate.of(mechanism, data, settings)
    if seconds is not None:
        wanted = check.real("seconds", seconds, 0.0, open_=True)
        size, changes = rate.fitting(wanted, settings.draws, search)
        settings = settings.replaced(draws=size)
    if look is not None:
        look(cost(rate, settings, None if search is None else replace(search, **changes)))
    return settings, changes


def cost(rate: Rate, settings: Settings, search: SearchPlan | None) -> str:
    """Sentences such as "About 4 min for at most 158,338 draws, …", before the draws are made.

    They say which part of a longer time the mechanism takes, and which excess the audit can show.
    """
    spent, draws, by_mechanism = rate.seconds(settings.draws, search)
    most, more = ("at most ", ", search included") if search else ("", "")
    about = "A few seconds" if spent < RESERVED else f"About {duration(spent)}"
    text = f"{about} for {most}{count(draws)} draws{more}"
    if spent > LONG:
        share = percent(round(by_mechanism / spent, 2))
        each = f"{duration(rate.mechanism)} a draw"
        if rate.call * rate.calls(settings.draws, search) > by_mechanism / 2.0:
            each = f"{duration(rate.call)} a call"
        text += f"; {share} of it in the mechanism, {each}"
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
