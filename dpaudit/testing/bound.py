"""search_bound and assert_bound: look for a setting at which a printed bound fails."""

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
from dpaudit.testing.ranges import Code, Complexity, Range, in_words, ranges_of, value_of
from dpaudit.verdict.numbers import count, number

Point = tuple[Code, ...]  # a code for each parameter
Compare = Callable[[Mapping[str, Any]], "Trial | None"]

LARGEST_FACTOR = 1e6  # the text of a trial leaves out a factor exact/printed that is larger
NO_RATIO = 1e4  # rank of a trial without a finite ln(exact/printed), which is at most 1,500

# Where the search looks. The numbers were chosen on the statements of four papers, which
# `python -m reports.make findings` searches again; others find fewer failures, or need more tries.
TRIES = 2_000
REQUESTS = 50  # points looked up for each try: many may be excluded, or were tried before
UNANSWERED = 10_000  # the search ends after so many points of which the hypotheses admit none
FLOCK = 16  # size of the population of one differential evolution
APART = 0.1  # the least distance of two starts of an evolution, in the maximum norm on [0, 1]^d
CONVERGED = 1e-5  # an evolution ends when the ranks of its population spread by less than this
TO_AN_EDGE = 0.5  # probability that a parameter of an edge point is moved to an edge
SIMPLIFYING, LEAST = 0.5, 200  # further tries to simplify a failure: a share of `tries`, the least
# a simpler failure has at least this part of the worst excess, or fails by a factor of 2
PART, CLEAR = 0.5, math.log(2.0)


@value_class(show_numbers=True, eq=True)
class Trial:
    """The printed bound and the exact value at one setting of the parameters.

    setting : values of the parameters by name. printed, exact : the two sides at this setting;
    printed is NaN where it has no value. excess : ln(exact/printed) for an upper bound, above 0
    where the bound fails; ln(printed/exact) for a lower bound; |ln(exact/printed)| for an equality.
    It is infinite where the two have no ratio, or one of them is infinite. fails : whether the
    excess is above the tolerance, or `printed` has no value.
    """

    setting: Mapping[str, Any]
    printed: float
    exact: float
    excess: float
    fails: bool

    @property
    def factor(self) -> float | None:
        """The ratio of the two sides, the larger over the smaller; None if they have no ratio."""
        return math.exp(min(abs(self.excess), 700.0)) if math.isfinite(self.excess) else None

    @property
    def rank(self) -> float:
        """The number that the search maximizes: the excess or, if that is infinite, ±`NO_RATIO`
        plus ± the logarithm of the difference.
        """
        if math.isnan(self.printed):
            return -math.inf
        if math.isfinite(self.excess):
            return self.excess
        gap = self.exact - self.printed
        size = 0.0 if math.isnan(gap) else math.copysign(min(math.log1p(abs(gap)), 1e3), gap)
        return math.copysign(NO_RATIO, self.excess) + size

    @property
    def at(self) -> str:
        """The setting in words, "q = 0.2, r = 1"; arrays, which may hold data, by their shape."""
        return ", ".join(
            f"{name} = {repr(value) if isinstance(value, int | float) else in_words(value)}"
            for name, value in self.setting.items()
        )

    @property
    def values(self) -> str:
        """The two sides in words: "printed 0.00206, exact 0.0321 (15.6 times)"."""
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
    simplest, worst : Trial or None
        Failing settings: that with the fewest digits, and that with the largest factor.
    closest : Trial or None
        The setting at which the bound holds with the least room; None if it holds at none.
    tried, excluded, undecided : int
        Numbers of settings at which both sides were computed, which the hypotheses excluded, and
        which have no exact value.
    exhaustive : bool
        Whether the search covered every setting of the domain.
    domain : str
        The names and ranges of the parameters in words.
    rng : object
        The seed of the search.
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
        """Whether the search found no setting at which the bound fails, which proves nothing."""
        return self.worst is None

    @property
    def slack(self) -> float | None:
        """The ratio ≥ 1 of the two sides at `closest`; None without `closest` or a ratio."""
        return None if self.closest is None else self.closest.factor

    @property
    def searched(self) -> str:
        """The numbers of settings that were tried and excluded, the ranges and seed, in words."""
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
        """Several lines: the verdict, then the settings, then the size of the search."""
        trials = {"simplest": self.simplest, "worst": self.worst}
        if self.holds:
            trials["closest"] = self.closest
        lines = [f"  {name:<11}{trial}" for name, trial in trials.items() if trial is not None]
        verdict = "no failure of the bound was found" if self.holds else "the bound fails"
        return "\n".join([verdict, *lines, f"  {'searched':<11}{self.searched}"])

    def __str__(self) -> str:
        return self.text


