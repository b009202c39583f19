"""Claims that other libraries state for themselves, read from their objects.

This module imports neither library at its top: it calls methods of OpenDP's objects, and imports
dp-accounting when a user passes an event.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from dpaudit._core.check import Words, choice, fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class

# measures whose map returns a pair (ε, δ)
PAIRS = ("Approximate<MaxDivergence>", "FixedSmoothedMaxDivergence")
NEEDED = 'an accountant\'s curve needs dp-accounting: pip install "dpaudit[accountant]"'
NEIGHBOURS = ("add-or-remove-one", "replace-one", "replace-special")
ACCOUNTANTS = {
    "privacy loss distribution": ("dp_accounting.pld", "PLDAccountant"),
    "Rényi divergence": ("dp_accounting.rdp", "RdpAccountant"),
}
# the least δ: losses are convolved by Fourier transforms, whose rounding can leave a negative one
ROUNDING = {"privacy loss distribution": 1e-13, "Rényi divergence": 0.0}
SUMS = ("GaussianDpEvent", "LaplaceDpEvent", "DiscreteLaplaceDpEvent", "NoOpDpEvent")
MEASURES = (
    "MaxDivergence",
    "ZeroConcentratedDivergence",
    "RenyiDivergence",
    "SmoothedMaxDivergence",
)
FAR = 500.0  # nats; far above any ε at which a claim is judged
LONGEST = 60  # longest text of an event, in characters, that a message shows whole


def from_opendp(measurement: Any, distance: Any = 1) -> tuple[str, Any, float]:
    """(measure, value, leak) of a measurement's map at an input distance; see `Claim.from_opendp`.

    measure : a name in `MEASURES` or `PAIRS`. value : the output of the map, (ε, δ) for a name in
    `PAIRS`. leak : the δ of an approximate divergence, else 0.
    """
    measure = getattr(measurement, "output_measure", None)
    if measure is None or not callable(getattr(measurement, "map", None)):
        fail("measurement", measurement, "an OpenDP Measurement: output_measure, and map(d_in)")
    # "Approximate<MaxDivergence>": the type of the measure without that of its numbers
    name = re.sub(r"<[a-z]\w*>|\s", "", str(getattr(measure, "type", measure)))
    inner = re.fullmatch(r"Approximate<(\w+)>", name)
    if name not in PAIRS and (inner[1] if inner else name) not in MEASURES:
        known = ", ".join((*MEASURES, "Approximate<...> of these"))
        got = Words(f"one of the output measure {name}")
        fail("measurement", got, f"of a known measure: {known}")
    try:
        value = measurement.map(distance)
    except Exception as error:
        failure = f"{distance!r} ({type(error).__name__}: {error})"
        fail("distance", failure, "a distance that the map of the measurement takes")
    if name in PAIRS:
        return name, (float(value[0]), float(value[1])), 0.0
    return (inner[1], value[0], float(value[1])) if inner else (name, value, 0.0)


def from_dp_event(
    event: Any, neighbours: str = "add-or-remove-one"
) -> tuple[Callable[[float], float] | None, str, str]:
    """(ε ↦ δ or None where δ = 0, the event's name, words on the source); see
    `Claim.from_dp_event`.
    """
    accounting = package("dp_accounting")
    if not isinstance(event, accounting.DpEvent):
        fail("event", event, "a dp_accounting.DpEvent")
    relation = choice("neighbours", neighbours, NEIGHBOURS)
    name = repr(event) if len(repr(event)) <= LONGEST else type(event).__name__
    for way, part, under in _routes(event, relation):
        module, kind = ACCOUNTANTS[way]
        named = accounting.NeighboringRelation[under.replace("-", "_").upper()]
        accountant = getattr(package(module), kind)(neighboring_relation=named)
        if accountant.supports(part):
            break
    else:
        fail("event", name, f"one that an accountant knows under {neighbours}")
    accountant = accountant.compose(part)
    origin = f"dp-accounting, by {way}, {neighbours.replace('-', ' ')}"
    delta = float(accountant.get_delta(0.0))
    if delta == 0.0:
        return None, name, origin
    if delta >= 1.0 and accountant.get_delta(FAR) >= 1.0:
        fail("event", name, "one that promises something: this one allows δ = 1 at every ε")

    def delta_of(epsilon: float) -> float:
        return min(max(float(accountant.get_delta(epsilon)), ROUNDING[way]), 1.0)

    return delta_of, name, origin


def _routes(event: Any, relation: str) -> Iterator[tuple[str, Any, str]]:
    """Return the (accountant, event, relation) that can compute δ(ε), the sharpest first.

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
    changes: dict[str, Callable[[Any], Any]] = {
        "noise_multiplier": lambda noise: noise / 2.0,
        "sensitivity": lambda size: 2 * size,
        "event": _with_half_the_noise,
        "events": lambda events: [_with_half_the_noise(part) for part in events],
    }
    known = {name: change for name, change in changes.items() if hasattr(event, name)}
    changed = {name: change(getattr(event, name)) for name, change in known.items()}
    return package("attr").evolve(event, **changed)


def _adds_noise_to_sums(event: Any) -> bool:
    """Whether the event releases only sums over all records with noise."""
    if hasattr(event, "events"):
        return all(map(_adds_noise_to_sums, event.events))
    if type(event).__name__ == "SelfComposedDpEvent":
        return _adds_noise_to_sums(event.event)
    return type(event).__name__ in SUMS


def package(name: str) -> Any:
    """The imported package. Raises ImportError, whose text says what to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # what the package itself needs
            raise
        raise ImportError(NEEDED) from None


@value_class
class UpTo:
    """The function ε ↦ δ₀ + (1 − δ₀)δ(ε): a claim that may fail with probability δ₀.

    Of two laws P = (1 − δ₀)P₁ + δ₀P₂ and Q ≥ (1 − δ₀)Q₁ of which P₁ and Q₁ keep δ(ε) (Bun &
    Steinke 2016, definition 8.1), P(S) − e^ε Q(S) ≤ (1 − δ₀)(P₁(S) − e^ε Q₁(S)) + δ₀.
    """

    inner: Callable[[Array], Array]
    leak: float

    def __call__(self, epsilon: Array) -> Array:
        return self.leak + (1.0 - self.leak) * self.inner(epsilon)
