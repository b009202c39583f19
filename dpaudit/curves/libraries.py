"""Claims that other libraries state for themselves, read from their objects.

Neither library is needed to import this: OpenDP's objects are asked by their methods, and
dp-accounting is imported where an event is given.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit._core.check import Words, choice, fail
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim

PAIRS = ("Approximate<MaxDivergence>", "FixedSmoothedMaxDivergence")  # whose map gives (ε, δ)
NEEDED = 'Claim.from_dp_event needs dp-accounting: pip install "dp-accounting>=0.4.4"'
NEIGHBOURS = ("add-or-remove-one", "replace-one", "replace-special")
ACCOUNTANTS = {
    "privacy loss distribution": ("dp_accounting.pld", "PLDAccountant"),
    "Rényi divergence": ("dp_accounting.rdp", "RdpAccountant"),
}
# the least δ: losses are convolved by Fourier transforms, whose rounding can leave a negative one
ROUNDING = {"privacy loss distribution": 1e-13, "Rényi divergence": 0.0}
SUMS = ("GaussianDpEvent", "LaplaceDpEvent", "DiscreteLaplaceDpEvent", "NoOpDpEvent")
LONGEST = 60  # characters of an event that is shown whole


def from_opendp(measurement: Any, distance: Any = 1) -> Claim:
    """`Claim.from_opendp`."""
    measure = getattr(measurement, "output_measure", None)
    if measure is None or not callable(getattr(measurement, "map", None)):
        fail("measurement", measurement, "an OpenDP Measurement: output_measure, and map(d_in)")
    name = _name(measure)
    read = _reader(name)
    if read is None:
        known = ", ".join((*MEASURES, "Approximate<...> of these"))
        fail(
            "measurement",
            Words(f"one of the output measure {name}"),
            f"of a known measure: {known}",
        )
    try:
        stated = measurement.map(distance)
    except Exception as error:
        said = f"{distance!r} ({type(error).__name__}: {error})"
        fail("distance", said, "a distance that the map of the measurement takes")
    return _said(read(stated), f"OpenDP's map at distance {distance}")


def from_dp_event(event: Any, neighbours: str = "add-or-remove-one") -> Claim:
    """`Claim.from_dp_event`."""
    accounting = _package("dp_accounting")
    if not isinstance(event, accounting.DpEvent):
        fail("event", event, "a dp_accounting.DpEvent")
    relation = choice("neighbours", neighbours, NEIGHBOURS)
    shown = repr(event) if len(repr(event)) <= LONGEST else type(event).__name__
    known = (
        (way, accountant, part)
        for way, part, under in _routes(event, relation)
        if (accountant := _accountant(way, under)).supports(part)
    )
    way, accountant, part = next(known, ("", None, None))
    if accountant is None:
        fail("event", shown, f"one that an accountant knows under {neighbours}")
    origin = f"dp-accounting, by {way}, {neighbours.replace('-', ' ')}"
    return _said(_accounted(accountant.compose(part), ROUNDING[way], shown), origin)


def _accountant(way: str, relation: str) -> Any:
    module, kind = ACCOUNTANTS[way]
    neighbouring = _package("dp_accounting").NeighboringRelation
    named = neighbouring[relation.replace("-", "_").upper()]
    return getattr(_package(module), kind)(neighboring_relation=named)


def _routes(event: Any, relation: str) -> Iterator[tuple[str, Any, str]]:
    """(accountant, event, relation) by which δ(ε) can be computed, the sharpest first.

    The noise of an event is in units of C, the bound of one record's value. A record that comes or
    goes moves a sum by C, and a replaced record moves it by 2C, as noise of half the size lets C.
    Under "replace-one" the loss distributions of dp-accounting take 2C themselves, but know few
    events, and its Rényi divergences take C whatever the relation.
    """
    distributions, divergences = ACCOUNTANTS
    yield distributions, event, relation
    if relation == "replace-one":
        event = _with_half_the_noise(event)
        if _adds_noise_to_sums(event):
            yield distributions, event, "add-or-remove-one"
    yield divergences, event, relation


def _with_half_the_noise(event: Any) -> Any:
    """The same event, and all within it, with noise of half the size in units of C."""
    changed: dict[str, Any] = {}
    if hasattr(event, "noise_multiplier"):
        changed["noise_multiplier"] = event.noise_multiplier / 2.0
    if hasattr(event, "sensitivity"):
        changed["sensitivity"] = 2 * event.sensitivity
    if hasattr(event, "event"):
        changed["event"] = _with_half_the_noise(event.event)
    if hasattr(event, "events"):
        changed["events"] = [_with_half_the_noise(part) for part in event.events]
    return _package("attr").evolve(event, **changed)


def _adds_noise_to_sums(event: Any) -> bool:
    """Whether nothing but noise on sums over all records is released."""
    if hasattr(event, "events"):
        return all(map(_adds_noise_to_sums, event.events))
    if type(event).__name__ == "SelfComposedDpEvent":
        return _adds_noise_to_sums(event.event)
    return type(event).__name__ in SUMS


def _accounted(accountant: Any, rounding: float, shown: str) -> Claim:
    """What an accountant promises. Raises `InvalidInput` where that is nothing."""
    delta = float(accountant.get_delta(0.0))
    if delta == 0.0:
        return Claim(0.0, 0.0)
    if delta >= 1.0 and accountant.get_delta(FAR) >= 1.0:
        fail("event", shown, "one that promises something: this one allows δ = 1 at every ε")
    return Claim.from_function(
        lambda epsilon: min(max(float(accountant.get_delta(epsilon)), rounding), 1.0), shown
    )


def _said(claim: Claim, origin: str) -> Claim:
    return replace(claim, text=f"{claim.text}, {origin}", origin=origin)


def _name(measure: Any) -> str:
    """ "Approximate<MaxDivergence>": the type of a measure without that of its numbers."""
    return re.sub(r"<[a-z]\w*>|\s", "", str(getattr(measure, "type", measure)))


def _package(name: str) -> Any:
    """Raises ImportError, with what to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(NEEDED) from None


