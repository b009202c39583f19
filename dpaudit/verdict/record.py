"""Read and check the curves of one result in the content of `result.json`.

`AuditResult.record` writes that content. Curves that earlier versions did not write are optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit._core.check import choice, fail, integer, real
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import InvalidInput
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import label

VERDICTS = ("violated", "not violated", "inconclusive")
TITLE_WIDTH = 90


@value_class(eq=True)
class Curves:
    """All curves of a result on its ε grid, as arrays (m,); None for a curve that it lacks."""

    title: str  # what was audited: "ALS on flight"
    epsilon: Array  # nats, strictly increasing
    estimate: Array
    interval: Array | None  # (2, m), two-sided, of what the score shows
    low: Array
    forward: Array | None  # certified, M(D) against M(D′)
    backward: Array | None  # certified, M(D′) against M(D)
    exact: Array | None
    asymptotic: Array | None
    claim: Array | None
    law: str
    claim_text: str
    claim_index: int | None  # the grid position of the ε of an (ε, δ) claim
    level: float
    draws: int | None  # certifying draws a side
    headline: Headline

    @property
    def reference(self) -> Array | None:
        return self.exact if self.claim is None else self.claim

    @property
    def reference_kind(self) -> str:
        if self.claim is not None:
            return "the claim"
        return "" if self.exact is None else "the exact spectrum"

    @property
    def reference_text(self) -> str:
        """The reference in words; the template of the report prints it."""
        text = "" if self.claim is None else self.claim_text
        return f"{self.reference_kind} {text}".strip()

    @property
    def excess(self) -> Array:
        """max(0, low − reference), (m,); zero without a reference."""
        reference = self.low if self.reference is None else self.reference
        return np.maximum(self.low - reference, 0.0)

    def measured(self) -> list[Array]:
        curves = (self.exact, self.asymptotic, self.estimate, self.low)
        return [curve for curve in curves if curve is not None]


def read_curves(result: Mapping[str, Any]) -> Curves:
    """The curves of `result`. Raises `InvalidInput`, naming the key that is missing or wrong."""
    choice("verdict", result.get("verdict"), VERDICTS)
    epsilon = numbers(result.get("epsilon"), "epsilon")
    if epsilon.size == 0 or not np.all(np.isfinite(epsilon)) or np.any(np.diff(epsilon) <= 0):
        fail(
            "epsilon", result["epsilon"], "a non-empty, strictly increasing list of finite numbers"
        )

    def curve(path: str, *, required: bool = False) -> Any:
        values = lookup(result, path)
        if values is None and not required:
            return None
        delta = numbers(values, path)
        if delta.shape != epsilon.shape:
            raise InvalidInput(
                f"{path} must have one value for each ε, got {delta.size} for {epsilon.size}"
            )
        return delta

    head, interval = section(result, "headline"), lookup(result, "empirical.interval")
    if not head:
        raise InvalidInput("result.json has no headline, as in dpaudit 0.1; run the audit again")
    if interval is not None:
        if not isinstance(interval, list | np.ndarray):
            fail("empirical.interval", interval, "two lists of numbers")
        ends = [numbers(end, "empirical.interval") for end in interval]
        if [end.size for end in ends] != [epsilon.size] * 2 or np.any(ends[0] > ends[1]):
            expected = "two lists of a number for each ε, the lower ends first"
            fail("empirical.interval", interval, expected)
        interval = np.stack(ends)
    elsewhere = lookup(result, "neighbour.relation") == "samples"
    unnamed = "draws made elsewhere" if elsewhere else "mechanism"
    title = str(lookup(result, "mechanism.name") or unnamed)
    if dataset := lookup(result, "dataset.name"):
        title = f"{title} on {dataset}"
    claim, draws = section(result, "claim"), lookup(result, "samples.test")
    own, claim_index = claim.get("epsilon"), None
    if isinstance(own, int | float):
        hits = np.flatnonzero(np.isclose(epsilon, own, rtol=1e-9, atol=1e-12))
        claim_index = int(hits[0]) if hits.size else None
    return Curves(
        title=label(title, TITLE_WIDTH),
        epsilon=epsilon,
        estimate=curve("empirical.delta", required=True),
        interval=interval,
        low=curve("empirical.low", required=True),
        forward=curve("empirical.forward.low"),
        backward=curve("empirical.backward.low"),
        exact=curve("exact.delta"),
        asymptotic=curve("exact.asymptotic"),
        claim=curve("claim.delta"),
        law=str(lookup(result, "exact.law") or ""),
        claim_text=str(claim.get("text") or ""),
        claim_index=claim_index,
        level=real("level", result.get("level"), 0.0, 1.0, open_=True),
        draws=None if draws is None else integer("samples.test", draws, 1),
        headline=Headline.of(head),
    )


def section(result: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object at `key` of the result; an empty mapping if it is absent or null."""
    part = result.get(key)
    if part is not None and not isinstance(part, Mapping):
        fail(key, part, "an object or null")
    return part or {}


def lookup(result: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path such as "exact.delta"; None if a step is absent or null."""
    *steps, last = path.split(".")
    for step in steps:
        result = section(result, step)
    return result.get(last)


def selected_rows(curves: Curves, most: int = 12) -> list[int]:
    """At most `most` positions of the grid, evenly spread, with the claim's own ε and that of the
    largest excess.
    """
    notable = {int(np.argmax(curves.excess))} if curves.excess.any() else set()
    notable |= set() if curves.claim_index is None else {curves.claim_index}
    even = np.linspace(0, curves.epsilon.size - 1, most - len(notable))
    return sorted(notable | {round(position) for position in even})


def numbers(values: Any, path: str) -> Array:
    """Numbers at `path` of a result.json, with infinities as texts, as an array without NaN."""
    try:
        array = np.array([float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        fail(path, values, "a list of numbers")
    if np.isnan(array).any():
        fail(path, values, "a list of numbers without NaN")
    return array
