"""Metric DP: a claim by the distance of the two records in which databases differ.

A mechanism is ε·d-private if δ(ε·d(x, x′)) = 0 for a record x against x′ (Chatzikokolakis, Andrés,
Bordenabe & Palamidessi 2013, definition 1; of places on a map, geo-indistinguishability). Such a
claim has no δ(ε) before both records are known, so it is no `Claim`, and nothing can judge by it.
`MetricClaim.on(pair)` is the claim about one pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.curves import readings
from dpaudit.curves.group import chained
from dpaudit.errors import DpauditError

if TYPE_CHECKING:
    from dpaudit.curves.claims import Claim

STATES = 4096  # orders of a chain that are followed at once
Distance = Callable[[Array, Array], float]
DISTANCES: Mapping[str, Distance] = {
    "euclidean": lambda x, y: float(np.linalg.norm(x - y)),
    "manhattan": lambda x, y: float(np.abs(x - y).sum()),
    "chebyshev": lambda x, y: float(np.abs(x - y).max()),
    "hamming": lambda x, y: float(np.count_nonzero(x != y)),
}


class Pair(Protocol):
    """Two databases, (n, d) and (m, d)."""

    @property
    def left(self) -> Array: ...

    @property
    def right(self) -> Array: ...


@dataclass(frozen=True)
class MetricClaim:
    """The claim of (ε·d(x, x′), δ)-DP of two databases that differ in a record, x against x′.

    Parameters
    ----------
    epsilon : float ≥ 0
        Nats a unit of distance.
    distance : str or callable, default "euclidean"
        A name of `DISTANCES`, or a function of two records, (d,) each, that gives a number ≥ 0.
    delta : float in [0, 1], default 0
        δ, whatever the distance.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.

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

    __repr__ = short_repr

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
        record is changed first (`dpaudit.curves.metric.tightest_chain`).

        Parameters
        ----------
        pair : NeighbourPair
            The two databases.

        Returns
        -------
        Claim

        Raises
        ------
        InvalidInput
            Where the databases have different numbers of records, since a record that comes or goes
            is at no distance of another one; and where the distance is no finite number ≥ 0.
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
            found = measure(x, y)
        except DpauditError:
            raise
        except Exception as error:
            fail("distance", Words(f"a {type(error).__name__} from {self.named}"), "a number >= 0")
        return check.real(f"the distance by {self.named}", found, 0.0)

    def _of(self, distances: list[float]) -> Claim:
        from dpaudit.curves.claims import Claim  # which offers this class as Claim.metric

        epsilon, delta = tightest_chain([self.epsilon * one for one in distances], self.delta)
        total = f"{sum(distances):g}" + (f" over {len(distances)} rows" * (len(distances) > 1))
        origin = f"{self.epsilon:g}·d at d(x, x′) = {total}, {self.named}"
        text = f"({epsilon:g}, {delta:g})-DP, {origin}"
        return Claim(epsilon, delta, text, group_size=max(len(distances), 1), origin=origin)


def tightest_chain(steps: Iterable[float], delta: float) -> tuple[float, float]:
    """(ε, δ) of a chain of steps that keep (steps[i], delta) each (`dpaudit.curves.group.chained`).

    It is the least over all orders. Rows may be changed in any order, and either direction may take
    its own, so the bound of every order is valid. The ε does not depend on the order.

    Of the two lines of a step, g(a) is the second one only if that is 1/2 or more, and then every
    later step is on its second line. Exchanging two steps next to each other shows that those on
    the first line fall outwards, those on the second rise outwards, and the largest comes first,
    where it adds `delta` alone. So if all steps in falling order give δ ≤ 1/2, no order gives less.
    Else each step in falling order goes either outside those before it, on the first line, or
    inside the outer ones, on the second. Both are followed while they can still improve, up to
    `STATES` at once: up to twelve steps this finds the least of all orders.
    """
    falling = sorted(steps, reverse=True)
    epsilon, least = chained((step, delta) for step in falling)
    if least <= 0.5:
        return epsilon, least
    # 1 − δ of a state is slope·(1 − inner) − loss: δ of the inner steps, a line of the outer ones
    inner, slope, loss, rest = np.array([delta]), np.ones(1), np.zeros(1), sum(falling[1:])
    for step in falling[1:]:
        rest -= step
        outer = slope * np.exp(-step)
        inner = np.append(delta + np.exp(min(step, readings.LARGEST)) * inner, inner)
        slope, loss = np.append(slope, outer), np.append(loss, loss + delta * outer)
        share = np.clip(-np.log(2.0 * inner), 0.0, max(rest, 0.0))  # of `rest` on the first line
        most = slope * np.exp(share - rest) * (1.0 - np.exp(share) * inner) - loss
        left = np.flatnonzero(most > 1.0 - least)
        left = left[np.argsort(-most[left], kind="stable")[:STATES]]
        inner, slope, loss = inner[left], slope[left], loss[left]
    return epsilon, min(least, 1.0 - float(np.max(slope * (1.0 - inner) - loss, initial=0.0)))


def refuse_unresolved(claim: MetricClaim | None) -> None:
    """Raise `InvalidInput` for a claim by a distance where no pair of databases is known."""
    if claim is not None:
        fail("claim", claim.text, "claim.at(distance): draws alone do not tell the distance")
