"""search_bound and assert_bound: look for a setting at which a printed bound fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpaudit._core import check
from dpaudit._core.keywords import known_keywords
from dpaudit._core.seeds import Purpose, describe, generator, root
from dpaudit._core.types import RngLike
from dpaudit.errors import InvalidInput
from dpaudit.testing.bound import improve, start
from dpaudit.testing.bound.domain import Domain, Point
from dpaudit.testing.bound.inequality import Inequality, Trial
from dpaudit.testing.bound.record import Record
from dpaudit.testing.bound.result import BoundFailure, BoundSearch
from dpaudit.testing.bound.simplify import simplest

TRIES = 2_000
PHASES = (  # each with the share of the tries that are used up when it ends
    (start.corners, 0.1),
    (start.spread, 0.5),
    (improve.evolve, 0.75),
    (improve.climb, 1.0),
)
SIMPLIFYING = 0.5  # further tries to simplify a failure, as a share
LEAST = 200  # but at least so many
UNANSWERED = 10_000  # points asked for; where none of them is admitted the search ends


@known_keywords()
def search_bound(
    printed: Callable[..., Any],
    exact: Callable[..., Any],
    domain: Mapping[str, Any],
    *,
    hypotheses: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    side: str = "upper",
    tries: int = TRIES,
    tolerance: float = 1e-9,
    rounding: float = 1e-15,
    rng: RngLike = 0,
) -> BoundSearch:
    """Look for a setting at which a printed bound fails.

    A setting fails where `printed` is below `exact`, or where `printed` is NaN: it has no value. A
    small finite domain is searched whole. Else the corners come first, then points spread evenly
    and over the edges, then differential evolution and climbs raise ln(exact/printed). A failure is
    made simpler as long as it stays one by a factor of 2, or by half of the worst ln(exact/printed)
    if that is less. The search proves nothing where it finds nothing: `BoundSearch` says how hard
    it was tried.

    Parameters
    ----------
    printed : callable
        The bound; a function of the names in `domain`, or of some of them.
    exact : callable
        What it is held against, a function likewise: the exact value, a certified lower bound of
        it, or the other side of an inequality. NaN where it has no value: nothing is compared.
    domain : dict
        Names to ranges: `dpaudit.testing.reals`, `integers`, `choices`; a tuple (low, high); a list
        of choices; or a fixed value.
    hypotheses : callable or sequence of callable, optional
        Functions likewise: what the theorem demands. A setting is excluded where one of them is
        False, or where any function raises a `DpauditError`.
    side : {"upper", "lower", "both"}, default "upper"
        "upper": `printed` is an upper bound; "lower": a lower one; "both": they are equal.
    tries : int
        Settings at which both sides are computed; half as many more simplify a failure.
    tolerance : float, default 1e-9
        On ln(exact/printed).
    rounding : float, default 1e-15
        Absolute error of either side; 0 for values that are accurate relatively, such as δ far
        below 1e-15.
    rng : seed or Generator, default 0
        The same gives the same result.

    Returns
    -------
    BoundSearch

    Raises
    ------
    InvalidInput
        When an argument is not as described, also where every setting asked for is excluded.
    TypeError
        For unknown keywords.

    Examples
    --------
    >>> import dpaudit as dp
    >>> found = dp.testing.search_bound(
    ...     lambda x: x, lambda x: x**2, {"x": dp.testing.reals(0.01, 4.0)}, tries=300)
    >>> found.holds, found.simplest.setting
    (False, {'x': 2.0})
    """
    read, seed = Domain.of(domain), root(rng)
    tries = check.count("tries", tries, 1)
    inequality = Inequality(
        printed,
        exact,
        hypotheses,
        read.names,
        side=side,
        tolerance=tolerance,
        rounding=rounding,
    )
    record = Record(read, inequality)
    exhaustive = read.size <= tries
    if exhaustive:
        for point in read.everything():
            record.at(point)
    else:
        for place, (phase, share) in enumerate(PHASES):
            phase(record, generator(seed, Purpose.SEARCH, place), max(1, int(share * tries)))
            if record.asked > UNANSWERED and not record.tried:
                break
    return _result(record, exhaustive, tries, describe(seed))


def _result(record: Record, exhaustive: bool, tries: int, seed: object) -> BoundSearch:
    if not record.tried:
        raise InvalidInput(
            f"hypotheses must admit some setting of the domain, got none: {record.excluded:,} were "
            f"excluded, {record.undecided:,} had no exact value",
            argument="hypotheses",
        )
    worst, plain = record.largest(record.failures()), None
    if worst is not None:
        goal = record.tried + record.undecided + max(int(SIMPLIFYING * tries), LEAST)
        plain = simplest(record, worst, goal)
        worst = record.largest(record.failures())
    closest = record.largest(set(record.trials) - set(record.failures()))
    return BoundSearch(
        simplest=_trial(record, plain),
        worst=_trial(record, worst),
        closest=_trial(record, closest),
        tried=record.tried,
        excluded=record.excluded,
        undecided=record.undecided,
        exhaustive=exhaustive,
        domain=record.domain.text,
        rng=seed,
    )


def _trial(record: Record, point: Point | None) -> Trial | None:
    return None if point is None else record.trials[point]


@known_keywords(search_bound)
def assert_bound(
    printed: Callable[..., Any],
    exact: Callable[..., Any],
    domain: Mapping[str, Any],
    **options: Any,
) -> BoundSearch:
    """Fail where `search_bound` finds a setting at which the printed bound fails.

    Parameters
    ----------
    printed : callable
        As for `dpaudit.testing.search_bound`.
    exact : callable
        As for `dpaudit.testing.search_bound`.
    domain : dict
        As for `dpaudit.testing.search_bound`.
    **options
        Its keywords `hypotheses`, `side`, `tries`, `tolerance`, `rounding` and `rng`.

    Returns
    -------
    BoundSearch
        It says how hard it was tried.

    Raises
    ------
    BoundFailure
        An AssertionError, with the simplest failure, the worst one, and how much was searched.
    InvalidInput
        As for `dpaudit.testing.search_bound`.
    TypeError
        For unknown keywords.

    Examples
    --------
    >>> import math, dpaudit as dp
    >>> def exact(epsilon, delta):  # of Gaussian noise for a move of 1, calibrated as textbooks do
    ...     sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    ...     return dp.exact.gaussian_shift(1 / sigma, epsilon)
    >>> domain = {"epsilon": dp.testing.reals(0.01, 20), "delta": dp.testing.reals(1e-8, 0.1)}
    >>> def covered(epsilon):
    ...     return epsilon < 1
    >>> dp.testing.assert_bound(
    ...     lambda delta: delta, exact, domain, hypotheses=covered, tries=300).holds
    True
    """
    __tracebackhide__ = True
    found = search_bound(printed, exact, domain, **options)
    if not found.holds:
        raise BoundFailure(found)
    return found
