"""Seconds that a piece of work takes, or the least of a few repetitions."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Clock:
    """Wall and CPU seconds of the block of `clock`."""

    wall: float = np.nan
    cpu: float = np.nan


@contextmanager
def clock() -> Iterator[Clock]:
    """A `Clock` that is set when the block ends.

    CPU is user and system time of this process, all its threads, and of its children that ended.
    """
    result, wall, cpu = Clock(), time.perf_counter(), _used()
    yield result
    result.wall, result.cpu = time.perf_counter() - wall, _used() - cpu


def _used() -> float:
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def least_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Least wall seconds of a few calls."""
    spent = []
    for _ in range(repeats):
        with clock() as each:
            work()
        spent.append(each.wall)
    return min(spent)


def memory(mebibytes: float | None) -> str:
    """The peak memory of an audit in words; it is None where the system does not say."""
    return "not measured" if mebibytes is None else f"{mebibytes:,.0f} MiB"


def steps(timings: Mapping[str, Any]) -> str:
    """The timings of an audit in words: sample 1.2 s, fit 0.3 s, …"""
    seconds = [(name, value) for name, value in timings.items() if name.endswith("_s")]
    return ", ".join(f"{name.removesuffix('_s')} {value:.1f} s" for name, value in seconds)
