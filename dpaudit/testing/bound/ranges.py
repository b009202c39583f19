"""Ranges of one parameter: real numbers, whole numbers, choices.

A search moves in [0, 1]: `at` turns a place there into a code, which `value` turns into the value.
The code of a number is the number; of a choice, its index. `edges` are codes that theorems tend to
forget. `simpler` gives codes that say the same more plainly, `complexity` orders them.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dpaudit._core import check
from dpaudit._core.shown.short_repr import brief, short_repr
from dpaudit.report.text import number

Code = float | int
Complexity = tuple[float, ...]

DIGITS = 6  # of the real numbers that are tried
EDGES = (0.0, 1e-9, 1e-4, 1e-2, 0.5, 1.0 - 1e-2, 1.0 - 1e-4, 1.0 - 1e-9, 1.0)
INSIDE = 1e-9  # how far inside an open range its outermost number is, relatively
WIDE = 100.0  # from this ratio of its ends on, a positive range is searched on a log scale
LARGE = 100  # whole numbers from here on are simpler if they are round
DECADES = 12  # the numbers 1, 2, 5 times a power of ten that are tried as simpler ones


@dataclass(frozen=True)
class Reals:
    """Real numbers from low to high; closed : whether the two ends belong to them."""

    low: float
    high: float
    log: bool
    closed: bool

    @property
    def size(self) -> float:
        """How many codes there are."""
        return math.inf

    @property
    def edges(self) -> Sequence[Code]:
        """Both ends, numbers near them, and the middle."""
        return list(dict.fromkeys(map(self.at, EDGES)))

    def at(self, place: float) -> float:
        """The number at a place in [0, 1], in few digits: of itself, or of the way to an end."""
        if self.log:
            first, last = math.log(self.low), math.log(self.high)
            return self._inside(rounded(math.exp(first + place * (last - first)), DIGITS))
        width = self.high - self.low
        if place <= 0.5:
            return self._inside(rounded(self.low + rounded(place * width, DIGITS), 12))
        return self._inside(rounded(self.high - rounded((1.0 - place) * width, DIGITS), 12))

    def place(self, code: Code) -> float:
        """The place of a number."""
        if self.log:
            return math.log(code / self.low) / math.log(self.high / self.low)
        return (code - self.low) / (self.high - self.low)

    def value(self, code: Code) -> float:
        """The number itself."""
        return float(code)

    def complexity(self, code: Code) -> Complexity:
        """Fewer digits before more, then numbers near 1 before large and small ones."""
        if code == 0:
            return (0.0, 0.0, 0.0, 0.0)
        _, digits, _ = found = Decimal(repr(abs(float(code)))).normalize().as_tuple()
        size = abs(len(digits) + int(found.exponent) - 1)
        return (float(len(digits)), float(size), float(digits[0]), float(code < 0))

    def simpler(self, code: Code) -> list[Code]:
        """Round numbers of the range, and the number itself in fewer digits."""
        signs = (1.0, -1.0) if self.low < 0 else (1.0,)
        near = [
            sign * digit * 10.0**power
            for sign in signs
            for power in range(-DECADES, DECADES + 1)
            for digit in (1, 2, 5)
        ]
        ends = [self.low, self.high, 0.0]
        shorter = [one for digits in (1, 2, 3, 4) for one in around(code, digits)]
        inward = [
            end + one for end in ends[:2] for digits in (1, 2) for one in around(code - end, digits)
        ]
        return self._simplest_first(code, [*near, *ends, *shorter, *inward])

    def _simplest_first(self, code: Code, candidates: Sequence[float]) -> list[Code]:
        limit = self.complexity(code)
        clean = {rounded(one, 12) for one in candidates}
        kept = [one for one in clean if self._has(one) and self.complexity(one) < limit]
        return sorted(kept, key=lambda one: (self.complexity(one), one))

    def _has(self, code: float) -> bool:
        return self.low <= code <= self.high if self.closed else self.low < code < self.high

    def _inside(self, code: float) -> float:
        clipped = min(max(code, self.low), self.high)
        if self.closed or self.low < clipped < self.high:
            return clipped
        inward = 1.0 - 2.0 * (clipped == self.high)
        room = abs(clipped) if self.log else self.high - self.low
        return clipped + inward * INSIDE * room

    def __str__(self) -> str:
        ends = f"{number(self.low)} to {number(self.high)}"
        return ends if self.closed else f"{ends} (ends excluded)"


@dataclass(frozen=True)
class Integers:
    """Whole numbers from low to high, both included."""

    low: int
    high: int
    log: bool

    @property
    def size(self) -> float:
        """How many codes there are."""
        return self.high - self.low + 1

    @property
    def edges(self) -> Sequence[Code]:
        """The first three, one in the middle, and the last two."""
        near = [*range(self.low, self.low + 3), self.at(0.5), self.high - 1, self.high]
        return list(dict.fromkeys(one for one in near if self.low <= one <= self.high))

    def at(self, place: float) -> int:
        """The whole number at a place in [0, 1]; on a log scale, of 1 + distance from low."""
        if not self.log:
            return self._inside(self.low + math.floor(place * self.size))
        shift = max(0, 1 - self.low)
        first, last = math.log(self.low + shift), math.log(self.high + shift + 1)
        return self._inside(math.floor(math.exp(first + place * (last - first))) - shift)

    def place(self, code: Code) -> float:
        """The middle of the places of a whole number."""
        if not self.log:
            return (code - self.low + 0.5) / self.size
        shift = max(0, 1 - self.low)
        first, last = math.log(self.low + shift), math.log(self.high + shift + 1)
        return (math.log(code + shift + 0.5) - first) / (last - first)

    def value(self, code: Code) -> int:
        """The number itself."""
        return int(code)

    def complexity(self, code: Code) -> Complexity:
        """The digits of a large one before its zeros, then its size."""
        digits = len(str(abs(int(code))).rstrip("0")) if abs(code) >= LARGE else 1
        return (float(digits), float(abs(code)), float(code < 0))

    def simpler(self, code: Code) -> list[Code]:
        """The smallest, numbers ever closer to this one as in a search by halves, round ones."""
        code, least = int(code), self._inside(0)
        away = code - least
        near = [least + step for step in (0, 1, 2, -1, -2)]
        halves = [code - int(away / 2**power) for power in range(1, abs(away).bit_length() + 1)]
        round_ones = [
            int(one)
            for half in (*halves, code)
            for digits in (1, 2)
            for one in around(half, digits)
        ]
        limit = self.complexity(code)
        candidates = {one for one in (*near, *halves, *round_ones) if self.low <= one <= self.high}
        return sorted(
            (one for one in candidates if self.complexity(one) < limit), key=self.complexity
        )

    def _inside(self, code: int) -> int:
        return min(max(code, self.low), self.high)

    def __str__(self) -> str:
        return f"{number(self.low)} to {number(self.high)}"


@dataclass(frozen=True)
class Choices:
    """Any values, the simplest first."""

    values: tuple[Any, ...]
    __repr__ = short_repr

    @property
    def size(self) -> float:
        """How many codes there are."""
        return len(self.values)

    @property
    def edges(self) -> Sequence[Code]:
        """All of them."""
        return range(len(self.values))

    def at(self, place: float) -> int:
        """The index at a place in [0, 1]."""
        return min(int(place * self.size), len(self.values) - 1)

    def place(self, code: Code) -> float:
        """The middle of the places of an index."""
        return (code + 0.5) / self.size

    def value(self, code: Code) -> Any:
        """The value at an index."""
        return self.values[int(code)]

    def complexity(self, code: Code) -> Complexity:
        """Its index."""
        return (float(code),)

    def simpler(self, code: Code) -> list[Code]:
        """Those before it."""
        return list(range(int(code)))

    def __str__(self) -> str:
        return " or ".join(in_words(one) for one in self.values)


Range = Reals | Integers | Choices


def reals(low: float, high: float, *, log: bool | None = None, closed: bool = True) -> Reals:
    """Real numbers in a range.

    Parameters
    ----------
    low : float
        The least.
    high : float
        The largest.
    log : bool, optional
        Whether to search on a log scale; by default where 0 < low and high is over 100 times as
        large.
    closed : bool, default True
        Whether `low` and `high` themselves belong to the range.

    Returns
    -------
    Reals

    Raises
    ------
    InvalidInput
        When there is no such range.
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
    """Whole numbers in a range.

    Parameters
    ----------
    low : int
        The least, included.
    high : int
        The largest, included.
    log : bool, optional
        Whether to search on a log scale; by default where there are more than 100.

    Returns
    -------
    Integers

    Raises
    ------
    InvalidInput
        When there is no such range.
    """
    ends = [_whole(name, value) for name, value in (("low", low), ("high", high))]
    if ends[1] < ends[0]:
        check.fail("high", high, f"at least low = {ends[0]}")
    wide = ends[1] - ends[0] >= WIDE
    return Integers(ends[0], ends[1], wide if log is None else check.boolean("log", log))