class BoundFailure(AssertionError):
    """Raised by `assert_bound` where a printed bound fails.

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

    An upper bound fails at a setting where `printed` is below `exact`, or is NaN (has no value). A
    finite domain of at most `tries` settings is searched completely. In any other domain the search
    tries the corners first, then points that are spread evenly and over the edges; then
    differential evolution maximizes ln(exact/printed). It simplifies the setting of a failure as
    long as the bound fails by a factor of 2, or by half of the worst ln(exact/printed) if that is
    less. A search that finds no failure proves nothing; `BoundSearch` says how many it tried.

    Parameters
    ----------
    printed : callable
        The bound: a function whose keyword arguments are names in `domain`, all or some of them.
    exact : callable
        A function of the same kind, which returns the exact value, a certified lower bound of it,
        or the other side of an inequality. A setting at which it returns NaN is left undecided.
    domain : dict
        Names to ranges: `dpaudit.testing.reals`, `integers`, `choices`; a tuple (low, high); a list
        of choices; or a fixed value.
    hypotheses : callable or sequence of callable, optional
        Functions of the same kind: the conditions of the theorem. A setting is excluded where one
        of them returns False, or where any of the functions raises a `DpauditError`.
    side : {"upper", "lower", "both"}, default "upper"
        "upper": `printed` is an upper bound of `exact`; "lower": a lower bound; "both": equal.
    tries : int
        Settings at which both sides are computed; half as many more simplify a failure.
    tolerance : float, default 1e-9
        The bound fails where ln(exact/printed) is larger than this.
    rounding : float, default 1e-15
        Absolute error of either side; 0 for values that have a small relative error, such as δ far
        below 1e-15.
    rng : seed or Generator, default 0
        The same seed gives the same result.

    Returns
    -------
    BoundSearch
        The simplest and the worst failure, if any, and how many settings were tried.

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
    ranges = ranges_of(domain)
    compare = _comparison(
        {"printed": printed, "exact": exact},
        hypotheses,
        list(ranges),
        check.choice("side", side, ("upper", "lower", "both")),
        check.real("tolerance", tolerance, 0.0),
        check.real("rounding", rounding, 0.0),
    )
    search, size = _Search(ranges, compare), math.prod(axis.size for axis in ranges.values())
    if size <= limit:
        lowest = [(int(axis.edges[0]), int(axis.size)) for axis in ranges.values()]
        for point in itertools.product(*(range(low, low + many) for low, many in lowest)):
            search.at(point)
    else:
        # each phase, with the share of the tries at which it ends
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
    simplest, worst = None, search.largest(fails=True)
    if worst is not None:
        search.goal = len(search.trials) + search.undecided + max(int(SIMPLIFYING * limit), LEAST)
        simplest = search.trials[search.simplest()]
    return BoundSearch(
        simplest=simplest,
        worst=search.largest(fails=True),
        closest=search.largest(fails=False),
        tried=len(search.trials),
        excluded=search.excluded,
        undecided=search.undecided,
        exhaustive=size <= limit,
        domain=", ".join(f"{name} {axis}" for name, axis in ranges.items()),
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

    It takes the arguments of `search_bound`, and returns the same `BoundSearch`, which says how
    many settings were tried.

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
    """The trials of one search; each point is computed once, and at most `goal` points are.

    trials : by point, where both sides have a value. excluded, undecided : numbers of other points.
    requests : how many times `at` was called, for new points and for known ones.
    """

    def __init__(self, ranges: Mapping[str, Range], compare: Compare) -> None:
        self.names, self.ranges, self.compare = list(ranges), list(ranges.values()), compare
        self.trials: dict[Point, Trial] = {}
        self.missed: set[Point] = set()
        self.goal = self.requests = self.excluded = self.undecided = 0

    @property
    def open(self) -> bool:
        tried = len(self.trials) + self.undecided
        return tried < self.goal and self.requests < REQUESTS * self.goal

    def at(self, point: Point) -> Trial | None:
        self.requests += 1
        if point in self.trials or point in self.missed:
            return self.trials.get(point)
        trial = self.compare(dict(zip(self.names, map(value_of, self.ranges, point), strict=True)))
        if trial is not None and not math.isnan(trial.exact):
            self.trials[point] = trial
            return trial
        self.missed.add(point)
        self.excluded += trial is None
        self.undecided += trial is not None
        return None

    def point(self, places: Array) -> Point:
        return tuple(axis.at(float(place)) for axis, place in zip(self.ranges, places, strict=True))

    def largest(self, *, fails: bool) -> Trial | None:
        alike = (trial for trial in self.trials.values() if trial.fails is fails)
        return max(alike, key=lambda trial: trial.rank, default=None)

    def corners(self, rng: np.random.Generator) -> None:
        ends = [(axis.edges[0], axis.edges[-1]) for axis in self.ranges]
        points: Iterable[Point] = itertools.product(*ends)
        if 2 ** len(ends) > self.goal:
            picks = rng.integers(0, 2, (self.goal, len(ends)))
            points = (tuple(two[at] for two, at in zip(ends, row, strict=True)) for row in picks)
        for point in points:
            if self.open:
                self.at(point)

    def spread(self, rng: np.random.Generator) -> None:
        """Try Halton points, shifted at random modulo 1, and each again with some parameters at
        edges.
        """
        from scipy.stats import qmc

        dim = len(self.names)
        halton, shift = qmc.Halton(dim, scramble=False), rng.random(dim)
        while self.open:
            point = self.point((halton.random()[0] + shift) % 1.0)
            self.at(point)
            moved = rng.random(dim) < TO_AN_EDGE
            moved[rng.integers(dim)] = True
            edged = list(point)
            for index in np.flatnonzero(moved):
                edges = self.ranges[index].edges
                edged[index] = edges[int(rng.integers(len(edges)))]
            if self.open:
                self.at(tuple(edged))

    def evolve(self, rng: np.random.Generator) -> None:
        """Maximize the rank by differential evolution (Storn and Price 1997), which restarts when
        it has converged. Half of a population are the best points that are not close to a better
        one.
        """
        from scipy.optimize import differential_evolution

        dim = len(self.names)

        def cost(places: Array) -> float:
            """Minus the rank of the trial at the coordinates `places`, (d,) in [0, 1]."""
            if not self.open:
                raise _Stopped
            try:
                trial = self.at(self.point(places))
            except Exception as error:
                raise _Stopped from error  # scipy would replace a ValueError
            return 2.0 * NO_RATIO if trial is None else -max(trial.rank, -2.0 * NO_RATIO)

        try:
            while self.open:
                flock = rng.random((FLOCK, dim))
                starts: list[Array] = []
                for point in sorted(self.trials, key=lambda at: self.trials[at].rank, reverse=True):
                    pairs = zip(self.ranges, point, strict=True)
                    places = np.clip([axis.place(code) for axis, code in pairs], 0.0, 1.0)
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
        """The simplest point at which the bound still fails, shrunk as in property-based testing:
        from the worst failure and from the simplest known one, one parameter after another is made
        simpler as long as the excess stays at half of the worst excess, or at ln 2.
        """
        trials = self.trials
        failures = [point for point, trial in trials.items() if trial.fails]
        worst = max(failures, key=lambda point: trials[point].rank)
        no_value = math.isnan(trials[worst].printed)
        enough = (1.0 - 1e-9) * min(PART * trials[worst].excess, CLEAR)

        def clear(trial: Trial | None) -> bool:
            """Whether the trial fails in the way of the worst one, and by enough."""
            if trial is None or not trial.fails or math.isnan(trial.printed) != no_value:
                return False
            return no_value or trial.excess >= enough

        def complexity(point: Point) -> tuple[float, list[Complexity]]:
            """A sort key: a total over the parameters, then each one's."""
            each = [axis.complexity(code) for axis, code in zip(self.ranges, point, strict=True)]
            return sum(math.log1p(first) for first, *_ in each), each

        def simpler(point: Point, index: int) -> Point:
            """The point with a simpler parameter `index` at which the bound still fails, or it."""
            for code in self.ranges[index].simpler(point[index]):
                if not self.open:
                    break
                candidate = (*point[:index], code, *point[index + 1 :])
                if clear(self.at(candidate)):
                    return candidate
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
    """Ends an evolution: the budget is spent, or a function of the user raised (`__cause__`)."""


