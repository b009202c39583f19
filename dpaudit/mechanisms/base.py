"""What a mechanism is: a callable from a database to draws, and, where its output law is known, to
that law.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit._core.seeds import as_generator
from dpaudit._core.types import Adjustable
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.laws import Law, ZeroedRows

Sampler = Callable[[int, np.random.Generator], Array]


class LawMechanism:
    """A mechanism whose output law is known: subclasses give `law` and, for a zeroed row,
    `zeroed_rows`.
    """

    summary: ClassVar[str] = ""
    claimed: ClassVar[str] = ""  # what the source claims, in words
    adjustable: ClassVar[
        tuple[Adjustable, ...]
    ] = ()  # what `dpaudit.exact.calibrate` may set, the default first

    def law(self, data: Array) -> Law:
        raise NotImplementedError

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """The pairs (M(D), M(D with row i zeroed)) for all i."""
        raise NotImplementedError

    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows:
        """The pairs (M(D), M(D with row i replaced by candidates[j])) as entry i·m + j; candidates
        (m, d).
        """
        raise NoExactSpectrum(
            f"{self.name} has no closed form for all replacements at once; "
            "use dpaudit.exact.spectrum on one pair where one is known (neighbours.replace_row), else dpaudit.audit"
        )

    def added_row(self, data: Array, row_bound: float) -> ZeroedRows:
        """The worst pair (M(D with one more row), M(D)) over all rows of norm ≤ row_bound, as a
        family of one.
        """
        raise NoExactSpectrum(
            f"{self.name} has no closed form for the worst row within a bound; "
            "use dpaudit.exact.spectrum on the pair of one added row"
        )

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """Rows that `zeroed_rows` does not describe, because zeroing them changes more than the
        row.
        """
        return ()

    def prepare(self, data: Array) -> Sampler:
        """Do once what does not depend on the draw; returns (size, rng) → (size, k)."""
        return self.law(data).sample

    def __call__(self, data: Any, size: int, *, rng: Any = None) -> Array:
        data = check.matrix("data", data)
        return self.prepare(data)(check.integer("size", size, 1), as_generator(rng))

    def adjustable_parameter(self, name: str | None) -> Adjustable:
        """The adjustable parameter of that name, or the default. Raises `InvalidInput`."""
        if not self.adjustable:
            raise InvalidInput(
                f"mechanism must be one with a parameter in which δ is monotone, got {self.name}, which has none"
            )
        known = {one.name: one for one in self.adjustable}
        chosen = self.adjustable[0].name if name is None else name
        if chosen not in known:
            fail(
                "parameter",
                name,
                f"{' or '.join(map(repr, known))}, in which δ of {self.name} is monotone",
            )
        return known[chosen]

    def adjusted(self, parameter: str, value: float) -> Self:
        """A copy with another value of one parameter."""
        return dataclasses.replace(self, **{parameter: value})  # type: ignore[type-var]

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
