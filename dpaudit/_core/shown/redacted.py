"""The text of other people's errors, without values of the data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

HIDDEN, LIST = "…", "[…]"
MOST = 4000  # characters of a text that are kept
# significant digits from which on a number may tell a value: a number with a decimal point that is
# the value itself, and a whole number
EXACT, OF_INTEGERS = 2, 4

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ITEM = rf"(?:{_NUMBER}|[-+]?(?:nan|inf|NaN|Inf)|\.\.\.|…)"
NUMBER = re.compile(r"(?<![\d.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
GROUPED = re.compile(r"(?<![\d.])-?\d{1,3}(?:[,_]\d{3})+(?![\d])(?:\.\d*)?")  # 8,123.46 and 8_123
OF_BITS = re.compile(r"-?0x[\da-fA-F]\.[\da-fA-F]+p[-+]?\d+")  # as float.hex() writes them
NUMBERS = re.compile(rf"\[[\s\[\]]*{_ITEM}(?:[\s,;\[\]]+{_ITEM})*[\s,\]]*\]")


def redacted(text: str, data: Any = None) -> str:
    """The text without lists of numbers in brackets, and without numbers that a value rounds to.

    data : the values, or None where they are not known: then every number is left out. Whole
    numbers of fewer than 4 significant digits stay, and others of fewer than 3, unless they are a
    value of 2 digits itself.

    >>> print(redacted("row 3: [73.12 -8.5], got 73.12 for 0.125", [[73.1234567, 2.0]]))
    row 3: […], got … for 0.125
    >>> print(redacted("exit status 7 after 4096 bytes"))
    exit status 7 after … bytes
    """
    values = None if data is None else _magnitudes(data)

    def hidden(match: re.Match[str]) -> str:
        return HIDDEN if match.re is OF_BITS or _tells(match, values) else match[0]

    text = NUMBERS.sub(LIST, text if len(text) <= MOST else f"{text[:MOST]}...")
    for pattern in (OF_BITS, NUMBER) if values is None else (OF_BITS, GROUPED, NUMBER):
        text = pattern.sub(hidden, text)
    return text


def _tells(match: re.Match[str], values: np.ndarray | None) -> bool:
    """Whether a written number has enough digits to tell a value, and a value rounds to it.

    A value that was cut off instead of rounded counts too, and one without its sign. A whole number
    that is part of a name stays, as in float64; where the values are not known, every number in a
    name does, as in python3.11.
    """
    start, end = match.span()
    around = match.string[max(start - 1, 0) : start] + match.string[end : end + 1]
    if re.search(r"\w", around) and (values is None or "." not in match[0]):
        return False
    number = re.sub("[,_]", "", match[0]).lower()
    mantissa, _, power = number.partition("e")
    digits = mantissa.lstrip("-")
    significant = len(digits.replace(".", "").lstrip("0"))
    if significant < (EXACT if "." in digits else OF_INTEGERS):
        return False
    if values is None:
        return significant > EXACT
    last_place = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    room = last_place if significant > EXACT else 0.0
    return bool(np.any(np.abs(values - abs(float(number))) <= room))


def _magnitudes(data: Any) -> np.ndarray:
    """Magnitudes of all finite values; empty for data that are not numbers."""
    try:
        values = np.abs(np.asarray(data, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        return np.empty(0)
    return values[np.isfinite(values)]
