"""The one front: the exact spectrum of a mechanism on a pair, or over every row of a database."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit._core.types import Adjustable, describe
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.curves import Largest
from dpaudit.exact.pairs import dispatch
from dpaudit.exact.privacy_loss import PrivacyLoss
from dpaudit.exact.zeroed_rows import families
from dpaudit.laws import StudentRows
from dpaudit.neighbours import NeighbourPair, zero_row

LAWS = ("finite", "asymptotic")
PAIRS = 1 << 24  # of a row and a candidate at a time
RELATIONS = ("zero-out", "replace", "add")


@runtime_checkable
class KnownMechanism(Protocol):
    """A mechanism whose output law is known, as `dpaudit.mechanisms.LawMechanism` is."""

    def law(self, data: Array) -> Any:
        """The output law on a database."""
        ...

    def zeroed_rows(self, data: Array) -> Any:
        """The pairs of laws that zeroing each row gives."""
        ...

    def replaced_rows(self, data: Array, candidates: Array) -> Any:
        """The pairs of laws that replacing each row by each candidate gives."""
        ...

    def added_row(self, data: Array, row_bound: float) -> Any:
        """The worst pair of laws that one more row within the bound gives."""
        ...

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """Rows that `zeroed_rows` does not describe."""
        ...

    def adjustable_parameter(self, name: str | None) -> Adjustable:
        """A parameter that can be calibrated."""
        ...

    def adjusted(self, parameter: str, value: float) -> Self:
        """A copy with another value of one parameter."""
        ...


def spectrum(mechanism: Any, pair: NeighbourPair, epsilon: Any, *, law: str = "finite") -> Spectrum:
    """Exact δ(ε) of `mechanism` on a pair of databases.

    Parameters
    ----------
    mechanism : one with a known output law (`dpaudit list mechanisms`).
    pair : a `NeighbourPair`; forward is left against right.
    epsilon : scalar or (m,), nats.
    law : "finite", or "asymptotic" for the large-rows approximation of ALS and RPLS.

    Returns
    -------
    Spectrum with `forward`, `backward`, `law`, the `curve` itself, and `asymptotic` where both laws
    are known.

    Raises `NoExactSpectrum` (use `dpaudit.audit`, which needs none), `InvalidInput`,
    `DegenerateData`.

    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0, 0.5], [1.0, -0.5], [1.0, 2.0]], 2)
    >>> found = dp.exact.spectrum(dp.mechanisms.GaussMix(rows=5, sigma=4.0), pair, [0.0, 1.0])
    >>> print(found.forward, found.backward)
    [0.1580278  0.01350408] [0.1580278 0.       ]
    """
    epsilon = check.epsilon(epsilon)
    curve, name = _curve(mechanism, pair, law)
    result = _spectrum(epsilon, curve, name)
    known = known_mechanism(mechanism)
    if (
        law == "finite"
        and _by_row(known, pair)
        and isinstance(known.zeroed_rows(pair.left), StudentRows)
    ):
        limit = _curve(mechanism, pair, "asymptotic")[0].delta(epsilon)
        result = result.replace(asymptotic=np.maximum(*limit))
    return result


def privacy_loss(mechanism: Any, pair: NeighbourPair, *, law: str = "finite") -> PrivacyLoss:
    """The privacy loss of `mechanism` on a pair, to be composed with others; arguments and errors
    as of `spectrum`.

    Raises `NoExactSpectrum` also for ALS and RPLS at finite rows, whose loss has no moment function
    in closed form.
    """
    curve, name = _curve(mechanism, pair, law)
    if not isinstance(curve, PrivacyLoss):
        raise NoExactSpectrum(
            f"{name} has no moment function to compose; use law='asymptotic', or dpaudit.audit"
        )
    return curve


def worst_case(
    mechanism: Any,
    data: Any,
    epsilon: Any,
    *,
    law: str = "finite",
    relation: str = "zero-out",
    candidates: Any = None,
    row_bound: float | None = None,
) -> Spectrum:
    """The largest δ(ε) over ALL neighbours of `data` of one kind, in both directions.

    Parameters
    ----------
    mechanism, epsilon, law : as in `spectrum`.
    data : (n, d), label last.
    relation : "zero-out", each row zeroed in turn; "replace", each row replaced by each of
        `candidates`, (m, d); or "add", one more row of Euclidean norm at most `row_bound`, the
        worst that there is.

    Returns
    -------
    Spectrum whose `index` is the worst row at each ε, whose `candidate` is the worst candidate
    ("replace"), and whose `curve` is the worst case at any other ε.

    One thin QR, then O(1) work a row (O(d) a row and candidate). Raises `NoExactSpectrum`,
    `InvalidInput`, `DegenerateData`.

    >>> import dpaudit as dp
    >>> X, y = dp.datasets.load("flight")
    >>> worst = dp.exact.worst_case(dp.mechanisms.ALS(rows=1_000_000), np.column_stack([X, y]), [0.0, 0.5])
    >>> print(worst.delta, worst.index)
    [0.10422596 0.00386356] [7008 7008]
    """
    epsilon = check.epsilon(epsilon)
    check.choice("law", law, LAWS)
    data = check.matrix("data", data)
    _check_neighbours(relation, candidates, row_bound)
    known = known_mechanism(mechanism)
    if relation == "add":
        return _spectrum(epsilon, *families.curve(known.added_row(data, row_bound), 0, law))  # type: ignore[arg-type]
    if relation == "replace":
        return _largest_replacement(
            known, data, check.matrix("candidates", candidates), epsilon, law
        )
    exceptional = known.exceptional_rows(data)
    found = _candidates(known.zeroed_rows(data), law, exceptional)
    found += [(row, *_curve(mechanism, zero_row(data, row), law)) for row in exceptional]
    return _largest(epsilon, found)


def _check_neighbours(relation: str, candidates: Any, row_bound: float | None) -> None:
    check.choice("relation", relation, RELATIONS)
    if (candidates is not None) != (relation == "replace"):
        fail("candidates", candidates, "an (m, d) array with relation='replace', None otherwise")
    if (row_bound is not None) != (relation == "add"):
        fail("row_bound", row_bound, "a number > 0 with relation='add', None otherwise")
    if row_bound is not None:
        check.real("row_bound", row_bound, 0.0, open_=True)


def _largest_replacement(
    known: KnownMechanism, data: Array, candidates: Array, epsilon: Array, law: str
) -> Spectrum:
    """Entry i·m + j is row i replaced by candidate j; a block of candidates at a time."""
    step, count = max(1, PAIRS // len(data)), len(candidates)
    found: list[tuple[int, Curve, str]] = []
    for first in range(0, count, step):
        block = candidates[first : first + step]
        for entry, curve, name in _candidates(known.replaced_rows(data, block), law):
            row, candidate = divmod(entry, len(block))
            found.append((row * count + first + candidate, curve, name))
    worst = _largest(epsilon, found)
    assert worst.index is not None
    return worst.replace(index=worst.index // count, candidate=worst.index % count)


def _candidates(
    family: Any, law: str, left_out: tuple[int, ...] = ()
) -> list[tuple[int, Curve, str]]:
    rows = families.front(family, law, left_out)
    return [(int(row), *families.curve(family, int(row), law)) for row in rows]


def _largest(epsilon: Array, found: list[tuple[int, Curve, str]]) -> Spectrum:
    rows = np.array([row for row, _, _ in found])
    both = np.array([curve.delta(epsilon) for _, curve, _ in found])  # entry, direction, ε
    best = np.argmax(both.max(axis=1), axis=0)
    forward, backward = (
        np.take_along_axis(both[:, side], best[None], axis=0)[0] for side in (0, 1)
    )
    curve = Largest(tuple(curve for _, curve, _ in found))
    worst = Spectrum.of_directions(epsilon, forward, backward, found[0][2])
    return worst.replace(index=rows[best], curve=curve)


def _spectrum(epsilon: Array, curve: Curve, name: str) -> Spectrum:
    return Spectrum.of_directions(epsilon, *curve.delta(epsilon), name).replace(curve=curve)


def _curve(mechanism: Any, pair: NeighbourPair, law: str) -> tuple[Curve, str]:
    check.choice("law", law, LAWS)
    known = known_mechanism(mechanism)
    if _by_row(known, pair):
        assert pair.index is not None
        return families.curve(known.zeroed_rows(pair.left), pair.index, law)
    left, right = known.law(pair.left), known.law(pair.right)
    return (
        dispatch.curve(left, right)
        if law == "finite"
        else dispatch.curve(dispatch.limit(left), dispatch.limit(right))
    )


def _by_row(known: KnownMechanism, pair: NeighbourPair) -> bool:
    """Whether the pair is one entry of the mechanism's family of zeroed rows."""
    return pair.relation == "zero-out" and pair.index not in known.exceptional_rows(pair.left)


def known_mechanism(mechanism: Any) -> KnownMechanism:
    """The mechanism, which must know its output law. Raises `NoExactSpectrum`."""
    if not isinstance(mechanism, KnownMechanism):
        name = describe(mechanism)[0]
        raise NoExactSpectrum(
            f"{name} has no known output law; use dpaudit.audit, which needs only its draws"
        )
    return mechanism