def choices(*values: Any) -> Choices:
    """One of these values, the simplest first. Raises `InvalidInput` where there is none."""
    if not values:
        check.fail("values", values, "one value or more")
    return Choices(values)


def as_range(name: str, given: Any) -> Range:
    """A range, or what stands for one.

    A tuple of two numbers is the range between them, of whole numbers if both are; a `range` of
    step 1 is its whole numbers; a list is choices; a number, a text or True stands for itself.

    Raises `InvalidInput`, naming the argument `name`.
    """
    expected = (
        "dpaudit.testing.reals(low, high), integers(low, high) or choices(...), a tuple (low, high)"
        ", a list of choices, or one fixed value"
    )
    if isinstance(given, Reals | Integers | Choices):
        return given
    if isinstance(given, range) and given.step == 1 and len(given) > 0:
        return integers(given[0], given[-1])
    if isinstance(given, tuple):
        return _between(name, given, expected)
    if isinstance(given, list) and given:
        return Choices(tuple(given))
    if isinstance(given, numbers.Real | str | bool) or given is None:
        return Choices((given,))
    return check.fail(name, given, expected)


def _between(name: str, ends: tuple[Any, ...], expected: str) -> Range:
    if len(ends) != 2 or not all(isinstance(one, numbers.Real) for one in ends):
        check.fail(name, ends, expected)
    low, high = ends
    if not low < high:
        check.fail(name, ends, "(low, high) with low < high")
    whole = all(isinstance(one, numbers.Integral) for one in ends)
    return integers(low, high) if whole else reals(low, high)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        check.fail(name, value, "a whole number")
    return int(value)


def in_words(value: Any) -> str:
    """Words and numbers as they are; of what may hold data only the type and shape."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return value if isinstance(value, str) else brief(value)


def rounded(value: float, digits: int) -> float:
    """A number to so many significant digits."""
    return float(f"{value:.{digits - 1}e}")


def around(value: float, digits: int) -> tuple[float, float]:
    """The nearest numbers of so many digits below and above (towards 0 and away from it)."""
    if value == 0.0 or not math.isfinite(value):
        return (0.0, 0.0)
    nearest = rounded(value, digits)
    step = math.copysign(10.0 ** (math.floor(math.log10(abs(value))) - digits + 1), value)
    return (nearest, nearest - step) if abs(nearest) > abs(value) else (nearest, nearest + step)
