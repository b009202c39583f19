"""One block of draws: it has a seed of its own, is checked, and every error message names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpaudit import outcomes
from dpaudit._core.form import advice_on, with_advice
from dpaudit._core.raised import Raised, with_cause
from dpaudit._core.seeds import Purpose, describe, generator
from dpaudit._core.ticks import tick
from dpaudit._core.types import Array, Mechanism, Sampler
from dpaudit._core.user_code import Carried
from dpaudit._core.value import value_class
from dpaudit.errors import MechanismError

SIDES = ("M(D)", "M(D')")
# Any other exception of a mechanism is a failure of it, also a cancelled task or a test's skip.
OF_THE_PROCESS = (KeyboardInterrupt, SystemExit)


@runtime_checkable
class Preparable(Protocol):
    """A mechanism that computes once, for a database, everything that does not depend on the draw.

    Every `dpaudit.mechanisms.LawMechanism` has this form. `law` and `zeroed_rows` distinguish it
    from a user's object that happens to have a method `prepare`.
    """

    def prepare(self, data: Array) -> Sampler:
        """Return a function of (size, rng) that makes draws on this database."""

    def law(self, data: Array) -> Any:
        """The output law on this database."""

    def zeroed_rows(self, data: Array) -> Any:
        """The pairs of laws that zeroing each row gives."""


def sampler_of(mechanism: Mechanism, data: Array) -> Sampler:
    """Return a function of (size, rng) that makes draws of mechanism(data)."""
    if isinstance(mechanism, Preparable):
        return mechanism.prepare(data)
    return partial(_call, mechanism, data)


def _call(mechanism: Mechanism, data: Array, size: int, rng: np.random.Generator) -> Any:
    """Call the mechanism once. Raises `MechanismError` that describes the mechanism's exception."""
    try:
        return mechanism(data, size, rng=rng)
    except OF_THE_PROCESS:
        raise
    except BaseException as error:
        failure = _failure(error, data)
    raise failure  # outside `except`, so that it does not carry the mechanism's exception along


def outputs(sampler: Sampler, size: int, rng: np.random.Generator, where: object) -> Any:
    """Return sampler(size, rng). Raises `MechanismError`, which names the draws by `where`."""
    try:
        return sampler(size, rng)
    except OF_THE_PROCESS:
        raise
    except BaseException as error:
        failure = _failure(error)
    message = f"the mechanism raised {failure} (on {where})"
    raise with_cause(MechanismError(message, raised=failure.raised))


def _failure(error: BaseException, data: Array | None = None) -> MechanismError:
    """The error to raise for a mechanism's exception, without values of the data; one that an
    adapter has made as it is.
    """
    if isinstance(error, MechanismError) and error.raised is not None:
        return error
    raised = Raised.of(error, data)
    return MechanismError(with_advice(raised.line), raised=raised)


