"""Rates of the best attacker who tells two databases apart: true positives, advantage, accuracy.

Between laws P and Q the most that any attack reaches follows from δ(ε): with false positive rate α
its true positive rate is 1 − β(α), β the trade-off function; its advantage, the largest TPR − FPR,
is δ(0); and it guesses (1 + δ(0))/2 of fair coins rightly (Dong, Roth & Su 2022, section 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.frame import frame
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.readings import grid_tradeoff
from dpaudit.errors import InvalidInput

if TYPE_CHECKING:
    from dpaudit.certify.band import Certificate
    from dpaudit.certify.one_run.guesses import Guesses

# false positive rates that result.json keeps
FPR = np.array([0.0, 1e-4, 1e-3, 0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95, 0.98, 0.99, 1.0])


@value_class(show_numbers=True, eq=True)
class Rate:
    """A rate in [0, 1]: an estimate, which is no bound, and a lower limit at the result's level; or
    None.
    """

    estimate: float | None
    low: float | None


@value_class
class Roc:
    """True positive rates: `estimate` and the lower limit `low` at each of `fpr`, all (m,).

    Straight lines between the points keep the limit: the curve is concave. Either is None where
    there is none.
    """

    fpr: Array
    estimate: Array | None
    low: Array | None

    def to_frame(self) -> Any:
        """A pandas DataFrame with the columns `fpr`, `estimate` and `low`, NaN where unknown.

        Raises ImportError without pandas.
        """
        columns = {"fpr": self.fpr, "estimate": self.estimate, "low": self.low}
        unknown = np.full(self.fpr.shape, np.nan)
        return frame({name: unknown if part is None else part for name, part in columns.items()})

    def at(self, fpr: float) -> Rate:
        """The true positive rate at one false positive rate in [0, 1]."""
        return Rate(
            *(
                None if rates is None else float(np.interp(fpr, self.fpr, rates))
                for rates in (self.estimate, self.low)
            )
        )


def of_band(epsilon: Array, delta: Array, certified: Certificate) -> dict[str, Any]:
    """The rates for result.json: from estimates of δ at ε, (m,) each, if the grid has ε = 0, and
    from the certified band. All limits hold together, with the band.
    """
    known = bool(epsilon[0] == 0.0)
    advantage = Rate(float(delta[0]) if known else None, float(certified.delta_at(0.0)))
    estimate = 1.0 - grid_tradeoff(epsilon, delta, FPR) if known else None
    return _content(Roc(FPR, estimate, 1.0 - certified.tradeoff(FPR)), advantage)


def of_curve(epsilon: Array, low: Array) -> dict[str, Any]:
    """The rates for result.json from a lower bound `low` of δ(ε) at an increasing grid, (m,) each.

    The true positive rate at α is the least over ε ≥ 0 of δ + e^ε α and of 1 − e^{−ε}(1 − δ − α)
    (Dong, Roth & Su 2022, proposition 6). Between points of the grid, e^ε is at least its value at
    the left one, and δ at least `low` at the right one; beyond the last, δ is at least 0.
    """
    gamma, least = np.exp(epsilon), np.append(low[1:], 0.0)
    alpha = FPR[:, None]
    ahead, behind = least + gamma * alpha, 1.0 - (1.0 - least - alpha) / gamma
    tpr = np.clip(np.minimum(ahead, behind).min(axis=1), FPR, 1.0)
    return _content(Roc(FPR, None, tpr), Rate(None, float(low[0])))


def of_guesses(guesses: Guesses) -> dict[str, Any]:
    """The rates for result.json: how thresholds of one run's scores tell canaries in from out.

    There are no limits: a mechanism of advantage x may tell all coins in a share x of its runs, so
    one run cannot certify more than 1 − level.
    """
    roc, best = None, None
    score = np.where(guesses.says_in, guesses.strength, -guesses.strength)
    included = guesses.right == guesses.says_in
    positives, negatives = int(included.sum()), int((~included).sum())
    if positives and negatives:
        thresholds, place = np.unique(-score, return_inverse=True)  # the largest score first
        counts = [
            np.cumsum(np.bincount(place[side], minlength=len(thresholds)))
            for side in (included, ~included)
        ]
        tpr, fpr = (
            np.append(0.0, count / size)
            for count, size in zip(counts, (positives, negatives), strict=True)
        )
        roc = tpr[np.searchsorted(fpr, FPR, side="right") - 1]
        best = float(np.max(tpr - fpr))
    return _content(Roc(FPR, roc, None), Rate(best, None))


def _content(roc: Roc, advantage: Rate) -> dict[str, Any]:
    halves = {
        name: None if value is None else 0.5 * (1.0 + value)
        for name, value in (("estimate", advantage.estimate), ("low", advantage.low))
    }
    return {
        "fpr": roc.fpr,
        "tpr": {"estimate": roc.estimate, "low": roc.low},
        "advantage": {"estimate": advantage.estimate, "low": advantage.low},
        "accuracy": halves,
    }


def rate_of(record: Mapping[str, Any], name: str) -> Rate:
    """The "advantage" or "accuracy" of a record. Raises `InvalidInput` for an early version's."""
    return Rate(**_rates(record)[name])


def roc_of(record: Mapping[str, Any]) -> Roc:
    """The true positive rates of a record. Raises `InvalidInput` for an early version's."""
    rates = _rates(record)
    estimate, low = (
        None if part is None else np.array(part, dtype=np.float64)
        for part in (rates["tpr"]["estimate"], rates["tpr"]["low"])
    )
    return Roc(np.array(rates["fpr"], dtype=np.float64), estimate, low)


def _rates(record: Mapping[str, Any]) -> Mapping[str, Any]:
    rates = record.get("attacker")
    if rates is None:
        raise InvalidInput("this result.json is of an earlier version, without an attacker's rates")
    return dict(rates)
