"""Privacy claims as upper curves: the δ(ε) that a mechanism may have if the claim is true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Protocol, cast

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.text import with_article
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves import joint_range, libraries, readings
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.curves.group import GroupCurve, chained, repeated
from dpaudit.curves.renyi import Linear, RenyiCurve, RenyiOrders, gaussian_mixing
from dpaudit.errors import DpauditError, InvalidInput

RELATIVE, ABSOLUTE = 1e-9, 1e-12  # tolerances: a δ that exceeds the claimed one by less is rounding
LARGE = 0.5  # from this δ on, a claim is doubted
LARGEST_GROUP = 10**9  # rows; a claim about one row implies nothing useful for more
ADVANTAGE = "advantage"
MOST = 1000.0  # nats; the largest ε that a user is taken to have meant

Distance = Callable[[Array, Array], float]
DISTANCES: Mapping[str, Distance] = {
    "euclidean": lambda x, y: float(np.linalg.norm(x - y)),
    "manhattan": lambda x, y: float(np.abs(x - y).sum()),
    "chebyshev": lambda x, y: float(np.abs(x - y).max()),
    "hamming": lambda x, y: float(np.count_nonzero(x != y)),
}


@dataclass(frozen=True)
class Family:
    """A family of claims with one parameter; the larger the parameter, the weaker the claim.

    symbol : the parameter, "ε", "μ", "ρ" or "advantage". value : its value, in nats for ε and ρ.
    delta : δ of an (ε, δ) claim, else None. omega : the order ω at which a tCDP claim ends.
    """

    symbol: str
    value: float
    delta: float | None = None
    omega: float = np.inf

    def curve(self, value: float) -> Callable[[Array], Array]:
        """ε ↦ δ(ε) of the claim in this family whose μ or ρ is `value`."""
        return Shift(value) if self.symbol == "μ" else concentrated(value, self.omega)


@dataclass(frozen=True)
class Shift:
    """The function ε ↦ δ(ε) of N(0, 1) against N(μ, 1)."""

    mu: float

    def __call__(self, epsilon: Array) -> Array:
        return gaussian_shift(self.mu, epsilon)


@dataclass(frozen=True)
class Mixing:
    """The function order ↦ Rényi divergence (nats) of Gaussian mixing with `rows` rows."""

    rows: int
    gamma: float

    def __call__(self, order: Array) -> Array:
        return gaussian_mixing(order, self.rows, self.gamma)


def concentrated(rho: float, omega: float) -> Callable[[Array], Array]:
    """ε ↦ δ(ε) implied by Rényi divergences of at most ρα at all orders 1 < α < ω."""
    # a divergence of 0 at one order > 1 means that both laws are the same
    return Shift(0.0) if rho == 0.0 else RenyiCurve(Linear(rho), omega)


@value_class(show_numbers=True, eq=True)
class Claim:
    """The claim of (ε, δ)-differential privacy; δ = 0 is pure ε-DP.

    Parameters
    ----------
    epsilon : float ≥ 0 or None, nats
        The claimed ε. None where `curve` states the claim instead.
    delta : float in [0, 1], default 0
        The claimed δ at `epsilon`.
    text : str
        The claim in words; by default "(ε, δ)-DP" with the two numbers.
    curve : callable, optional
        The function ε ↦ δ(ε), for a claim that is not one (ε, δ) pair.
    family : Family, optional
        The family of the claim and its parameter (such as μ of Gaussian DP), for the headline.
    group_size : int ≥ 1, default 1
        The number of rows in which the two databases of the claim may differ.
    origin : str, default ""
        How ε was derived, for the headline; empty where the user gave ε.

    Notes
    -----
    Others: `Claim.advantage(limit)`, `Claim.gdp(mu)`, `Claim.zcdp(rho)`, `Claim.tcdp(rho, omega)`,
    `Claim.rdp(...)`, `Claim.gaussmix(rows, gamma)`, `Claim.from_function(delta_of_epsilon)`; for
    objects of other libraries `Claim.from_opendp(measurement)`, `Claim.from_dp_event(event)`; for
    metric DP `Claim.metric(epsilon, distance)`. `claim.group(k)` is the claim implied for k changed
    rows.

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
    dpaudit.errors.InvalidInput: claim epsilon must be a finite number >= 0, got -1.0
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
        try:
            object.__setattr__(self, "delta", check.real("claim delta", self.delta, 0.0, 1.0))
        except InvalidInput as error:
            if not _swapped(self.epsilon, self.delta):
                raise
            hint = f"ε comes first: did you mean ({float(self.delta):g}, {self.epsilon:g})?"
            raise InvalidInput(f"{error}; {hint}", argument="claim delta") from None
        object.__setattr__(self, "text", self.text or f"({self.epsilon:g}, {self.delta:g})-DP")
        if self.family is None or self.family.symbol == "ε":
            object.__setattr__(self, "family", Family("ε", self.epsilon, delta=self.delta))

    @classmethod
    def gdp(cls, mu: float) -> Claim:
        """The claim of μ-Gaussian DP, μ ≥ 0: N(0, 1) against N(μ, 1) (Dong, Roth & Su 2022)."""
        mu = check.real("mu", mu, 0.0)
        return cls(None, 0.0, f"{mu:g}-GDP", Shift(mu), Family("μ", mu))

    @classmethod
    def advantage(cls, limit: float) -> Claim:
        """The claim that no attack has TPR − FPR above `limit`, in [0, 1): δ(0) ≤ limit."""
        limit = check.real("limit", limit, 0.0, 1.0)
        if limit == 1.0:
            fail("limit", limit, "a number in [0, 1)", "no attack has an advantage above 1")
        return cls(0.0, limit, f"advantage ≤ {limit:g}", family=Family(ADVANTAGE, limit))

    @classmethod
    def zcdp(cls, rho: float) -> Claim:
        """The claim of ρ-zCDP, ρ ≥ 0 nats: divergences ≤ ρα at all orders α > 1 (Bun & Steinke
        2016).
        """
        rho = check.real("rho", rho, 0.0)
        curve = concentrated(rho, np.inf)
        return cls(None, 0.0, f"{rho:g}-zCDP", curve, Family("ρ", rho))

    @classmethod
    def tcdp(cls, rho: float, omega: float) -> Claim:
        """The claim of (ρ, ω)-tCDP, ρ ≥ 0 nats: divergences ≤ ρα at orders 1 < α < ω (Bun et al.
        2018).

        δ(ε) is computed as in `Claim.rdp` and is smaller than in paper 3's proposition 2.
        """
        rho, omega = check.real("rho", rho, 0.0), check.real("omega", omega, 1.0)
        if omega == 1.0:
            fail("omega", omega, "a finite number > 1")
        curve = concentrated(rho, omega)
        # (0, ω)-tCDP is the same claim as 0-zCDP
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
        """The claim of Rényi DP: a bound on the divergence at each of many orders.

        Parameters
        ----------
        curve : callable or array of shape (k,)
            A vectorised function order ↦ nats on (1, end); or the orders themselves, > 1.
        values : array of shape (k,), nats, optional
            The bounds at the orders.
        end : float > 1, default infinity
            The function is called only at orders below `end`.
        text : str, optional
            The claim's name.

        Notes
        -----
        δ(ε) is the largest that two laws with these bounds in both directions can have
        (`dpaudit.curves.joint_range`, `dpaudit.curves.two_orders`). Where the function is not a
        Rényi curve ((α − 1)R is not convex), δ is an upper bound that may not be the least.
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
        """The Rényi DP claim of Gaussian mixing of k = `rows` ≥ 1, γ > 1 (paper 3, lemma 1)."""
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
        """The claim that δ(ε) is at most `delta_of_epsilon`, which maps one ε in nats to a δ in [0,
        1].
        """
        if not callable(delta_of_epsilon):
            fail("delta_of_epsilon", delta_of_epsilon, "a function of epsilon")
        return cls(None, 0.0, text, np.vectorize(delta_of_epsilon, otypes=[float]))

    @classmethod
    def from_opendp(cls, measurement: Any, distance: Any = 1) -> Claim:
        """The claim that an OpenDP measurement makes by its `map` at an input distance.

        Max divergence becomes pure ε-DP, zero-concentrated divergence ρ-zCDP, Rényi divergence
        `Claim.rdp`, smoothed max divergence the curve ε ↦ δ of its privacy profile. An approximate
        divergence becomes (ε, δ)-DP, or one of these curves with δ added (`libraries.UpTo`).

        distance : of two inputs in the measurement's own input metric and of its type: 1 row by
        default.

        Raises `InvalidInput` for an object of another form, a measure that is none of these, or a
        distance that the map refuses.
        """
        measure, value, leak = libraries.from_opendp(measurement, distance)
        if measure == "ZeroConcentratedDivergence":
            claim = cls.zcdp(float(value))
        elif measure == "RenyiDivergence":
            claim = cls.rdp(np.vectorize(value, otypes=[float]), text="RDP")
        elif measure == "SmoothedMaxDivergence":
            claim = cls.from_function(value.delta, "privacy profile")
        else:
            claim = cls(*value) if isinstance(value, tuple) else cls(float(value))
        if leak > 0.0:
            curve = libraries.UpTo(claim.delta_at, leak)
            claim = cls(None, 0.0, f"{claim.text} up to δ = {leak:g}", curve)
        origin = f"OpenDP's map at distance {distance}"
        return replace(claim, text=f"{claim.text}, {origin}", origin=origin)

    @classmethod
    def from_dp_event(cls, event: Any, neighbours: str = "add-or-remove-one") -> Claim:
        """The claim with the δ(ε) that the accountants of dp-accounting give for a `DpEvent`.

        The accountant of privacy loss distributions comes first; its δ(ε) is rounded upwards, here
        to at least 10⁻¹³. Events that it does not support go to the Rényi accountant.

        The package gives the noise of an event in units of C, the bound of one record's value. A
        record that comes or goes, or becomes the special one, moves a sum by C. A replaced record
        moves it by 2C, by whichever accountant; the Rényi accountant, which takes C for every
        relation, is therefore asked for half the noise. Events that state no size of values, such
        as `ZCDpEvent`, are about the neighbours asked for.

        neighbours : "add-or-remove-one", "replace-one" or "replace-special", the package's names.

        Raises `InvalidInput` for an object that is not an event, an event that neither accountant
        supports, or one that allows every δ.
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
        """The claim of metric DP, (ε·d(x, x′), δ)-DP where record x becomes x′: `MetricClaim`."""
        return MetricClaim(epsilon, distance, delta)

    def group(self, size: int) -> Claim:
        """The claim that this one implies for databases that differ in k = `size` ≥ 1 rows.

        (ε, δ)-DP becomes (kε, δ(e^{kε} − 1)/(e^ε − 1))-DP, or a smaller δ where that is near 1
        (`dpaudit.curves.group.repeated`), μ-GDP kμ-GDP (Dong, Roth & Su 2022, theorem 2.14), ρ-zCDP
        k²ρ-zCDP (Bun & Steinke 2016, proposition 1.9). Any other claim becomes the curve that its
        δ(ε) implies, `dpaudit.curves.group.GroupCurve`; audits then judge δ(ε) alone and no Rényi
        orders.

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

        Below its own ε an (ε₀, δ₀) claim still binds: its dominating pair is randomised response at
        ε₀ with probability 1 − δ₀ and a full leak otherwise (Kairouz, Oh & Viswanath 2015, theorem
        3.3), so δ(ε) ≤ δ₀ + (1 − δ₀)(e^{ε₀} − e^ε)/(1 + e^{ε₀}).
        """
        epsilon = check.epsilon(epsilon)
        if self.curve is not None:
            return self._checked(epsilon)
        assert self.epsilon is not None
        return joint_range.below_turn(epsilon, self.epsilon, self.delta)

    @property
    def renyi(self) -> RenyiCurve | RenyiOrders | None:
        """The claimed bound on the Rényi divergence, or None if the claim states δ(ε) itself."""
        return self.curve if isinstance(self.curve, RenyiCurve | RenyiOrders) else None

    def epsilon_at(self, delta: ArrayLike) -> Array:
        """The smallest ε ≥ 0 with δ(ε) ≤ delta, nats; infinite where the claim never falls to it.

        delta, in [0, 1], is a number or an array of shape (m,), the shape of the result. At delta =
        0 it is the ε of pure DP.
        """
        if self.curve is None:
            assert self.epsilon is not None
            return readings.epsilon_at(
                self.delta_at, delta, self.epsilon if self.delta == 0.0 else np.inf
            )
        return readings.epsilon_at(self._checked, delta, self._supremum)

    @property
    def _supremum(self) -> float | None:
        """The ε from which on δ = 0; None for a user's function, where it has to be searched for.

        The values of other curves underflow to 0 where the true δ is still above 0.
        """
        if isinstance(self.curve, np.vectorize):
            return None
        return 0.0 if self._checked(np.array(0.0)) == 0.0 else np.inf

    def _checked(self, epsilon: Array) -> Array:
        """`curve` at each ε; an error of a user's function becomes `InvalidInput`."""
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


