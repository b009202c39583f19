"""A mechanism that joins several independent releases of one database into one output."""

from __future__ import annotations

from typing import Any

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws import ComposedRows, Law, Product
from dpaudit.mechanisms.base import LawMechanism


@value_class(show_numbers=True, eq=True)
class Composition(LawMechanism):
    """Run several mechanisms on one database with independent randomness and release all outputs.

    mechanisms : at least one, with a known output law. times : how often each runs, integers ≥ 1;
    once by default. Output: (size, k), side by side in this order. `dpaudit.exact.spectrum` bounds
    δ(ε) where no exact spectrum of all parts together is known.

    Examples
    --------
    >>> import dpaudit as dp
    >>> sketch, moments = dp.mechanisms.GaussMix(50, 9.0), dp.mechanisms.AnalyzeGauss(30.0)
    >>> both = dp.mechanisms.Composition((sketch, moments), times=(1, 2))
    >>> pair = dp.neighbours.zero_row([[1.0, 0.5], [1.0, -0.5], [1.0, 2.0]], 2)
    >>> print(dp.exact.spectrum(both, pair, [0.0, 1.0]).delta)
    [0.14523784 0.00135815]
    """

    mechanisms: tuple[LawMechanism, ...]
    times: tuple[int, ...] = ()

    summary = "several releases of one database, composed"

    def __post_init__(self) -> None:
        mechanisms = tuple(self.mechanisms)
        times = tuple(() if self.times is None else self.times) or (1,) * len(mechanisms)
        for mechanism in mechanisms:
            if not isinstance(mechanism, LawMechanism):
                fail("mechanisms", type(mechanism).__name__, "mechanisms with a known output law")
        if not mechanisms or len(times) != len(mechanisms):
            expected = (
                f"one count for each of {len(mechanisms)} mechanisms, which must be at least 1"
            )
            fail("times", times, expected)
        object.__setattr__(self, "mechanisms", mechanisms)
        object.__setattr__(self, "times", tuple(check.integer("times", k, 1) for k in times))
        matter = any(mechanism.zero_rows_matter for mechanism in mechanisms)
        object.__setattr__(self, "zero_rows_matter", matter)

    def law(self, data: Array) -> Product:
        laws: list[Law] = []
        for mechanism, times in zip(self.mechanisms, self.times, strict=True):
            laws += times * [mechanism.law(data)]
        return Product(tuple(laws))

    def zeroed_rows(self, data: Array) -> ComposedRows:
        parts = tuple(mechanism.zeroed_rows(data) for mechanism in self.mechanisms)
        return ComposedRows(parts, self.times)

    def replaced_rows(self, data: Array, candidates: Array) -> ComposedRows:
        parts = tuple(mechanism.replaced_rows(data, candidates) for mechanism in self.mechanisms)
        return ComposedRows(parts, self.times)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        rows = {row for mechanism in self.mechanisms for row in mechanism.exceptional_rows(data)}
        return tuple(sorted(rows))

    def parameters(self) -> dict[str, Any]:
        pairs = enumerate(zip(self.mechanisms, self.times, strict=True), 1)
        return {
            f"{place}. {mechanism.name}": {"times": k, **mechanism.parameters()}
            for place, (mechanism, k) in pairs
        }
