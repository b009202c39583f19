"""What a mechanism is: a callable from a database to draws, and, where its output law is known, to that law."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from dpaudit import _check
from dpaudit._check import Array
from dpaudit._random import as_generator
from dpaudit.claims import Claim
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import Law, ZeroedRows

Sampler = Callable[[int, np.random.Generator], Array]


class Mechanism(Protocol):
    """mech(data, size, *, rng) → (size, k) float array, rows independent."""

    def __call__(self, data: Array, size: int, *, rng: Any) -> Array: ...


@runtime_checkable
class Described(Protocol):
    """A mechanism that says what it is called and what it was made with."""

    @property
    def name(self) -> str: ...

    def parameters(self) -> dict[str, Any]: ...


class LawMechanism:
    """A mechanism whose output law is known: subclasses give `law` and, for a zeroed row, `zeroed_rows`."""

    summary: ClassVar[str] = ""
    claimed: ClassVar[str] = ""  # what the source claims, in words

    def law(self, data: Array) -> Law:
        raise NotImplementedError

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """The pairs (M(D), M(D with row i zeroed)) for all i."""
        raise NotImplementedError

    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows:
        """The pairs (M(D), M(D with row i replaced by candidates[j])) as entry i·m + j; candidates (m, d)."""
        raise NoExactSpectrum(
            f"{self.name} has no closed form for all replacements at once; "
            "use dpaudit.exact.spectrum on one pair where one is known (neighbours.replace_row), else dpaudit.audit"
        )

    def added_row(self, data: Array, row_bound: float) -> ZeroedRows:
        """The worst pair (M(D with one more row), M(D)) over all rows of norm ≤ row_bound, as a family of one."""
        raise NoExactSpectrum(
            f"{self.name} has no closed form for the worst row within a bound; "
            "use dpaudit.exact.spectrum on the pair of one added row"
        )

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """Rows that `zeroed_rows` does not describe, because zeroing them changes more than the row."""
        return ()

    def prepare(self, data: Array) -> Sampler:
        """Do once what does not depend on the draw; returns (size, rng) → (size, k)."""
        return self.law(data).sample

    def __call__(self, data: Any, size: int, *, rng: Any = None) -> Array:
        data = _check.matrix("data", data)
        return self.prepare(data)(_check.integer("size", size, 1), as_generator(rng))

    @property
    def claim(self) -> Claim | None:
        """The privacy that the mechanism's source claims for it, if any."""
        return None

    @property
    def name(self) -> str:
        return type(self).__name__

    def parameters(self) -> dict[str, Any]:
        """Parameters by name, those left out (None) excepted."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {f.name: getattr(self, f.name) for f in fields if getattr(self, f.name) is not None}


def describe(mechanism: Any) -> tuple[str, dict[str, Any]]:
    """Name and parameters of any mechanism, a plain function included."""
    if isinstance(mechanism, Described):
        return mechanism.name, mechanism.parameters()
    return str(getattr(mechanism, "__qualname__", type(mechanism).__name__)), {}
