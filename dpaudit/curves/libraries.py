"""Claims that other libraries state for themselves, read from their objects.

Neither library is needed to import this: OpenDP's objects are asked by their methods, and
dp-accounting is imported where an event is given.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
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
    named = choice("neighbours", neighbours, NEIGHBOURS).replace("-", "_").upper()
    relation = accounting.NeighboringRelation[named]
    shown = repr(event) if len(repr(event)) <= LONGEST else type(event).__name__
    known = (
        (way, accountant)
        for way, (module, kind) in ACCOUNTANTS.items()
        if (accountant := getattr(_package(module), kind)(neighboring_relation=relation)).supports(
            event
        )
    )
    way, accountant = next(known, ("", None))
    if accountant is None:
        fail("event", shown, f"one that an accountant knows under {neighbours}")
    origin = f"dp-accounting, by {way}, {neighbours.replace('-', ' ')}"
    return _said(_accounted(accountant.compose(event), shown), origin)


def _accounted(accountant: Any, shown: str) -> Claim:
    """What an accountant promises. Raises `InvalidInput` where that is nothing."""
    delta = float(accountant.get_delta(0.0))
    if delta == 0.0:
        return Claim(0.0, 0.0)
    if delta >= 1.0 and accountant.get_delta(FAR) >= 1.0:
        fail("event", shown, "one that promises something: this one allows δ = 1 at every ε")
    return Claim.from_function(accountant.get_delta, shown)


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
