"""What differs between two runs of one audit by more than their own uncertainty.

At each ε a saved result has an estimate δ̂ of what its sets show and a lower bound `low` of that.
The distance w = δ̂ − low is the margin at the run's level, simultaneous over ε. The same margin is
taken upwards, and at least ln(1/(1 − level))/n, the bound on a probability when none of n draws
hits. This gives each run a band [δ̂ − w, δ̂ + w]. A certified δ has moved where the bands of the
two runs do not overlap. The comparison is of what was SHOWN: a better score moves it too.

Two independent runs of one audit differ by a normal variable of √2 standard errors. The bands part
when it exceeds 2z standard errors, where z, the quantile of the margin, is above 2. The margin does
not cover the choice of a poor set by a few dozen draws: of all pairs of 150 runs of a Gaussian
audit with 600 draws a side 2.6 % parted, and of 149 runs with 2,000 draws none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core.result_file import is_one_run
from dpaudit._core.types import Array
from dpaudit.verdict.numbers import number, plain
from dpaudit.verdict.record import Curves, lookup, read_curves

# smaller differences of an exact δ are rounding of another machine
RELATIVE, ABSOLUTE = (1e-6, 1e-14)
SETTINGS = {
    "mechanism.name": "mechanism",
    "mechanism.parameters": "parameters",
    "dataset.name": "data",
    "dataset.n": "rows of the data",
    "headline.who": "neighbour",
    "claim.text": "claim",
    "level": "confidence",
    "canaries.count": "canaries",
}


@dataclass(frozen=True)
class Moved:
    """One difference: its name, the old and the new value in words. grave : it is the verdict."""

    what: str
    old: str
    new: str
    grave: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.old}, now {self.new}"


def moved(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Moved]:
    """The differences between two contents of result.json: verdict, settings, exact spectrum,
    certified δ. Raises `InvalidInput` where one is no result.
    """
    if is_one_run(old) or is_one_run(new):
        return _of_one_run(old, new)
    curves = read_curves(old), read_curves(new)
    found = []
    if old["verdict"] != new["verdict"]:
        found.append(Moved("verdict", str(old["verdict"]), str(new["verdict"]), grave=True))
    return [*found, *_settings(old, new), *_exact(*curves), *_certified(*curves)]


def _of_one_run(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Moved]:
    """The same where one of them is an audit of one run. Its bound is the same bytes again where
    scores and coins are, so each difference is listed.
    """
    kinds = [str(one.get("kind") or "two samples") for one in (old, new)]
    if kinds[0] != kinds[1]:
        return [Moved("kind of audit", kinds[0], kinds[1], grave=True)]
    pairs = [
        Moved("verdict", str(old["verdict"]), str(new["verdict"]), grave=True),
        Moved("certified ε", _bound(old), _bound(new)),
    ]
    return [*(one for one in pairs if one.old != one.new), *_settings(old, new)]


def _bound(record: Mapping[str, Any]) -> str:
    return number(record["certified"]["epsilon"], down=True)


def _settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Moved]:
    """Differences in what was audited."""
    for path, name in SETTINGS.items():
        before, now = lookup(old, path), lookup(new, path)
        if before != now:
            yield Moved(name, plain(before), plain(now))


def _exact(old: Curves, new: Curves) -> Iterator[Moved]:
    """The largest difference of the exact δ."""
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
    """The ε at which the bands are furthest apart: risen first, then fallen. Of grids that do not
    hold each other that is said, since only common ε are compared.
    """
    if len(_shared(old, new)[0]) < min(len(old.epsilon), len(new.epsilon)):
        yield Moved("grid of ε", _grid(old), _grid(new))
    for at, here, there in parted(old, new):
        yield Moved(f"certified δ({number(at)})", _shown(old, here), _shown(new, there))


def parted(old: Curves, new: Curves) -> list[tuple[float, int, int]]:
    """Where the new band is furthest above the old one, and then where it is furthest below.

    Each is an ε and its positions on both grids. One that is nowhere above, or nowhere below, is
    left out. A curve may rise at one ε and fall at another, and only the rise loses privacy.
    """
    at, here, there = _shared(old, new)
    change = new.estimate[there] - old.estimate[here]
    room = margin(old)[here] + margin(new)[there]
    found = []
    for gap in (change - room, -change - room):
        if np.max(gap, initial=0.0) > 0.0:
            worst = int(np.argmax(gap))
            found.append((float(at[worst]), int(here[worst]), int(there[worst])))
    return found


def _shown(curves: Curves, at: int) -> str:
    return f"{number(curves.low[at], down=True)} (estimate {number(curves.estimate[at])})"


def _grid(curves: Curves) -> str:
    return f"{len(curves.epsilon)} ε, {number(curves.epsilon[0])} to {number(curves.epsilon[-1])}"


def margin(curves: Curves) -> Array:
    """w at each ε, (m,), and at least that of smaller ε.

    Where the bound comes from another set, or is 0, it says nothing of the error of this ε's own
    set. Sets shrink as ε grows, so the margin of a smaller ε is used there.
    """
    floor = np.log(1.0 / (1.0 - curves.level)) / (curves.draws or np.inf)
    return np.maximum.accumulate(np.maximum(curves.estimate - curves.low, floor))


def _shared(old: Curves, new: Curves) -> tuple[Array, np.ndarray, np.ndarray]:
    """The ε on both grids, and their positions on each."""
    return np.intersect1d(np.round(old.epsilon, 9), np.round(new.epsilon, 9), return_indices=True)
