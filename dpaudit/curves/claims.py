"""Privacy claims as upper curves: the δ(ε) that a mechanism may have if the claim is true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Protocol, cast

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves import joint_range, libraries, readings
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.curves.group import GroupCurve, repeated, tightest_chain
from dpaudit.curves.renyi import Linear, RenyiCurve, RenyiOrders, gaussian_mixing
from dpaudit.errors import DpauditError, InvalidInput

RELATIVE, ABSOLUTE = 1e-9, 1e-12  # a value that is above a claim by less is rounding
LARGE, TINY = 0.5, 0.01  # a claimed δ of so much with an ε of less looks like (δ, ε)
LARGEST_GROUP = 10**9  # rows; ε of a claim about one row is then far beyond what says anything
MOST = 1000.0  # nats, an ε that somebody may have meant

Distance = Callable[[Array, Array], float]
DISTANCES: Mapping[str, Distance] = {
    "euclidean": lambda x, y: float(np.linalg.norm(x - y)),
    "manhattan": lambda x, y: float(np.abs(x - y).sum()),
    "chebyshev": lambda x, y: float(np.abs(x - y).max()),
    "hamming": lambda x, y: float(np.count_nonzero(x != y)),
}


@dataclass(frozen=True)
class Family:
    """The one-parameter family of a claim, which is weaker the larger its parameter is.

    symbol : "ε", "μ" or "ρ". value : of the parameter, nats of ε and ρ.
    delta : the δ of an (ε, δ) claim. omega : of a (truncated) concentrated claim.
    """

    symbol: str
    value: float
    delta: float | None = None
    omega: float = np.inf

    def curve(self, value: float) -> Callable[[Array], Array]:
        """δ(ε) of the member with another value of μ or ρ."""
        return Shift(value) if self.symbol == "μ" else concentrated(value, self.omega)


@dataclass(frozen=True)
class Shift:
    """δ(ε) of N(0, 1) against N(μ, 1)."""

    mu: float

    def __call__(self, epsilon: Array) -> Array:
        return gaussian_shift(self.mu, epsilon)


@dataclass(frozen=True)
class Mixing:
    """The Rényi curve of Gaussian mixing."""

    rows: int
    gamma: float

    def __call__(self, order: Array) -> Array:
        return gaussian_mixing(order, self.rows, self.gamma)


def concentrated(rho: float, omega: float) -> Callable[[Array], Array]:
    """δ(ε) of R(α) = ρα on 1 < α < ω."""
    # divergence 0 at one order > 1: both laws are the same
    return Shift(0.0) if rho == 0.0 else RenyiCurve(Linear(rho), omega)


@value_class(show_numbers=True, eq=True)
class Claim:
    """The claim of (ε, δ)-differential privacy; δ = 0 is pure ε-DP.

    Parameters
    ----------
    epsilon : float ≥ 0 or None, nats
        None of a claim that is a curve.
    delta : float in [0, 1], default 0
        δ at `epsilon`.
    text : str
        The claim in words, by default made of ε and δ.
    curve : callable, optional
        ε ↦ δ, of a claim that is a curve.
    family : Family, optional
        The family of the claim and its parameter, as μ of Gaussian DP, for the headline.
    group_size : int ≥ 1, default 1
        The number of rows that it lets databases differ in.
    origin : str, default ""
        What its ε comes from where it was worked out, for the headline.

    Notes
    -----
    Other claims: `Claim.gdp(mu)`, `Claim.zcdp(rho)`, `Claim.tcdp(rho, omega)`, `Claim.rdp(...)`,
    `Claim.gaussmix(rows, gamma)`, `Claim.from_function(delta_of_epsilon)`; read from a library,
    `Claim.from_opendp(measurement)`, `Claim.from_dp_event(event)`; by the distance of two records,
    `Claim.metric(epsilon, distance)`. What any claim says of k changed rows: `claim.group(k)`.

    Examples
    --------
    >>> import dpaudit as dp
    >>> dp.Claim(1.0, 1e-5).text, dp.Claim.gdp(1.0).text
    ('(1, 1e-05)-DP', '1-GDP')
    >>> round(float(dp.Claim.zcdp(0.5).delta_at(2.0)), 6)
    0.051858
    >>> dp.Claim(-1.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.InvalidInput: claim epsilon must be a finite number in [0, inf], got -1.0
    """

    epsilon: float | None
    delta: float = 0.0
    text: str = ""
    curve: Callable[[Array], Array] | None = None
    family: Family | None = field(default=None, repr=False)
    group_size: int = field(default=1, repr=False)
    origin: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.curve is not None:
            return
        if self.epsilon is None:
            fail("epsilon", self.epsilon, "a finite number >= 0 (nats)")
        object.__setattr__(self, "epsilon", check.real("claim epsilon", self.epsilon, 0.0))
        object.__setattr__(self, "delta", _claimed_delta(self.epsilon, self.delta))
        object.__setattr__(self, "text", self.text or f"({self.epsilon:g}, {self.delta:g})-DP")
        object.__setattr__(self, "family", Family("ε", self.epsilon, delta=self.delta))

    @classmethod
    def gdp(cls, mu: float) -> Claim:
        """μ-Gaussian DP: δ(ε) of N(0, 1) against N(μ, 1).

        Dong, Roth & Su 2022, corollary 1; μ ≥ 0.
        """
        mu = check.real("mu", mu, 0.0)
        return cls(None, 0.0, f"{mu:g}-GDP", Shift(mu), Family("μ", mu))

    @classmethod
    def zcdp(cls, rho: float) -> Claim:
        """ρ-zero-concentrated DP, R(α) = ρα for all α > 1.

        Bun & Steinke 2016; ρ ≥ 0, nats.
        """
        rho = check.real("rho", rho, 0.0)
        curve = concentrated(rho, np.inf)
        return cls(None, 0.0, f"{rho:g}-zCDP", curve, Family("ρ", rho))

    @classmethod
    def tcdp(cls, rho: float, omega: float) -> Claim:
        """(ρ, ω)-truncated concentrated DP: R(α) = ρα for 1 < α < ω.

        ρ ≥ 0, nats; ω > 1 is the order at which the bound ends. Its δ(ε) is that of `Claim.rdp`,
        less than that of paper 3's proposition 2 (`exact.printed.proposition_2`).

        References
        ----------
        Bun et al. 2018; paper 3, definition 3.
        """
        rho, omega = check.real("rho", rho, 0.0), check.real("omega", omega, 1.0)
        if omega == 1.0:
            fail("omega", omega, "a finite number > 1")
        curve = concentrated(rho, omega)
        # (0, ω)-tCDP is 0-zCDP, and a larger ρ is read so
        family = Family("ρ", rho, omega=omega if rho > 0.0 else np.inf)
        return cls(None, 0.0, f"({rho:g}, {omega:g})-tCDP", curve, family)

    @classmethod
    def rdp(
        cls,
        curve: Callable[[Array], Array] | ArrayLike,
        values: ArrayLike | None = None,
        *,
        end: float = np.inf,
        text: str = "",
    ) -> Claim:
        """Rényi DP: a bound of the divergence at many orders, and the least δ(ε) that one implies.

        It is the largest δ of two laws that keep the bounds in both directions
        (`dpaudit.curves.joint_range`, `dpaudit.curves.two_orders`).

        Parameters
        ----------
        curve : callable or array of shape (k,)
            A vectorised function order ↦ nats on (1, end); or the orders themselves, > 1, with
            `values` at them.
        values : array of shape (k,), nats, optional
            The bounds at the orders.
        end : float > 1, default infinity
            The function is called at orders below it only.
        text : str, optional
            The claim's name.

        Notes
        -----
        Where the function is not a Rényi curve ((α − 1)R is not convex), δ is still an upper bound,
        but may not be the least one.
        """
        if values is not None:
            bound = RenyiOrders.of(cast(ArrayLike, curve), values)
            return cls(None, 0.0, text or f"RDP at {len(bound.orders)} orders", bound)
        if not callable(curve):
            fail("curve", curve, "a function of the order, or a sequence of orders with values")
        if isinstance(end, bool) or not isinstance(end, (int, float)) or not end > 1.0:
            fail("end", end, "a number > 1, possibly infinite")
        return cls(None, 0.0, text or f"RDP on orders (1, {end:g})", RenyiCurve(curve, float(end)))

    @classmethod
    def gaussmix(cls, rows: int, gamma: float) -> Claim:
        """Gaussian mixing, whose Rényi curve is φ of paper 3, lemma 1.

        Parameters
        ----------
        rows : int ≥ 1
            k, the rows of the sketch.
        gamma : float > 1
            γ = (σ² + λ_min)/C².
        """
        rows, gamma = check.integer("rows", rows, 1), check.real("gamma", gamma, 1.0, np.inf)
        if gamma == 1.0:
            fail("gamma", gamma, "a finite number > 1")
        return cls.rdp(
            Mixing(rows, gamma), end=gamma, text=f"GaussMix RDP (k = {rows}, γ = {gamma:g})"
        )

    @classmethod
    def from_function(
        cls, delta_of_epsilon: Callable[[Any], Any], text: str = "user's curve"
    ) -> Claim:
        """A claim given as a function ε ↦ δ.

        Parameters
        ----------
        delta_of_epsilon : callable
            ε in nats to δ, scalar or vectorised.
        text : str
            The claim's name.
        """
        if not callable(delta_of_epsilon):
            fail("delta_of_epsilon", delta_of_epsilon, "a function of epsilon")
        return cls(None, 0.0, text, np.vectorize(delta_of_epsilon, otypes=[float]))

    @classmethod
    def from_opendp(cls, measurement: Any, distance: Any = 1) -> Claim:
        """What an OpenDP measurement states of itself: its `map` at an input distance.

        Max divergence is pure ε-DP, zero-concentrated divergence ρ-zCDP, Rényi divergence
        `Claim.rdp`, smoothed max divergence the curve ε ↦ δ of its privacy profile; an approximate
        divergence is (ε, δ)-DP, or the same curves up to δ.

        Parameters
        ----------
        measurement : opendp Measurement
            As the package makes it.
        distance : int or float, default 1
            The distance of two inputs in the measurement's own input metric and of its type: 1 row
            by default; for a measurement on numbers, the distance of two of them.

        Raises
        ------
        InvalidInput
            For an object of another form, a measure that is none of these, or a distance that the
            map refuses.
        """
        stated = libraries.from_opendp(measurement, distance)
        claim = _from_measure(stated.measure, stated.value)
        if stated.leak > 0.0:
            curve = libraries.UpTo(claim.delta_at, stated.leak)
            claim = cls(None, 0.0, f"{claim.text} up to δ = {stated.leak:g}", curve)
        return replace(claim, text=f"{claim.text}, {stated.origin}", origin=stated.origin)

    @classmethod
    def from_dp_event(cls, event: Any, neighbours: str = "add-or-remove-one") -> Claim:
        """δ(ε) that the accountants of dp-accounting give for a `DpEvent`.

        Its accountant of privacy loss distributions is asked first, whose δ(ε) is rounded upwards
        and at least 10⁻¹³ here, then, where that knows no such event, its Rényi accountant.

        The package gives the noise of an event in units of C, the bound of one record's value
        (`GaussianDpEvent`, `LaplaceDpEvent`). A record that comes or goes, or becomes the special
        one, moves a sum by C. A replaced record moves it by 2C, by whichever accountant; the Rényi
        accountant, which takes C for every relation, is therefore asked for half the noise. Events
        that state no size of values, such as `ZCDpEvent`, are about the neighbours asked for.

        Parameters
        ----------
        event : dp_accounting.DpEvent
            For example a composition of Gaussian events.
        neighbours : {"add-or-remove-one", "replace-one", "replace-special"}
            The package's names; the first is the default.

        Raises
        ------
        InvalidInput
            For another object, for an event that neither knows, or from which any δ follows.
        """
        delta_of, name, origin = libraries.from_dp_event(event, neighbours)
        claim = cls(0.0) if delta_of is None else cls.from_function(delta_of, name)
        return replace(claim, text=f"{claim.text}, {origin}", origin=origin)

    @classmethod
    def metric(
        cls,
        epsilon: float,
        distance: str | Distance = "euclidean",
        delta: float = 0.0,
    ) -> MetricClaim:
        """Metric DP, (ε·d(x, x′), δ)-DP of two databases that differ in a record, x against x′.

        Arguments, errors and the source are those of `MetricClaim`. `MetricClaim.on(pair)` is the
        claim about one pair; audits and searches ask for it themselves.
        """
        return MetricClaim(epsilon, distance, delta)

    def group(self, size: int) -> Claim:
        """What the claim implies for databases that differ in k rows, one after the other.

        (ε, δ)-DP becomes (kε, δ(e^{kε} − 1)/(e^ε − 1))-DP, or a smaller δ where that is near 1
        (`dpaudit.curves.group.repeated`), μ-GDP kμ-GDP, ρ-zCDP k²ρ-zCDP. Any other claim becomes
        the curve that its δ(ε) implies, `dpaudit.curves.group.GroupCurve`; its orders are then not
        judged.

        Parameters
        ----------
        size : int ≥ 1
            Number of rows, k.

        References
        ----------
        μ-GDP: Dong, Roth & Su 2022, theorem 2.14. ρ-zCDP: Bun & Steinke 2016, proposition 1.9.

        Examples
        --------
        >>> import dpaudit as dp
        >>> dp.Claim(1.0, 1e-5).group(3).text, dp.Claim.zcdp(0.1).group(3).family.value
        ('(3, 0.000111073)-DP, group of 3 under (1, 1e-05)-DP', 0.9)
        """
        if check.integer("size", size, 1) == 1:
            return self
        if size > LARGEST_GROUP:
            check.fail("size", size, f"at most {LARGEST_GROUP:,} rows")
        known, group = self.family, f"group of {size}"
        if self.epsilon is not None:
            implied = Claim(*repeated(self.epsilon, self.delta, size))
        elif known is not None and known.symbol == "μ":
            implied = Claim.gdp(size * known.value)
        elif known is not None and known.omega == np.inf:
            implied = Claim.zcdp(size**2 * known.value)
        else:
            implied = Claim.from_function(GroupCurve.of(self.delta_at, size), self.text)
        under = f" under {self.text}" if implied.family else ""
        text = f"{implied.text}, {group}{under}"
        return replace(implied, text=text, group_size=self.group_size * size, origin=group)

    def delta_at(self, epsilon: ArrayLike) -> Array:
        """The largest δ that the claim allows at each ε ≥ 0, nats: a number or an array (m,).

        The result has that shape. Below its own ε an (ε₀, δ₀) claim still binds: its dominating
        pair is randomised response at ε₀ with probability 1 − δ₀ and a full leak otherwise, so δ(ε)
        ≤ δ₀ + (1 − δ₀)(e^{ε₀} − e^ε)/(1 + e^{ε₀}).

        References
        ----------
        Kairouz, Oh & Viswanath 2015, theorem 3.3.
        """
        epsilon = check.epsilon(epsilon)
        if self.curve is not None:
            return self._checked(epsilon)
        assert self.epsilon is not None
        return joint_range.below_turn(epsilon, self.epsilon, self.delta)

    @property
    def renyi(self) -> RenyiCurve | RenyiOrders | None:
        """The bound of the Rényi divergence that is claimed; None where δ(ε) itself is claimed."""
        return self.curve if isinstance(self.curve, RenyiCurve | RenyiOrders) else None

    def epsilon_at(self, delta: ArrayLike) -> Array:
        """The smallest ε ≥ 0 with δ(ε) ≤ delta, nats; infinite where the claim never falls to it.

        delta, in [0, 1], is a number or an array of shape (m,), which is the shape of the result.
        For 0 the answer is the pure ε.
        """
        if self.curve is None:
            assert self.epsilon is not None
            return readings.epsilon_at(
                self.delta_at, delta, self.epsilon if self.delta == 0.0 else np.inf
            )
        return readings.epsilon_at(self._checked, delta, self._supremum)

    @property
    def _supremum(self) -> float | None:
        """The ε from which on δ = 0; None, for a function, to search for it by the values.

        The values of the other curves underflow to 0 where the true δ is still above 0.
        """
        if isinstance(self.curve, np.vectorize):
            return None
        return 0.0 if self._checked(np.array(0.0)) == 0.0 else np.inf

    def _checked(self, epsilon: Array) -> Array:
        """δ of the curve at each ε; an error of a user's function becomes `InvalidInput`."""
        assert self.curve is not None
        try:
            delta = np.asarray(self.curve(epsilon), dtype=np.float64)
        except InvalidInput:
            raise
        except Exception as error:
            fail(
                "claim",
                Words(f"{type(error).__name__}: {error}"),
                "a function of epsilon that does not raise",
            )
        outside = ~((delta >= 0) & (delta <= 1))
        if np.any(outside):
            fail("claim", delta[outside][0], "a curve with values in [0, 1]")
        return delta


def _from_measure(measure: str, value: Any) -> Claim:
    """The claim of a value that an OpenDP map states in one of `libraries.MEASURES`."""
    if measure == "ZeroConcentratedDivergence":
        return Claim.zcdp(float(value))
    if measure == "RenyiDivergence":
        return Claim.rdp(np.vectorize(value, otypes=[float]), text="RDP")
    if measure == "SmoothedMaxDivergence":
        return Claim.from_function(value.delta, "privacy profile")
    return Claim(*value) if isinstance(value, tuple) else Claim(float(value))


class Pair(Protocol):
    """Two databases, (n, d) and (m, d)."""

    @property
    def left(self) -> Array: ...

    @property
    def right(self) -> Array: ...


@value_class(show_numbers=True, eq=True)
class MetricClaim:
    """Metric DP: (ε·d(x, x′), δ)-DP of two databases that differ in a record, x against x′.

    A mechanism is ε·d-private if δ(ε·d(x, x′)) = 0 for a record x against x′ (Chatzikokolakis,
    Andrés, Bordenabe & Palamidessi 2013, definition 1; of places on a map,
    geo-indistinguishability). There is no δ(ε) before both records are known, so nothing can be
    judged by it. `on` gives the claim about one pair.

    Parameters
    ----------
    epsilon : float ≥ 0
        Nats a unit of distance.
    distance : str or callable, default "euclidean"
        A name of `DISTANCES`, or a function of two records, (d,) each, that gives a number ≥ 0.
    delta : float in [0, 1], default 0
        δ, whatever the distance.

    Examples
    --------
    >>> import dpaudit as dp
    >>> claim = dp.Claim.metric(2.0, "manhattan")
    >>> pair = dp.neighbours.replace_row([[0.0, 1.0], [3.0, 4.0]], 1, [3.5, 4.25])
    >>> claim.text, claim.on(pair).epsilon, claim.on(pair).origin
    ('2·d-DP (manhattan)', 1.5, '2·d at d(x, x′) = 0.75, manhattan')
    """

    epsilon: float
    distance: str | Distance = "euclidean"
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check.real("claim epsilon", self.epsilon, 0.0))
        object.__setattr__(self, "delta", check.real("claim delta", self.delta, 0.0, 1.0))
        expected = f"one of {', '.join(DISTANCES)}, or a function of two records"
        if self.distance not in DISTANCES if isinstance(self.distance, str) else True:
            check.function("distance", self.distance, expected)

    @property
    def named(self) -> str:
        """The name of the distance."""
        if isinstance(self.distance, str):
            return self.distance
        named = getattr(self.distance, "__name__", "")
        return named if named.isidentifier() else "a user's distance"

    @property
    def text(self) -> str:
        """The claim in words, "2·d-DP (euclidean)"."""
        if self.delta > 0.0:
            return f"({self.epsilon:g}·d, {self.delta:g})-DP ({self.named})"
        return f"{self.epsilon:g}·d-DP ({self.named})"

    def at(self, distance: float) -> Claim:
        """The claim about two records at a distance ≥ 0. Raises `InvalidInput`."""
        return self._of([check.real("distance", distance, 0.0)])

    def on(self, pair: Pair) -> Claim:
        """The claim about a pair of databases that differ in the values of one or more records.

        Of several records ε adds up, and δ is the least that a chain of neighbours gives, whichever
        record is changed first (`dpaudit.curves.group.tightest_chain`).

        Raises `InvalidInput` where the databases have different numbers of records, since a record
        that comes or goes has no distance to another, and where the distance is not a finite number
        ≥ 0.
        """
        left, right = pair.left, pair.right
        if left.shape != right.shape:
            got = f"{len(left):,} records against {len(right):,}"
            fail("pair", got, "databases that differ in the values of a record: d(x, x′) takes two")
        rows = np.flatnonzero(np.any(left != right, axis=1))
        return self._of([self._between(left[row], right[row]) for row in rows])

    def _between(self, x: Array, y: Array) -> float:
        """d(x, y). Raises `InvalidInput`; what a user's function raises may hold private data."""
        named = isinstance(self.distance, str)
        measure: Any = DISTANCES[str(self.distance)] if named else self.distance
        try:
            distance = measure(x, y)
        except DpauditError:
            raise
        except Exception as error:
            fail("distance", Words(f"a {type(error).__name__} from {self.named}"), "a number >= 0")
        return check.real(f"the distance by {self.named}", distance, 0.0)

    def _of(self, distances: list[float]) -> Claim:
        epsilon, delta = tightest_chain(
            [self.epsilon * distance for distance in distances], self.delta
        )
        total = f"{sum(distances):g}" + (f" over {len(distances)} rows" * (len(distances) > 1))
        origin = f"{self.epsilon:g}·d at d(x, x′) = {total}, {self.named}"
        text = f"({epsilon:g}, {delta:g})-DP, {origin}"
        return Claim(epsilon, delta, text, group_size=max(len(distances), 1), origin=origin)


