"""The exact worst case on the terminal or as JSON: the answer of `dpaudit spectrum`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dpaudit._core.result_file import plain
from dpaudit._core.types import Mechanism, describe
from dpaudit.cli.table import aligned, hanging, named
from dpaudit.neighbours.pair import DONE
from dpaudit.run.analysis import Analysis, Neighbours, Readings
from dpaudit.verdict.numbers import assignments, count, label, number

WIDTH = 100


def as_json(found: Analysis) -> str:
    """All numbers as JSON."""
    return json.dumps(plain(_content(found)), indent=1, allow_nan=False, ensure_ascii=False)


def as_text(found: Analysis) -> str:
    """What was analysed, δ at every ε, other measures of the curve, and whether the claim holds."""
    content = _content(found)
    known = [
        *about(found.scenario, found.dataset, found.mechanism, found.neighbours),
        ("Law", found.spectrum.law),
        *([] if found.claim is None else [("Claim", found.claim.text)]),
    ]
    parts = [
        named([(name, label(value, WIDTH)) for name, value in known]),
        _table(content),
        _read_off(found.readings),
    ]
    return "\n\n".join([*parts, *([] if found.claim is None else [hanging("", _judged(found))])])


def as_line(found: Analysis) -> str:
    """Whether the claim holds; without one, the ε at small δ."""
    if found.claim is not None:
        return f"{found.scenario}: {_judged(found)}"
    at = found.readings.epsilon_at.items()
    shown = (f"ε = {_finite(epsilon)} at δ = {number(delta)}" for delta, epsilon in at)
    return f"{found.scenario}: no claim; {', '.join(shown)}"


def about(
    scenario: str, dataset: dict[str, Any], mechanism: Mechanism, neighbours: Neighbours
) -> list[tuple[str, str]]:
    """Scenario, data, mechanism and neighbours, as (name, text) pairs."""
    name, parameters = describe(mechanism)
    given = assignments(parameters)
    return [
        ("Scenario", scenario),
        ("Data", f"{dataset['name']}, {count(dataset['n'])} rows, {dataset['features']} features"),
        ("Mechanism", f"{name} ({given})" if given else name),
        ("Neighbour", f"{_which(neighbours)}; either direction"),
    ]


def _which(neighbours: Neighbours) -> str:
    if neighbours.relation == "add":
        return f"one more row, the worst of norm at most {number(neighbours.row_bound)}"
    if neighbours.candidates is None:
        return f"the worst of all rows, {DONE[neighbours.relation]}"
    candidates = f"{count(len(neighbours.candidates))} candidates for its place"
    return f"the worst of all rows and {candidates} ({neighbours.source})"


def neighbour(neighbours: Neighbours) -> dict[str, Any]:
    """The kind of neighbours, in JSON types."""
    count = None if neighbours.candidates is None else len(neighbours.candidates)
    return {"relation": neighbours.relation, "candidates": count, "row_bound": neighbours.row_bound}


def _content(found: Analysis) -> dict[str, Any]:
    spectrum, readings = found.spectrum, found.readings
    name, parameters = describe(found.mechanism)
    return {
        "scenario": found.scenario,
        "mechanism": {"name": name, "parameters": parameters},
        "dataset": found.dataset,
        "neighbour": neighbour(found.neighbours),
        "law": spectrum.law,
        "epsilon": spectrum.epsilon,
        "delta": spectrum.delta,
        "forward": spectrum.forward,
        "backward": spectrum.backward,
        "asymptotic": spectrum.asymptotic,
        "row": spectrum.index,
        "candidate": spectrum.candidate,
        "epsilon_at": {f"{delta:g}": epsilon for delta, epsilon in readings.epsilon_at.items()},
        "total_variation": readings.total_variation,
        "gdp_mu": {f"{epsilon:g}": mu for epsilon, mu in readings.gdp_mu.items()},
        "renyi_2": readings.renyi_2,
        "pure_epsilon": readings.pure_epsilon,
        "notes": readings.notes,
        "claim": None
        if found.claim is None
        else {"text": found.claim.text, "delta": found.claimed},
    }


def _table(content: dict[str, Any]) -> str:
    """δ by ε."""
    columns = [
        ("ε", content["epsilon"]),
        ("D to D′", content["forward"]),
        ("D′ to D", content["backward"]),
        ("δ", content["delta"]),
        ("asymptotic", content["asymptotic"]),
        ("row", content["row"]),
        ("candidate", content["candidate"]),
        ("claim", content["claim"] and content["claim"]["delta"]),
    ]
    shown = [[head, *map(number, plain(values))] for head, values in columns if values is not None]
    return aligned(list(zip(*shown, strict=True)))


def _read_off(readings: Readings) -> str:
    """Other measures of the curve; μ is that of the Gaussian shift with the same δ at one ε."""
    return named(
        [
            *(
                (f"ε at δ = {number(delta)}", _finite(epsilon))
                for delta, epsilon in readings.epsilon_at.items()
            ),
            ("total variation, δ(0)", number(readings.total_variation)),
            *(
                (f"GDP μ at ε = {number(epsilon)}", _finite(mu))
                for epsilon, mu in readings.gdp_mu.items()
            ),
            (
                "Rényi divergence of order 2",
                readings.notes.get("renyi_2") or _finite(readings.renyi_2),
            ),
            ("pure ε", _finite(readings.pure_epsilon)),
        ]
    )


def _finite(value: float | None) -> str:
    return "infinite" if value == np.inf else number(value)


def _judged(found: Analysis) -> str:
    assert found.claim is not None
    assert found.claimed is not None
    claim = f"the claim of {found.claim.text}"
    if not len(found.broken):
        return f"NOT VIOLATED: at no ε of the grid does the exact δ(ε) exceed {claim}."
    at = found.broken[np.argmax((found.spectrum.delta - found.claimed)[found.broken])]
    curves = (found.spectrum.epsilon, found.spectrum.delta, found.claimed)
    epsilon, delta, claimed = (number(float(curve[at])) for curve in curves)
    return f"VIOLATED: the exact δ({epsilon}) is {delta}, above the {claimed} that {claim} allows."
