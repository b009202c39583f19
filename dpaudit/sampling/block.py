"""One block of draws: made from a seed of its own, checked, and named in every error message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpaudit import outcomes
from dpaudit._core.raised import Raised, shown
from dpaudit._core.seeds import Purpose, describe, generator
from dpaudit._core.types import Array, Mechanism, Sampler
from dpaudit._core.user_code import Carried
from dpaudit._core.value import value_class
from dpaudit.errors import MechanismError
from dpaudit.sampling.form import advice_on

SIDES = ("M(D)", "M(D')")
# What a mechanism raises is its failure, such as a cancelled task or a test's skip, but for these.
OF_THE_PROCESS = (KeyboardInterrupt, SystemExit)
# (what was returned, its rows, the name of the block) → rows that nobody else writes to
Returned = Callable[[Any, np.ndarray, str], np.ndarray]


@runtime_checkable
class Preparable(Protocol):
    """A mechanism that does once what does not depend on the draw.

    Every mechanism with a `law` does (`dpaudit.mechanisms.LawMechanism`). The other two methods
    tell it from a user's object that happens to have a method `prepare`.
    """

    def prepare(self, data: Array) -> Sampler:
        """(size, rng) → draws on this database."""
        ...

    def law(self, data: Array) -> Any:
        """The output law on this database."""
        ...

    def zeroed_rows(self, data: Array) -> Any:
        """The pairs of laws that zeroing each row gives."""
        ...


def sampler_of(mechanism: Mechanism, data: Array) -> Sampler:
    """(size, rng) → draws of mechanism(data)."""
    if isinstance(mechanism, Preparable):
        return mechanism.prepare(data)
    return partial(_call, mechanism, data)


def _call(mechanism: Mechanism, data: Array, size: int, rng: np.random.Generator) -> Any:
    """One call. Raises `MechanismError` with what the mechanism raised."""
    try:
        return mechanism(data, size, rng=rng)
    except OF_THE_PROCESS:
        raise
    except BaseException as error:
        failure = _failure(error, data)
    raise failure  # here, where nothing leads to the mechanism's exception any more


def outputs(sampler: Sampler, size: int, rng: np.random.Generator, where: str) -> Any:
    """sampler(size, rng). Raises `MechanismError`. where : the draws, for the error message."""
    try:
        return sampler(size, rng)
    except OF_THE_PROCESS:
        raise
    except BaseException as error:
        failure = _failure(error)
    message = f"the mechanism raised on {where}: {failure}"
    raise shown(MechanismError(message, raised=failure.raised))


def _failure(error: BaseException, data: Array | None = None) -> MechanismError:
    """What a mechanism raised, without values of the data; an adapter may have seen to that."""
    if isinstance(error, MechanismError) and error.raised is not None:
        return error
    raised = Raised.of(error, data)
    return MechanismError(raised.line, raised=raised)


class Border:
    """The border between dpaudit and the mechanism of both sides, in one process.

    A mechanism may fill one array again and again, and return it each time. One call after the
    other this does no harm, because outputs are copied. Where calls in several threads overlap, one
    overwrites the output of another: that is an error.
    """

    def __init__(self) -> None:
        self.lock, self.clock = Lock(), count()
        self.inside: set[int] = set()  # when the calls that go on began
        # what overlapping calls returned, with the time; kept, so that no other array can have
        # the memory
        self.outputs: list[tuple[int, Any]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has a border of its own."""
        return Border, ()

    @contextmanager
    def call(self) -> Iterator[Returned]:
        """Around a call of the mechanism; gives the function that takes what it returned."""
        with self.lock:
            began = next(self.clock)
            self.inside.add(began)
        try:
            yield partial(self._returned, began)
        finally:
            with self.lock:
                self.inside.remove(began)
                oldest = min(self.inside, default=None)
                self.outputs = [
                    output for output in self.outputs if oldest is not None and output[0] > oldest
                ]

    def _returned(self, began: int, values: Any, rows: np.ndarray, where: str) -> np.ndarray:
        """Rows in memory of their own. Raises `MechanismError`."""
        with self.lock:
            if any(at > began and _overlap(values, other) for at, other in self.outputs):
                raise MechanismError(
                    "the mechanism must return memory of its own from each call, but several "
                    "threads got the same array, as of a buffer that is filled again, on "
                    f"{where}; return a copy, or draw with n_jobs=1 or in processes"
                )
            copied = rows if isinstance(values, (list, tuple)) else rows.copy()
            self.outputs.append((next(self.clock), values))
        return copied


def _overlap(left: Any, right: Any) -> bool:
    """Whether two outputs are the same list, or arrays with an element in common."""
    if not (isinstance(left, np.ndarray) and isinstance(right, np.ndarray)):
        return left is right and isinstance(left, list)
    return bool(np.shares_memory(left, right))


