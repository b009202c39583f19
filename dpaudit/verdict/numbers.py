"""Numbers and names as people read them; the one place of dpaudit that formats numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_UP, Context
from typing import Any

from dpaudit._core.text import percent as in_percent
from dpaudit._core.text import printable

NONE = "–"
ROUNDING = 1e-9  # a number this close to 1 may be written as 1
DIGITS = range(3, 18)  # of a certified number: the fewest that tell it from the claimed one
LARGEST_LOG = 700.0  # e^709 is the largest float
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: Any, digits: int = 4, *, down: bool = False, up: bool = False) -> str:
    """Write a number to `digits` significant digits: 0.1269, 2.2×10⁻⁵, 327,346, ∞; None is a dash.

    down : round towards zero, so that a certified lower bound is never printed larger than it is.
    up : round away from zero, so that an upper bound is never printed smaller than it is.
    A value below 1 - 1e-9 is not written as 1. Text stays as it is, but for the "inf" and "-inf" of
    result.json. Integers below 10,000 have no comma, as they may be row numbers; see `count`.
    """
    if value is None:
        return NONE
    if isinstance(value, str) and value not in ("inf", "-inf"):
        return value
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if not math.isfinite(float(value)):
        return "−∞" if float(value) < 0 else "∞"
    rounding = ROUND_DOWN if down else ROUND_UP if up else ROUND_HALF_EVEN
    rounded = _rounded(float(value), digits, rounding)
    if rounded == 1.0 and 1.0 - float(value) > ROUNDING and rounding == ROUND_HALF_EVEN:
        return number(value, digits + 1)
    return _written(rounded, digits)


def _rounded(value: float, digits: int, rounding: str) -> float:
    return float(Context(prec=digits, rounding=rounding).create_decimal(repr(value)))


def _written(value: float, digits: int) -> str:
    """Write a rounded number: plain from 0.001 to 99,999, else with a power of ten."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    power = power_of_ten(int(exponent))
    return power if mantissa == "1" else f"{mantissa}×{power}"


def least(value: Any, other: Any = None) -> str:
    """Write a certified lower bound, rounded down, in digits that show that it is above `other` if
    it is.
    """
    if other is None or float(value) <= float(other):
        return number(value, DIGITS[0], down=True)
    return apart(value, other)[0]


def apart(value: float, other: float, digits: int = 4) -> tuple[str, str]:
    """Write a certified lower bound, rounded down, and a smaller number `other`, in 3 and `digits`
    digits, or in as many more as show that the first is larger.
    """
    for more in range(len(DIGITS)):
        sizes = DIGITS[0] + more, digits + more
        low = _rounded(float(value), sizes[0], ROUND_DOWN)
        if low > _rounded(float(other), sizes[1], ROUND_HALF_EVEN):
            break
    return number(value, sizes[0], down=True), number(other, sizes[1])


def from_log(log: float) -> str:
    """Write e^log, rounded down to three digits: 24.1, 3.2×10⁸, or 10²⁴⁰⁵ beyond all floats."""
    if LARGEST_LOG < log < math.inf:
        return power_of_ten(math.floor(log / math.log(10.0)))
    return number(math.inf if log == math.inf else math.exp(log), 3, down=True)


def power_of_ten(exponent: int) -> str:
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def count(items: int) -> str:
    """Write a number of things, always with commas: 1,200."""
    return f"{items:,}"


def enough(draws: float) -> str:
    """Write a number of draws that suffice, an approximation, rounded up to two digits: 3,100."""
    if draws == math.inf:
        return "over 10¹⁵"
    return count(int(_rounded(draws, 2, ROUND_UP))) if draws < 1e7 else number(draws, 2, up=True)


def counted(items: int, noun: str, nouns: str = "") -> str:
    """Write a number with its noun: "1 row", "1,200 rows". nouns : the plural if "s" is not."""
    return f"{count(items)} {noun if items == 1 else nouns or noun + 's'}"


def percent(share: float) -> str:
    """Write 0.95 as "95 %", with a no-break space; "100 %" only if the share is 1."""
    return in_percent(share).replace(" %", "\u00a0%")


def plain(value: Any) -> str:
    """Write any value of a result: numbers by `number`, text as it is, other values as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NONE if value is None else json.dumps(value, ensure_ascii=False)
    return number(value)


def equation(symbol: str, value: str) -> str:
    """Write "ε = 1" with no-break spaces, so that it stays on one line."""
    return f"{symbol}\u00a0=\u00a0{value}"


def moment(written: Any) -> str:
    """Write a time of result.json as "2026-11-23 06:30 UTC"; "" if it is no time."""
    try:
        then = datetime.fromisoformat(str(written or "")).astimezone(UTC)
    except ValueError:
        return ""
    return f"{then:%Y-%m-%d %H:%M} UTC"


def assignments(values: Mapping[str, Any]) -> str:
    """Write parameters with their names: "rows = 1200, sampler = student"."""
    return ", ".join(f"{name} = {plain(value)}" for name, value in values.items())


def label(text: str, width: int = 46) -> str:
    """The text on one line, printable, cut to `width` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"
