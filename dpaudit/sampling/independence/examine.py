"""All tests of independence on the draws of two sides, with one level for them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from dpaudit._core.types import Array
from dpaudit.sampling.block import SIDES
from dpaudit.sampling.independence import copies, order
from dpaudit.sampling.independence.features import (
    calls_of,
    chunks_of,
    column_blocks,
    features,
    row_hashes,
)
from dpaudit.sampling.independence.findings import WORDS, Finding, Place, Side, of_kind
from dpaudit.sampling.repeats import period

LEVEL = 1e-6  # probability that an audit of independent draws is refused, at most
# The level is shared equally by: halves, runs, the two sides, repeats within a call, the same draws
# in different calls, calls that go together, and repetition to the end. Half of the share of the
# two sides is for draws that go together, half for draws in common.
FAMILIES = 7
# Draws that depend on near ones also drift, and seem to be related to such draws of the other side.
NEAR = ("period", "same draws", "repeats", "serial", "call")
SHOWN = 1e-3  # a finding names a side if its own p-value is at most this

Suspect = tuple[float, str, Place]  # log p times the size of its family, kind, place


def examine(
    P: Array,
    Q: Array,
    calls: tuple[np.ndarray, np.ndarray] | None,
    *,
    level: float = LEVEL,
    score: bool = False,
) -> list[Finding]:
    """Test draws for dependence: one finding for each kind that shows, the most telling first.

    P, Q : rows of draws in the order in which they were drawn, (n, k) and (m, k). calls : for each
    side the sizes of the calls that made them, together n or more; None for draws that were made
    elsewhere. level : bound on the probability of any finding if draws are independent, each side
    of one law. score : whether the rows are scores of draws, (n, 1), which only changes the words.

    The level is exact or an upper bound, for any law: each test is conditional on the values, and
    Bonferroni's inequality joins columns, features, sides and tests. The probability is that of
    the draws and of one random order of them, made by a generator with a fixed seed.
    """
    P, Q = np.asarray(P, dtype=float), np.asarray(Q, dtype=float)
    if calls is None:
        groups = [chunks_of(len(rows)) for rows in (P, Q)]
    else:
        groups = [calls_of(sizes, len(rows)) for sizes, rows in zip(calls, (P, Q), strict=True)]
    if not P.size or not Q.size:
        return []
    sides = tuple(map(Side, (P, Q), groups, SIDES))
    return _findings(_suspects(sides, "scores" if score else "draws"), np.log(level))


def examine_shared(P: Array, Q: Array, *, level: float = LEVEL) -> list[Finding]:
    """Test draws made elsewhere for draws that P and Q share; returns findings as `examine` does.

    The arguments are those of `examine`, which omits this test for draws made elsewhere: a copy may
    be in another order, so one test must see all draws. It spends the same part of the level.
    """
    sides = tuple(Side(rows, chunks_of(len(rows)), "") for rows in (P, Q))
    return _findings(_on_both(sides, [row_hashes(P), row_hashes(Q)], "draws"), np.log(level))


def _findings(suspects: Iterable[Suspect], log_level: float) -> list[Finding]:
    """The findings: the strongest evidence of each kind, if its p-value is at most the level."""
    findings: dict[str, Finding] = {}
    for log_p, kind, place in sorted(suspects, key=lambda suspect: suspect[0]):
        log_p += np.log(FAMILIES)
        if kind not in findings and log_p <= log_level:
            findings[kind] = of_kind(kind, place, log_p)
    near = [findings[kind] for kind in NEAR if kind in findings]
    return near or [findings[kind] for kind in WORDS if kind in findings]


def _suspects(sides: tuple[Side, ...], what: str) -> Iterator[Suspect]:
    """Yield the strongest evidence of every test. what : the word for the draws in messages."""
    for columns, keys in column_blocks(*(side.rows for side in sides)):
        ordered = [np.sort(part, axis=1) for part in keys]
        yield from _order(sides, keys, ordered, columns, what)
        yield from _again(sides, keys, ordered, columns, what)
    whole = [row_hashes(side.rows) for side in sides]
    if sides[0].rows.shape[1] > 1:
        one = [rows[None] for rows in whole]  # whole draws as one column
        yield from _again(sides, one, [np.sort(rows) for rows in one], (None,), what)
    for side, rows in zip(sides, whole, strict=True):
        place = Place(None, (side,), what)
        lag = period(side.rows)
        if lag is not None:
            log_p = copies.repeated_to_the_end(rows, lag) + np.log(len(sides))
            yield log_p, "period", replace(place, lag=lag)
    if all(side.calls.known for side in sides):
        yield from _on_both(sides, whole, what)


def _order(
    sides: tuple[Side, ...],
    keys: Sequence[np.ndarray],
    ordered: Sequence[np.ndarray],
    columns: Sequence[int],
    what: str,
) -> Iterator[Suspect]:
    """Run the tests of `order` on a few columns. keys : the keys of each side, (c, n). ordered :
    the same, each column ascending.
    """
    bits = [features(*pair) for pair in zip(keys, ordered, strict=True)]
    width, calls = sides[0].rows.shape[1], sides[0].calls

    def strongest(
        evidence: Sequence[order.Evidence], owners: tuple[Side, ...], kind: str, tests: int
    ) -> Suspect:
        """The strongest of all features; names the sides that show it by themselves. tests : number
        of tests for each column.
        """
        log_p = order.log_p(evidence)
        feature = int(np.argmin(log_p))
        alone = [order.log_p([part])[feature] <= np.log(SHOWN) for part in evidence]
        marked = tuple(side for side, shows in zip(owners, alone, strict=True) if shows)
        place = Place(columns[feature % len(columns)], marked or owners, what)
        return float(log_p[feature]) + np.log(tests * width), kind, place

    trees = [
        order.halves(own, part, side.calls)
        for own, part, side in zip(bits, keys, sides, strict=True)
    ]
    depth, nothing = max(map(len, trees)), order.Evidence(np.zeros(len(bits[0])), 0)
    for level, halves in enumerate(zip_longest(*trees, fillvalue=nothing)):
        kind = "drift"  # the meaning of a difference between the nodes of this level
        if level == order.INSIDE:
            kind = "serial"
        elif level == order.CALLS and calls.known:
            kind = "call"
        yield strongest(halves, sides, kind, 2 * depth)
    for side, part in zip(sides, bits, strict=True):
        yield strongest([order.runs(part, side.calls)], (side,), "serial", 2 * len(sides))
    left, right = bits
    for part in (right, np.roll(right, len(columns), axis=0)):  # the same, and the other feature
        together = [order.together(left, part, calls)]
        log_p, kind, place = strongest(together, sides[:1], "sides", 2 * 4)
        yield log_p, kind, replace(place, sides=sides)
    if calls.known:
        evidence = [
            order.fellows(*both) for both in zip(bits, (s.calls for s in sides), strict=True)
        ]
        yield strongest(evidence, sides, "same draws", 2)


def _again(
    sides: tuple[Side, ...],
    keys: Sequence[np.ndarray],
    ordered: Sequence[np.ndarray],
    columns: Sequence[int | None],
    what: str,
) -> Iterator[Suspect]:
    """Test whether values repeat within a call, or at the same place of several calls. keys,
    ordered : as in `_order`.
    """
    width = sides[0].rows.shape[1]
    tests = len(sides) * (width + (width > 1))  # whole draws are tested where there are columns
    for side, part, ascending in zip(sides, keys, ordered, strict=True):
        log_p = copies.come_again(part, ascending, side.calls) + np.log(tests)
        for relation, kind in enumerate(("repeats", "same draws")[: 1 + side.calls.known]):
            column = int(np.argmin(log_p[:, relation]))
            yield float(log_p[column, relation]), kind, Place(columns[column], (side,), what)


def _on_both(sides: tuple[Side, ...], whole: Sequence[np.ndarray], what: str) -> Iterator[Suspect]:
    """Test whether draws of one side occur on the other side too, in the same or in any order."""
    place = Place(None, sides, what)
    yield copies.copied(*whole) + np.log(2 * 2), "copied", place
    yield copies.shared(*whole) + np.log(2 * 2), "shared", place
