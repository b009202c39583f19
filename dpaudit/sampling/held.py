"""Draws that something learns from, where they are: in this process, or with those who drew them.

Workers of a Dask cluster keep what they draw. One of them then gets the draws of the others, learns
from them, and sends what it learned.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import numpy as np
from joblib.parallel import get_active_backend

from dpaudit._core.user_code import Carried
from dpaudit.sampling.block import SIDES, Blocks
from dpaudit.sampling.collected import Collected, Pair
from dpaudit.sampling.counted import width
from dpaudit.sampling.counting import sendable
from dpaudit.sampling.order import Block
from dpaudit.sampling.parallel import THREADS, answer, elsewhere

Found = TypeVar("Found")
Cut = tuple[int, int, int]  # side, first and last draw + 1 that are taken of a block
Checksum = Callable[[np.ndarray], str]
ONCE = 1 << 20  # bytes: databases that are larger are sent to each worker once, before any task


class Held(Protocol):
    """Draws of both sides, wherever they are."""

    def __call__(self, work: Callable[[Pair], Found]) -> Found:
        """What `work` makes of the draws, done where they are. Raises what it raises."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Here:
    """Draws in this process."""

    drawn: Pair

    def __call__(self, work: Callable[[Pair], Found]) -> Found:
        """What `work` makes of the draws."""
        return work(self.drawn)


def dask(n_jobs: int | None) -> Any | None:
    """joblib's backend, where it is a Dask cluster of several workers."""
    backend = get_active_backend(prefer=THREADS)[0]
    return backend if hasattr(backend, "client") and elsewhere(n_jobs) else None


@dataclass(frozen=True)
class Facts:
    """What comes of a block that stays away.

    columns : numbers in a draw; 0 where the draws are no table. seconds : it took to draw.
    checksum : of the draws; "" where none is wanted.
    """

    columns: int
    seconds: float
    checksum: str