@dataclass(frozen=True, eq=False)
class _UpTo:
    """δ₀ + (1 − δ₀)δ(ε): what is allowed up to an event of probability δ₀.

    Of two laws P = (1 − δ₀)P₁ + δ₀P₂ and Q ≥ (1 − δ₀)Q₁ of which P₁ and Q₁ keep δ(ε) (Bun &
    Steinke 2016, definition 8.1), P(S) − e^ε Q(S) ≤ (1 − δ₀)(P₁(S) − e^ε Q₁(S)) + δ₀.
    """

    inner: Claim
    leak: float

    def __call__(self, epsilon: Array) -> Array:
        return self.leak + (1.0 - self.leak) * self.inner.delta_at(epsilon)


def _reader(name: str) -> Callable[[Any], Claim] | None:
    """What makes a claim of the value of a map, by the name of the measure; None if unknown."""
    if name in PAIRS:
        return lambda stated: Claim(float(stated[0]), float(stated[1]))
    inner = re.fullmatch(r"Approximate<(\w+)>", name)
    if inner is None:
        return MEASURES.get(name)
    read = MEASURES.get(inner[1])
    return None if read is None else lambda stated: _up_to(read(stated[0]), float(stated[1]))


def _up_to(claim: Claim, leak: float) -> Claim:
    if leak == 0.0:
        return claim
    return Claim(None, 0.0, f"{claim.text} up to δ = {leak:g}", _UpTo(claim, leak))


def _of_profile(profile: Any) -> Claim:
    return Claim.from_function(profile.delta, "privacy profile")


def _renyi(curve: Callable[[float], float]) -> Claim:
    return Claim.rdp(np.vectorize(curve, otypes=[float]), text="RDP")


MEASURES: Mapping[str, Callable[[Any], Claim]] = {
    "MaxDivergence": lambda stated: Claim(float(stated)),
    "ZeroConcentratedDivergence": lambda stated: Claim.zcdp(float(stated)),
    "RenyiDivergence": _renyi,
    "SmoothedMaxDivergence": _of_profile,
}
FAR = 500.0  # nats, where no claim is judged
