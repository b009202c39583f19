"""Algorithms that read a private quantity on the way: what they read and what they release TOGETHER
has a spectrum.
"""

from __future__ import annotations

from typing import Any

from dpaudit._core import check
from dpaudit.curves.spectrum import Spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.algorithm import Algorithm


class Joint(Algorithm):
    """No exact spectrum of the output alone, but an exact upper bound of it: `joint_spectrum`."""

    def joint_spectrum(self, pair: NeighbourPair, epsilon: Any) -> Spectrum:
        """Exact δ(ε) of the private quantity and the output together, for a zeroed row: a bound of
        the output's.

        epsilon : scalar or (m,), nats. Raises `InvalidInput` for another relation, or rows beyond
            the bounds.
        """
        raise NotImplementedError


def zeroed_index(pair: NeighbourPair) -> int:
    """The row that a pair zeroes. Raises `InvalidInput` for another relation."""
    if pair.relation != "zero-out" or pair.index is None:
        check.fail("pair", pair.relation, "a pair with one row zeroed")
    return pair.index
