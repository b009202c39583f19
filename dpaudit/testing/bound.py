"""search_bound and assert_bound: look for a setting at which a printed bound fails.

A `Trial` compares both sides at one setting. `_Search` keeps all trials within a budget: `corners`,
`spread` and `evolve` choose the settings one after the other, `simplest` makes a failure plain, and
`BoundSearch` puts it all into words.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.keywords import known_keywords
from dpaudit._core.seeds import Purpose, describe, generator, root
from dpaudit._core.types import Array, RngLike
from dpaudit._core.value import value_class
from dpaudit.errors import DpauditError, InvalidInput
from dpaudit.testing.ranges import Domain, Point, in_words
from dpaudit.verdict.numbers import count, number

UPPER, LOWER, BOTH = SIDES = ("upper", "lower", "both")
LARGEST_FACTOR = 1e6  # a larger factor is not written out
NO_RATIO = 1e4  # rank of a trial without a finite ln(exact/printed), which is at most 1,500

# Where the search looks. The numbers were chosen on the statements of four papers, which
# `python -m reports.make findings` searches again; others find fewer failures, or need more tries.
TRIES = 2_000
REQUESTS = 50  # points looked up for each that may be tried: most may be excluded, or be known
UNANSWERED = 10_000  # points looked up; where none of them is admitted the search ends
FLOCK = 16  # points of one evolution
APART = 0.1  # the least distance of two starts of an evolution, in the largest of their places
CONVERGED = 1e-5  # spread of the ranks at which an evolution ends
TO_AN_EDGE = 0.5  # probability that a parameter of an edge point is moved to an edge
SIMPLIFYING, LEAST = 0.5, 200  # further tries to simplify a failure: a share of all, but so many
# a simpler failure keeps this part of the worst excess, or fails by a factor of 2
PART, CLEAR = 0.5, math.log(2.0)


@value_class(show_numbers=True, eq=True)
class Trial:
    """The bound at one setting.

    setting : the values by name. printed, exact : both sides there; printed is NaN where it has no
    value. excess : ln(exact/printed) for an upper bound, above 0 where it fails; the reverse for a
    lower bound, the size of it for an equality. It is infinite where the two have no ratio, or one
    of them is infinite. fails : by more than the tolerance, or `printed` has no value.
    """

    setting: Mapping[str, Any]
    printed: float
    exact: float
    excess: float
    fails: bool

    @property
    def factor(self) -> float | None:
        """By how many times the bound fails or is loose, ≥ 1; None where there is no ratio."""
        return math.exp(min(abs(self.excess), 700.0)) if math.isfinite(self.excess) else None

    @property
    def rank(self) -> float:
        """What the search raises: the excess, and where that is infinite the difference."""
        if math.isnan(self.printed):
            return -math.inf
        if math.isfinite(self.excess):
            return self.excess
        gap = self.exact - self.printed
        size = 0.0 if math.isnan(gap) else math.copysign(min(math.log1p(abs(gap)), 1e3), gap)
        return math.copysign(NO_RATIO, self.excess) + size

    @property
    def at(self) -> str:
        """The setting as it was tried, "q = 0.2, r = 1"; what may hold data only by its shape."""
        return ", ".join(
            f"{name} = {repr(value) if isinstance(value, int | float) else in_words(value)}"
            for name, value in self.setting.items()
        )

    @property
    def values(self) -> str:
        """Both sides in words: "printed 0.00206, exact 0.0321 (15.6 times)"."""
        printed = "no value" if math.isnan(self.printed) else number(self.printed)
        times = ""
        if self.factor is not None and self.factor <= LARGEST_FACTOR:
            digits = 3 if self.factor > 1.05 else 6
            equal = self.factor - 1.0 < 1e-9
            times = " (equal)" if equal else f" ({number(self.factor, digits)} times)"
        return f"printed {printed}, exact {number(self.exact)}{times}"

    def __str__(self) -> str:
        return f"{self.at}: {self.values}"


@dataclass(frozen=True)
class BoundSearch:
    """The outcome of `dpaudit.testing.search_bound`.

    Attributes
    ----------
    simplest : Trial or None
        The plainest setting at which the bound fails; None where none was found.
    worst : Trial or None
        The failing setting with the largest factor; None where none was found.
    closest : Trial or None
        Of the settings at which it holds, the one with the least room; None where there is none.
    tried : int
        Settings at which both sides were computed.
    excluded : int
        Further ones that the hypotheses refused.
    undecided : int
        Further ones without an exact value.
    exhaustive : bool
        Whether every setting of the domain was looked at.
    domain : str
        The ranges in words.
    rng : object
        The seed.
    """

    simplest: Trial | None
    worst: Trial | None
    closest: Trial | None
    tried: int
    excluded: int
    undecided: int
    exhaustive: bool
    domain: str
    rng: object

    @property
    def holds(self) -> bool:
        """Whether no setting was found at which the bound fails. A search proves nothing."""
        return self.worst is None

    @property
    def slack(self) -> float | None:
        """By how many times the bound is loose where it is closest to failing, ≥ 1."""
        return None if self.closest is None else self.closest.factor

    @property
    def searched(self) -> str:
        """How hard it was tried, in words."""
        every = "every setting" if self.exhaustive else "settings"
        parts = [
            f"{count(self.tried)} {every} of {self.domain}",
            f"{count(self.excluded)} more excluded by the hypotheses" * (self.excluded > 0),
            f"{count(self.undecided)} more without an exact value" * (self.undecided > 0),
            f"seed {self.rng}" * (not self.exhaustive),
        ]
        return "; ".join(part for part in parts if part)

    @property
    def text(self) -> str:
        """Several lines: the verdict first, then the settings, then how much was searched."""
        trials = {"simplest": self.simplest, "worst": self.worst}
        if self.holds:
            trials["closest"] = self.closest
        lines = [f"  {name:<11}{trial}" for name, trial in trials.items() if trial is not None]
        verdict = "no failure of the bound was found" if self.holds else "the bound fails"
        return "\n".join([verdict, *lines, f"  {'searched':<11}{self.searched}"])

    def __str__(self) -> str:
        return self.text


class BoundFailure(AssertionError):
    """A bound that fails.

    Attributes
    ----------
    search : BoundSearch
        The search that found it.
    """

    def __init__(self, search: BoundSearch) -> None:
        self.search = search
        super().__init__(search.text)


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
    small finite domain is searched whole. In others the corners come first, then points spread
    evenly and over the edges, then differential evolution raises ln(exact/printed). A failure is
    made simpler as long as it stays one by a factor of 2, or by half of the worst ln(exact/printed)
    if that is less. A search that finds nothing proves nothing: `BoundSearch` says how hard it was
    tried.

    Parameters
    ----------
    printed : callable
        The bound; a function of the names in `domain`, or of some of them.
    exact : callable
        What it is compared with, a function likewise: the exact value, a certified lower bound of
        it, or the other side of an inequality. Where it is NaN, nothing is compared.
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
        A failure is one by more than this in ln(exact/printed).
    rounding : float, default 1e-15
        Absolute error of either side; 0 for values that are accurate relatively, such as δ far
        below 1e-15.
    rng : seed or Generator, default 0
        The same gives the same result.

    Raises
    ------
    InvalidInput
        Where an argument is wrong, or every setting that was looked up is excluded.

    Examples
    --------
    >>> import dpaudit as dp
    >>> found = dp.testing.search_bound(
    ...     lambda x: x, lambda x: x**2, {"x": dp.testing.reals(0.01, 4.0)}, tries=300)
    >>> found.holds, found.simplest.setting
    (False, {'x': 2.0})
    """
    seed, limit = root(rng), check.count("tries", tries, 1)
    search = _Search(Domain.of(domain), printed, exact, hypotheses)
    search.side = check.choice("side", side, SIDES)
    search.tolerance = check.real("tolerance", tolerance, 0.0)
    search.rounding = check.real("rounding", rounding, 0.0)
    exhaustive = search.domain.size <= limit
    if exhaustive:
        for point in search.domain.points():
            search.at(point)
    else:
        # each phase, with the share of the tries that are used up when it ends
        phases = (search.corners, 0.1), (search.spread, 0.5), (search.evolve, 1.0)
        for place, (phase, share) in enumerate(phases):
            search.goal = max(1, int(share * limit))
            phase(generator(seed, Purpose.SEARCH, place))
            if search.requests > UNANSWERED and not search.trials:
                break
    if not search.trials:
        raise InvalidInput(
            f"hypotheses must admit some setting of the domain, got none: {search.excluded:,} were "
            f"excluded, {search.undecided:,} had no exact value",
            argument="hypotheses",
        )
    simplest = None
    if search.largest(fails=True) is not None:
        search.goal = len(search.trials) + search.undecided + max(int(SIMPLIFYING * limit), LEAST)
        simplest = search.trials[search.simplest()]
    return BoundSearch(
        simplest=simplest,
        worst=search.largest(fails=True),
        closest=search.largest(fails=False),
        tried=len(search.trials),
        excluded=search.excluded,
        undecided=search.undecided,
        exhaustive=exhaustive,
        domain=search.domain.text,
        rng=describe(seed),
    )


