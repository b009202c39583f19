"""Measure what an audit costs: seconds a draw before it, the seconds of each step, peak memory."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dpaudit._core.types import Array, Mechanism
from dpaudit._core.value import value_class
from dpaudit.auditing.settings import Settings
from dpaudit.power import POWER, excess_of
from dpaudit.sampling import outputs, sampler_of
from dpaudit.verdict.numbers import count, counted, number

try:
    import resource
except ModuleNotFoundError:  # not a Unix system
    resource = None  # type: ignore[assignment]

LOOK = 16  # draws of the second call of a first look; the first call makes one
FURTHER, BESIDE = 256, 64  # further draws a side, and draws of a trial and a replay
SHORT = 1.0  # seconds; after a longer first call there is no second one
OWN = 5e-6  # seconds a draw of dpaudit itself: a guess, four times what one number takes
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
class FirstLook:
    """What an audit will cost, and what it can show, before its draws are made.

    seconds : of one draw. draws : of both sides together, at most. search : whether these include
    draws of a search. excess : the least excess over the claimed δ that the audit shows with
    probability `POWER`, infinite if it shows none; None without an (ε, δ) claim.
    """

    seconds: float
    draws: int
    search: bool
    excess: float | None

    @classmethod
    def of(
        cls, seconds: float, settings: Settings, budget: float = 1.0, *, search: bool = False
    ) -> FirstLook:
        """The cost of an audit. budget : draws of search and audit over those of the audit."""
        claimed, excess = settings.claimed, None
        if claimed is not None:
            excess = excess_of(*claimed, settings.draws, level=settings.level)
        draws = int(2 * settings.draws * budget) + further(settings.draws)
        return cls(seconds, draws, search, excess)

    @property
    def text(self) -> str:
        """One or two sentences, such as "About 4 min for at most 158,338 draws, …"."""
        searched = "at most " if self.search else ""
        more = ", search included" if self.search else ""
        spent = duration((self.seconds + OWN) * self.draws)
        first = f"About {spent} for {searched}{count(self.draws)} draws{more}."
        if self.excess is None:
            return first
        if math.isinf(self.excess):
            return f"{first} They can refute no claim; `dpaudit plan` says how many draws can."
        return (
            f"{first} They show an excess of {number(self.excess, 2)} over the claimed δ with "
            f"probability {number(POWER)}, whatever the shape of the leak."
        )


def further(draws: int) -> int:
    """How many draws an audit with `draws` a side makes beside them, at most: those before it says
    "violated" (`independence.FURTHER`), and those of a trial and a replay.
    """
    return 2 * min(FURTHER, draws) + BESIDE


def seconds_a_draw(mechanism: Mechanism, data: Array) -> float:
    """The seconds of one draw, from two calls of a mechanism, whose outputs are thrown away.

    Raises `MechanismError` if the mechanism fails.
    """
    sampler = sampler_of(mechanism, data)
    rng = np.random.default_rng(0)
    spent = 0.0
    for size in (1, LOOK):
        began = time.perf_counter()
        outputs(sampler, size, rng, f"a first look of {counted(size, 'draw')}")
        spent = (time.perf_counter() - began) / size
        if spent > SHORT:
            break
    return spent


def duration(seconds: float) -> str:
    """A time for people: "0.4 s", "50 s", "4 min", "3.2 h"."""
    if seconds < 100.0:
        return f"{number(max(seconds, 0.1), 2)} s"
    minutes = seconds / 60.0
    return f"{number(minutes, 2)} min" if minutes < 100.0 else f"{number(minutes / 60.0, 2)} h"