@value_class
class Blocks:
    """The blocks of one side. Block b of side s has the generator at key (DRAW, s, b) below `seed`.

    So a block is the same bytes whichever process draws it, and when. Sent to another process or
    machine, it takes along the folders in which its modules are looked for.

    border : where outputs leave the mechanism. call : draws of each call of the sampler, the last
    one of a block may make fewer; call i has the generator at key (DRAW, s, b, i). None where one
    call makes a block.
    """

    sampler: Sampler
    seed: np.random.SeedSequence
    side: int
    border: Border = field(default_factory=Border)
    call: int | None = None

    def __call__(self, number: int, size: int) -> np.ndarray:
        """Rows of one block, as `outcomes.rows` gives them. Raises `MechanismError`."""
        key = self._key(number)
        if self.call is None:
            return self._rows(size, key, number)
        parts = [self._rows(n, (*key, call), number) for call, n in enumerate(self.calls(size))]
        # lists of one call stay lists: those of the next one may have another length
        return parts[0] if len(parts) == 1 else joined(parts, self.where(number, size))

    def calls(self, size: int) -> tuple[int, ...]:
        """The draws of each call that makes a block of this size."""
        call = self.call or size
        return tuple(min(call, size - first) for first in range(0, size, call))

    def where(self, number: int, size: int, key: tuple[int, ...] = ()) -> str:
        """The name of a block in an error message, or of a call of `size` draws in it, with the
        seed and key that repeat it.
        """
        seed = f"seed {describe(self.seed)}, key {key or self._key(number)}"
        draws = "1 draw" if size == 1 else f"{size} draws"
        return f"{SIDES[self.side]}, block {number} ({draws}, {seed})"

    def _rows(self, size: int, key: tuple[int, ...], number: int) -> np.ndarray:
        """One call of the sampler."""
        where = self.where(number, size, key)
        with self.border.call() as returned:
            values = outputs(self.sampler, size, generator(self.seed, *key), where)
            return returned(values, checked(values, size, where), where)

    def _key(self, number: int) -> tuple[int, int, int]:
        return int(Purpose.DRAW), self.side, number

    @cached_property
    def _carried(self) -> Carried:
        return Carried(self.sampler)

    def __reduce__(self) -> tuple[Any, ...]:
        """As pickle asks for, with a sampler that takes its modules' folders along."""
        return Blocks, (self._carried, self.seed, self.side, Border(), self.call)


def both_sides(
    mechanism: Mechanism,
    databases: Sequence[Array],
    seed: np.random.SeedSequence,
    call: int | None = None,
) -> list[Blocks]:
    """The blocks of M(D) and of M(D'), which have one border."""
    border = Border()
    return [
        Blocks(sampler_of(mechanism, data), seed, side, border, call)
        for side, data in enumerate(databases)
    ]


@dataclass(frozen=True)
class Block:
    """The number of a block of draws, its side (0 for M(D), 1 for M(D')), and its size."""

    side: int
    number: int
    size: int


def in_turn(sizes: Iterable[tuple[int, int]], seed: np.random.SeedSequence) -> Iterator[Block]:
    """The blocks of both sides, from (number, size) in ascending order.

    Blocks of one number follow each other. Four blocks of two successive numbers come as P Q Q P or
    as Q P P Q, by a coin at key (ORDER, number // 2) below `seed`. So a change of the mechanism
    that is linear in time affects both sides equally, and any other change favours neither side.
    """
    for number, size in sizes:
        coin = int(generator(seed, Purpose.ORDER, number // 2).integers(2))
        first = (coin + number) % 2
        yield Block(first, number, size)
        yield Block(1 - first, number, size)


def checked(values: object, size: int, where: str) -> np.ndarray:
    """The draws as rows (`outcomes.rows`). Raises a `MechanismError` that says what came instead.

    values : what a mechanism returned. where : the name of the block, for the error message.
    """
    try:
        return outcomes.rows(values, size)
    except outcomes.NotOutcomes as error:
        advice = advice_on(values)
        raise MechanismError(f"the mechanism must return {error} on {where}{advice}") from None


def joined(parts: Sequence[np.ndarray], where: str) -> np.ndarray:
    """Draws of one side in one array. Raises `MechanismError` where they have different forms.

    where : what they are draws of, for the error message.
    """
    if len(parts) == 1 and outcomes.is_table(parts[0]):
        return parts[0]
    try:
        return outcomes.joined(list(parts))
    except outcomes.NotOutcomes as error:
        raise MechanismError(f"the mechanism must return {error} on {where}") from None