@dataclass(frozen=True, eq=False, repr=False)
class Away:
    """Draws number `start` to `stop` of each side, in blocks that workers of a Dask cluster hold.

    backend : joblib's. usual : draws of a block, but for the last. checksum : that is wanted, if
    any. told : what is known of each block, once workers have used it; may raise. blocks : with
    their futures.
    """

    backend: Any
    usual: int
    checksum: Checksum | None
    told: Callable[[Block, Facts], None]
    blocks: tuple[tuple[Block, Any], ...] = ()
    start: int = 0
    stop: int = 0

    @property
    def size(self) -> int:
        """Draws a side."""
        return self.stop - self.start

    def __call__(self, work: Callable[[Pair], Found]) -> Found:
        """What a worker makes of the draws by `work`; made here, where it or that cannot be sent.

        Raises what `work` raises, and `MechanismError` where blocks do not go together or where
        workers fail.
        """
        carried = Carried(work)
        parcel = self._parcel(carried) if sendable(carried) else None
        if parcel is None:
            return work(self.pair(self.parts()))
        found: Found | _Raised = pickle.loads(parcel)
        if isinstance(found, _Raised):
            raise found.error
        return found

    def parts(self) -> list[np.ndarray]:
        """The whole blocks, brought to this process."""
        futures = [future for _, future in self.blocks]
        with self.backend.retrieval_context():
            parts = answer(lambda: self.backend.client.gather(futures), "send draws")
        self._tell([_facts(one, self.checksum) for one in parts])
        return [draws for draws, _ in parts]

    def pair(self, parts: Sequence[np.ndarray]) -> Pair:
        """The draws of both sides, from the blocks."""
        return _pair(self._cuts(), parts)

    def more(
        self, sides: Sequence[Blocks], wanted: Iterable[Block], come: Callable[[int], None]
    ) -> Away:
        """With the blocks of `wanted`, drawn by workers, the two of each number.

        sides : the blocks of M(D) and of M(D'). come : called with the draws a side so far. Raises
        `MechanismError`.
        """
        sides = self._sent(sides)
        fresh = [(one, self._asked(_drawn, sides[one.side], one)) for one in wanted]
        done = 2 * self.stop
        with self.backend.retrieval_context():
            for one in _as_they_come(self.backend.client, fresh):
                done += one.size
                come(done // 2)
        return replace(self, blocks=(*self.blocks, *fresh), stop=done // 2)

    def split(self, count: int) -> tuple[Away, Away]:
        """The first `count` draws a side, and the others."""
        middle = self.start + count
        return self._between(self.start, middle), self._between(middle, self.stop)

    def _between(self, start: int, stop: int) -> Away:
        """Without the blocks of other draws, which workers may forget."""
        part = replace(self, start=start, stop=stop)
        both = zip(self.blocks, part._cuts(), strict=True)
        return replace(part, blocks=tuple(one for one, (_, first, last) in both if first < last))

    def _cuts(self) -> list[Cut]:
        """What is taken of each block."""
        places = [(one, self.usual * one.number) for one, _ in self.blocks]
        return [
            (one.side, max(self.start - at, 0), min(self.stop - at, one.size)) for one, at in places
        ]

    def _sent(self, sides: Sequence[Blocks]) -> Sequence[Any]:
        """What tasks are given to draw with: the blocks, or where workers find them."""
        if sum(len(pickle.dumps(one)) for one in sides) <= ONCE:
            return sides
        with self.backend.retrieval_context():
            found: list[Any] = self.backend.client.scatter([*sides], broadcast=True, hash=False)
        return found

    def _tell(self, facts: Iterable[Facts]) -> None:
        for (one, _), known in zip(self.blocks, facts, strict=True):
            self.told(one, known)

    def _parcel(self, work: Carried) -> bytes | None:
        """What a worker made of the draws, pickled; None where it cannot be."""
        futures = [future for _, future in self.blocks]
        with self.backend.retrieval_context():
            asked = self._asked(_worked, work, self._cuts(), self.checksum, futures)
            facts, parcel = answer(asked.result, "learn from draws")
        self._tell(facts)
        found: bytes | None = parcel
        return found

    def _asked(self, function: Callable[..., Any], *given: Any) -> Any:
        """The future of a task; futures among what it is given are passed between workers."""
        key = f"{function.__name__.strip('_')}-{uuid4().hex}"
        return self.backend.client.submit(function, *given, key=key)


def _as_they_come(client: Any, fresh: Sequence[tuple[Block, Any]]) -> Iterable[Block]:
    """Blocks as workers have drawn them, which stay there. Raises `MechanismError`."""
    from distributed import as_completed

    block = {future: one for one, future in fresh}
    try:
        for future in as_completed(list(block), loop=client.loop):
            one = block[future]
            if future.status != "finished":
                answer(future.result, f"draw {SIDES[one.side]}")
            yield one
    except BaseException:
        client.cancel(list(block))
        raise


# --- on a worker ----------------------------------------------------------------------------------

Timed = tuple[np.ndarray, float]  # a block, and the seconds that it took


def _drawn(side: Blocks, one: Block) -> Timed:
    begin = time.perf_counter()
    draws = side(one.number, one.size)
    return draws, time.perf_counter() - begin


def _facts(one: Timed, checksum: Checksum | None) -> Facts:
    draws, seconds = one
    return Facts(width(draws), seconds, "" if checksum is None else checksum(draws))


@dataclass(frozen=True, eq=False, repr=False)
class _Raised:
    error: Exception


def _worked(
    work: Callable[[Pair], Any],
    cuts: Sequence[Cut],
    checksum: Checksum | None,
    blocks: Sequence[Timed],
) -> tuple[list[Facts], bytes | None]:
    """What is known of each block, and what `work` made of all draws or raised.

    Nothing is raised here: Dask would write the draws into its log.
    """
    found: Any
    try:
        found = work(_pair(cuts, [draws for draws, _ in blocks]))
    except Exception as error:
        found = _Raised(error)
    return [_facts(one, checksum) for one in blocks], _pickled(found)


def _pickled(found: Any) -> bytes | None:
    import cloudpickle  # comes with Dask

    try:
        parcel: bytes = cloudpickle.dumps(found)
        return parcel
    except Exception:  # what a user's own score raises
        return None


def _pair(cuts: Sequence[Cut], parts: Sequence[np.ndarray]) -> Pair:
    """The draws of both sides."""
    size = sum(last - first for side, first, last in cuts if side == 0)
    both = Collected(size, 0), Collected(size, 1)
    for (side, first, last), part in zip(cuts, parts, strict=True):
        both[side].add(part[first:last])
    return both[0].all(), both[1].all()
