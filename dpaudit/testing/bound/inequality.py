"""A printed bound against an exact value at one setting, and by how much it fails or holds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.errors import DpauditError
from dpaudit.report.text import number
from dpaudit.testing.bound.ranges import in_words

UPPER, LOWER, BOTH = SIDES = ("upper", "lower", "both")
LARGEST = 1e6  # a larger factor is not written out


class Miss(Enum):
    """Why there is no trial at a setting."""

    EXCLUDED = "excluded by the hypotheses"
    UNDECIDED = "no exact value"


@dataclass(frozen=True)
class Trial:
    """The bound at one setting.

    setting : the values by name. printed, exact : both sides there; printed is NaN where it has no
    value. excess : of an upper bound ln(exact/printed), above 0 where it fails; of a lower bound
    the reverse, of an equality the size of it. It is infinite where the two have no ratio, or one
    of them is infinite. fails : by more than the tolerance, or `printed` has no value.
    """

    setting: Mapping[str, Any]
    printed: float
    exact: float
    excess: float
    fails: bool
    __repr__ = short_repr

    @property
    def factor(self) -> float | None:
        """≥ 1, by how many times the bound fails or is loose; None where there is no ratio."""
        return math.exp(min(abs(self.excess), 700.0)) if math.isfinite(self.excess) else None

    @property
    def rank(self) -> tuple[float, float]:
        """What the search raises: the excess, and where that is infinite the difference."""
        if math.isnan(self.printed):
            return (-math.inf, -math.inf)
        gap = self.exact - self.printed
        return self.excess, -math.inf if math.isnan(gap) else gap

    @property
    def at(self) -> str:
        """ "q = 0.2, r = 1", exactly as it was tried."""
        return _in_words(self.setting)

    @property
    def values(self) -> str:
        """ "printed 0.00206, exact 0.0321 (15.6 times)"."""
        printed = "no value" if math.isnan(self.printed) else number(self.printed)
        return f"printed {printed}, exact {number(self.exact)}{_times(self.factor)}"

    def __str__(self) -> str:
        return f"{self.at}: {self.values}"


class Inequality:
    """`at(setting)` holds `printed` against `exact` wherever the hypotheses admit the setting."""

    def __init__(
        self,
        printed: Callable[..., Any],
        exact: Callable[..., Any],
        hypotheses: Callable[..., Any] | Sequence[Callable[..., Any]] | None,
        names: Sequence[str],
        *,
        side: str,
        tolerance: float,
        rounding: float,
    ) -> None:
        self.side = check.choice("side", side, SIDES)
        self.tolerance = check.real("tolerance", tolerance, 0.0)
        self.rounding = check.real("rounding", rounding, 0.0)
        self._printed = _by_name("printed", printed, names)
        self._exact = _by_name("exact", exact, names)
        conditions = [] if hypotheses is None else hypotheses
        if callable(conditions):
            conditions = [conditions]
        if not isinstance(conditions, Sequence):
            check.fail("hypotheses", hypotheses, "a function, several in a list, or None")
        self._conditions = [_by_name("hypotheses", one, names) for one in conditions]

    def at(self, setting: Mapping[str, Any]) -> Trial | Miss:
        """The bound at a setting; a `DpauditError` of any of the functions excludes it."""
        try:
            if not all(condition(setting) for condition in self._conditions):
                return Miss.EXCLUDED
            printed = _as_float("printed", self._printed(setting))
            exact = _as_float("exact", self._exact(setting))
        except DpauditError as error:
            if getattr(error, "argument", None) in ("printed", "exact"):
                raise
            return Miss.EXCLUDED
        except Exception as error:
            error.add_note(f"at the setting {_in_words(setting)}")
            raise
        if math.isnan(exact):
            return Miss.UNDECIDED
        return self._trial(setting, printed, exact)

    def _trial(self, setting: Mapping[str, Any], printed: float, exact: float) -> Trial:
        if math.isnan(printed):
            return Trial(setting, printed, exact, math.inf, True)
        above = excess(exact - self.rounding, printed)
        below = excess(printed - self.rounding, exact)
        found = {UPPER: above, LOWER: below, BOTH: max(above, below)}[self.side]
        return Trial(setting, printed, exact, found, found > self.tolerance)


def excess(value: float, bound: float) -> float:
    """ln(value/bound), above 0 where the value exceeds the bound; of two negative ones likewise.

    ±∞ where they have no ratio. Where the bound is infinite, or both are 0, nothing is claimed: −∞.
    """
    if value == bound or bound == math.inf or value == -math.inf:
        return 0.0 if value == bound != 0.0 and math.isfinite(bound) else -math.inf
    if value > 0.0 and bound > 0.0:
        return math.log(value) - math.log(bound) if value < math.inf else math.inf
    if value < 0.0 and bound < 0.0:
        return math.log(-bound) - math.log(-value) if bound > -math.inf else math.inf
    return math.inf if value > bound else -math.inf


def _as_float(name: str, value: Any) -> float:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, int | float | np.floating | np.integer):
        check.fail(
            name,
            value,
            "a function that returns one number for each setting",
            "of δ in both directions return the larger",
        )
    return float(value)


def _by_name(
    argument: str, function: Callable[..., Any], names: Sequence[str]
) -> Callable[[Mapping[str, Any]], Any]:
    """The function of a setting: it is given the parameters that it names.

    Raises `InvalidInput` where it needs one that the domain has not.
    """
    if not callable(function):
        check.fail(argument, function, "a function of the names in domain")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function without a signature takes them all
        return lambda setting: function(**setting)
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return lambda setting: function(**setting)
    named = [one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    missing = [one.name for one in named if one.default is one.empty and one.name not in names]
    if missing:
        advice = f"give domain a range for {missing[0]!r}"
        check.fail(argument, function, "a function of the names in domain", advice)
    taken = [one.name for one in named if one.name in names]
    return lambda setting: function(**{name: setting[name] for name in taken})


def _times(factor: float | None) -> str:
    if factor is None or factor > LARGEST:
        return ""
    if factor - 1.0 < 1e-9:
        return " (equal)"
    return f" ({number(factor, 3 if factor > 1.05 else 6)} times)"


def _in_words(setting: Mapping[str, Any]) -> str:
    """Numbers in full; of what may hold data only the type and shape."""
    return ", ".join(
        f"{name} = {repr(value) if isinstance(value, int | float) else in_words(value)}"
        for name, value in setting.items()
    )