class Pair(Protocol):
    """Two databases, arrays `left` of shape (n, d) and `right` of shape (m, d)."""

    @property
    def left(self) -> Array: ...

    @property
    def right(self) -> Array: ...


@value_class(show_numbers=True, eq=True)
class MetricClaim:
    """The claim of metric DP: (ε·d(x, x′), δ)-DP of databases where record x becomes x′.

    Of places on a map it is geo-indistinguishability (Chatzikokolakis, Andrés, Bordenabe &
    Palamidessi 2013, definition 1). Its ε depends on both records: `on` gives the claim about one
    pair.

    Parameters
    ----------
    epsilon : float ≥ 0
        ε per unit of distance, in nats.
    distance : str or callable, default "euclidean"
        A name of `DISTANCES`, or a function of two records, (d,) each, that gives a number ≥ 0.
    delta : float in [0, 1], default 0
        δ, the same at every distance.

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
        """The name of the distance, or "a user's distance" for a function without a name."""
        if isinstance(self.distance, str):
            return self.distance
        named = getattr(self.distance, "__name__", "")
        return named if named.isidentifier() else "a user's distance"

    @property
    def text(self) -> str:
        if self.delta > 0.0:
            return f"({self.epsilon:g}·d, {self.delta:g})-DP ({self.named})"
        return f"{self.epsilon:g}·d-DP ({self.named})"

    def at(self, distance: float) -> Claim:
        """The claim about two records at a distance ≥ 0."""
        return self._of([check.real("distance", distance, 0.0)])

    def on(self, pair: Pair) -> Claim:
        """The claim about a `NeighbourPair` that differs in the values of one or more records.

        Where several records differ, their ε add up. Records may be changed in any order; δ is that
        of the order by falling distance, which is the least wherever it is at most 1/2.

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
        """d(x, y). `InvalidInput` hides a user's error message, which may hold private data."""
        named = isinstance(self.distance, str)
        measure: Any = DISTANCES[str(self.distance)] if named else self.distance
        try:
            distance = measure(x, y)
        except DpauditError:
            raise
        except Exception as error:
            fail(
                "distance",
                Words(f"{with_article(type(error).__name__)} from {self.named}"),
                "a number >= 0",
            )
        return check.real(f"the distance by {self.named}", distance, 0.0)

    def _of(self, distances: list[float]) -> Claim:
        falling = sorted(distances, reverse=True)
        epsilon, delta = chained((self.epsilon * distance, self.delta) for distance in falling)
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
    """A warning if δ is so large that the claim hardly promises anything, else None."""
    if claim is None or claim.family is None or claim.family.symbol != "ε" or claim.delta < LARGE:
        return None
    return (
        f"δ = {claim.delta:g} allows a mechanism to publish its data in that share of its runs; "
        f"ε comes first in the claim ({claim.epsilon:g}, {claim.delta:g})."
    )


