"""The text of other people's errors, without values of the data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

HIDDEN, LIST = "…", "[…]"
MOST = 4000  # characters of a text that are kept
# significant digits from which on a number may tell a value: one that is the value itself, with a
# decimal point, and a whole number
EXACT, OF_INTEGERS = 2, 4

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ITEM = rf"(?:{_NUMBER}|[-+]?(?:nan|inf|NaN|Inf)|\.\.\.|…)"
NUMBER = re.compile(r"(?<![\d.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
GROUPED = re.compile(r"(?<![\d.])-?\d{1,3}(?:[,_]\d{3})+(?![\d])(?:\.\d*)?")  # 8,123.46 and 8_123
OF_BITS = re.compile(r"-?0x[\da-fA-F]\.[\da-fA-F]+p[-+]?\d+")  # as float.hex() writes them
NUMBERS = re.compile(rf"\[[\s\[\]]*{_ITEM}(?:[\s,;\[\]]+{_ITEM})*[\s,\]]*\]")


def redacted(text: str, data: Any = None) -> str:
    """The text with lists of numbers in brackets, and numbers that a value of the data rounds to,
    left out.

    data : numbers, or None where they are not known: then every number is left out. Whole
    numbers of fewer than 4 significant digits stay, and others of fewer than 3, but for a value
    that has 2 itself.

    >>> print(redacted("row 3: [73.12 -8.5], got 73.12 for 0.125", [[73.1234567, 2.0]]))
    row 3: […], got … for 0.125
    >>> print(redacted("exit status 7 after 4096 bytes"))
    exit status 7 after … bytes
    """
    kept = NUMBERS.sub(LIST, text if len(text) <= MOST else f"{text[:MOST]}...")
    values = None if data is None else _numbers(data)
    patterns = (OF_BITS, NUMBER) if values is None else (OF_BITS, GROUPED, NUMBER)
    for pattern in patterns:
        kept = pattern.sub(lambda found: HIDDEN if _hides(found, values) else found[0], kept)
    return kept


def _hides(found: re.Match[str], values: np.ndarray | None) -> bool:
    """Whether a written number is left out. A whole one that is part of a name stays, and any one
    where the values are not known: float64, python3.11.
    """
    if found.re is OF_BITS:
        return True
    if _in_a_name(found) and (values is None or "." not in found[0]):
        return False
    return _tells(re.sub("[,_]", "", found[0]), values)


def _in_a_name(found: re.Match[str]) -> bool:
    start, end = found.span()
    return (
        re.search(r"\w", found.string[max(start - 1, 0) : start] + found.string[end : end + 1])
        is not None
    )


def _tells(number: str, values: np.ndarray | None) -> bool:
    """Whether a written number has the digits to tell a value, and one of the values rounds to it.

    It may have been cut off instead of rounded, or be a magnitude without its sign.
    """
    digits = number.lower().partition("e")[0].lstrip("-")
    significant = len(digits.replace(".", "").lstrip("0"))
    if significant < (EXACT if "." in digits else OF_INTEGERS):
        return False
    if values is None:
        return significant > EXACT
    unit = _unit(number) if significant > EXACT else 0.0
    return bool(np.any(np.abs(values - abs(float(number))) <= unit))


def _unit(number: str) -> float:
    """The last decimal place of a written number."""
    mantissa, _, power = number.lower().partition("e")
    return float(10.0 ** (int(power or 0) - len(mantissa.partition(".")[2])))


def _numbers(data: Any) -> np.ndarray:
    """Magnitudes of all finite values; none of data that are no numbers."""
    try:
        values = np.abs(np.asarray(data, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        return np.empty(0)
    return values[np.isfinite(values)]
