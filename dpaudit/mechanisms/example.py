"""Base classes of `ZOO`'s mechanisms: each has an algorithm, a claim and a pair of databases."""

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
    """A mechanism of `ZOO`: its law is known, and it is known whether its claim is true.

    Subclasses define `law`, and either `databases` or `pair`. They define `run` too, unless a draw
    from `law` is the algorithm. The annotation of a parameter says which values it may have
    (`dpaudit.mechanisms.parameters`): ε and other scales are > 0, probabilities are in (0, 1],
    counts are ≥ 1, and every other parameter is a finite number.

    Attributes
    ----------
    sound : bool
        Whether the claim is true.
    source : str
        Where the algorithm comes from.
    databases : tuple of two arrays
        The two databases of `pair`, if they depend on no parameter.
    published_databases : tuple of two arrays, or None
        The two databases of the published audits, or None if they are those of `pair`.
    """

    sound: ClassVar[bool] = True
    source: ClassVar[str]
    databases: ClassVar[tuple[ArrayLike, ArrayLike]]
    published_databases: ClassVar[tuple[ArrayLike, ArrayLike] | None] = None

    epsilon: Positive
    delta: UpToOne

    def view(self, x: Array) -> Array:
        """Map outputs (m, k) one-to-one to numbers whose law is `law`; the identity by default."""
        return x

    def pair(self) -> NeighbourPair:
        return pair_of(*self.databases)

    def published_pair(self) -> NeighbourPair:
        """The two databases of the published audits; the same as `pair` if none are recorded."""
        published = self.published_databases
        return self.pair() if published is None else pair_of(*published)


class PureExample(ExampleMechanism):
    """An example mechanism that claims pure ε-differential privacy at its parameter `epsilon`."""

    @property
    def claim(self) -> Claim:
        """Pure ε-DP at the parameter `epsilon`."""
        return Claim(self.epsilon)


def column(data: ArrayLike) -> Array:
    """The values (n,) of a database with one column. Raises `InvalidInput` for more columns."""
    data = check.matrix("data", data)
    if data.shape[1] != 1:
        fail("data", Words(f"{data.shape[1]} columns"), "one column of numbers")
    return np.asarray(data[:, 0])


def pair_of(left: ArrayLike, right: ArrayLike) -> NeighbourPair:
    """The pair of two databases, each written as a list of numbers (one column) or of rows."""
    first, second = (np.asarray(side, dtype=np.float64) for side in (left, right))
    if first.ndim == 1:
        first, second = first[:, None], second[:, None]
    return NeighbourPair(first, second)
