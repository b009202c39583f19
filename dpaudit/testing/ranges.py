"""The ranges of parameters in a search for a failing bound: real numbers, whole numbers, choices.

A search sees each range as [0, 1]: `at` maps a place in [0, 1] to a code, and `place` maps it back.
The code of a number is the number itself, that of a choice is its index. `edges` are codes that
theorems tend to forget. `complexity` sorts codes, the simplest first, and `simpler` lists simpler
codes than a given one.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from dpaudit._core import check
from dpaudit._core.value import brief, value_class
from dpaudit.verdict.numbers import number

Code = float | int
Complexity = tuple[float, ...]

DIGITS = 6  # significant digits of the real numbers that a search tries
CLEAN = 12  # significant digits to which sums are rounded, so that they have few digits
EDGES = (0.0, 1e-9, 1e-4, 1e-2, 0.5, 1.0 - 1e-2, 1.0 - 1e-4, 1.0 - 1e-9, 1.0)
INSIDE = 1e-9  # relative distance between an end of an open range and its outermost number
WIDE = 100.0  # a positive range is searched on a log scale if high/low is larger than this
LARGE = 100  # among whole numbers of at least this size, round ones are simpler
DECADES = 12  # 1, 2 and 5 times 10^-12 to 10^12 are tried as simpler numbers
FORMS = (
    "dpaudit.testing.reals(low, high), integers(low, high) or choices(...), a tuple (low, high)"
    ", a list of choices, or one fixed value"
)


@dataclass(frozen=True)
class Reals:
    """The real numbers from low to high, including both ends if `closed`."""

    low: float
    high: float
    log: bool
    closed: bool
    size: ClassVar[float] = math.inf

    @property
    def edges(self) -> Sequence[float]:
        return list(dict.fromkeys(self.at(place) for place in EDGES))

    def at(self, place: float) -> float:
        if self.log:
            first, last = math.log(self.low), math.log(self.high)
            return self._inside(rounded(math.exp(first + place * (last - first)), DIGITS))
        width = self.high - self.low
        if place <= 0.5:
            return self._inside(rounded(self.low + rounded(place * width, DIGITS), CLEAN))
        return self._inside(rounded(self.high - rounded((1.0 - place) * width, DIGITS), CLEAN))

    def place(self, code: Code) -> float:
        if self.log:
            return math.log(code / self.low) / math.log(self.high / self.low)
        return (code - self.low) / (self.high - self.low)

    def complexity(self, code: Code) -> Complexity:
        """Numbers with few digits come first, then those of a size near 1."""
        if code == 0:
            return (0.0, 0.0, 0.0, 0.0)
        _, digits, exponent = Decimal(repr(abs(float(code)))).normalize().as_tuple()
        size = abs(len(digits) + int(exponent) - 1)
        return (float(len(digits)), float(size), float(digits[0]), float(code < 0))

    def simpler(self, code: Code) -> list[Code]:
        """Simpler codes: round numbers, and this number or its distance from an end, rounded."""
        powers = range(-DECADES, DECADES + 1)
        plain = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        shorter = [near for digits in (1, 2, 3, 4) for near in around(code, digits)]
        inward = [
            end + step
            for end in (self.low, self.high)
            for digits in (1, 2)
            for step in around(code - end, digits)
        ]
        codes = [*plain, *(-x for x in plain), self.low, self.high, 0.0, *shorter, *inward]
        return _plainer(self, code, filter(self._has, {rounded(x, CLEAN) for x in codes}))

    def _has(self, code: float) -> bool:
        return self.low <= code <= self.high if self.closed else self.low < code < self.high

    def _inside(self, code: float) -> float:
        clipped = min(max(code, self.low), self.high)
        if self._has(clipped):
            return clipped
        room = INSIDE * (abs(clipped) if self.log else self.high - self.low)
        return clipped - room if clipped == self.high else clipped + room

    def __str__(self) -> str:
        ends = f"{number(self.low)} to {number(self.high)}"
        return ends if self.closed else f"{ends} (ends excluded)"


@dataclass(frozen=True)
class Integers:
    """The whole numbers from low to high, both included."""

    low: int
    high: int
    log: bool

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def edges(self) -> Sequence[int]:
        """The first three numbers, one in the middle, and the last two."""
        near = [*range(self.low, self.low + 3), self.at(0.5), self.high - 1, self.high]
        return list(dict.fromkeys(map(self._inside, near)))

    def at(self, place: float) -> int:
        if not self.log:
            return self._inside(self.low + math.floor(place * self.size))
        shift, first, last = self._scale()
        return self._inside(math.floor(math.exp(first + place * (last - first))) - shift)

    def place(self, code: Code) -> float:
        if not self.log:
            return (code - self.low + 0.5) / self.size
        shift, first, last = self._scale()
        return (math.log(code + shift + 0.5) - first) / (last - first)

    def complexity(self, code: Code) -> Complexity:
        """By the number of digits before final zeros for large numbers, then by the size."""
        digits = len(str(abs(int(code))).rstrip("0")) if abs(code) >= LARGE else 1
        return (float(digits), float(abs(code)), float(code < 0))

    def simpler(self, code: Code) -> list[Code]:
        """Simpler codes: the number nearest to 0, numbers bisecting towards it, and round ones."""
        code, least = int(code), self._inside(0)
        away = code - least
        halves = [code - int(away / 2**power) for power in range(1, abs(away).bit_length() + 1)]
        near = (least + step for step in (0, 1, 2, -1, -2))
        short = (int(x) for half in (*halves, code) for n in (1, 2) for x in around(half, n))
        return _plainer(self, code, {x for x in (*near, *halves, *short) if self._inside(x) == x})

    def _scale(self) -> tuple[int, float, float]:
        """A shift by which the range begins at 1 or above, and the logarithms of its ends."""
        shift = max(0, 1 - self.low)
        return shift, math.log(self.low + shift), math.log(self.high + shift + 1)

    def _inside(self, code: int) -> int:
        return min(max(code, self.low), self.high)

    def __str__(self) -> str:
        return f"{number(self.low)} to {number(self.high)}"


@value_class(show_numbers=True, eq=True)
class Choices:
    """A finite set of any values, the simplest first."""

    values: tuple[Any, ...]

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def edges(self) -> Sequence[int]:
        return range(self.size)

    def at(self, place: float) -> int:
        return min(int(place * self.size), self.size - 1)

    def place(self, code: Code) -> float:
        return (code + 0.5) / self.size

    def complexity(self, code: Code) -> Complexity:
        return (float(code),)

    def simpler(self, code: Code) -> list[Code]:
        return list(range(int(code)))

    def __str__(self) -> str:
        return " or ".join(in_words(value) for value in self.values)


Range = Reals | Integers | Choices


def reals(low: float, high: float, *, log: bool | None = None, closed: bool = True) -> Reals:
    """The range of real numbers from `low` to `high`, for `search_bound`.

    Parameters
    ----------
    low, high : float
        The two ends.
    log : bool, optional
        Whether to search on a log scale; by default if 0 < low and high/low is above 100.
    closed : bool, default True
        Whether `low` and `high` themselves belong to the range.
    """
    low, high = check.real("low", low), check.real("high", high)
    if not low < high:
        check.fail("high", high, f"above low = {low:g}")
    if log is None:
        log = low > 0.0 and high / low > WIDE
    if check.boolean("log", log) and low <= 0.0:
        check.fail("low", low, "above 0 for a log scale")
    return Reals(low, high, log, check.boolean("closed", closed))


def integers(low: int, high: int, *, log: bool | None = None) -> Integers:
    """The range of whole numbers from `low` to `high`, for `search_bound`.

    Parameters
    ----------
    low, high : int
        The least and the largest, both included.
    log : bool, optional
        Whether to search on a log scale; by default if there are more than 100 numbers.
    """
    low, high = _whole("low", low), _whole("high", high)
    if high < low:
        check.fail("high", high, f"at least low = {low}")
    return Integers(low, high, high - low >= WIDE if log is None else check.boolean("log", log))


def choices(*values: Any) -> Choices:
    """The range of these values, the simplest first, for `search_bound`."""
    if not values:
        check.fail("values", values, "one value or more")
    return Choices(values)


def ranges_of(domain: Mapping[str, Any]) -> dict[str, Range]:
    if not isinstance(domain, Mapping) or not domain:
        check.fail("domain", domain, "a mapping of parameter names to ranges")
    for name in domain:
        if not isinstance(name, str) or not name.isidentifier():
            check.fail("domain", name, "a mapping whose keys are names of parameters")
    return {name: as_range(f"domain[{name!r}]", value) for name, value in domain.items()}


def value_of(axis: Range, code: Code) -> Any:
    return axis.values[int(code)] if isinstance(axis, Choices) else code


def as_range(name: str, value: Any) -> Range:
    """The range that a value stands for; `InvalidInput` calls the value `name`.

    A tuple of two numbers is the range between them, of whole numbers if both are whole; a `range`
    of step 1 is its whole numbers; a list is choices; a number, text, bool or None is one choice.
    """
    if isinstance(value, Range):
        return value
    if isinstance(value, range) and value.step == 1 and len(value) > 0:
        return integers(value[0], value[-1])
    if isinstance(value, tuple) and len(value) == 2:
        low, high = value
        if isinstance(low, numbers.Real) and isinstance(high, numbers.Real):
            if not low < high:
                check.fail(name, value, "(low, high) with low < high")
            whole = all(isinstance(end, numbers.Integral) for end in value)
            return integers(*value) if whole else reals(*value)
    if isinstance(value, list) and value:
        return Choices(tuple(value))
    if isinstance(value, numbers.Real | str | bool) or value is None:
        return Choices((value,))
    return check.fail(name, value, FORMS)


def in_words(value: Any) -> str:
    """The text of a value; of values that may hold data, such as arrays, only type and shape."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return value if isinstance(value, str) else brief(value)


def rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def around(value: float, digits: int) -> tuple[float, float]:
    """The nearest numbers with `digits` significant digits on both sides of a value."""
    if value == 0.0 or not math.isfinite(value):
        return (0.0, 0.0)
    nearest = rounded(value, digits)
    step = math.copysign(10.0 ** (math.floor(math.log10(abs(value))) - digits + 1), value)
    return (nearest, nearest - step) if abs(nearest) > abs(value) else (nearest, nearest + step)


def _plainer(axis: Reals | Integers, code: Code, candidates: Any) -> list[Code]:
    limit = axis.complexity(code)
    plainer = [candidate for candidate in candidates if axis.complexity(candidate) < limit]
    return sorted(plainer, key=lambda candidate: (axis.complexity(candidate), candidate))


def _whole(name: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        check.fail(name, value, "a whole number")
    return int(value)
