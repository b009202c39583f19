"""Algorithms that read a private quantity which they do not release.

The output alone has no known spectrum. The private quantity and the output together have one, and
it bounds the output's from above.
"""

from __future__ import annotations

from dpaudit._core import check
from dpaudit._core.types import ArrayLike
from dpaudit.curves.spectrum import Spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.algorithm import Algorithm


class JointSpectrumAlgorithm(Algorithm):
    """No exact spectrum of the output alone, but an exact upper bound of it: `joint_spectrum`."""

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """Exact δ(ε) of the private quantity and the output together, for a zeroed row.

        It is an upper bound of the output's δ(ε). epsilon : scalar or (m,), nats.
        Raises `InvalidInput` for another relation, or rows beyond the bounds.
        """
        raise NotImplementedError


def zeroed_index(pair: NeighbourPair) -> int:
    """The row that a pair zeroes. Raises `InvalidInput` for another relation."""
    if pair.relation != "zero-out" or pair.index is None:
        check.fail("pair", pair.relation, "a pair with one row zeroed")
    return pair.index