def refuse_unresolved(claim: MetricClaim | None) -> None:
    """Raise `InvalidInput` for a claim by a distance where no pair of databases is known."""
    if claim is not None:
        fail("claim", claim.text, "claim.at(distance): draws alone do not tell the distance")


def refuse_unbreakable(claim: Claim, epsilon: Array) -> None:
    """Raise `InvalidInput` where a claim allows δ = 1 at each ε (m,) at which it is judged."""
    if np.any(claim.delta_at(epsilon) < 1.0):
        return
    got = f"{claim.text}, which allows δ = 1 and so any mechanism"
    if claim.epsilon is None:
        got += f" at every ε of this audit, {epsilon[0]:g} to {epsilon[-1]:g}"
    elif _swapped(claim.epsilon, claim.delta):
        got += f". ε and δ look swapped: did you mean ({claim.delta:g}, {claim.epsilon:g})?"
    message = f"claim must be one that a mechanism can break, got {got}"
    raise InvalidInput(message, argument="claim")


def doubtful(claim: Claim | None) -> str | None:
    """A sentence on a claim of a large δ and a tiny ε, which may have been meant as (δ, ε)."""
    if claim is None or claim.epsilon is None or claim.delta < LARGE or claim.epsilon >= TINY:
        return None
    return (
        f"δ = {claim.delta:g} allows a mechanism to publish its data in that share of its runs; "
        f"ε comes first in the claim ({claim.epsilon:g}, {claim.delta:g})."
    )