@dataclass(repr=False)
class Border:
    """Copies the outputs of a mechanism, for both sides in one process, and detects overwriting.

    A mechanism may fill one array again and again, and return it each time. If calls follow each
    other, a copy is enough; if calls in several threads overlap, it is an error.

    inside : the start times of the calls that are still running. outputs : (time, output) of calls
    that overlap with a running one; the references keep the memory from being used for another
    array.
    """

    lock: Any = field(default_factory=Lock)
    clock: Iterator[int] = field(default_factory=count)
    inside: set[int] = field(default_factory=set)
    outputs: list[tuple[int, Any]] = field(default_factory=list)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a new border, since each process has its own."""
        return Border, ()

    def rows(
        self,
        sampler: Sampler,
        size: int,
        rng: np.random.Generator,
        where: object,
        sort_keys: bool = False,
    ) -> np.ndarray:
        """A copy of the checked rows of one call of the sampler. sort_keys : as in `Blocks`.

        Raises `MechanismError`, which names the draws by `where`, also if an overlapping call
        returned the same memory.
        """
        with self.lock:
            began = next(self.clock)
            self.inside.add(began)
        try:
            values = outputs(sampler, size, rng, where)
            rows = checked(values, size, where, sort_keys)
            with self.lock:
                for at, output in self.outputs:
                    if at > began and _overlap(values, output):
                        raise MechanismError(
                            "the mechanism must return memory of its own from each call, but "
                            "several threads got the same array, as of a buffer that is filled "
                            f"again, on {where}; return a copy, or draw with n_jobs=1 or in "
                            "processes"
                        )
                self.outputs.append((next(self.clock), values))
                return rows if isinstance(values, (list, tuple)) else rows.copy()
        finally:
            with self.lock:
                self.inside.remove(began)
                oldest = min(self.inside, default=np.inf)
                while self.outputs and self.outputs[0][0] < oldest:  # the oldest output is first
                    del self.outputs[0]


def _overlap(left: Any, right: Any) -> bool:
    """Whether two outputs are the same list, or arrays with an element in common."""
    if not (isinstance(left, np.ndarray) and isinstance(right, np.ndarray)):
        return left is right and isinstance(left, list)
    return bool(np.shares_memory(left, right))


@dataclass(frozen=True)
class Where:
    """The name of a block in an error message, or of a call of `size` draws in it, with the seed
    and key that repeat it.
    """

    seed: np.random.SeedSequence
    key: tuple[int, ...]
    size: int

    def __str__(self) -> str:
        draws = "1 draw" if self.size == 1 else f"{self.size} draws"
        repeats = f"seed {describe(self.seed)}, key {self.key}"
        return f"{SIDES[self.key[1]]}, block {self.key[2]} ({draws}, {repeats})"


@value_class
class Blocks:
    """The blocks of one side. Block b of side s has the generator at key (DRAW, s, b) below `seed`.

    So a block has the same bytes whichever process draws it, and whenever. A pickled `Blocks` takes
    along the folders in which the sampler's modules are looked for.

    border : copies the outputs. call : draws in each call of the sampler (the last call of a block
    may make fewer); call i has the generator at key (DRAW, s, b, i). None if one call makes a whole
    block. sort_keys : whether the order of the keys of dicts is left out, since several processes
    draw: texts in a set have another order in each.
    """

    sampler: Sampler
    seed: np.random.SeedSequence
    side: int
    border: Border = field(default_factory=Border)
    call: int | None = None
    sort_keys: bool = False

    def __call__(self, number: int, size: int) -> np.ndarray:
        """Draw block `number`: `size` rows as of `outcomes.rows`. Raises `MechanismError`."""
        parts, block = [], (int(Purpose.DRAW), self.side, number)
        for call, n in enumerate(self.calls(size)):
            key = block if self.call is None else (*block, call)
            rng, where = generator(self.seed, *key), Where(self.seed, key, n)
            parts.append(self.border.rows(self.sampler, n, rng, where, self.sort_keys))
            tick(n)
        # lists of a single call stay lists, since the lists of the next block may differ in length
        return parts[0] if len(parts) == 1 else joined(parts, Where(self.seed, block, size))

    def calls(self, size: int) -> tuple[int, ...]:
        """The sizes of the calls that make a block of `size` draws."""
        whole, rest = divmod(size, self.call or size)
        return (self.call or size,) * whole + (rest,) * (rest > 0)

    @cached_property
    def _carried(self) -> Carried:
        return Carried(self.sampler)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with a sampler that takes the folders of its modules along."""
        own = self._carried, self.seed, self.side, Border(), self.call, self.sort_keys
        return Blocks, own


def both_sides(
    mechanism: Mechanism,
    databases: Sequence[Array],
    seed: np.random.SeedSequence,
    call: int | None = None,
    sort_keys: bool = False,
) -> tuple[Blocks, Blocks]:
    """The blocks of M(D) and of M(D'), which share one border."""
    border, (D, other) = Border(), databases
    return (
        Blocks(sampler_of(mechanism, D), seed, 0, border, call, sort_keys),
        Blocks(sampler_of(mechanism, other), seed, 1, border, call, sort_keys),
    )


@dataclass(frozen=True)
class Block:
    """The number of a block of draws, its side (0 for M(D), 1 for M(D')), and its size."""

    side: int
    number: int
    size: int


def checked(values: object, size: int, where: object, sort_keys: bool = False) -> np.ndarray:
    """An output as `size` rows (`outcomes.rows`). Raises `MechanismError`, which says what is wrong
    with it, on which draws (`where`).
    """
    try:
        return outcomes.rows(values, size, sort_keys)
    except outcomes.NotOutcomes as error:
        advice = advice_on(values, size) or (f"; {error.cure}" if error.cure else "")
        raise MechanismError(f"the mechanism must return {error} on {where}{advice}") from None


def joined(parts: Sequence[np.ndarray], where: object) -> np.ndarray:
    """Draws of one side in one array. Raises `MechanismError` if the forms of these draws (`where`)
    differ.
    """
    if len(parts) == 1 and outcomes.is_table(parts[0]):
        return parts[0]
    try:
        return outcomes.joined(list(parts))
    except outcomes.NotOutcomes as error:
        raise MechanismError(f"the mechanism must return {error} on {where}") from None
