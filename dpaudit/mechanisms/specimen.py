"""A mechanism of the zoo: a few lines of algorithm, what is claimed for it, and a pair of databases
that shows it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit.curves.claims import Claim
from dpaudit.mechanisms.base import LawMechanism, Sampler
from dpaudit.neighbours import NeighbourPair

POSITIVE = ("epsilon", "sensitivity", "bound", "sigma")
SHARES = ("delta", "rate", "keep", "flip", "permanent", "zero", "one")
COUNTS = ("most", "copies", "limit", "hashes", "bits", "rows", "points", "answers")


class Specimen(LawMechanism):
    """A mechanism with a known law whose sampler is the algorithm as printed, step by step, many
    draws at a time.

    sound : whether the claim is true. source : where the algorithm comes from. Subclasses give
    `run`, `law`, `claim` and `pair`. Parameters are checked by name: ε and the like > 0,
    probabilities in (0, 1], counts ≥ 1.
    """

    sound: ClassVar[bool]
    source: ClassVar[str]

    def __post_init__(self) -> None:
        for parameter in dataclasses.fields(self):  # type: ignore[arg-type]
            name, value = parameter.name, getattr(self, parameter.name)
            if name in POSITIVE:
                check.real(name, value, 0.0, open_=True)
            elif name in SHARES:
                if check.real(name, value, 0.0, 1.0) == 0.0:
                    fail(name, value, "a number in (0, 1]")
            elif name in COUNTS:
                check.integer(name, value, 1)
            else:
                check.real(name, value)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The algorithm: (size, k) independent draws."""
        raise NotImplementedError

    def prepare(self, data: Array) -> Sampler:
        data = check.matrix("data", data)
        return lambda size, rng: self.run(data, size, rng)

    def view(self, x: Array) -> Array:
        """The numbers of which `law` is the law, from outputs (m, k): the outputs, where nothing
        else is said.
        """
        return x

    def pair(self) -> NeighbourPair:
        """Two databases on which the breach shows; for a sound mechanism, on which the claim is
        (nearly) used up.
        """
        raise NotImplementedError

    def published_pair(self) -> NeighbourPair:
        """The pair on which the published audits found what they print, where it is another."""
        return self.pair()


class PureClaim(Specimen):
    """A specimen that claims pure ε-differential privacy at its own ε."""

    epsilon: float

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)


def column(data: Any) -> Array:
    """The one column of a database of numbers, (n,). Raises `InvalidInput` where there are more."""
    data = check.matrix("data", data)
    if data.shape[1] != 1:
        fail("data", f"{data.shape[1]} columns", "one column of numbers")
    return np.asarray(data[:, 0])


def pair_of(left: Any, right: Any) -> NeighbourPair:
    """Two databases given as lists of numbers (one column) or of rows."""
    sides = (np.asarray(side, dtype=np.float64) for side in (left, right))
    one, other = (side[:, None] if side.ndim == 1 else side for side in sides)
    return NeighbourPair(one, other)


def half_up_half_down(count: int = 10) -> NeighbourPair:
    """All answers 1, against half of them 2 and half 0: each query moves by its sensitivity, not
    one way.
    """
    half = count // 2
    return pair_of([1.0] * count, [2.0] * half + [0.0] * (count - half))


def crossed(count: int = 10) -> NeighbourPair:
    """Half of the answers 1 and half 0, against the reverse."""
    half = count // 2
    return pair_of([1.0] * half + [0.0] * (count - half), [0.0] * half + [1.0] * (count - half))
