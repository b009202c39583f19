"""What is printed and what is so: evidence at one setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

EXACT, CERTIFIED, HOLDS = "exact", "certified", "loose"
WRONG, UNDEFINED, SLIP = "claims too much privacy", "gives no value", "not so"
LOOSE, TIGHT = "holds, loose", "holds, exactly"


@dataclass(frozen=True)
class Evidence:
    """What is printed, and what is so.

    quantity : what the two values are: "δ", or the unit of a parameter.
    printed : the printed value, None where the printed line has none.
    found : the exact value (kind "exact" or "loose") or a certified lower bound ("certified").
    factor : ≥ 1, by how many times the printed line fails or is loose; None without a ratio.
    at : what follows from the setting.
    """

    quantity: str
    printed: float | None
    found: float
    kind: str
    verdict: str
    factor: float | None
    at: str = ""

    @property
    def violated(self) -> bool:
        """The printed line fails."""
        return self.verdict not in (LOOSE, TIGHT)


Test = Callable[..., Evidence]
Grid = Mapping[str, Sequence[Any]]


def claimed(
    printed: float, found: float, *, kind: str = EXACT, quantity: str = "δ", at: str = ""
) -> Evidence:
    """A printed δ, or another upper bound, against the exact value or a certified lower bound."""
    printed, found = float(printed), float(found)
    if math.isnan(printed):
        return Evidence(quantity, None, found, kind, UNDEFINED, None, at)
    wrong = found > printed
    large, small = (found, printed) if wrong else (printed, found)
    factor = large / small if small > 0.0 and math.isfinite(large / small) else None
    failing = WRONG if quantity == "δ" else SLIP
    return Evidence(
        quantity, printed, found, kind if wrong else HOLDS, failing if wrong else LOOSE, factor, at
    )


def asked(quantity: str, size: float, needed: float, at: str = "") -> Evidence:
    """A printed noise, padding, ε or number of rows against the least that keeps the target."""
    size, needed = float(size), float(needed)
    if math.isnan(size):
        return Evidence(quantity, None, needed, EXACT, UNDEFINED, None, at)
    if needed == 0.0:
        return Evidence(quantity, size, needed, HOLDS, LOOSE, None, at)
    ratio = size / needed
    wrong = ratio < 1.0
    factor = max(ratio, 1.0 / ratio) if ratio > 0.0 else None
    return Evidence(
        quantity, size, needed, EXACT if wrong else HOLDS, WRONG if wrong else LOOSE, factor, at
    )


def stated(
    quantity: str, printed: float, found: float, at: str = "", tolerance: float = 1e-9
) -> Evidence:
    """A printed value or equality against the true value.

    It holds where the two agree to `tolerance`, relatively.
    """
    printed, found = float(printed), float(found)
    if math.isclose(printed, found, rel_tol=tolerance):
        return Evidence(quantity, printed, found, HOLDS, TIGHT, 1.0, at)
    ratio = abs(found / printed) if printed != 0.0 else math.inf
    factor = max(ratio, 1.0 / ratio) if 0.0 < ratio < math.inf else None
    return Evidence(quantity, printed, found, EXACT, SLIP, factor, at)
