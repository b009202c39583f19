"""Learning on a Dask cluster: workers draw blocks, and one worker learns from all of these blocks.

Only the result of learning is sent to the process that audits; draws go from worker to worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np

from dpaudit._core.user_code import Carried
from dpaudit.sampling.block import SIDES, Block, Blocks, joined
from dpaudit.sampling.counting import sendable, width
from dpaudit.sampling.parallel import answer, drawing

Pair = tuple[np.ndarray, np.ndarray]


class BlocksOnCluster:
    """Blocks that workers of a Dask cluster draw and keep. Raises `MechanismError`.

    backend : joblib's backend. sides : the blocks of M(D) and of M(D'). blocks : blocks to draw.
    count : draws a side to use of them. check : a function, which may raise, of a block and the
    number of columns of its draws (0 if they are not a table).
    """

    def __init__(
        self,
        backend: Any,
        sides: Sequence[Blocks],
        blocks: Sequence[Block],
        count: int,
        check: Callable[[Block, int], None],
    ) -> None:
        self.backend, self.blocks, self.count = backend, blocks, count
        submit, scatter = backend.client.submit, backend.client.scatter
        with backend.retrieval_context():
            # Databases may be large. They are kept there for as long as the blocks, since blocks of
            # a worker that is lost are drawn again from them.
            self.there = scatter([*sides], broadcast=True, hash=False)
            self.drawn = [
                submit(_drawn, self.there[block.side], block, key=f"drawn-{uuid4().hex}")
                for block in blocks
            ]
            widths = [submit(width, part, key=f"width-{uuid4().hex}") for part in self.drawn]
            try:
                columns = answer(lambda: backend.client.gather(widths), partial(drawing, blocks))
            except BaseException:
                backend.client.cancel(self.drawn)
                raise
        for block, numbers in zip(blocks, columns, strict=True):
            check(block, numbers)

    def __call__(self, work: Callable[[Pair], Any]) -> Any:
        """Return work(draws), computed by a worker, or here if `work` or its result cannot be sent.

        Raises what `work` raises, and `MechanismError` if workers fail.
        """
        carried, client = Carried(work), self.backend.client
        with self.backend.retrieval_context():
            parcel = None
            if sendable(carried):
                work_and_draws = carried, self.blocks, self.count, self.drawn
                task = client.submit(_learned, *work_and_draws, key=f"learned-{uuid4().hex}")
                parcel = answer(task.result, lambda: "learn from draws")
            if parcel is None:
                parts = answer(lambda: client.gather(self.drawn), lambda: "send draws")
                return work(_pair(self.blocks, self.count, parts))
        learned, error = pickle.loads(parcel)
        if error is not None:
            raise error
        return learned


# --- on a worker ----------------------------------------------------------------------------------


def _drawn(side: Blocks, block: Block) -> np.ndarray:
    return side(block.number, block.size)


def _learned(
    work: Callable[[Pair], Any], blocks: Sequence[Block], count: int, parts: Sequence[np.ndarray]
) -> bytes | None:
    """Pickle (the result of `work`, its exception or None); None if they cannot be pickled.

    It raises nothing, since Dask would write the draws into its log.
    """
    import cloudpickle  # comes with Dask

    learned, failure = None, None
    try:
        learned = work(_pair(blocks, count, parts))
    except Exception as error:
        failure = error
    try:
        parcel: bytes = cloudpickle.dumps((learned, failure))
        return parcel
    except Exception:  # pickling a user's own score may raise anything
        return None


def _pair(blocks: Sequence[Block], count: int, parts: Sequence[np.ndarray]) -> Pair:
    """The first `count` draws of both sides."""
    P, Q = (
        joined([part for b, part in zip(blocks, parts, strict=True) if b.side == s], SIDES[s])
        for s in (0, 1)
    )
    return P[:count], Q[:count]