@known_keywords(search_bound)
def assert_bound(
    printed: Callable[..., Any],
    exact: Callable[..., Any],
    domain: Mapping[str, Any],
    **options: Any,
) -> BoundSearch:
    """Fail where `search_bound` finds a setting at which the printed bound fails.

    The arguments are those of `search_bound`, and so is the result, which says how hard it was
    tried.

    Raises
    ------
    BoundFailure
        An AssertionError, with the simplest failure, the worst one, and how much was searched.

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
    search = search_bound(printed, exact, domain, **options)
    if not search.holds:
        raise BoundFailure(search)
    return search


class _Search:
    """The trials of one search, each computed once, until `goal` of them have been.

    trials : where both sides have a value. excluded, undecided : how many other points were looked
    up. requests : how often a point was looked up, known or not.
    """

    side, tolerance, rounding = UPPER, 0.0, 0.0

    def __init__(
        self,
        domain: Domain,
        printed: Callable[..., Any],
        exact: Callable[..., Any],
        hypotheses: Callable[..., Any] | Sequence[Callable[..., Any]] | None,
    ) -> None:
        self.domain = domain
        self._printed = _by_name("printed", printed, domain.names)
        self._exact = _by_name("exact", exact, domain.names)
        conditions = [hypotheses] if callable(hypotheses) else hypotheses or []
        if not isinstance(conditions, Sequence):
            check.fail("hypotheses", hypotheses, "a function, several in a list, or None")
        self._conditions = [_by_name("hypotheses", each, domain.names) for each in conditions]
        self.trials: dict[Point, Trial] = {}
        self._missed: set[Point] = set()
        self.goal = self.requests = self.excluded = self.undecided = 0

    @property
    def open(self) -> bool:
        """Whether more points may be computed; the number looked up has a limit too."""
        return len(self.trials) + self.undecided < self.goal and (
            self.requests < REQUESTS * self.goal
        )

    def at(self, point: Point) -> Trial | None:
        """The trial at a point, computed if it is new; None where there is none."""
        self.requests += 1
        if point in self.trials or point in self._missed:
            return self.trials.get(point)
        trial = self._compared(self.domain.setting(point))
        if trial is not None and not math.isnan(trial.exact):
            self.trials[point] = trial
            return trial
        self._missed.add(point)
        self.excluded += trial is None
        self.undecided += trial is not None
        return None

    def _compared(self, setting: Mapping[str, Any]) -> Trial | None:
        """The bound at a setting. None excludes it, as a `DpauditError` of any function does."""
        try:
            if not all(condition(setting) for condition in self._conditions):
                return None
            printed = _as_float("printed", self._printed(setting))
            exact = _as_float("exact", self._exact(setting))
        except DpauditError as error:
            if getattr(error, "argument", None) in ("printed", "exact"):
                raise
            return None
        except Exception as error:
            error.add_note(f"at the setting {Trial(setting, 0.0, 0.0, 0.0, False).at}")
            raise
        if math.isnan(printed):
            return Trial(setting, printed, exact, math.inf, True)
        above = _excess(exact - self.rounding, printed)
        below = _excess(printed - self.rounding, exact)
        excess = {UPPER: above, LOWER: below, BOTH: max(above, below)}[self.side]
        return Trial(setting, printed, exact, excess, excess > self.tolerance)

    def largest(self, *, fails: bool) -> Trial | None:
        """The trial of the largest excess among those that fail, or among those that do not."""
        alike = (trial for trial in self.trials.values() if trial.fails is fails)
        return max(alike, key=lambda trial: trial.rank, default=None)

    def corners(self, rng: np.random.Generator) -> None:
        """Try every parameter at an end of its range: all such points, or as many as fit."""
        ends = [(axis.edges[0], axis.edges[-1]) for axis in self.domain.ranges]
        points: Iterable[Point] = itertools.product(*ends)
        if 2 ** len(ends) > self.goal:
            picks = rng.integers(0, 2, (self.goal, len(ends)))
            points = (tuple(two[at] for two, at in zip(ends, row, strict=True)) for row in picks)
        for point in points:
            if self.open:
                self.at(point)

    def spread(self, rng: np.random.Generator) -> None:
        """Try Halton points, shifted at random modulo 1, each also with some parameters at their
        edges.
        """
        from scipy.stats import qmc

        dim = len(self.domain.names)
        halton, shift = qmc.Halton(dim, scramble=False), rng.random(dim)
        while self.open:
            point = self.domain.point((halton.random()[0] + shift) % 1.0)
            self.at(point)
            moved = rng.random(dim) < TO_AN_EDGE
            moved[rng.integers(dim)] = True
            edged = list(point)
            for index in np.flatnonzero(moved):
                edges = self.domain.ranges[index].edges
                edged[index] = edges[int(rng.integers(len(edges)))]
            if self.open:
                self.at(tuple(edged))

    def evolve(self, rng: np.random.Generator) -> None:
        """Raise the rank by differential evolution (Storn and Price 1997), begun anew when it has
        converged.

        Half of its flock are the best points that are not close to a better one, the others are
        random.
        """
        from scipy.optimize import differential_evolution

        dim = len(self.domain.names)

        def cost(places: Array) -> float:
            """Minus the rank at places in [0, 1]."""
            if not self.open:
                raise _Stopped
            try:
                trial = self.at(self.domain.point(places))
            except Exception as error:
                raise _Stopped from error  # scipy would replace a ValueError
            return 2.0 * NO_RATIO if trial is None else -max(trial.rank, -2.0 * NO_RATIO)

        try:
            while self.open:
                flock = rng.random((FLOCK, dim))
                starts: list[Array] = []
                for point in sorted(
                    self.trials, key=lambda point: self.trials[point].rank, reverse=True
                ):
                    places = np.clip(self.domain.places(point), 0.0, 1.0)
                    if all(np.abs(places - start).max() > APART for start in starts):
                        starts.append(places)
                    if len(starts) == FLOCK // 2:
                        break
                flock[: len(starts)] = np.reshape(starts, (-1, dim))
                differential_evolution(
                    cost,
                    [(0.0, 1.0)] * dim,
                    init=flock,
                    polish=False,
                    seed=rng,
                    mutation=(0.3, 1.0),
                    recombination=0.8,
                    tol=0.0,
                    atol=CONVERGED,
                )
        except _Stopped as stop:
            if stop.__cause__ is not None:
                raise stop.__cause__ from None

    def simplest(self) -> Point:
        """The simplest setting at which the bound still fails, as property-based testing shrinks.

        From the worst failure and from the plainest that is known, one parameter after another is
        made simpler (fewer digits, smaller whole numbers, earlier choices) as long as the bound
        fails by a fair part of what it failed by before.
        """
        trials, complexity = self.trials, self.domain.complexity
        failures = [point for point, trial in trials.items() if trial.fails]
        worst = max(failures, key=lambda point: trials[point].rank)
        no_value = math.isnan(trials[worst].printed)
        enough = (1.0 - 1e-9) * min(PART * trials[worst].excess, CLEAR)

        def clear(trial: Trial | None) -> bool:
            if trial is None or not trial.fails or math.isnan(trial.printed) != no_value:
                return False
            return no_value or trial.excess >= enough

        def simpler(point: Point, index: int) -> Point:
            for code in self.domain.ranges[index].simpler(point[index]):
                if not self.open:
                    break
                other = (*point[:index], code, *point[index + 1 :])
                if clear(self.at(other)):
                    return other
            return point

        known = [point for point in failures if clear(trials[point])]
        plainest = min(known, key=complexity, default=worst)
        ends = []
        for point in dict.fromkeys((plainest, worst)):
            before = None
            while point != before:
                before = point
                for index in range(len(point)):
                    point = simpler(point, index)
            ends.append(point)
        return min(ends, key=complexity)


class _Stopped(Exception):
    """The budget is spent, or a function has failed."""


def _excess(value: float, bound: float) -> float:
    """ln(value/bound), or ln(bound/value) of negative ones: above 0 where the value is larger.

    It is ±∞ where they have no ratio, and −∞ where the bound is infinite or both are 0, since
    nothing is claimed there.
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
    """A function of the setting that passes on the parameters which `function` names.

    Raises `InvalidInput` where it needs one that the domain has not.
    """
    if not callable(function):
        check.fail(argument, function, "a function of the names in domain")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function without a signature takes them all
        return lambda setting: function(**setting)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return lambda setting: function(**setting)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    missing = [p.name for p in named if p.default is p.empty and p.name not in names]
    if missing:
        advice = f"give domain a range for {missing[0]!r}"
        check.fail(argument, function, "a function of the names in domain", advice)
    taken = [p.name for p in named if p.name in names]
    return lambda setting: function(**{name: setting[name] for name in taken})
