"""Where the random numbers of a mechanism depend on the data: a hint for people, never a verdict.

A replay calls the mechanism with the same seeds on both databases. The generators of `recorder`
record each draw, and the replay returns the first place where the draws on D and on D' differ.

Draws may depend on earlier draws: a noisy count may set the scale of the next noise, and a noisy
comparison may end a sparse vector run. That is post-processing, and sound. But then the draws on
one database change with the seed too. So a difference counts only if the draws on D agree for all
seeds and those on D' agree for all seeds: noise cannot explain it, only the data can.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.form import check_mechanism
from dpaudit._core.seeds import Purpose, below, root
from dpaudit._core.types import Array, Mechanism, RngLike
from dpaudit._core.value import value_class
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling.block import checked, joined, outputs, sampler_of
from dpaudit.sampling.recorder import Drawn, Log, Place, generator, recorded

SEEDS, SIZE = 3, 2  # calls on each database, and draws that each makes
HINT = (
    "This is a hint, not a verdict: a proof may allow it (smooth sensitivity, sampling of rows). "
    "Only an audit shows how much it gives away."
)
NOTHING = "No noise call was recorded: the mechanism draws outside Python's and NumPy's generators."
SAME = "The noise calls do not depend on the data, as far as they were recorded."
Played = list[tuple[Log, np.ndarray]]  # for each seed, the record of a call and its outputs
COUNTS = ("range", "number of choices")  # arguments that may follow the number of rows


@value_class(eq=True)
class Difference:
    """A quantity that depends on the data, and its place in the mechanism.

    kind : "argument" (called `name`), "size", "number" of draws, "branch", or "width" of the noise
        in an output. draw : the number, from 1, of the call of a generator, or of the output.
    method, place : that call, such as "laplace" at "release.py:12". values : the argument on D and
        on D' if it is a number, else None; they are private, so text and repr do not show them.
    """

    kind: str
    text: str
    draw: int
    method: str | None = None
    place: str | None = None
    name: str | None = None
    values: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        return f"Difference({self.kind}: {self.text})"

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The difference in JSON types. show_data : whether to include the argument's values."""
        names = ("kind", "text", "draw", "method", "place", "name")
        values = {"values": list(self.values)} if show_data and self.values else {}
        return {**{name: getattr(self, name) for name in names}, **values}


