"""The worst case of a mechanism over all neighbours of a database, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike, Mechanism, describe
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.composition import PrivacyLoss
from dpaudit.exact.pair_spectrum import (
    LAWS,
    KnownMechanism,
    curve_on_pair,
    known_mechanism,
    spectrum_of,
    zeroed_rows,
)
from dpaudit.exact.replaced_student import StudentSearch
from dpaudit.exact.replaced_wishart import WishartSearch
from dpaudit.exact.search import Worst
from dpaudit.exact.zeroed_rows import families
from dpaudit.exact.zeroed_rows.additive_wishart import WishartCurve
from dpaudit.laws import ReplacedRows, ReplacedWishartRows, ZeroedRows
from dpaudit.neighbours import remove_row, zero_row

PAIRS = 1 << 21  # how many pairs (row, candidate) are computed at a time
Neighbour = tuple[int, Curve, str]  # its index in a family, its curve and the name of the law
RELATIONS = ("zero-out", "remove", "replace", "add")


@value_class
class LargestCurve:
    """The largest of several curves at every ε, by direction."""

    curves: tuple[Curve, ...]

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        forward, backward = zip(*(curve.delta(epsilon) for curve in self.curves), strict=True)
        return np.max(forward, axis=0), np.max(backward, axis=0)

    def renyi(self, order: float) -> tuple[float, float]:
        forward, backward = np.max([curve.renyi(order) for curve in self.curves], axis=0)
        return float(forward), float(backward)

    @property
    def supremum(self) -> tuple[float, float]:
        forward, backward = np.max([curve.supremum for curve in self.curves], axis=0)
        return float(forward), float(backward)


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
        One with a known output law (`dpaudit list mechanisms`).
    data : array of shape (n, d)
        The label last.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0.
    law : {"finite", "asymptotic"}, default "finite"
        "asymptotic" for the large-rows approximation of ALS and RPLS.
    relation : {"zero-out", "remove", "replace", "add"}, default "zero-out"
        Each row zeroed, left out, or replaced by each of `candidates` in turn; or the worst added
        row among all rows of Euclidean norm at most `row_bound`. Forward is `data` against its
        neighbour.
    candidates : array of shape (m, d), optional
        The replacement rows, for relation="replace".
    row_bound : float, optional
        The largest norm of an added row, for relation="add".

    Returns
    -------
    Spectrum
        Its `forward`, `backward` and `delta` are each the largest over all neighbours at each ε,
        so those of one ε may come from different rows. Its `index` is the row of `delta`, its
        `candidate` the candidate ("replace"), and its `curve` the worst case at any other ε.

    Raises
    ------
    NoExactSpectrum
        When the mechanism has no known exact spectrum.
    DegenerateData
        When the data leave the law undefined.

    Notes
    -----
    A neighbour attains the largest δ. The orders between rows are proved in `zeroed_rows.families`
    and docs/theory/monotonicity.md; a worst replacement for ALS, RPLS and AdditiveWishart is
    searched for at each ε by a bound that is proved, so each reading of its `curve` is a search.
    Where several neighbours have the largest δ (equal rows, or δ = 1 in double precision), `index`
    and `candidate` are one of them.

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
    check.choice("relation", relation, RELATIONS)
    data = check.matrix("data", data)
    if (candidates is not None) != (relation == "replace"):
        fail("candidates", candidates, "an (m, d) array with relation='replace', None otherwise")
    if (row_bound is not None) != (relation == "add"):
        fail("row_bound", row_bound, "a number > 0 with relation='add', None otherwise")
    known = known_mechanism(mechanism)
    if row_bound is not None:
        check.real("row_bound", row_bound, 0.0, open_=True)
        curve, name = families.curve(known.added_row(data, row_bound), 0, law)
        if not isinstance(curve, PrivacyLoss | WishartCurve):
            raise NoExactSpectrum(
                f"the worst added row is not known where the law is {name}; "
                "use dpaudit.exact.spectrum on one pair"
            )
        return spectrum_of(curve.reversed(), name, epsilon)
    if candidates is not None:
        rows = check.matrix("candidates", candidates)
        return Replacements(known, data, rows, law).spectrum(epsilon)
    if relation == "remove":
        check.matrix("data", data, min_rows=2)
    change = zero_row if relation == "zero-out" else remove_row
    if relation == "remove" and getattr(known, "zero_rows_matter", True):
        apart, neighbours = tuple(range(len(data))), []
    else:
        apart = known.exceptional_rows(data)
        family = zeroed_rows(known, data)
        if family is None:
            raise NoExactSpectrum(
                f"{describe(known)[0]} does not say what its zeroed rows change (zeroed_rows), so "
                "the worst of them is not known; dpaudit.exact.spectrum takes a pair"
            )
        entries = map(int, families.pareto_set(family, law, apart))
        neighbours = [(i, *families.curve(family, i, law)) for i in entries]
    neighbours += [(i, *curve_on_pair(mechanism, change(data, i), law)) for i in apart]
    return _largest(epsilon, neighbours)


@value_class
class Replacements:
    """The curve of the worst of all replacements of a row by a candidate.

    Families without a proved order are searched anew at each ε. Entry i·m + j is row i replaced by
    candidate j.
    """

    known: KnownMechanism
    data: Array
    candidates: Array
    law: str

    def spectrum(self, epsilon: Array) -> Spectrum:
        neighbours: list[Neighbour] = []
        searched = False
        worst = Worst.unknown(epsilon.size)
        for first, count, family in self._blocks():
            if isinstance(family, ReplacedRows):
                searched = True
                nowhere = Worst(np.full_like(worst.entry, -1), worst.delta)
                worst = self._search(family, epsilon).worst(nowhere)
                entries = np.unique(worst.entry[worst.entry >= 0])
                if not neighbours and not len(entries):
                    entries = np.zeros(1, dtype=np.intp)  # no δ exceeds 0
            else:
                entries = families.pareto_set(family, self.law)
            for entry in map(int, entries):
                row, candidate = divmod(entry, count)
                place = row * len(self.candidates) + first + candidate
                neighbours.append((place, *families.curve(family, entry, self.law)))
        largest = _largest(epsilon, neighbours, len(self.candidates))
        return largest.replace(curve=self) if searched else largest

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        worst = self.spectrum(check.epsilon(epsilon))
        assert worst.forward is not None
        assert worst.backward is not None
        return worst.forward, worst.backward

    def renyi(self, order: float) -> tuple[float, float]:
        raise NoExactSpectrum(
            "no closed form for the Rényi divergence of a worst replacement that is searched for; "
            "use delta_at"
        )

    @cached_property
    def supremum(self) -> tuple[float, float]:
        """The largest losses over all pairs of families that are searched."""
        largest = [
            self._search(family, np.zeros(1)).supremum
            for *_, family in self._blocks()
            if isinstance(family, ReplacedRows)
        ]
        forward, backward = np.max(largest, axis=0)
        return float(forward), float(backward)

    def _blocks(self) -> Iterator[tuple[int, int, ZeroedRows]]:
        """A block of candidates at a time: its first, how many they are, and their family."""
        step = max(1, PAIRS // len(self.data))
        for first in range(0, len(self.candidates), step):
            block = self.candidates[first : first + step]
            yield first, len(block), self.known.replaced_rows(self.data, block)

    def _search(self, family: ReplacedRows, epsilon: Array) -> StudentSearch | WishartSearch:
        """The search for the worst entry where no order of the entries is known."""
        epsilon = np.atleast_1d(epsilon)
        if isinstance(family, ReplacedWishartRows):
            return WishartSearch(family, epsilon)
        if self.law == "asymptotic":
            raise NoExactSpectrum(
                "the worst replacement for sketched least squares is known at finite rows only; "
                "use law='finite'"
            )
        return StudentSearch(family, epsilon)


def _largest(epsilon: Array, neighbours: list[Neighbour], count: int | None = None) -> Spectrum:
    """The largest curve at each ε; with `count`, entries are row · count + candidate."""
    indices, curves, names = zip(*neighbours, strict=True)
    entries = np.array(indices)
    both = np.array([curve.delta(epsilon) for curve in curves])  # entry, direction, ε
    forward, backward = both.max(axis=0)
    worst = Spectrum.of_directions(epsilon, forward, backward, names[0])
    worst = worst.replace(curve=LargestCurve(curves))
    entry = entries[np.argmax(both.max(axis=1), axis=0)]
    if count is None:
        return worst.replace(index=entry)
    return worst.replace(index=entry // count, candidate=entry % count)
