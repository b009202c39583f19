"""All tests of independence on the draws of two sides, with one level for them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

import numpy as np

from dpaudit import outcomes
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.sampling.independence import order, repeats
from dpaudit.sampling.independence import shared as in_common
from dpaudit.sampling.independence.calls import calls_of, chunks_of
from dpaudit.sampling.independence.findings import WORDS, Finding, Place, Side, of_kind
from dpaudit.sampling.independence.values import column_blocks, features, folded

LEVEL = 1e-6  # probability that the draws of a sound mechanism show anything at all
# The level is shared equally by: halves, runs, the two sides, repeats within a call, the same draws
# in different calls, calls that go together, copied calls, and repetition to the end. Half of the
# share of the two sides is for draws that go together, half for draws in common.
FAMILIES = 8
# Draws that depend on each other near by also drift, and seem to go together with other such draws.
NEAR = ("period", "same draws", "repeats", "serial", "call")
SHOWN = 1e-3  # a side whose own p-value is at most this is named

Suspect = tuple[float, str, Place]  # log p times the size of its family, kind, place


def examine(
    P: Array,
    Q: Array,
    calls: tuple[np.ndarray, np.ndarray] | None,
    *,
    level: float = LEVEL,
    names: tuple[str, str] = ("M(D)", "M(D')"),
    score: bool = False,
) -> list[Finding]:
    """The kinds of dependence that draws show, the most telling first; usually none.

    P, Q : rows of draws in the order in which they were drawn, (n, k) and (m, k). calls : for each
    side the sizes of the calls that made them, together n or more, or None for draws that were made
    elsewhere. level : the probability that independent draws, each side of one law, show anything.
    score : the rows are the scores of draws, (n, 1), which only changes the words.

    The level is exact or an upper bound, for any law: each test is conditional on the values, and
    Bonferroni's inequality joins columns, features, sides and tests. The probability is that of
    the draws and of one random order of them, made by a generator with a fixed seed.
    Raises `InvalidInput` where the sizes of the calls are no sizes of these draws.
    """
    P, Q = np.asarray(P, dtype=float), np.asarray(Q, dtype=float)
    if P.shape[1] != Q.shape[1]:
        fail("Q", Q.shape, f"rows of {P.shape[1]} columns, as P")
    if calls is None:
        made = [chunks_of(len(rows)) for rows in (P, Q)]
    else:
        made = [calls_of(sizes, len(rows)) for sizes, rows in zip(calls, (P, Q), strict=True)]
    if not P.size or not Q.size:
        return []
    sides = tuple(map(Side, (P, Q), made, names))
    return _findings(_suspects(sides, "scores" if score else "draws"), np.log(level))


def examine_shared(P: Array, Q: Array, *, level: float = LEVEL) -> list[Finding]:
    """Whether draws of P stand in Q too, of draws made elsewhere; usually nothing is found.

    Arguments as in `examine`, which leaves this test out of draws made elsewhere: a copy may stand
    in another order, so all draws have to be looked at together. It has the same part of the level.
    """
    sides = tuple(Side(rows, chunks_of(len(rows)), "") for rows in (P, Q))
    hashed = [np.zeros(len(side.rows), dtype=np.uint64) for side in sides]
    for keys in column_blocks(P, Q):
        hashed = [folded(rows, part) for rows, part in zip(hashed, keys, strict=True)]
    return _findings(_shared(_whole(sides, hashed, "draws")), np.log(level))


def _findings(suspects: Iterable[Suspect], log_level: float) -> list[Finding]:
    """The strongest evidence of each kind, where it is below the level."""
    best: dict[str, Suspect] = {}
    for suspect in sorted(suspects, key=lambda suspect: suspect[0]):
        best.setdefault(suspect[1], suspect)
    found = {
        kind: of_kind(kind, place, log_p + np.log(FAMILIES))
        for log_p, kind, place in best.values()
        if log_p + np.log(FAMILIES) <= log_level
    }
    near = [found[kind] for kind in NEAR if kind in found]
    return near or [found[kind] for kind in WORDS if kind in found]


@value_class
class Block:
    """A few columns of both sides, or whole draws as one column.

    keys : of each side, (c, n). columns : their numbers; (None,) for whole draws. what : what the
    draws are called.
    """

    sides: tuple[Side, ...]
    keys: Sequence[np.ndarray]
    columns: Sequence[int | None]
    what: str

    @cached_property
    def bits(self) -> list[np.ndarray]:
        """The features of each side, (4c, n)."""
        return [features(part) for part in self.keys]

    @property
    def width(self) -> int:
        """Columns of the draws, of which these are a few."""
        return self.sides[0].rows.shape[1]

    def place(self, feature: int, sides: tuple[Side, ...]) -> Place:
        """Where a feature of these columns is."""
        return Place(self.columns[feature % len(self.columns)], sides, self.what)


def _suspects(sides: tuple[Side, ...], what: str) -> Iterator[Suspect]:
    """The strongest evidence of every test."""
    first, hashed = 0, [np.zeros(len(side.rows), dtype=np.uint64) for side in sides]
    for keys in column_blocks(*(side.rows for side in sides)):
        block = Block(sides, keys, range(first, first + len(keys[0])), what)
        for test in (_halves, _runs, _together, _fellows, _again):
            yield from test(block)
        hashed = [folded(rows, part) for rows, part in zip(hashed, keys, strict=True)]
        first += len(keys[0])
    whole = _whole(sides, hashed, what)
    if whole.width > 1:
        yield from _again(whole)
    yield from _copies(whole)
    if all(side.calls.known for side in sides):
        yield from _shared(whole)


def _whole(sides: tuple[Side, ...], hashed: Sequence[np.ndarray], what: str) -> Block:
    """Whole draws as one column, from their hashes (n,) of each side."""
    return Block(sides, [part.view(np.int64)[None] for part in hashed], (None,), what)


def _halves(block: Block) -> Iterator[Suspect]:
    """Whether parts of the run differ, at each level of the tree of halves."""
    triples = zip(block.bits, block.keys, block.sides, strict=True)
    trees = [order.halves(bits, keys, side.calls) for bits, keys, side in triples]
    levels = list(zip_longest(*trees, fillvalue=order.nothing(len(block.bits[0]))))
    for level, evidence in enumerate(levels):
        log_p, feature, marked = _strongest(evidence, block.sides)
        kind = _kind(level, block.sides[0].calls.known)
        yield log_p + np.log(2 * block.width * len(levels)), kind, block.place(feature, marked)


def _runs(block: Block) -> Iterator[Suspect]:
    """Whether draws depend on those just before."""
    tests = 2 * block.width * len(block.sides)
    for side, bits in zip(block.sides, block.bits, strict=True):
        log_p, feature, marked = _strongest([order.runs(bits, side.calls)], (side,))
        yield log_p + np.log(tests), "serial", block.place(feature, marked)


def _together(block: Block) -> Iterator[Suspect]:
    """Whether a feature of M(D) goes with the same or the other feature of M(D')."""
    left, right = block.bits
    other = np.roll(right, len(block.columns), axis=0)
    calls, sides = block.sides[0].calls, block.sides
    for part in (right, other):
        log_p, feature, _ = _strongest([order.together(left, part, calls)], sides[:1])
        yield log_p + np.log(2 * 4 * block.width), "sides", block.place(feature, sides)


def _fellows(block: Block) -> Iterator[Suspect]:
    """Whether draws of a call go with those at the same places of the next call."""
    if not block.sides[0].calls.known:
        return
    both = zip(block.bits, block.sides, strict=True)
    evidence = [order.fellows(bits, side.calls) for bits, side in both]
    log_p, feature, marked = _strongest(evidence, block.sides)
    yield log_p + np.log(2 * block.width), "same draws", block.place(feature, marked)


def _kind(level: int, known: bool) -> str:
    """What it means that the nodes of a level of the tree differ."""
    if level == order.INSIDE:
        return "serial"
    return "call" if level == order.CALLS and known else "drift"


def _strongest(
    evidence: Sequence[order.Evidence], sides: tuple[Side, ...]
) -> tuple[float, int, tuple[Side, ...]]:
    """log p of the strongest feature, its number, and the sides that show it on their own."""
    log_p = order.log_p(evidence)
    feature = int(np.argmin(log_p))
    alone = zip(sides, (order.log_p([part])[feature] for part in evidence), strict=True)
    marked = tuple(side for side, part in alone if part <= np.log(SHOWN))
    return float(log_p[feature]), feature, marked or sides


def _again(block: Block) -> Iterator[Suspect]:
    """Whether values come again within a call, or at one place of several calls."""
    columns = block.width + (block.width > 1)  # whole draws are tested where there are columns
    for side, keys in zip(block.sides, block.keys, strict=True):
        log_p = repeats.come_again(keys, side.calls) + np.log(len(block.sides) * columns)
        for relation, kind in enumerate(("repeats", "same draws")[: 1 + side.calls.known]):
            strongest = int(np.argmin(log_p[:, relation]))
            yield float(log_p[strongest, relation]), kind, block.place(strongest, (side,))


def _copies(whole: Block) -> Iterator[Suspect]:
    """Whether whole draws come again in the same order, in the next call or to the end."""
    for side, rows in zip(whole.sides, (keys[0] for keys in whole.keys), strict=True):
        place = whole.place(0, (side,))
        if side.calls.known:
            log_p = repeats.copied_calls(rows, side.calls)
            yield log_p + np.log(len(whole.sides)), "same draws", place
        lag = outcomes.period(side.rows)
        if lag is not None:
            log_p = repeats.repeated_to_the_end(rows, lag)
            yield log_p + np.log(len(whole.sides)), "period", replace(place, lag=lag)


def _shared(whole: Block) -> Iterator[Suspect]:
    """Whether draws of one side stand on the other side too, in the same order or in any."""
    P, Q = (keys[0] for keys in whole.keys)
    for kind, log_p in (("copied", in_common.copied(P, Q)), ("shared", in_common.shared(P, Q))):
        yield log_p + np.log(2 * 2), kind, whole.place(0, whole.sides)
