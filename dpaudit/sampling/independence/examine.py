"""All tests of independence on the draws of two sides, with one level for them together.

`_suspicions` runs every test. A new test is a function of `order` or `copies`, a name in
`FAMILIES`, which shares the level, and a kind with its message in `WORDS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from operator import itemgetter

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.sampling.block import SIDES
from dpaudit.sampling.independence import copies, order
from dpaudit.sampling.independence.features import (
    FEATURES,
    Calls,
    calls_of,
    column_blocks,
    features,
    keys_of,
    row_hashes,
)

LEVEL = 1e-6  # probability that an audit of independent draws is refused, at most
# These share the level equally. Half of the share of the two sides is for draws that go together,
# half for draws in common.
FAMILIES = (
    *("halves", "runs", "two sides", "repeats within a call", "same draws in different calls"),
    *("calls that go together", "copied calls", "repetition to the end"),
)
# Draws that depend on near ones also drift, and seem to be related to such draws of the other side.
NEAR = ("period", "same draws", "repeats", "serial", "call")
SHOWN = 1e-3  # a finding names a side if its own p-value is at most this

OWN_SEED = (
    "draw from the rng that is given; for a function with global generators there is "
    "dpaudit.adapters.global_seeds"
)
# The message of each kind, the most telling kind first, which names the likely mistake. Of two
# messages the second is for draws made elsewhere.
WORDS = {
    "period": (
        "the same {what} come again after every {lag}{where}, as from a seed of its own; "
        f"{OWN_SEED}",
        "the same {what} come again after every {lag}{where}, as in draws that were copied",
    ),
    "same draws": (
        "calls return the same {what}, or nearly the same{where}, as from a seed of their own, "
        f"from the clock, or from a cache; {OWN_SEED}",
    ),
    "repeats": (
        "{what} come again within a call{where}, as when noise is tiled or repeated",
        "{what} come again near each other{where}, as in a chain or in draws that were copied",
    ),
    "serial": (
        "successive {what} depend on each other{where}, as in a chain, in sorted draws, or when "
        "noise is drawn once a call",
        "successive {what} depend on each other{where}, as in a chain or in sorted draws",
    ),
    "call": (
        "calls differ from each other{where}, as when noise, or a parameter of it, is drawn once a "
        "call",
    ),
    "drift": (
        "the law changes during the run{where}, as with a counter, a cache or wear",
        "{what} change from the first to the last{where}: they are not in random order",
    ),
    "copied": ("the same {what} stand on both sides, in the same order, so nothing was audited",),
    "shared": (
        "the same {what} stand on both sides, as from one pool or cache, so nothing was audited",
        "the same {what} stand on both sides, as in a shuffled copy, or in parts of one pool, so "
        "nothing was audited",
    ),
    "sides": (
        "{what} of the two sides go together row by row{column}, as when those of {right} are made "
        "from those of {left}, or one noise serves both",
    ),
}
WITHIN_CALLS = ("repeats", "serial", "call")  # shown by a call whose draws are all the same, too


@dataclass(frozen=True)
class Finding:
    """One kind of dependence that the draws show.

    kind : a key of `WORDS`. message : a clause that names the likely mistake. log_p : the log of
    its p-value, corrected for the number of tests in the examination. refused : whether the draws
    cannot certify anything.
    """

    kind: str
    message: str
    log_p: float
    refused: bool


@value_class
class Side:
    """The draws of one side: their rows, calls and name."""

    rows: Array
    calls: Calls
    name: str


@value_class
class Place:
    """The place where the evidence is strongest.

    column : number of the column, None for whole draws. sides : the side or sides. what : the word
    for the rows, "draws" or "scores". lag : the period of draws that repeat, else None.
    """

    column: int | None
    sides: tuple[Side, ...]
    what: str
    lag: int | None = None

    @property
    def where(self) -> str:
        """The place in words, such as " on M(D), column 2 of 3"."""
        return f" on {' and '.join(side.name for side in self.sides)}{self.in_column}"

    @property
    def in_column(self) -> str:
        """The column in words, such as ", column 2 of 3"; "" if there is one column."""
        columns = self.sides[0].rows.shape[1]
        if self.column is None or columns == 1:
            return ""
        return f", column {self.column + 1} of {columns}"


Suspicion = tuple[float, str, Place]  # log p times the size of its family, kind, place


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
    if not P.size or not Q.size:
        return []
    left, right = (None, None) if calls is None else calls
    sides = Side(P, calls_of(left, len(P)), SIDES[0]), Side(Q, calls_of(right, len(Q)), SIDES[1])
    log_level = float(np.log(level / len(FAMILIES)))
    return _findings(_suspicions(sides, "scores" if score else "draws", log_level), log_level)


def examine_shared(P: Array, Q: Array, *, level: float = LEVEL) -> list[Finding]:
    """Test draws made elsewhere for draws that P and Q share; returns findings as `examine` does.

    The arguments are those of `examine`, which omits this test for draws made elsewhere: a copy may
    be in another order, so one test must see all draws. It spends the same part of the level.
    """
    sides = Side(P, calls_of(None, len(P)), ""), Side(Q, calls_of(None, len(Q)), "")
    suspicions = _draws_in_common(sides, [row_hashes(P), row_hashes(Q)], "draws")
    return _findings(suspicions, float(np.log(level / len(FAMILIES))))


def _findings(suspicions: Iterable[Suspicion], log_level: float) -> list[Finding]:
    """The findings: the strongest evidence of each kind, if its p-value is at most the level."""
    findings: dict[str, Finding] = {}
    for log_p, kind, place in sorted(suspicions, key=itemgetter(0)):
        if kind not in findings and log_p <= log_level:
            findings[kind] = of_kind(kind, place, log_p + float(np.log(len(FAMILIES))))
    kinds = NEAR if findings.keys() & {*NEAR} else WORDS
    return list(filter(None, map(findings.get, kinds)))


def _suspicions(sides: tuple[Side, Side], what: str, log_level: float) -> Iterator[Suspicion]:
    """Yield the strongest evidence of every test, at least where it is below the level.

    what : the word for the draws in messages.
    """
    P, Q = sides[0].rows, sides[1].rows
    for columns, keys in column_blocks(P, Q):
        ordered = [np.sort(keys[0], axis=1), np.sort(keys[1], axis=1)]
        yield from _tests_of_order(sides, keys, ordered, columns, what, log_level)
        yield from _repeats(sides, keys, ordered, columns, what)
    whole = [row_hashes(P), row_hashes(Q)]
    if P.shape[1] > 1:
        one = [rows[None] for rows in whole]  # whole draws as one column
        yield from _repeats(sides, one, [np.sort(rows) for rows in one], (None,), what)
    for side, rows in zip(sides, whole, strict=True):
        place = Place(None, (side,), what)
        if side.calls.known:
            yield copies.copied_calls(rows, side.calls) + np.log(len(sides)), "same draws", place
        lag = copies.period(side.rows)
        if lag is not None:
            log_p = copies.repeated_to_the_end(rows, lag) + np.log(len(sides))
            yield log_p, "period", replace(place, lag=lag)
    if sides[0].calls.known:
        yield from _draws_in_common(sides, whole, what)


def _tests_of_order(
    sides: tuple[Side, Side],
    keys: Sequence[np.ndarray],
    ordered: Sequence[np.ndarray],
    columns: Sequence[int],
    what: str,
    log_level: float,
) -> Iterator[Suspicion]:
    """Run the tests of `order` on a few columns; yields what is below the level.

    keys : the keys of each side, (c, n). ordered : the same, each column ascending.
    """
    left, right = features(keys[0], ordered[0]), features(keys[1], ordered[1])
    calls, known = (sides[0].calls, sides[1].calls), sides[0].calls.known
    trees = order.halves(left, keys[0], calls[0]), order.halves(right, keys[1], calls[1])
    depth = max(map(len, trees))
    # kind, sides, tests for each column, and the tables that are one test together
    tests: list[tuple[str, tuple[Side, ...], int, list[order.Table]]] = []
    for level in range(depth):
        kind = "drift"  # the meaning of a difference between the nodes of this level
        if level == order.INSIDE:
            kind = "serial"
        elif level == order.CALLS and known:
            kind = "call"
        has = [level < len(tree) for tree in trees]
        tables = [tree[level] for tree in compress(trees, has)]
        tests.append((kind, tuple(compress(sides, has)), FEATURES * depth, tables))
    for side, bits in zip(sides, (left, right), strict=True):
        tests.append(("serial", (side,), FEATURES * len(sides), [order.runs(bits, side.calls)]))
    draws = min(left.shape[1], right.shape[1])
    strata = calls[0].strata[calls[0].strata < draws]
    for other in (right, np.roll(right, len(columns), axis=0)):  # the same, and the next feature
        table = order.together(left[:, :draws], other[:, :draws], strata)
        tests.append(("sides", sides, 2 * 2 * FEATURES, [table]))
    if known:
        tables = [order.fellows(left, calls[0]), order.fellows(right, calls[1])]
        tests.append(("same draws", sides, FEATURES, tables))
    sums = iter(order.sums_of_logs([table for *_, tables in tests for table in tables]))
    for kind, owners, number, tables in tests:
        logs = list(islice(sums, len(tables)))
        log_p = order.combined(np.sum(logs, axis=0), sum(table.number for table in tables))
        feature = int(np.argmin(log_p))
        strongest = float(log_p[feature]) + np.log(number * sides[0].rows.shape[1])
        if strongest <= log_level:
            if len(tables) > 1:  # name the sides that show it by themselves
                alone = [
                    order.combined(log[feature], table.number) <= np.log(SHOWN)
                    for log, table in zip(logs, tables, strict=True)
                ]
                owners = tuple(compress(owners, alone)) or owners
            yield strongest, kind, Place(columns[feature % len(columns)], owners, what)


def _repeats(
    sides: tuple[Side, Side],
    keys: Sequence[np.ndarray],
    ordered: Sequence[np.ndarray],
    columns: Sequence[int | None],
    what: str,
) -> Iterator[Suspicion]:
    """Test whether values repeat within a call, or at the same place of several calls. keys,
    ordered : as in `_tests_of_order`.
    """
    width = sides[0].rows.shape[1]
    tests = len(sides) * (width + (width > 1))  # whole draws are tested where there are columns
    for side, part, ascending in zip(sides, keys, ordered, strict=True):
        log_p = copies.come_again(part, ascending, side.calls) + np.log(tests)
        for relation, kind in enumerate(("repeats", "same draws")[: 1 + side.calls.known]):
            column = int(np.argmin(log_p[:, relation]))
            yield float(log_p[column, relation]), kind, Place(columns[column], (side,), what)


def _draws_in_common(
    sides: tuple[Side, Side], whole: Sequence[np.ndarray], what: str
) -> Iterator[Suspicion]:
    """Test whether draws of one side occur on the other side too, in the same or in any order."""
    place = Place(None, sides, what)
    yield copies.copied(*whole) + np.log(2 * 2), "copied", place
    yield copies.shared(*whole) + np.log(2 * 2), "shared", place


# --- findings, in words ---------------------------------------------------------------------------


def of_kind(kind: str, place: Place, log_p: float) -> Finding:
    """Make the finding of this kind. Draws are refused unless they only drift in known calls."""
    known = all(side.calls.known for side in place.sides)
    message = _no_size(place) if known and kind in WITHIN_CALLS else None
    if message is None:
        message = WORDS[kind][0 if known else -1].format(
            what=place.what,
            lag=f"{place.lag:,}" if place.lag else "",
            where=place.where,
            column=place.in_column,
            left=place.sides[0].name,
            right=place.sides[-1].name,
        )
    return Finding(kind, message, log_p, kind != "drift" or not known)


def _no_size(place: Place) -> str | None:
    """The message if every call has one value, in all columns or in one of them; else None."""
    for side in place.sides:
        offset = side.calls.offset
        if not (side.calls.known and offset.any()):  # calls of one draw tell nothing
            continue
        keys = keys_of(side.rows.T)
        constant = ~((keys[:, 1:] != keys[:, :-1]) & (offset[1:] > 0)).any(axis=1)  # in each call
        if constant.all():
            return f"every draw of a call is the same on {side.name}: is size= forgotten?"
        constant &= (keys != keys[:, :1]).any(axis=1)
        if constant.any():
            name = f"column {int(np.argmax(constant)) + 1} of {len(constant)}"
            return f"{name} has one value in each call on {side.name}: is size= forgotten?"
    return None
