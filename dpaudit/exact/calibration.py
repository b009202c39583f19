"""The least noise, or the most sketch rows, that keep a target δ(ε) over ALL neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Adjustable, Array, ArrayLike, Mechanism, describe
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import DegenerateData, InvalidInput
from dpaudit.exact.pair_spectrum import KnownMechanism, known_mechanism
from dpaudit.exact.worst_neighbour import worst_case

TOLERANCE = 1e-10  # relative, of a real parameter
FARTHEST = 140.0  # how far a parameter moves from where it was, in ln
MOST = 2**53  # rows
FIRST = 2  # candidates, the longest, that are searched first
TINY = 5e-324


@value_class(show_numbers=True, eq=True)
class Calibration:
    """A mechanism whose exact worst case keeps a target.

    mechanism : with `parameter` at `value`. value : the least noise, or the most rows, that keep
    the target; a real value to a relative 1e-10, never on the side that breaks it. epsilon, delta :
    the target, ε in nats. attained : the exact worst δ(epsilon) there, ≤ delta. index, candidate :
    the row that attains it (None for an added row) and the candidate that replaces it. relation :
    as in `worst_case`.

    This analyses one data set: the value is a function of these data, so if they are private it is
    not to be released or used as if it were public. It does not depend on the data with
    relation="add" for `AnalyzeGauss`, `SufficientStatistics` and `AdditiveWishart`. Nor does a
    padding calibrated on a single row of zeros: there the added row is the only nonzero row, and
    further rows in the database only make a sketch more private.
    """

    mechanism: KnownMechanism
    parameter: str
    value: float
    epsilon: float
    delta: float
    attained: float
    index: int | None = None
    candidate: int | None = None
    relation: str = "zero-out"

    def __str__(self) -> str:
        """One line: the value, the target, and the exact worst δ with its row."""
        place = "" if self.index is None else f" at row {self.index}"
        place += "" if self.candidate is None else f" replaced by candidate {self.candidate}"
        return (
            f"{describe(self.mechanism)[0]}: {self.parameter} = {self.value:.10g} keeps "
            f"δ({self.epsilon:g}) <= {self.delta:g}; the exact worst δ ({self.relation}) is "
            f"{self.attained:.6g}{place}"
        )


def calibrate(
    mechanism: Mechanism,
    data: ArrayLike,
    epsilon: float,
    delta: float,
    *,
    parameter: str | None = None,
    law: str = "finite",
    relation: str = "zero-out",
    candidates: ArrayLike | None = None,
    row_bound: float | None = None,
) -> Calibration:
    """The least noise, or the most sketch rows, whose exact worst case has δ(epsilon) ≤ delta.

    Parameters
    ----------
    mechanism : mechanism
        Gives every other parameter; the search starts from its own value of the parameter.
    data : array of shape (n, d)
        The label last.
    epsilon, delta : float ≥ 0, nats, and float in (0, 1)
        The target.
    parameter : str, optional
        What is calibrated. By default the first of the mechanism's `adjustable`: `sigma`,
        `sigma_gram`, `padding`, `scale`, or `rows` of ALS and RPLS; others must be named.
    law, relation, candidates, row_bound : optional
        These are the arguments of `worst_case`.

    Returns
    -------
    Calibration

    Raises
    ------
    InvalidInput
        Where no value of the parameter meets the target, or every one does.
    NoExactSpectrum
        When no exact spectrum is known.
    DegenerateData
        When the data leave the law undefined.

    Examples
    --------
    >>> import dpaudit as dp
    >>> X, y = dp.datasets.load("flight")
    >>> print(dp.exact.calibrate(dp.mechanisms.ALS(rows=100), np.column_stack([X, y]), 1.0, 1e-5))
    ALS: rows = 1001399 keeps δ(1) <= 1e-05; the exact worst δ (zero-out) is 9.99997e-06 at row 7008
    """
    epsilon = check.real("epsilon", epsilon, 0.0)
    delta = check.real("delta", delta, 0.0, 1.0, open_=True)
    known = known_mechanism(mechanism)
    chosen = known.adjustable_parameter(parameter)
    data = check.matrix("data", data)
    rows = None if candidates is None else check.matrix("candidates", candidates)

    def measure(rows: Array | None, value: float) -> Spectrum:
        how: dict[str, Any] = {"law": law, "relation": relation, "row_bound": row_bound}
        adjusted = known.adjusted(chosen.name, value)
        return worst_case(adjusted, data, epsilon, candidates=rows, **how)

    def search(rows: Array | None, start: float) -> tuple[float, Spectrum]:
        least = chosen.least(data.shape[1])
        return _Search(chosen, partial(measure, rows), delta, least).run(start)

    longest = float(np.linalg.norm(data, axis=1).max())
    start = getattr(mechanism, chosen.name) or longest or row_bound or 1.0
    if rows is None:
        value, worst = search(None, start)
    else:
        value, worst = _over_candidates(rows, search, measure, start, delta)
    return Calibration(
        known.adjusted(chosen.name, value),
        chosen.name,
        value,
        epsilon,
        delta,
        float(worst.delta),
        None if worst.index is None else int(worst.index),
        None if worst.candidate is None else int(worst.candidate),
        relation,
    )


def _over_candidates(
    rows: Array,
    search: Callable[[Array, float], tuple[float, Spectrum]],
    measure: Callable[[Array, float], Spectrum],
    start: float,
    delta: float,
) -> tuple[float, Spectrum]:
    """The result of `search` for all candidates `rows`, from searches for a few of them.

    A value that is the least for some candidates is the least for all if all meet the target there.
    If not, the worst of them is one more candidate of the next search.
    """
    some = np.argsort(-np.linalg.norm(rows, axis=1), kind="stable")[:FIRST].tolist()
    try:
        value, _ = search(rows[some], start)
        while (worst := measure(rows, value)).delta > delta:
            candidate = int(np.asarray(worst.candidate))
            if candidate in some:
                return search(rows, start)
            some.append(candidate)
            value, _ = search(rows[some], value)
    except (DegenerateData, InvalidInput):  # a few candidates do not say what holds for all
        return search(rows, start)
    return value, worst


@dataclass(eq=False, repr=False)
class _Search:
    """Closes in on the value of a parameter at which the target is just met.

    A place is the logarithm of a value. `met` is the least private place known to meet the target,
    `missed` the most private one known not to.
    """

    parameter: Adjustable
    measure: Callable[[float], Spectrum]
    delta: float
    least: float | None
    tried: dict[float, Spectrum | None] = field(default_factory=dict)
    met: float = np.nan
    missed: float = np.nan

    def run(self, start: float) -> tuple[float, Spectrum]:
        from scipy.optimize import brentq  # here, as it would be a third of `import dpaudit.exact`

        private = self.parameter.private
        if self.least is not None:
            within = self._delta(self.least) <= self.delta
            if private > 0 and within:
                return self._answer(self.least)
            if private < 0 and not within:
                self._out_of_reach(self.least)
            if private < 0:
                self.met = float(np.log(self.least))
        # growing steps to more privacy until the target is met, then to less until it is missed
        place, step = float(np.log(start)), 0
        while np.isnan(self.met):
            if abs(place - np.log(start)) > FARTHEST or self._at(place) == MOST:
                self._out_of_reach(self._at(place))
            self(place)
            step += 1
            place += private * step * np.log(2.0)
        place, step, first = self.met, 0, self.met
        while np.isnan(self.missed):
            value = self._at(place)
            if abs(place - first) > FARTHEST or value == MOST:
                demand = "that takes some noise" if private > 0 else "that limits the rows"
                name = self.parameter.name
                fail("delta", self.delta, f"a target {demand}: {name} = {value:g} keeps it")
            self(place)
            step += 1
            place -= private * step * np.log(2.0)
        brentq(self, self.missed, self.met, xtol=0.4 * TOLERANCE, rtol=1e-15)
        while abs(self.met - self.missed) > TOLERANCE:  # or the two are neighbouring integers
            if self.parameter.whole and abs(self._at(self.met) - self._at(self.missed)) == 1:
                break
            self(float(np.log(0.5 * (np.exp(self.met) + np.exp(self.missed)))))
        return self._answer(self._at(self.met))

    def __call__(self, place: float) -> float:
        """ln(δ/delta) at e^place, which moves `met` or `missed`."""
        delta, sign = self._delta(self._at(place)), self.parameter.private
        if delta <= self.delta:  # NaN at first, which fmin and fmax ignore
            self.met = float(sign * np.fmin(sign * place, sign * self.met))
        else:
            self.missed = float(sign * np.fmax(sign * place, sign * self.missed))
        return float(np.log(max(delta, TINY) / self.delta))

    def _at(self, place: float) -> float:
        """The value at a place, an integer within its range where the parameter is one."""
        value = float(np.exp(place))
        return int(min(max(round(value), self.least or 1), MOST)) if self.parameter.whole else value

    def _worst(self, value: float) -> Spectrum | None:
        """The worst case at a value; None where padding is too small for the data to have a law."""
        if value not in self.tried:
            try:
                self.tried[value] = self.measure(value)
            except DegenerateData:
                if not self.parameter.zero:
                    raise
                self.tried[value] = None
        return self.tried[value]

    def _delta(self, value: float) -> float:
        worst = self._worst(value)
        return 1.0 if worst is None else float(worst.delta)

    def _answer(self, value: float) -> tuple[float, Spectrum]:
        worst = self._worst(value)
        assert worst is not None
        return value, worst

    def _out_of_reach(self, value: float) -> NoReturn:
        none = self._worst(value) is None
        gives = "no law" if none else f"δ = {self._delta(value):.4g}"
        name = self.parameter.name
        fail("delta", self.delta, f"within reach: even {name} = {value:g} gives {gives}")
