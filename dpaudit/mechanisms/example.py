"""The base class of the zoo's mechanisms: an algorithm, its claim, and a pair of databases."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.claims import Claim
from dpaudit.mechanisms.base import PrintedMechanism
from dpaudit.mechanisms.parameters import Positive, UpToOne
from dpaudit.neighbours import NeighbourPair


class ExampleMechanism(PrintedMechanism):
    """A mechanism of the zoo: its law is known, and whether its claim is true.

    Subclasses give `law`, `databases` or `pair`, and `run` where the algorithm is more than a draw
    of its law. The annotation of a parameter says which values it may have
    (`dpaudit.mechanisms.parameters`): ε and other scales are > 0, probabilities in (0, 1], counts
    ≥ 1, and any other is a finite number.

    Attributes
    ----------
    sound : bool
        Whether the claim is true.
    source : str
        Where the algorithm comes from.
    databases : tuple of two arrays
        The two databases of `pair`, where they depend on no parameter.
    published_databases : tuple of two arrays, or None
        Those of the published audits, where they are others.
    """

    sound: ClassVar[bool] = True
    source: ClassVar[str]
    databases: ClassVar[tuple[ArrayLike, ArrayLike]]
    published_databases: ClassVar[tuple[ArrayLike, ArrayLike] | None] = None

    epsilon: Positive
    delta: UpToOne

    def view(self, x: Array) -> Array:
        """The numbers that follow `law`, one-to-one with outputs (m, k): by default the outputs."""
        return x

    def pair(self) -> NeighbourPair:
        return pair_of(*self.databases)

    def published_pair(self) -> NeighbourPair:
        """The pair of the published audits, where it differs from `pair`."""
        published = self.published_databases
        return self.pair() if published is None else pair_of(*published)


class PureExample(ExampleMechanism):
    """An example mechanism that claims pure ε-differential privacy at its parameter `epsilon`."""

    @property
    def claim(self) -> Claim:
        """ε-DP."""
        return Claim(self.epsilon)


def column(data: ArrayLike) -> Array:
    """The one column of a database of numbers, (n,). Raises `InvalidInput` where there are more."""
    data = check.matrix("data", data)
    if data.shape[1] != 1:
        fail("data", Words(f"{data.shape[1]} columns"), "one column of numbers")
    return np.asarray(data[:, 0])


def pair_of(left: ArrayLike, right: ArrayLike) -> NeighbourPair:
    """Two databases given as lists of numbers (one column) or of rows."""
    first, second = (np.asarray(side, dtype=np.float64) for side in (left, right))
    if first.ndim == 1:
        first, second = first[:, None], second[:, None]
    return NeighbourPair(first, second)
