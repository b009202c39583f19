"""The worst case of a mechanism over all neighbours of a database, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike, Mechanism, describe
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.pair_spectrum import (
    LAWS,
    KnownMechanism,
    curve_on_pair,
    known_mechanism,
    spectrum_of,
)
from dpaudit.exact.replaced_rows.student_search import StudentSearch
from dpaudit.exact.replaced_rows.wishart_search import WishartSearch
from dpaudit.exact.replaced_rows.worst import Worst
from dpaudit.exact.zeroed_rows import families
from dpaudit.laws import ReplacedRows, ReplacedWishartRows, ZeroedRows
from dpaudit.neighbours import remove_row, zero_row

PAIRS = 1 << 23  # of a row and a candidate at a time
RELATIONS = ("zero-out", "remove", "replace", "add")
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class LargestCurve:
    """The largest of several curves at every ε, by direction.

    swapped : the curves' backward direction is the forward one.
    """

    curves: tuple[Curve, ...]
    swapped: bool = False

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """The largest δ at each ε."""
        forward, backward = zip(*(curve.delta(epsilon) for curve in self.curves), strict=True)
        return self._ordered(np.max(forward, axis=0), np.max(backward, axis=0))

    def renyi(self, order: float) -> tuple[float, float]:
        """The largest Rényi divergences of an order, nats. Raises `NoExactSpectrum`."""
        return self._ordered(*_larger_by_direction([curve.renyi(order) for curve in self.curves]))

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest privacy losses."""
        return self._ordered(*_larger_by_direction([curve.supremum for curve in self.curves]))

    def _ordered(self, forward: T, backward: T) -> tuple[T, T]:
        return (backward, forward) if self.swapped else (forward, backward)