def about_others(claim: Claim | None, rows: int | None) -> str | None:
    """A warning if the databases differ in another number of rows than the claim is about, else
    None. rows : that number; None if it is unknown, 0 if only their order differs.
    """
    if claim is None or not rows or rows == claim.group_size:
        return None
    differ, about = (
        "one row" if number == 1 else f"{number:,} rows" for number in (rows, claim.group_size)
    )
    if rows < claim.group_size:
        return (
            f"The databases differ in {differ}, and the claim that was judged is about {about}: "
            f"the stronger claim about {differ} was not."
        )
    return (
        f"The databases differ in {differ}, and {claim.text} is held to be about all of them, "
        f"as of one user; of a claim about {about} take claim.group(k)."
    )


def _swapped(epsilon: float, delta: Any) -> bool:
    """Whether ε < 1 ≤ δ ≤ MOST, so that the user probably meant (δ, ε)."""
    number = isinstance(delta, Real) and not isinstance(delta, bool)
    return number and epsilon < 1.0 <= delta <= MOST


ClaimLike = Claim | MetricClaim | tuple[float, float] | list[float] | None


def exceeds(value: Array | float, allowed: Array | float) -> np.ndarray:
    """Elementwise, whether δ = `value` exceeds `allowed` by more than rounding."""
    return np.asarray(value > allowed * (1.0 + RELATIVE) + ABSOLUTE)


def as_claim(claim: ClaimLike) -> Claim | None:
    """A `Claim`, for a claim or an (ε, δ) pair, or None. Raises `InvalidInput`."""
    if claim is None or isinstance(claim, Claim):
        return claim
    if isinstance(claim, MetricClaim):
        expected = "about one pair here: give claim.on(pair), or claim.at(distance)"
        fail("claim", claim.text, expected)
    if not isinstance(claim, (tuple, list)) or len(claim) != 2:
        pure = f"for pure ε-DP give ({claim}, 0)" if isinstance(claim, int | float) else ""
        fail("claim", claim, "a dpaudit.Claim, an (epsilon, delta) pair or None", pure)
    return Claim(claim[0], claim[1])