def about_fewer(claim: Claim | None, rows: int) -> str | None:
    """A sentence on a claim about fewer rows than those in which two databases differ."""
    if claim is None or rows <= claim.group_size:
        return None
    about = "one row" if claim.group_size == 1 else f"{claim.group_size} rows"
    return (
        f"The databases differ in {rows:,} rows, and {claim.text} is held to be about all of them, "
        f"as of one user; of a claim about {about} take claim.group(k)."
    )


def _claimed_delta(epsilon: float, delta: Any) -> float:
    """δ in [0, 1]. Raises `InvalidInput`, with a hint where ε and δ look swapped."""
    try:
        return check.real("claim delta", delta, 0.0, 1.0)
    except InvalidInput as error:
        if not _swapped(epsilon, delta):
            raise
        hint = f"ε comes first: did you mean ({float(delta):g}, {epsilon:g})?"
        raise InvalidInput(f"{error}; {hint}", argument="claim delta") from None


def _swapped(epsilon: float, delta: Any) -> bool:
    """Whether (δ, ε) is a claim that a mechanism can break, and (ε, δ) is none."""
    number = isinstance(delta, Real) and not isinstance(delta, bool)
    return number and epsilon < 1.0 <= delta <= MOST


ClaimLike = Claim | MetricClaim | tuple[float, float] | list[float] | None


def exceeds(value: Array | float, allowed: Array | float) -> np.ndarray:
    """Where an exact or a certified δ is above an allowed one, by more than rounding."""
    return np.asarray(value > allowed * (1.0 + RELATIVE) + ABSOLUTE)


def as_claim(claim: ClaimLike) -> Claim | None:
    """None, a `Claim`, or an (ε, δ) pair."""
    if claim is None or isinstance(claim, Claim):
        return claim
    if isinstance(claim, MetricClaim):
        expected = "about one pair here: give claim.on(pair), or claim.at(distance)"
        fail("claim", claim.text, expected)
    if not isinstance(claim, (tuple, list)) or len(claim) != 2:
        fail("claim", claim, "a dpaudit.Claim, an (epsilon, delta) pair or None")
    return Claim(claim[0], claim[1])