def _comparison(
    sides: Mapping[str, Callable[..., Any]],
    hypotheses: Callable[..., Any] | Sequence[Callable[..., Any]] | None,
    names: Sequence[str],
    side: str,
    tolerance: float,
    rounding: float,
) -> Compare:
    """A function that gives the trial at a setting, whose `exact` may be NaN; None if the setting
    is excluded.
    """
    values = {name: _by_name(name, function, names) for name, function in sides.items()}
    conditions = [hypotheses] if callable(hypotheses) else hypotheses or []
    if not isinstance(conditions, Sequence):
        check.fail("hypotheses", hypotheses, "a function, several in a list, or None")
    conditions = [_by_name("hypotheses", each, names) for each in conditions]

    def compared(setting: Mapping[str, Any]) -> Trial | None:
        try:
            if not all(condition(setting) for condition in conditions):
                return None
            printed, exact = (_as_float(name, value(setting)) for name, value in values.items())
        except DpauditError as error:
            if getattr(error, "argument", None) in sides:
                raise
            return None
        except Exception as error:
            error.add_note(f"at the setting {Trial(setting, 0.0, 0.0, 0.0, False).at}")
            raise
        if math.isnan(printed):
            return Trial(setting, printed, exact, math.inf, True)
        above, below = _excess(exact - rounding, printed), _excess(printed - rounding, exact)
        excess = {"upper": above, "lower": below, "both": max(above, below)}[side]
        return Trial(setting, printed, exact, excess, excess > tolerance)

    return compared


def _excess(value: float, bound: float) -> float:
    """ln(value/bound), or ln(bound/value) if both are negative: above 0 if the value is larger. ±∞
    where the two have no ratio, −∞ where the bound claims nothing (it is infinite, or both are 0).
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
    """A function of a setting (a dict) that calls `function` with the parameters which it names."""
    if not callable(function):
        check.fail(argument, function, "a function of the names in domain")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # without a known signature it gets all parameters
        return lambda setting: function(**setting)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return lambda setting: function(**setting)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    missing = [p.name for p in named if p.default is p.empty and p.name not in names]
    if missing:
        advice = f"give domain a range for {missing[0]!r}"
        check.fail(argument, function, "a function of the names in domain", advice)
    passed = [p.name for p in named if p.name in names]
    return lambda setting: function(**{name: setting[name] for name in passed})