@value_class(eq=True)
class Replay:
    """The result of a replay.

    difference : the first difference, or None. draws : how many calls of generators were recorded
    with the first seed, on D and on D'.
    """

    difference: Difference | None
    draws: tuple[int, int]

    @property
    def text(self) -> str:
        """What the replay showed, in sentences for people, without a value of the data."""
        if self.difference is not None:
            return f"{self.difference.text} {HINT}"
        return SAME if any(self.draws) else NOTHING

    def __repr__(self) -> str:
        return f"Replay({self.text})"

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The replay in JSON types. show_data : whether to include the values of an argument."""
        difference = self.difference
        return {
            "text": self.text,
            "draws": list(self.draws),
            "difference": None if difference is None else difference.to_dict(show_data=show_data),
        }


def replay(mechanism: Mechanism, pair: NeighbourPair, *, rng: RngLike = 0) -> Replay:
    """Call a mechanism with the same seeds on D and D', and compare what it draws.

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng)`, as `dpaudit.audit` takes it. It is called three times on each
        database, for two draws each, from one thread. During a call, recording generators replace
        the global ones of `numpy.random` and `random`; afterwards these are as before.
    pair : NeighbourPair
        The two databases.
    rng : seed or Generator, default 0
        The source of the seeds. The same seed gives the same result.

    Returns
    -------
    Replay
        Its `difference` is the first one that is the same for all seeds: an argument for the width
        of noise ("scale"; a location may depend on the data), the size of a draw, the number of
        draws, or a branch; if there is none of these, an output whose noise differs in width.

    Raises
    ------
    MechanismError
        When the mechanism fails.

    Notes
    -----
    The result is a hint, never a verdict. A replay misses the draws of other generators (those of
    compiled code, of the system, of another process) and leaks that do not change the draws, such
    as a sensitivity that is too small. And it reports a difference for some private mechanisms,
    whose proofs account for draws that depend on the data.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> def release(data, size, *, rng):
    ...     spread = np.ptp(data)  # a sensitivity must not be read off the data
    ...     return data.sum() + rng.laplace(scale=spread, size=(size, 1))
    >>> pair = dp.neighbours.replace_row(np.ones((3, 1)), 0, [5.0])
    >>> dp.replay(release, pair).difference.name
    'scale'
    """
    check_mechanism(mechanism)
    if not isinstance(pair, NeighbourPair):
        check.fail("pair", pair, "a NeighbourPair")
    seed = root(rng)
    left, right = (_played(mechanism, data, seed) for data in (pair.left, pair.right))
    return _compared(left, right, Rows(len(pair.left), len(pair.right)))


def hints(
    mechanism: Mechanism, left: Array, others: Iterable[Array], *, show_data: bool = False
) -> Iterator[dict[str, Any] | None]:
    """For D and each D' the result of `replay` as in result.json; None if it cannot be replayed.
    The calls on D, `left`, are made once.
    """
    seed, played = root(0), None
    for right in others:
        try:
            played = played or _played(mechanism, left, seed)
            other = _played(mechanism, right, seed)
            compared = _compared(played, other, Rows(len(left), len(right)))
        except Exception:  # a hint must not end an audit
            yield None
        else:
            yield compared.to_dict(show_data=show_data)


def _played(mechanism: Mechanism, data: Array, seed: np.random.SeedSequence) -> Played:
    """The log of the random draws and the outputs of one call for each seed below `seed`."""
    where, played = "a replay", []
    for at in range(SEEDS):
        log = Log(below(seed, int(Purpose.COMMON), 1, at))
        with recorded(log):
            draws = outputs(sampler_of(mechanism, data), SIZE, generator(log), where)
            played.append((log, checked(draws, SIZE, where)))
    return played


def _compared(left: Played, right: Played, rows: Rows) -> Replay:
    ours, theirs = ([log for log, _ in side] for side in (left, right))
    difference = first_difference(ours, theirs, rows)
    if difference is None:
        P, Q = (joined([draws for _, draws in side], "a replay") for side in (left, right))
        difference = other_width(P, Q, rows)
    return Replay(difference, (len(ours[0].drawn), len(theirs[0].drawn)))


# --- the first difference between the logs --------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """The numbers of rows of D and of D'. Draws for each row may legitimately depend on them."""

    left: int
    right: int

    def followed(self, left: float, right: float) -> bool:
        """Whether the numbers of rows differ and `left`/`right` has the same ratio as they have."""
        return self.left != self.right and left * self.right == right * self.left

    @property
    def words(self) -> str:
        more = "" if self.left == self.right else ", or on their number of rows"
        return f"depends on the data{more}"


def first_difference(left: Sequence[Log], right: Sequence[Log], rows: Rows) -> Difference | None:
    """The first difference between the logs on D and those on D', which have the same seeds.

    None if noise, or the number of rows, can explain all differences.
    """
    for number in range(max(len(log.drawn) for log in (*left, *right)) + 1):
        ours, theirs = ([_at(log, number) for log in logs] for logs in (left, right))
        if not (_agree(map(_call, ours)) and _agree(map(_call, theirs))):
            return None  # the seeds differ on one database: noise decides which call comes next
        first, second = ours[0], theirs[0]
        if first is None or second is None or _call(first) != _call(second):
            if any(_follows(left[0], right[0], drawn, rows) for drawn in (first, second)):
                return None
            return _another(first, second, number, rows)
        difference = _in_call(ours, theirs, number, rows)
        if difference is not None:
            return difference
    return None


def _at(log: Log, number: int) -> Drawn | None:
    return log.drawn[number] if number < len(log.drawn) else None


def _call(drawn: Drawn | None) -> tuple[str, Place] | None:
    return None if drawn is None else (drawn.method, drawn.place)


def _agree(values: Iterable[Any]) -> bool:
    first, *others = values
    return all(value == first for value in others)


def _follows(left: Log, right: Log, drawn: Drawn | None, rows: Rows) -> bool:
    """Whether the numbers of calls at one place are in proportion to the numbers of rows."""
    counts = [sum(_call(each) == _call(drawn) for each in log.drawn) for log in (left, right)]
    return drawn is not None and rows.followed(*counts)


def _another(
    first: Drawn | None, second: Drawn | None, number: int, rows: Rows
) -> Difference | None:
    """The difference that call `number` is one method on D and another on D', or missing there."""
    drawn = first or second
    if drawn is None:
        return None
    if first is None or second is None:
        text = (
            f"The number of noise calls {rows.words}: on one of the databases there is one more, "
            f"{_named(drawn)}."
        )
        return _difference("number", text, number, drawn)
    text = (
        f"A branch {rows.words}: noise call {number + 1} is {_named(first)} on one of the "
        f"databases, {_named(second)} on the other."
    )
    return _difference("branch", text, number, first)


def _in_call(ours: Sequence[Any], theirs: Sequence[Any], number: int, rows: Rows) -> Any:
    """The `Difference` of size or argument between call `number` on D and on D', or None.

    ours, theirs : what the call drew with each seed.
    """
    drawn, other = ours[0], theirs[0]
    call = f"noise call {number + 1}, {_named(drawn)},"
    sizes = drawn.shape, other.shape
    if all(_agree(each.shape for each in side) for side in (ours, theirs)) and (
        len(sizes[0]) != len(sizes[1])
        or any(a != b and not rows.followed(a, b) for a, b in zip(*sizes, strict=True))
    ):
        return _difference("size", f"The size of {call} {rows.words}.", number, drawn)
    if drawn.argument is None or drawn.argument == other.argument:
        return None
    if not all(_agree(each.argument for each in side) for side in (ours, theirs)):
        return None
    name, values = drawn.argument[0], (drawn.argument[1], other.argument[1])
    numbers = all(isinstance(value, float) for value in values)
    if name in COUNTS and numbers and rows.followed(*values):
        return None
    text, shown = f"The {name} of {call} {rows.words}.", values if numbers else None
    return _difference("argument", text, number, drawn, name=name, values=shown)


def _difference(kind: str, text: str, number: int, drawn: Drawn, **more: Any) -> Difference:
    return Difference(kind, text, number + 1, drawn.method, _where(drawn.place), **more)


def _named(drawn: Drawn) -> str:
    return f"{drawn.method} at {_where(drawn.place)}"


def _where(place: Place) -> str:
    return f"{os.path.basename(place[0])}:{place[1]}"


# --- noise of another width in the outputs
#
# `scale * rng.standard_normal()` shows no scale when it is drawn. With the same random numbers,
# noise of a fixed width moves both outputs alike: M(D') = a + M(D). If M(D') = a + b M(D) for all
# draws, with b other than 1 and a other than 0, an output is an answer and noise b times as wide on
# D' as on D. (With a = 0 there is no answer beside the noise, as where a random projection releases
# noise whose shape depends on the data on purpose.)

FEWEST = 5  # different values of an output: two fix a line, and the others lie on it
ROUNDING = 1e-9  # relative to the largest value
APART = 1e-6  # by how much b must differ from 1, and a/(largest value) from 0


def other_width(left: Array, right: Array, rows: Rows) -> Difference | None:
    """The first output whose noise has another width on D than on D'; None without one.

    left, right : outputs on D and on D' with common random numbers, (m, k) each.
    """
    if left.shape != right.shape or left.dtype.kind != "f" or right.dtype.kind != "f":
        return None
    for column, (ours, theirs) in enumerate(zip(left.T, right.T, strict=True), start=1):
        if widened(ours, theirs):
            text = f"The width of the noise in output {column} {rows.words}."
            return Difference("width", text, column)
    return None


def widened(left: Array, right: Array) -> bool:
    """Whether right = a + b·left with b ≠ 1 and a ≠ 0, (m,) each."""
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return False
    if len(np.unique(left)) < FEWEST or len(np.unique(right)) < FEWEST:
        return False
    low, high = int(np.argmin(left)), int(np.argmax(left))
    slope = (right[high] - right[low]) / (left[high] - left[low])
    at_zero = right[low] - slope * left[low]
    largest = np.abs(right).max()
    exact = np.abs(right - at_zero - slope * left).max() <= ROUNDING * largest
    return bool(exact and abs(slope - 1.0) > APART and abs(at_zero) > APART * largest)