def _larger_by_direction(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    forward, backward = zip(*pairs, strict=True)
    return max(forward), max(backward)


def worst_case(
    mechanism: Mechanism,
    data: ArrayLike,
    epsilon: ArrayLike,
    *,
    law: str = "finite",
    relation: str = "zero-out",
    candidates: ArrayLike | None = None,
    row_bound: float | None = None,
) -> Spectrum:
    """The largest δ(ε) over ALL neighbours of `data` of one kind, in both directions.

    Parameters
    ----------
    mechanism : mechanism
        As in `spectrum`.
    data : array of shape (n, d)
        The label last.
    epsilon : float or array of shape (m,), nats
        As in `spectrum`.
    law : {"finite", "asymptotic"}, default "finite"
        As in `spectrum`.
    relation : {"zero-out", "remove", "replace", "add"}, default "zero-out"
        "zero-out", each row zeroed in turn; "remove", each row left out in turn; "replace", each
        row replaced by each of `candidates`; or "add", the worst added row among all rows of
        Euclidean norm at most `row_bound`. Forward is `data` against its neighbour.
    candidates : array of shape (m, d), optional
        For "replace".
    row_bound : float, optional
        For "add".

    Returns
    -------
    Spectrum
        Its `forward`, `backward` and `delta` are each the largest over all neighbours at each ε,
        so those of one ε may come from different rows. Its `index` is the row of `delta`, the worst
        in either direction, its `candidate` the candidate of `delta` ("replace"), and its `curve`
        the worst case at any other ε.

    Raises
    ------
    NoExactSpectrum
        When none is known.
    InvalidInput
        When an argument is not as described.
    DegenerateData
        When the data leave the law undefined.

    Notes
    -----
    A worst replacement for ALS, RPLS and AdditiveWishart is searched for at each ε by a bound that
    is proved (`dpaudit.exact.replaced_rows`), so each reading of its `curve` is a search.

    One thin QR, then O(1) work a row (O(d) a row and candidate). Where a row of zeros changes the
    mechanism's law (`LawMechanism.zero_rows_matter`), each removed row takes a curve of its own.

    A neighbour attains the largest δ, also of "add": there the row has the norm `row_bound` and the
    direction that the mechanism's `added_row` says. The orders between rows are proved in
    `zeroed_rows.families` and docs/theory/monotonicity.md. Where several neighbours have the
    largest δ (equal rows, or δ = 1 in double precision), `index` and `candidate` are one of them. A
    zeroed row's 1 − leverage is computed from the other rows: it keeps its digits near 0.

    Examples
    --------
    >>> import dpaudit as dp
    >>> X, y = dp.datasets.load("flight")
    >>> data = np.column_stack([X, y])
    >>> worst = dp.exact.worst_case(dp.mechanisms.ALS(rows=1_000_000), data, [0.0, 0.5])
    >>> print(worst.delta, worst.index)
    [0.10422596 0.00386356] [7008 7008]
    """
    epsilon = check.epsilon(epsilon)
    check.choice("law", law, LAWS)
    data = check.matrix("data", data)
    _check_neighbours(relation, candidates, row_bound)
    known = known_mechanism(mechanism)
    if relation == "add":
        assert row_bound is not None
        curve, name = families.curve(known.added_row(data, row_bound), 0, law)
        return spectrum_of(LargestCurve((curve,), swapped=True), name, epsilon)
    if relation == "replace":
        replacements = _Replacements(known, data, check.matrix("candidates", candidates), law)
        return replacements.spectrum(epsilon)
    if relation == "remove":
        check.matrix("data", data, min_rows=2)
    change = zero_row if relation == "zero-out" else remove_row
    if relation == "remove" and getattr(known, "zero_rows_matter", True):
        apart, found = tuple(range(len(data))), []
    else:
        apart = known.exceptional_rows(data)
        found = _candidates(_family(known, data), law, apart)
    found += [_Candidate(row, *curve_on_pair(mechanism, change(data, row), law)) for row in apart]
    return _largest(epsilon, found)


def _family(known: KnownMechanism, data: Array) -> ZeroedRows:
    try:
        return known.zeroed_rows(data)
    except NoExactSpectrum:
        raise
    except NotImplementedError:
        raise NoExactSpectrum(
            f"{describe(known)[0]} does not say what its zeroed rows change (zeroed_rows), so the "
            "worst of them is not known; dpaudit.exact.spectrum takes a pair"
        ) from None


def _check_neighbours(relation: str, candidates: ArrayLike | None, row_bound: float | None) -> None:
    check.choice("relation", relation, RELATIONS)
    if (candidates is not None) != (relation == "replace"):
        fail("candidates", candidates, "an (m, d) array with relation='replace', None otherwise")
    if (row_bound is not None) != (relation == "add"):
        fail("row_bound", row_bound, "a number > 0 with relation='add', None otherwise")
    if row_bound is not None:
        check.real("row_bound", row_bound, 0.0, open_=True)


@dataclass(frozen=True, eq=False, repr=False)
class _Candidate:
    """A neighbour that may be the worst: its entry in a family, its curve and the law's name."""

    entry: int
    curve: Curve
    law: str


def _candidates(family: ZeroedRows, law: str, left_out: tuple[int, ...] = ()) -> list[_Candidate]:
    """The neighbours of a family among which the worst is found at every ε."""
    entries = families.pareto_set(family, law, left_out)
    return [_Candidate(int(i), *families.curve(family, int(i), law)) for i in entries]


@dataclass(frozen=True, eq=False, repr=False)
class _Replacements:
    """Every row replaced by every candidate; entry i·m + j is row i replaced by candidate j."""

    known: KnownMechanism
    data: Array
    candidates: Array
    law: str

    def spectrum(self, epsilon: Array) -> Spectrum:
        """The worst replacement at each ε."""
        found: list[_Candidate] = []
        searched = False
        worst = Worst.unknown(epsilon.size)
        for place, family in self._blocks():
            if isinstance(family, ReplacedRows):
                searched = True
                worst = _search(family, epsilon, self.law).worst(worst.without_entries())
                entries = worst.entries if found else worst.entries_or_first
            else:
                entries = families.pareto_set(family, self.law)
            found += [
                _Candidate(self._entry(i, place), *families.curve(family, i, self.law))
                for i in map(int, entries)
            ]
        largest = _largest(epsilon, found, len(self.candidates))
        return largest.replace(curve=_SearchedCurve(self)) if searched else largest

    def supremum(self) -> tuple[float, float]:
        """The largest losses over all pairs of families that are searched."""
        return _larger_by_direction(
            [
                _search(family, np.zeros(1), self.law).supremum
                for _, family in self._blocks()
                if isinstance(family, ReplacedRows)
            ]
        )

    def _blocks(self) -> Iterator[tuple[slice, ZeroedRows]]:
        """The family of a block of candidates at a time, and which candidates these are."""
        step = max(1, PAIRS // len(self.data))
        for first in range(0, len(self.candidates), step):
            block = self.candidates[first : first + step]
            yield slice(first, first + len(block)), self.known.replaced_rows(self.data, block)

    def _entry(self, entry: int, block: slice) -> int:
        row, candidate = divmod(entry, block.stop - block.start)
        return int(row * len(self.candidates) + block.start + candidate)


def _search(family: ReplacedRows, epsilon: Array, law: str) -> StudentSearch | WishartSearch:
    """The search for the worst entry where no order of the entries is known."""
    epsilon = np.atleast_1d(epsilon)
    if isinstance(family, ReplacedWishartRows):
        return WishartSearch(family, epsilon)
    if law == "asymptotic":
        raise NoExactSpectrum(
            "the worst replacement for sketched least squares is known at finite rows only; "
            "use law='finite'"
        )
    return StudentSearch(family, epsilon)


@dataclass(frozen=True, eq=False, repr=False)
class _SearchedCurve:
    """The worst replacement at any ε, searched for anew each time."""

    replacements: _Replacements

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """(forward, backward) δ of the worst pair at each ε, in the shape of `epsilon`."""
        worst = self.replacements.spectrum(check.epsilon(epsilon))
        assert worst.forward is not None
        assert worst.backward is not None
        return worst.forward, worst.backward

    def renyi(self, order: float) -> tuple[float, float]:
        """Always raises `NoExactSpectrum`: no closed form is known."""
        raise NoExactSpectrum(
            "no closed form for the Rényi divergence of a worst replacement that is searched for; "
            "use delta_at"
        )

    @cached_property
    def supremum(self) -> tuple[float, float]:
        """The largest losses over all pairs."""
        return self.replacements.supremum()


def _largest(epsilon: Array, found: list[_Candidate], count: int | None = None) -> Spectrum:
    """The largest curve at each ε; with `count`, entries are row · count + candidate."""
    entries = np.array([one.entry for one in found])
    both = np.array([one.curve.delta(epsilon) for one in found])  # entry, direction, ε
    forward, backward = both.max(axis=0)
    worst = Spectrum.of_directions(epsilon, forward, backward, found[0].law)
    worst = worst.replace(curve=LargestCurve(tuple(one.curve for one in found)))
    entry = entries[np.argmax(both.max(axis=1), axis=0)]
    if count is None:
        return worst.replace(index=entry)
    return worst.replace(index=entry // count, candidate=entry % count)
