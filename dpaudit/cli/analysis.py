"""The exact worst case on the terminal, as a table or as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dpaudit.cli.table import aligned, named
from dpaudit.mechanisms import describe
from dpaudit.record import plain
from dpaudit.report.text import label, number
from dpaudit.report.text import plain as written
from dpaudit.run.execute import Analysis


def as_json(found: Analysis) -> str:
    """Every number, in JSON types."""
    return json.dumps(plain(_content(found)), indent=1, allow_nan=False, ensure_ascii=False)


def as_text(found: Analysis) -> str:
    """What was analysed, δ at every ε of the grid, and whether the claim holds."""
    content, spectrum = _content(found), found.spectrum
    mechanism, dataset = content["mechanism"], content["dataset"]
    parameters = ", ".join(f"{name} = {written(value)}" for name, value in mechanism["parameters"].items())
    known = [
        ("Scenario", found.scenario),
        ("Data", f"{dataset['name']}, {dataset['n']:,} rows, {dataset['features']} features"),
        ("Mechanism", f"{mechanism['name']} ({parameters})"),
        ("Neighbour", "the worst of all rows, zeroed; either direction"),
        ("Law", spectrum.law),
        *([] if found.claim is None else [("Claim", found.claim.text)]),
    ]
    shown = named([(name, label(value, 100)) for name, value in known])
    return "\n".join([shown, "", _table(content), *([] if found.claim is None else ["", _judged(found)])])


def _content(found: Analysis) -> dict[str, Any]:
    spectrum = found.spectrum
    name, parameters = describe(found.mechanism)
    return {
        "scenario": found.scenario,
        "mechanism": {"name": name, "parameters": parameters},
        "dataset": found.dataset,
        "law": spectrum.law,
        "epsilon": spectrum.epsilon,
        "delta": spectrum.delta,
        "forward": spectrum.forward,
        "backward": spectrum.backward,
        "asymptotic": spectrum.asymptotic,
        "row": spectrum.index,
        "claim": None if found.claim is None else {"text": found.claim.text, "delta": found.claimed},
    }


def _table(content: dict[str, Any]) -> str:
    columns = [
        ("ε", content["epsilon"]),
        ("D to D′", content["forward"]),
        ("D′ to D", content["backward"]),
        ("δ", content["delta"]),
        ("asymptotic", content["asymptotic"]),
        ("row", content["row"]),
        ("claim", content["claim"] and content["claim"]["delta"]),
    ]
    shown = [[head, *map(number, plain(values))] for head, values in columns if values is not None]
    return aligned(list(zip(*shown, strict=True)))


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
