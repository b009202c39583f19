"""What moved between two runs of one audit by more than their own uncertainty.

A saved result has, at each ε, what its sets showed, δ̂, and a lower bound of that, low; their
distance w = δ̂ − low is the margin at the run's level, simultaneous over ε. The same margin
upwards, and never less than what none of n draws leaves open, ln(1/(1 − level))/n, gives each run a
band [δ̂ − w, δ̂ + w] of what its score shows. A certified δ has moved where the bands of the two
runs do not meet. That is about what was SHOWN: a better score moves it too, and is worth knowing.

Two independent runs of one audit differ by a normal of √2 standard errors, and the bands part
beyond 2z of them, with z the margin's quantile, above 2. A set chosen by a few dozen draws may be a
poor one, which is in no margin: of all pairs of 150 runs of a Gaussian audit, 600 draws a side, 2.6
% parted; of 149 at 2000 draws none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core.check import Array
from dpaudit.report.data import Curves, lookup, read_curves
from dpaudit.report.text import number, plain

# an exact δ that differs by less has not moved: another machine's rounding
RELATIVE, ABSOLUTE = (1e-6, 1e-14)
SETTINGS = {
    "mechanism.name": "mechanism",
    "mechanism.parameters": "parameters",
    "dataset.name": "data",
    "dataset.n": "rows of the data",
    "neighbour.relation": "relation",
    "neighbour.index": "row",
    "claim.text": "claim",
    "level": "confidence",
}


@dataclass(frozen=True)
class Moved:
    """One thing that is not as it was: what, and the old and the new value in words. `grave` : the
    verdict.
    """

    what: str
    old: str
    new: str
    grave: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.old}, now {self.new}"


def moved(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Moved]:
    """Verdict, settings, exact spectrum and certified δ of two contents of result.json, in this
    order.

    Raises `InvalidInput` where one is no result.
    """
    curves = read_curves(old), read_curves(new)
    found = []
    if old["verdict"] != new["verdict"]:
        found.append(Moved("verdict", str(old["verdict"]), str(new["verdict"]), grave=True))
    return [*found, *_settings(old, new), *_exact(*curves), *_certified(*curves)]


def _settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Moved]:
    """What was audited, where it is not the same: then the rest is a comparison of two things."""
    for path, name in SETTINGS.items():
        before, now = lookup(old, path), lookup(new, path)
        if before != now:
            yield Moved(name, plain(before), plain(now))


def _exact(old: Curves, new: Curves) -> Iterator[Moved]:
    """Where the exact δ differs by most of what it was."""
    if old.exact is None or new.exact is None:
        if old.exact is not new.exact:
            known = ["none" if one.exact is None else "known" for one in (old, new)]
            yield Moved("exact spectrum", known[0], known[1])
        return
    at, here, there = _shared(old, new)
    before, now = old.exact[here], new.exact[there]
    gap = np.abs(now - before) - RELATIVE * np.maximum(before, now) - ABSOLUTE
    if len(at) and np.max(gap) > 0.0:
        worst = int(np.argmax(gap))
        yield Moved(
            f"exact δ({number(at[worst])})", number(before[worst], 7), number(now[worst], 7)
        )


def _certified(old: Curves, new: Curves) -> Iterator[Moved]:
    """Where the bands are furthest apart."""
    at, here, there = _shared(old, new)
    if not len(at):
        yield Moved("grid of ε", _grid(old), _grid(new))
        return
    gap = np.abs(new.estimate[there] - old.estimate[here]) - margin(old)[here] - margin(new)[there]
    if np.max(gap) > 0.0:
        worst = int(np.argmax(gap))
        yield Moved(
            f"certified δ({number(at[worst])})", _shown(old, here[worst]), _shown(new, there[worst])
        )


def _shown(curves: Curves, at: int) -> str:
    return f"{number(curves.low[at], down=True)} (estimate {number(curves.estimate[at])})"


def _grid(curves: Curves) -> str:
    return f"{len(curves.epsilon)} ε, {number(curves.epsilon[0])} to {number(curves.epsilon[-1])}"


def margin(curves: Curves) -> Array:
    """w at each ε, (m,), and no less than at a smaller ε, since sets shrink as ε grows.

    So where the bound is that of another set, or 0, and says nothing of this one's error, that of
    sets before counts.
    """
    floor = np.log(1.0 / (1.0 - curves.level)) / (curves.draws or np.inf)
    return np.maximum.accumulate(np.maximum(curves.estimate - curves.low, floor))


def _shared(old: Curves, new: Curves) -> tuple[Array, np.ndarray, np.ndarray]:
    """The ε on both grids, and where they stand on each."""
    return np.intersect1d(np.round(old.epsilon, 9), np.round(new.epsilon, 9), return_indices=True)
