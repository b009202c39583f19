"""The domain of a search: names with their ranges, points of it as codes and as settings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit.testing.bound.ranges import Code, Complexity, Range, as_range

Point = tuple[Code, ...]


@dataclass(frozen=True)
class Domain:
    """names, ranges : of d parameters."""

    names: tuple[str, ...]
    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, domain: Mapping[str, Any]) -> Domain:
        """From a mapping of names to ranges. Raises `InvalidInput`."""
        if not isinstance(domain, Mapping) or not domain:
            check.fail("domain", domain, "a mapping of parameter names to ranges")
        for name in domain:
            if not isinstance(name, str) or not name.isidentifier():
                check.fail("domain", name, "a mapping whose keys are names of parameters")
        read = (as_range(f"domain[{name!r}]", given) for name, given in domain.items())
        return cls(tuple(domain), tuple(read))

    @property
    def size(self) -> float:
        """How many points there are."""
        return math.prod(one.size for one in self.ranges)

    @property
    def text(self) -> str:
        """ "leverage 0.01 to 0.9, rows 1 to 1000"."""
        return ", ".join(f"{name} {one}" for name, one in zip(self.names, self.ranges, strict=True))

    def point(self, places: Array) -> Point:
        """places : (d,) in [0, 1]."""
        return tuple(one.at(float(at)) for one, at in zip(self.ranges, places, strict=True))

    def places(self, point: Point) -> list[float]:
        """The places of a point in [0, 1], one for each parameter."""
        return [one.place(code) for one, code in zip(self.ranges, point, strict=True)]

    def setting(self, point: Point) -> dict[str, Any]:
        """The values by name."""
        values = (one.value(code) for one, code in zip(self.ranges, point, strict=True))
        return dict(zip(self.names, values, strict=True))

    def complexity(self, point: Point) -> tuple[float, list[Complexity]]:
        """The digits and sizes of all values together, then one by one."""
        each = [one.complexity(code) for one, code in zip(self.ranges, point, strict=True)]
        return sum(math.log1p(one[0]) for one in each), each

    def everything(self) -> Iterator[Point]:
        """Every point of a finite domain, the lowest first."""
        return itertools.product(*(_codes(one) for one in self.ranges))


def _codes(one: Range) -> Iterator[Code]:
    """Every code of a finite range, by the places in the middle of each."""
    first = one.edges[0]
    return iter(range(int(first), int(first) + int(one.size)))
